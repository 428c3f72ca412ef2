#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash less seq stty tmux vim
# timeout: 300
"""Full-screen programs on a terminal of their own: as without a box.

The same keys are typed in two windows of tmux, one of them without a box, and
what is on the screen is compared: text and colours, the cursor, the title, the
alternate screen and the modes of mouse and keys.
"""

import fcntl
import hashlib
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, below, run_tests, same, state_of, wait_until  # noqa: E402

BOX = "$HB_BIN run --ephemeral -q --"
NO_BOX = "env"
STATE = (
    "#{alternate_on} #{cursor_x},#{cursor_y} #{cursor_flag} #{pane_title}"
    " #{mouse_any_flag} #{mouse_sgr_flag} #{keypad_cursor_flag} #{pane_width}x#{pane_height}"
)
CONFIGURATION = """
set -g default-terminal screen-256color
set -g status-right ''
set -g automatic-rename off
set -g assume-paste-time 0
bind K kill-server
bind S split-window -h cat
"""
VIMRC = r"""
set nocompatible noswapfile mouse=a ttymouse=sgr ruler number
let &t_8f = "\e[38;2;%lu;%lu;%lum" | let &t_8b = "\e[48;2;%lu;%lu;%lum"
let &t_ts = "\e]2;" | let &t_fs = "\x07"
set termguicolors title titlestring=edited titleold=left
highlight LineNr guifg=#010203 guibg=#fdfeff
"""
# Reads in small pieces, and not at all for a while, so that all before it is full.
EDITOR = r"""
import hashlib, os, sys, termios, time, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\x1b[?2004hup")
begin, end, text, rest = b"\x1b[200~", b"\x1b[201~", b"", 0
while not text.endswith(end):
    if len(text) >= rest:
        rest += 1 << 17
        time.sleep(0.1)
    text += os.read(0, 509)
assert text.startswith(begin)
text = text[len(begin) : -len(end)]
print("\r\n%d %s\r" % (len(text), hashlib.sha256(text).hexdigest()), flush=True)
os.write(1, b"\x1b[?2004l")
termios.tcsetattr(0, termios.TCSANOW, before)
"""
QUIET = 0.3
# fzf's own: how far it is with a search, and the line behind it.
PROGRESS = re.compile(r"(?: \(\d+%\))? ─+")
MEGABYTE = 1 << 20


class Window:
    """A bash in a server of tmux that is its own; `x` is what a command is run by."""

    def __init__(self, name, words):
        self.pid = 0
        self.socket = os.path.join(os.getcwd(), name + ".socket")
        env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "TMUX_PANE")}
        env.update(HISTFILE="", LESSHISTFILE="-", INPUTRC="/dev/null")
        # htop writes one at its end, and makes the directories above.
        env["HTOPRC"] = os.path.join(os.getcwd(), "htoprc")
        self.env = dict(env, LC_ALL="C.UTF-8", TERM="screen-256color")
        self.tmux("-f", "tmux.conf", "new-session", "-d", "-x", "80", "-y", "24",
                  "exec env PS1='begin> ' bash --noprofile --norc -i")  # fmt: skip
        try:
            self.begin(words)
        except Failed:
            self.tmux("kill-server")
            raise

    def begin(self, words):
        self.pid = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        self.await_text(r"^begin>$")
        self.type(f"alias x='{words}'; PS1='hb> '; clear\r")
        wait_until(lambda: self.text().strip() == "hb>", "the window is empty")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def tmux(self, *words):
        words = ["tmux", "-u", "-S", self.socket, *words]
        done = subprocess.run(words, capture_output=True, text=True, env=self.env, check=False)
        if done.returncode != 0:
            raise Failed(f"{words}: {done.stderr}")
        return done.stdout

    def type(self, keys):
        self.tmux("send-keys", "-H", *(f"{byte:02x}" for byte in keys.encode()))

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def text(self):
        return self.tmux("capture-pane", "-p")

    def state(self):
        return self.tmux("display-message", "-p", STATE)

    def look(self):
        return PROGRESS.sub("", self.state() + self.tmux("capture-pane", "-p", "-e"))

    def await_text(self, pattern):
        regex = re.compile(pattern, re.M)
        try:
            wait_until(lambda: regex.search(self.text().rstrip("\n")), repr(pattern))
        except Failed as why:
            raise Failed(f"{why}\n{self.text()}") from why

    def settled(self, pattern):
        """What is shown once PATTERN is, and does not change any more."""
        self.await_text(pattern)
        looks = [self.look()]

        def is_settled():
            time.sleep(QUIET / 3)
            looks.append(self.look())
            return looks[-1] == looks[-2]

        wait_until(is_settled, "the screen rests")
        return looks[-1]


def compare(steps):
    """Each step is keys, or a size, and a sign of what they lead to."""
    looks = []
    with Window("outside", NO_BOX) as outside:
        for what, sign in steps:
            take(outside, what)
            looks.append(outside.settled(sign))
    with Window("inside", BOX) as inside:
        for (what, _), want in zip(steps, looks):
            take(inside, what)
            try:
                wait_until(lambda want=want: inside.look() == want, "the screens are the same")
            except Failed as why:
                raise Failed(f"after {what!r}: {why}\n{want!r}\n{inside.look()!r}") from why
    return looks


def take(window, what):
    if isinstance(what, str):
        window.type(what)
    else:
        window.resize(*what)


def vim():
    looks = compare(
        [
            ("x vim -u vimrc -i NONE text\r", r"1,1 .*Top"),
            ("ihello\x1b", "hello"),
            ("20G", "20,"),
            ("\x1b[<0;9;5M\x1b[<0;9;5m", r" 5,4-5 "),
            ((100, 30), r" 5,4-5 "),
            (":vsplit\r", r"text.*text"),
            ((80, 24), r"text.*text"),
            (":qa!\r", r"^hb>$"),
        ]
    )
    # The control: what is compared is there.
    same("38;2;1;2;3" in looks[0] and "edited" in looks[0], True)
    same(looks[0].startswith("1 ") and looks[-1].startswith("0 "), True)
    same(looks[0].splitlines()[0].split()[4:6], ["1", "1"])


def vim_suspended():
    seen = []
    for name, words in (("outside", NO_BOX), ("inside", BOX)):
        with Window(name, words) as window:
            window.type("x vim -u vimrc -i NONE text\r")
            window.await_text(r"1,1 .*Top")
            for _ in range(3):
                window.type("\x1a")
                window.await_text(r"Stopped[^\n]*\n(.*\n)*hb>$")
                same(window.state()[0], "0")
                window.type("fg\r")
                window.await_text(r"1,1 .*Top")
            seen.append(window.settled(r"1,1 .*Top"))
            window.type("ihello\x1b:q!\r")
            window.await_text(r"^hb>$")
    same(seen[1], seen[0])


def less():
    looks = compare(
        [
            ("x less -R text\r", r"^text$"),
            (" ", r"^:$"),
            ("/line 300\r", "line 300"),
            ((60, 20), "line 300"),
            ("G", r"\(END\)"),
            ("q", r"^hb>$"),
        ]
    )
    same("38;2;9;8;7" in looks[0], True)


def tmux_inside():
    compare(
        [
            ("x env -u TMUX tmux -u -f tmux.conf -S ./s new -n w 'cat; :'\r", r"\[0\] 0:"),
            ("word\r", r"^word\n^word"),
            ("\x02S", r"│"),
            ((100, 30), r"│"),
            ("\x02K", r"^hb>$"),
        ]
    )


def htop():
    seen = []
    for name, words in (("outside", NO_BOX), ("inside", BOX)):
        with Window(name, words) as window:
            window.type("x htop\r")
            window.await_text("F1Help.*F10Quit")
            wait_until(lambda w=window: w.state().startswith("1 "), "the alternate screen")
            flags = window.state().split()
            window.type("\x1bOP")
            window.await_text("Arrows: scroll")
            window.type("q")
            window.await_text("F1Help.*F10Quit")
            window.type("q")
            window.await_text(r"^hb>$")
            seen.append((flags[0], flags[-4:], window.state().split()[0]))
    same(seen[1], seen[0])


def fzf():
    compare(
        [
            ("x seq 1000000 | fzf --no-color\r", r"1000000/1000000"),
            ("424242", r"1/1000000"),
            ("\r", r"^424242\n(.*\n)*hb>$"),
        ]
    )


def broken_off():
    """A prompt behind half an escape is a prompt, in its own colour."""
    texts = ("a\\033[38;2;1", "a\\033]0;half", "a\\033P", "\\033[?1049h\\033[31ma\\033")
    with Window("half", BOX) as window:
        for text in texts:
            window.type(f"x printf '{text}'\r")
            # Not before the prompt: what is typed ahead is the command's.
            window.await_text(r"printf[^\n]*\n(.*\n)*.*hb>\Z")
            window.type("clear; echo wh''ole\r")
            window.await_text(r"\Awhole\nhb>\Z")
            colours = window.tmux("capture-pane", "-p", "-e")
            same(colours.split("\n")[0], "whole")
            same(window.state()[0], "0")


def closed_window():
    with Window("closed", BOX) as window:
        window.type("x vim -u vimrc -i NONE text\r")
        window.await_text(r"1,1 .*Top")
        boxed = below(window.pid)
        same(len(boxed) > 2, True)
    wait_until(lambda: not any(map(state_of, boxed)), "the box ends with its window")


def feed(sh, data):
    """Types it all, as fast as the terminal takes it."""
    at = 0
    deadline = time.monotonic() + 60
    os.set_blocking(sh.fd, False)
    while at < len(data):
        if time.monotonic() > deadline:
            raise Failed(f"{at} of {len(data)} bytes were taken")
        if select.select([sh.fd], [sh.fd], [], 1)[0]:
            sh.pump(deadline)
        try:
            at += os.write(sh.fd, data[at : at + 4096])
        except BlockingIOError:
            pass
    os.set_blocking(sh.fd, True)


def paste(sh):
    """Cooked, as after `cat >file` at a prompt: a terminal takes it line by line."""
    line = b"".join(b"%02x" % (n * 7 % 256) for n in range(31)) + b"\n"
    data = line * (MEGABYTE // len(line) + 1)
    inner = "stty -echo; echo up; cat >pasted; wc -c <pasted; sha256sum <pasted"
    sh.start(f"hb sh -c '{inner}'", "^up")
    feed(sh, data)
    sh.type("\x04")
    sh.expect(rf"^{len(data)}\r")
    sh.expect(hashlib.sha256(data).hexdigest())
    sh.expect("hb> ")


def raw_paste(sh):
    """Bracketed, into an editor that is busy: every byte is text there, ^C and ^S too."""
    with open("editor", "w", encoding="utf-8") as file:
        file.write(EDITOR)
    line = bytes(n for n in range(256) if n != 0x1B)
    data = b"".join(b"%06d" % n + line for n in range(MEGABYTE // len(line) + 1))
    sh.start("hb python3 editor", r"\x1b\[\?2004hup")
    feed(sh, b"\x1b[200~" + data + b"\x1b[201~")
    sh.expect(rf"^{len(data)} {hashlib.sha256(data).hexdigest()}\r")
    sh.expect(r"\x1b\[\?2004l")
    sh.expect("hb> ")
    same(sh.run("stty -a | grep -o -- '-*icanon'"), "icanon")


def waiting(sh):
    """How much is there to be read."""
    return struct.unpack("i", fcntl.ioctl(sh.fd, termios.FIONREAD, b"\0" * 4))[0]


def slow_reader(sh):
    sh.type("hb seq 30000; echo status=$?\r")
    looks = [0]

    def is_full():
        time.sleep(QUIET / 3)
        looks.append(waiting(sh))
        return looks[-1] == looks[-2] > 1000

    wait_until(is_full, "the terminal takes no more")
    sh.expect("^status=0")
    shown = re.findall(r"^(\d+)\r*$", sh.seen[: sh.taken], re.M)[-30000:]
    same(shown == [str(n) for n in range(1, 30001)], True)
    sh.expect("hb> ")


def flow_keys(sh):
    loop = "n=0; while :; do n=$((n+1)); echo tick $n; sleep 0.01; done"
    sh.start(f"hb sh -c '{loop}'", "^tick 3")
    sh.type("\x13")
    wait_until(lambda: not sh.pump(time.monotonic() + QUIET), "^S holds the output")
    held = int(re.findall(r"tick (\d+)", sh.seen)[-1])
    sh.taken = len(sh.seen)
    sh.type("\x11")
    sh.expect(rf"^tick {held + 1}\r")
    sh.type("\x03")
    sh.expect("hb> ")


def if_there(tap, program, name, function):
    if shutil.which(program):
        tap.test(name, function)
    else:
        tap.skip(name, f"needs {program}")


def all_tests(tap, sh):
    with open("tmux.conf", "w", encoding="utf-8") as file:
        file.write(CONFIGURATION)
    with open("vimrc", "w", encoding="utf-8") as file:
        file.write(VIMRC)
    with open("text", "w", encoding="utf-8") as file:
        file.writelines(f"\x1b[38;2;9;8;7mline {n}\x1b[0m ä€𝄞\n" for n in range(1, 501))
    one = tap.test
    one("vim: screens, colours, title, mouse and sizes are as without a box", vim)
    one("vim is suspended by ^Z and comes back by fg as it was", vim_suspended)
    one("less: screens and sizes are as without a box", less)
    one("tmux inside: screens and sizes are as without a box", tmux_inside)
    if_there(tap, "htop", "htop: modes and keys are as without a box", htop)
    if_there(tap, "fzf", "K1 fzf behind a pipe gets its keys and its lines", fzf)
    one("H19 a prompt behind half an escape is as ever", broken_off)
    one("the box of a full-screen program ends with the window", closed_window)
    one("a paste of 1 MB arrives to the last byte", paste, sh)
    one("a bracketed paste of 1 MB reaches a slow raw program whole and in order", raw_paste, sh)
    one("a slow reader loses nothing", slow_reader, sh)
    one("^S holds the output and ^Q lets it go on", flow_keys, sh)


if __name__ == "__main__":
    sys.exit(run_tests(f"alias hb='{BOX}'", all_tests))
