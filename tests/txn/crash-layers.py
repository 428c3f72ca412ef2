#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace
# timeout: 900
# soak-modes: userns
"""Kills mark, fork, gc, and the transactions of sessions with marks, at each of
their system calls that change something.

Nothing that is pending is ever lost, a mark or a fork is whole or not there, and
what a kill leaves goes with the next gc.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import crash  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
FEW = ["mkdirat", "renameat2", "renameat", "fsync"]


class Layered(crash.Session):
    """The same changes, in two marks and an upper."""

    def __init__(self):
        change, crash.CHANGE = crash.CHANGE, "true"
        try:
            super().__init__()
        finally:
            crash.CHANGE = change
        for number, part in enumerate(
            (
                "echo first >f; rm g; mkdir n; echo 1 >n/1; echo old >n/old; rm -r e",
                "ln n/1 n/2; rm l n/old; mkdir l e; echo z >e/z; echo wrong >l/in",
                "echo f >f; echo more >>f; echo in >l/in; chmod 700 d; touch -d 2001-01-01 d n",
            )
        ):
            if number:
                self.must("mark", "@s", f"m{number}")
            self.must("exec", "@s", "--", "sh", "-c", part)

    def view(self):
        return self.must("exec", "@s", "--", "sh", "-c", "find . | sort; cat f n/1 l/in e/z")

    def layers(self):
        """The ids of all layers that lie in the store."""
        top = os.path.join(self.state, "layers")
        found = []
        for family in os.listdir(top) if os.path.isdir(top) else []:
            found += [x for x in os.listdir(os.path.join(top, family)) if x != "lock"]
        return sorted(found)

    def named(self):
        """The ids that some record names."""
        found = set()
        for name in os.listdir(os.path.join(self.state, "sessions")):
            with open(
                os.path.join(self.state, "sessions", name, "session"), encoding="utf-8"
            ) as file:
                found |= {x.split()[2] for x in file if x.startswith("layer = ")}
        return sorted(found)


def expect(is_true, words):
    if not is_true:
        raise AssertionError(words)


def check_mark(call, number):
    session = Layered()
    try:
        view, pending = session.view(), session.names()
        died, _ = crash.killed(session, call, number, "mark", "@s", "new")
        expect(session.names() == pending, "pending changes are others")
        expect(session.view() == view, "the view is another")
        marks = session.must("status", "@s").splitlines()[1]
        expect(marks in ("marks: m1, m2", "marks: m1, m2, new"), f"it says {marks}")
        session.must("mark", "@s", "after")
        session.must("rollback", "-y", "--to", "m1", "@s")
        session.must("undo", "@s")
        expect(session.view() == view, "the view is another after a rollback and its undo")
        session.must("gc")
        expect(session.layers() == session.named(), "a layer that nobody names")
        return died, None
    finally:
        session.remove()


def check_fork(call, number):
    session = Layered()
    try:
        view, pending = session.view(), session.names()
        died, _ = crash.killed(session, call, number, "fork", "@s", "t")
        expect(session.names() == pending and session.view() == view, "the parent changed")
        if "t " in session.must("ls"):
            expect(session.must("diff", "--name-status", "@t") == pending, "a part of a fork")
        else:
            session.must("fork", "@s", "t")
        session.must("gc")
        session.must("cleanup", "-y", "@s")
        expect(session.must("diff", "--name-status", "@t") == pending, "the fork lost changes")
        expect(session.layers() == session.named(), "a layer that nobody names")
        expect(os.listdir(os.path.join(session.state, "sessions")) == ["t"], "something is left")
        return died, None
    finally:
        session.remove()


def check_rollback_to(call, number):
    session = Layered()
    try:
        pending = session.names()
        died, _ = crash.killed(session, call, number, "rollback", "-y", "--to", "m1", "@s")
        session.must("recover", "@s")
        if session.names() == pending:
            session.must("rollback", "-y", "--to", "m1", "@s")
        at_mark = session.names()
        expect("n/old" in at_mark and "e/z" not in at_mark, "not the state of the mark")
        session.must("undo", "@s")
        expect(session.names() == pending, "undo does not bring it back")
        return died, None
    finally:
        session.remove()


def check_part(call, number):
    """Of a commit in part: all of it, and the rest in a layer of its own."""
    session = Layered()
    try:
        old, pending, view = session.tree(), session.names(), session.view()
        died, _ = crash.killed(session, call, number, "commit", "-y", "--only", "n", "@s")
        session.must("recover", "@s")
        expect(session.view() == view, "the view is another")
        if session.tree() == old:
            expect(session.names() == pending, "changes are lost")
            session.must("commit", "-y", "--only", "n", "@s")
        expect("n/1" not in session.names() and "e/z" in session.names(), "not the rest")
        session.must("undo", "@s")
        expect(session.tree() == old and session.names() == pending, "undo is not whole")
        session.must("gc")
        session.must("commit", "-y", "@s")
        expect(session.names() == "", "something is still pending")
        return died, None
    finally:
        session.remove()


def check_gc(call, number):
    session = Layered()
    try:
        session.must("commit", "-y", "--only", "n", "@s")
        session.must("mark", "@s", "later")
        session.must("fork", "@s", "t")
        session.must("exec", "@s", "--", "sh", "-c", "echo last >last")
        session.must("rollback", "-y", "--to", "later", "@s")
        pending, view = session.names(), session.view()
        died, _ = crash.killed(session, call, number, "gc", "--older-than", "0")
        expect(session.names() == pending and session.view() == view, "pending changes went")
        session.must("gc", "--older-than", "0")
        expect(session.names() == pending and session.view() == view, "pending changes went")
        expect(session.must("diff", "--name-status", "@t") == pending, "the fork lost changes")
        expect(session.layers() == session.named(), "a layer that nobody names")
        rest = subprocess.run(
            ["find", "undo", "txn", "trash", "-mindepth", "1"],
            cwd=os.path.join(session.state, "sessions/s/r0"),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        expect(rest.stdout == "", f"left: {rest.stdout}")
        session.must("commit", "-y", "@s")
        return died, None
    finally:
        session.remove()


# What is checked, at which calls, and at every how many of them.
CHECKS = (
    (check_mark, FEW, 2),
    (check_fork, ["renameat2", "fsync"], 5),
    (check_rollback_to, ["renameat2", "fsync"], 9),
    (check_part, ["renameat2", "fsync"], 9),
    (crash.check_commit, ["renameat2", "fsync"], 9),
    (check_gc, ["unlinkat", "fsync"], 15),
)


def main():
    crash.Session = Layered
    return crash.run(
        [(x, crash.CALLS if SOAK else calls, 1 if SOAK else step) for x, calls, step in CHECKS]
    )


if __name__ == "__main__":
    sys.exit(main())
