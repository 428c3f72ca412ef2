# SPDX-License-Identifier: Apache-2.0
"""A full-screen program in tmux, which answers what it asks of a terminal."""

import re
import subprocess
import time

from pty_shell import Failed

SECONDS = 300
# After it a key counts as lost: nothing that it should do has happened.
PATIENCE = 30
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

    def wait(self, is_so):
        """Whether it is so before a key would count as lost."""
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > deadline or self.has_ended():
                return is_so()
            time.sleep(0.1)
        return True

    def press(self, *keys):
        """Keys, and after a question mark what has to be shown before the next one."""
        for key in keys:
            if key.startswith("?"):
                if not self.wait(lambda shown=key[1:]: re.search(shown, self.text())):
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

    def answer(self, dialogs, is_done):
        """Presses the keys of the dialogs that are shown.  A dialog that is still drawn has its
        answer already, so each of them goes before the next key."""
        for words in self.note(self.text(), dialogs):
            if words in self.text():
                self.press(*dialogs[words])
                self.wait(lambda gone=words: gone not in self.text() or is_done())

    def is_lost(self, prompt, ready, is_done):
        """Whether a program that started itself again has forgotten what was sent."""

        def is_empty():
            text = self.text()
            return ready in text and prompt[:12] not in text

        return is_empty() and not self.wait(lambda: is_done() or not is_empty())

    def run_until(self, is_done, dialogs, prompt="", ready=""):
        """Answers each dialog when it comes up, until the condition holds.  A prompt is sent again
        if it is lost."""
        deadline = time.monotonic() + SECONDS
        while not is_done():
            if self.has_ended():
                raise Failed(f"it ended before the story did; keys: {self.log}\n{self.text()}")
            self.answer(dialogs, is_done)
            if ready and self.is_lost(prompt, ready, is_done):
                self.press(prompt, "Enter")
            if time.monotonic() > deadline:
                raise Failed(f"no end of the story; keys: {self.log}\n{self.text()}")
            time.sleep(0.2)

    def enter(self, prompt, ready, has_begun, dialogs):
        """Types a prompt.  A program shows `ready` where nothing is typed, and what was sent above
        that.  One that starts itself again loses what was typed, and shows neither."""
        deadline = time.monotonic() + SECONDS
        begins = prompt[:12]
        while not has_begun():
            if self.has_ended() or time.monotonic() > deadline:
                raise Failed(f"the prompt is not heard; keys: {self.log}\n{self.text()}")
            self.answer(dialogs, has_begun)
            text = self.text()
            if ready in text and begins not in text:
                self.press(prompt)
                self.wait(lambda: begins in self.text())
            elif begins in text and ready not in text:
                self.press("Enter")
                # It may clear the line before it shows what was sent.
                self.wait(has_begun)
            else:
                time.sleep(0.2)

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
