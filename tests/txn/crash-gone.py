#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace
# timeout: 900
# soak-modes: userns
"""Kills the commands that settle a session without one of its directories, and
those that take it up when the directory is back, at each of their system calls
that change something.

The command that was killed in the session before has lost nothing by that.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import crash  # noqa: E402

CALLS = crash.CALLS if os.environ.get("HB_SOAK") == "1" else ["renameat", "fsync", "unlinkat"]


class Lacking(crash.Session):
    """Two directories, and a command that was killed with changes in both."""

    def __init__(self):
        change, crash.CHANGE = crash.CHANGE, "true"
        try:
            super().__init__()
        finally:
            crash.CHANGE = change
        self.must("cleanup", "-y", "@s")
        self.other = os.path.join(self.work, "o")
        os.mkdir(self.other)
        self.must("create", "s", "--cow", self.real, "--cow", self.other, *crash.STRATEGY)
        script = f"echo more >>f; echo k >{self.other}/k; echo ready; exec sleep 60"
        with subprocess.Popen(
            self.words("exec", "@s", "--", "sh", "-c", script),
            cwd=self.real, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as box:  # fmt: skip
            box.stdout.readline()
            box.kill()
        while "crashed" not in self.must("ls"):
            pass

    def away(self):
        os.rename(self.other, self.other + ".away")

    def back(self):
        os.rename(self.other + ".away", self.other)

    def all(self):
        return f"M\t{self.real}/f\nA\t{self.other}/k\n"


def expect(is_true, words):
    if not is_true:
        raise AssertionError(words)


def check_without(call, number):
    """The directory is gone, and a command settles the rest."""
    session = Lacking()
    try:
        session.away()
        died, done = crash.killed(session, call, number, "mark", "@s", "never")
        expect(session.names() == f"M\t{session.real}/f\n", "the rest is another")
        session.back()
        expect(session.names() == session.all(), f"pending is {session.names()}")
        session.must("commit", "-y", "@s")
        with open(os.path.join(session.other, "k"), encoding="utf-8") as file:
            expect(file.read() == "k\n", "the commit has not all")
        # It is refused in the end: marks are of all directories.
        return died and done.returncode != crash.STATE, None
    finally:
        session.remove()


def check_back(call, number):
    """The directory is back, and a command takes up what waited."""
    session = Lacking()
    try:
        session.away()
        session.must("status", "@s")
        session.back()
        died, _ = crash.killed(session, call, number, "status", "@s")
        expect(session.names() == session.all(), f"pending is {session.names()}")
        session.must("exec", "@s", "--", "cat", os.path.join(session.other, "k"))
        session.must("rollback", "-y", "@s")
        session.must("undo", "@s")
        expect(session.names() == session.all(), "undo does not bring it back")
        return died, None
    finally:
        session.remove()


def main():
    return crash.run([(check, CALLS, 1) for check in (check_without, check_back)])


if __name__ == "__main__":
    sys.exit(main())
