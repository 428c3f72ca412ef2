#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash less stty
"""--tty real: all of tests/box/terminal.py at the user's own terminal."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "box"))

# pylint: disable=wrong-import-position
import terminal  # noqa: E402
from pty_shell import run_tests, same  # noqa: E402


def said(sh):
    line = sh.run("$HB_BIN run --tty real --ephemeral -- true")
    same("terminal: your own" in line, True)
    same("terminal:" in sh.run("$HB_BIN run --ephemeral -- true"), False)


def all_tests(tap, sh):
    tap.test("a command at the user's own terminal is said", said, sh)
    terminal.all_tests(tap, sh)


if __name__ == "__main__":
    sys.exit(run_tests("alias hb='$HB_BIN run --tty real --ephemeral -q --'", all_tests))
