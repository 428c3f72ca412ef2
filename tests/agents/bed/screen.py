# SPDX-License-Identifier: Apache-2.0
"""A full-screen program in tmux, which answers what it asks of a terminal."""

import re
import subprocess
import time

from pty_shell import Failed

SECONDS = 200
PATIENCE = 5
BETWEEN_KEYS = 0.3  # a program that draws a screen drops what comes at once


class Screen:
    """One program on a terminal; its environment is all that it gets."""

    def __init__(self, socket, folder, env, words):
        self.command = ["tmux", "-S", socket, "-f", "/dev/null"]
        self.env = {"PATH": env["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
        self.log = []
        self.asked = []  # the dialogs that came up
        clean = ["env", "-i", *(f"{name}={value}" for name, value in env.items())]
        self.tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", folder, *clean,
                  "TERM=tmux-256color", *words, ";", "set-option", "remain-on-exit", "on")  # fmt: skip

    def tmux(self, *words):
        done = subprocess.run([*self.command, *words], env=self.env, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip
        return done.stdout if done.returncode == 0 else None

    def text(self):
        """The lines that it shows, or showed last."""
        shown = self.tmux("capture-pane", "-p") or ""
        return "\n".join(line.rstrip() for line in shown.splitlines() if line.strip())

    def has_ended(self):
        return (self.tmux("display-message", "-p", "#{pane_dead}") or "1").strip() == "1"

    def shows(self, pattern):
        """Waits a moment until it does: it may have dropped a key."""
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, self.text()):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def press(self, *keys):
        """Keys, and after a question mark what has to be shown before the next one."""
        for key in keys:
            if key.startswith("?"):
                if not self.shows(key[1:]):
                    return
                continue
            self.log.append(key)
            self.tmux("send-keys", key)
            time.sleep(BETWEEN_KEYS)

    def note(self, text, dialogs):
        """The dialogs that are shown; `asked` has each of them once."""
        shown = [words for words in dialogs if words in text]
        self.asked += [words for words in shown if words not in self.asked]
        return shown

    def run_until(self, is_done, dialogs):
        """Answers each dialog when it comes up, until the condition holds."""
        deadline = time.monotonic() + SECONDS
        while not is_done():
            text = self.text()
            if self.has_ended():
                raise Failed(f"it ended before the story did; keys: {self.log}\n{text}")
            for words in self.note(text, dialogs):
                self.press(*dialogs[words])
            if time.monotonic() > deadline:
                raise Failed(f"no end of the story; keys: {self.log}\n{text}")
            time.sleep(1)

    def enter(self, prompt, ready, has_begun, dialogs):
        """Types a prompt.  A program that starts itself again loses what was typed."""
        deadline = time.monotonic() + SECONDS
        while not has_begun():
            if self.has_ended() or time.monotonic() > deadline:
                raise Failed(f"the prompt is not heard; keys: {self.log}\n{self.text()}")
            text = self.text()
            self.note(text, dialogs)
            if ready in text:
                self.press(prompt)
            self.press("Enter")
            patience = time.monotonic() + PATIENCE
            while not has_begun() and time.monotonic() < patience:
                time.sleep(0.1)

    def quit(self, keys, dialogs=None):
        """Presses keys until the program has ended, or those of a dialog."""
        deadline = time.monotonic() + SECONDS
        number = 0
        while not self.has_ended():
            if time.monotonic() > deadline:
                raise Failed(f"it does not end; keys: {self.log}\n{self.text()}")
            text = self.text()
            found = [answer for words, answer in (dialogs or {}).items() if words in text]
            if found:
                self.press(*found[0])
            else:
                self.press(keys[number % len(keys)])
                number += 1
            time.sleep(0.5)

    def close(self):
        self.tmux("kill-server")
