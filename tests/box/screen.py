#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash stty
"""What a command shows: the user's terminal types nothing because of it.

The test is the terminal: it answers what it is asked, as a terminal does.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, run_tests, same  # noqa: E402

SANE = "\x18\x1b\\"


def passes(sh, text, want):
    got = sh.run(f"hb printf '{text}'; echo")
    if want not in got:
        raise Failed(f"no {want!r} in {got!r}")


def dropped(sh):
    for text in ("\\033[21t", "\\033]11;?\\007", "\\033P$qm\\033\\\\", "\\033]52;c;aGk=\\007"):
        got = sh.run(f"hb printf 'a{text}b\\n'; echo")
        same(got.splitlines()[0], "ab")


def colours(sh):
    passes(sh, "\\033[38;2;1;2;3mx\\n", "\x1b[38;2;1;2;3mx")


def left_open(sh):
    """H19: an open string would swallow what is said after it."""
    got = sh.run("hb printf 'x\\033_open'; echo")
    same(got.startswith("x\x1b_open" + SANE) or got.startswith("x" + SANE), True)
    got = sh.run("hb printf '\\033[?1049h\\033[?1003h\\033[?25l'; echo")
    for end in ("\x1b[?1049l", "\x1b[?1003l", "\x1b[?25h"):
        if end not in got:
            raise Failed(f"no {end!r} in {got!r}")


def text_is_text(sh):
    same(sh.run("hb echo plain").strip(), "plain")


def typed_after_late_answer(sh):
    sh.type("hb printf '\\033[6n'\r")
    sh.expect(r"\x1b\[6n")
    sh.expect(r"\x1b\[c")
    sh.type("\x1b[12;40R\x1b[?64;1c")
    sh.expect("hb> ")
    return sh.run("echo typed").strip()


def late_answer(sh):
    """The command asks where the cursor is and does not wait.

    An answer is waited for no longer than 100 ms; on a busy machine the test
    itself may be slower than that, but not each time.
    """
    got = []
    while "typed" not in got and len(got) < 10:
        got.append(typed_after_late_answer(sh))
    same(got[-1], "typed")


def asked_in_background(sh):
    """Nobody in the box could hear the answer."""
    got = sh.run("hb printf 'a\\033[6nb\\n' & wait $!; echo")
    if "\x1b[6n" in got or "ab" not in got:
        raise Failed(f"got {got!r}")


def clipboard(sh):
    copy = "printf '\\033]52;c;aGk=\\007'"
    got = sh.run(f"$HB_BIN run --ephemeral -- {copy}; echo")
    if got.count("wanted to set the clipboard") != 1:
        raise Failed(f"got {got!r}")
    got = sh.run(f"$HB_BIN run --ephemeral --clipboard write -- {copy}; echo")
    if "\x1b]52;c;aGk=\x07" not in got or "has set the clipboard" not in got:
        raise Failed(f"got {got!r}")


def all_tests(tap, sh):
    one = tap.test
    one("K1 what asks the terminal for text is dropped", dropped, sh)
    one("colours pass", colours, sh)
    one("mere text is all there is", text_is_text, sh)
    one("H19 the terminal is sane after a command that was not", left_open, sh)
    one("K1 a late answer does not reach the shell", late_answer, sh)
    one("K1 nothing is asked from the background", asked_in_background, sh)
    one("the clipboard is set only if allowed, and said once", clipboard, sh)


if __name__ == "__main__":
    sys.exit(run_tests("alias hb='$HB_BIN run --ephemeral -q --'", all_tests))
