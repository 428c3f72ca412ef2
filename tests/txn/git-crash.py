#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace git
# timeout: 900
# soak-modes: userns
"""Kills commit and undo of a repository at each of their system calls that change something.

The next command recovers, whichever it is.  Then `git fsck` finds nothing, HEAD leads to a commit,
the index can be read, no lock is left, and references, HEAD, index, logs and files are all the old
ones or all the new ones.
"""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "lib")]
# pylint: disable=wrong-import-position
import crash  # noqa: E402
import gitsnap  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
CALLS = [*crash.CALLS, "write", "openat", "copy_file_range"]
# A kill at a call that changes nothing shows nothing new.
STEPS = {"openat": 60, "write": 6}
STEP = 1 if SOAK else 8
PERSON = "".join(
    f"export GIT_{who}_{key}='{value}';"
    for who in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "n"), ("EMAIL", "e"), ("DATE", "@1700000000 +0000"))
)
PERSON += "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null;"
BASE = PERSON + (
    "git init -q -b main --template= .; git config gc.auto 0; for i in f g h; do echo $i >$i; done;"
    "git add .; git commit -qm one; git branch gone; git branch moves; git branch deep/er;"
    "git pack-refs --all; echo staged >>h; git add h"
)
CHANGE = PERSON + (
    "echo more >>f; git commit -qm two f; git rm -qf g; git commit -qm three; git branch -q -D gone;"
    "git branch -f moves; git branch new/one; git tag -a -m t v1; echo x >n; git add n;"
    "git branch -q -m deep/er moved; echo s >>f; git stash -q -- f; echo loose >>f"
)
# Each of them recovers, and not only the one that is made for it.
AFTER = (("recover", "@s"), ("exec", "@s", "--", "true"))
# The user commits as well: the session's commits go to a branch of their own.
BESIDE = PERSON + "echo beside >beside; git add beside; git commit -qm beside beside"


class Repository(crash.Session):
    """A repository, and a session that moved, made and deleted references."""

    beside = ""
    after = 0

    def __init__(self):
        super().__init__()
        if self.beside:
            crash.subprocess.run(["sh", "-ec", self.beside], cwd=self.real, check=True)

    def words(self, *words):
        # It asks about a deleted branch.
        options = ("--no-gate",) if words[0] == "commit" else ()
        return super().words(words[0], *options, *words[1:])

    def must(self, *words):
        if words[0] == "recover" and len(words) == 2:
            Repository.after += 1
            super().must(*AFTER[self.after % len(AFTER)])
        return super().must(*words)


class Beside(Repository):
    """The same, and the user has a commit of his own."""

    beside = BESIDE


def check_commit(call, number):
    crash.Session = Repository
    return crash.check_commit(call, number)


def check_undo(call, number):
    crash.Session = Repository
    return crash.check_undo(call, number)


def check_branch(call, number):
    """To a branch: what the merge brings stays pending."""
    session = Beside()
    try:
        old, pending = session.tree(), session.names()
        died, _ = crash.killed(session, call, number, "commit", "-y", "@s")
        session.must("recover", "@s")
        session.check_row()
        if session.tree() == old:
            if session.names() != pending:
                raise AssertionError("the repository is the old one and changes are lost")
            session.must("commit", "-y", "@s")
        new = session.tree()
        if not any("refs/heads/holdback/s " in line for line in new):
            raise AssertionError("the commits are on no branch of the session")
        session.must("undo", "@s")
        if session.tree() != old or session.names() != pending:
            raise AssertionError("undo does not give the old repository")
        return died, new
    finally:
        session.remove()


def main():
    crash.digest, crash.BASE, crash.CHANGE = gitsnap, BASE, CHANGE
    crash.LIMIT = 5000
    checks = []
    for check, times in ((check_commit, 1), (check_undo, 1), (check_branch, 2)):
        for call in CALLS:
            step = STEPS.get(call, 1) * STEP * times
            checks.append((check, [call], 1 if SOAK and call != "openat" else step))
    return crash.run(checks)


if __name__ == "__main__":
    sys.exit(main())
