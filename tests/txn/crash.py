#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace
# timeout: 900
# soak-modes: userns
"""Kills commit, undo and rollback at each of their system calls that change
something, and looks at what the next command makes of it.

The tree is then wholly the old or wholly the new one, the session is intact,
and nobody was told "committed" unless it is.  This is the view from outside;
tests/unit/t_crash.c visits every passage with every fault.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
# pylint: disable=wrong-import-position
import digest  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
CALLS = ["renameat2", "renameat", "fsync", "unlinkat", "mkdirat", "linkat", "utimensat"]
STRATEGY = ["--strategy", os.environ["HB_STRATEGY"]] if "HB_STRATEGY" in os.environ else []
STEP = 1 if os.environ.get("HB_SOAK") == "1" else 2
LIMIT = 200
CONFLICT, STATE = 5, 10
BASE = "mkdir d e; echo f >f; echo g >g; echo x >d/x; echo y >e/y; ln -s f l"
CHANGE = (
    "echo more >>f; rm g; rm -r e; mkdir e n; echo z >e/z; echo 1 >n/1; ln n/1 n/2;"
    "rm l; mkdir l; echo in >l/in; chmod 700 d; touch -d 2001-01-01 d n"
)


class Session:
    """A project with a session that has pending changes."""

    def __init__(self):
        self.work = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.real = os.path.join(self.work, "p")
        self.state = os.path.join(self.work, "state")
        self.make_base()
        self.must("create", "s", "--cow", self.real, *STRATEGY)
        self.must("exec", "@s", "--", "sh", "-c", CHANGE)

    def make_base(self):
        os.mkdir(self.real)
        subprocess.run(["sh", "-c", BASE], cwd=self.real, check=True)

    def words(self, *words):
        return [HOLDBACK, words[0], "--state-dir", self.state, *words[1:]]

    def run(self, *words, under=()):
        return subprocess.run(
            [*under, *self.words(*words)], cwd=self.work,
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip

    def must(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise AssertionError(f"{words[0]}: {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def tree(self):
        return digest.digest(self.real)

    def check_row(self):
        """Names that no command leaves together are an error of verify."""
        done = self.run("verify", "@s")
        if done.returncode == STATE:
            raise AssertionError(f"verify: {done.stderr.strip()}")

    def names(self):
        return self.must("diff", "--name-status", "@s")

    def remove(self):
        for folder, folders, _ in os.walk(self.work):
            for name in folders:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(self.work)


def killed(session, call, number, *words):
    """Runs a command that dies at the number-th such call: whether it did."""
    inject = f"inject={call}:signal=KILL:when={number}"
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject]
    done = session.run(*words, under=strace)
    session.check_row()
    return done.returncode != 0, done


def check_commit(call, number):
    session = Session()
    try:
        old, pending = session.tree(), session.names()
        died, done = killed(session, call, number, "commit", "-y", "@s")
        is_said = "committed" in done.stdout
        if number // STEP % 2 and died:
            session.must("recover", "--back", "@s")
        session.must("recover", "@s")
        session.check_row()
        if session.tree() == old:
            if is_said:
                raise AssertionError("said committed, and is not")
            if session.names() != pending:
                raise AssertionError("the tree is the old one and changes are lost")
            # What moved there and back was not changed by somebody else.
            session.must("commit", "-y", "@s")
        if session.names():
            raise AssertionError(f"still pending: {session.names()}")
        new = session.tree()
        session.must("undo", "@s")
        if session.tree() != old or session.names() != pending:
            raise AssertionError("undo does not give the old tree")
        return died, new
    finally:
        session.remove()


def check_undo(call, number):
    session = Session()
    try:
        old, pending = session.tree(), session.names()
        session.must("commit", "-y", "@s")
        new = session.tree()
        died, _ = killed(session, call, number, "undo", "@s")
        session.must("recover", "@s")
        session.check_row()
        if session.tree() == new:
            if session.names():
                raise AssertionError("the tree is the new one and changes are pending")
            session.must("undo", "@s")
        if session.tree() != old or session.names() != pending:
            raise AssertionError("not the old tree")
        return died, None
    finally:
        session.remove()


def check_disputed(call, number):
    """The undo of a commit that --theirs let pass: the conflict comes back with it."""
    session = Session()
    try:
        user = os.path.join(session.real, "e", "y")
        with open(user, "a", encoding="ascii") as file:
            file.write("user\n")
        os.unlink(os.path.join(session.real, "f"))
        old = session.tree()
        session.must("commit", "-y", "--theirs", "e", "--theirs", "f", "@s")
        new = session.tree()
        died, _ = killed(session, call, number, "undo", "@s")
        session.must("recover", "@s")
        session.check_row()
        if session.tree() == new:
            session.must("undo", "@s")
        for words in ((), ("--theirs", "e"), ("--theirs", "f")):
            if session.run("commit", "-y", *words, "@s").returncode != CONFLICT:
                raise AssertionError(f"a conflict is forgotten: {words}")
        if session.tree() != old:
            raise AssertionError("not the old tree")
        return died, None
    finally:
        session.remove()


def check_rollback(call, number):
    session = Session()
    try:
        old, pending = session.tree(), session.names()
        died, _ = killed(session, call, number, "rollback", "-y", "@s")
        session.must("recover", "@s")
        session.check_row()
        names = session.names()
        if names not in ("", pending):
            raise AssertionError(f"a part is left: {names}")
        if session.tree() != old:
            raise AssertionError("the base has changed")
        if names == "":
            session.must("undo", "@s")
            if session.names() != pending:
                raise AssertionError("undo does not bring the changes back")
        return died, None
    finally:
        session.remove()


def without_times(lines):
    """What was made at another time, but for that."""
    return [" ".join(line.split(" ")[:6]) for line in lines]


def sweep(check, call, step):
    """Every so many-th call of that kind, until the command lives."""
    faults, trees = 0, []
    for number in range(1, LIMIT, step):
        died, tree = check(call, number)
        if tree and without_times(tree) not in trees:
            trees.append(without_times(tree))
        if not died:
            break
        faults += 1
    if len(trees) > 1:
        raise AssertionError("not always the same new tree")
    return faults


def run(checks):
    """Of each check its calls, and at every how many of them it is killed."""
    probe = subprocess.run(
        ["strace", "-f", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False
    )
    if probe.returncode != 0:
        print("1..0 # SKIP strace cannot trace here")
        return 0
    print(f"1..{sum(len(calls) for _, calls, _ in checks)}")
    number = faults = 0
    for check, call, step in ((c, call, step) for c, calls, step in checks for call in calls):
        number += 1
        name = f"{check.__name__[6:]} killed at {call}"
        try:
            count = sweep(check, call, step)
            faults += count
            print(f"ok {number} - {name}, {count} times")
        except AssertionError as error:
            print(f"not ok {number} - {name}")
            print("\n".join(f"# {line}" for line in str(error).splitlines()))
        sys.stdout.flush()
    print(f"# {faults} faults injected")
    return 0


def main():
    checks = [(x, CALLS, STEP) for x in (check_commit, check_undo, check_rollback)]
    return run([*checks, (check_disputed, ["renameat2", "fsync", "unlinkat"], 2 * STEP)])


if __name__ == "__main__":
    sys.exit(main())
