#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 600
# soak-modes: userns
"""The host's git moves a reference, and packs it, right before a change that a commit makes.

All references of the repository are in packed-refs alone, so no file of them is ever replaced: the
commit adds a new file and has to see that the line in packed-refs changed.  The reference has the
value of the host afterwards.  A refused commit leaves all others as they were, names the
reference, and is repeated with success.

To pack without moving anything loses nothing, and lets nothing be lost.
"""

import collections
import functools
import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import stopper  # noqa: E402
from meddle import World, meet, sweep, tell  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
CONFLICT, BUSY = 5, 8
# Locks are links; before them are the decision, the plan and the journal.
CALLS = None if SOAK else ("linkat", "renameat2")
# With its date each commit has the same id in every run.  By chance two of them lie in one
# directory of objects, and that stops a commit as well.
PERSON = {
    f"GIT_{who}_{key}": value
    for who in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "n"), ("EMAIL", "e"), ("DATE", "@1700000000 +0000"))
}
GIT = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", **PERSON)
IDENTITY = "".join(f"export {name}='{value}';" for name, value in PERSON.items())
MOVE = "git update-ref refs/heads/{} $(git commit-tree -p HEAD -m session HEAD^{{tree}})"
LATER = IDENTITY + MOVE.format("later")
# Its directory is not there, so no lock can lie in it.
NESTED = "deep/er"
# A session moves one reference alone: what happens to a second one stops a commit as well.
INSIDE = {
    "main": "echo session >>f; git commit -qam session",
    "side": MOVE.format("side"),
    NESTED: MOVE.format(NESTED),
    "gone": "git branch -qD gone",
    "fresh": MOVE.format("fresh"),
}
NEW = ("fresh", "main")  # not to be made before


def git(base, *words, may_fail=False):
    done = subprocess.run(
        ["git", *words], cwd=base, env=GIT, capture_output=True, text=True, check=False
    )
    if done.returncode and not may_fail:
        raise AssertionError(f"git {' '.join(words)}: {done.stderr}")
    return None if done.returncode else done.stdout.strip()


def values(base):
    lines = git(base, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split() for line in lines)


class Repository(World):
    """Its commits are not about the gate, which asks about a deleted branch."""

    def call(self, command, *words):
        options = ("--no-gate",) if command == "commit" else ()
        return super().call(command, *options, *words)


def new_world(top, name):
    world = Repository(top, "p")
    world.write("p", {"f": "f\n"})
    git(world.base, "init", "-q", "-b", "main", ".")
    # A log is a file, and tells what a value has to tell.
    git(world.base, "config", "core.logAllRefUpdates", "false")
    git(world.base, "add", "f")
    git(world.base, "commit", "-qm", "one")
    if name and name not in NEW:
        git(world.base, "branch", name)
    git(world.base, "pack-refs", "--all", "--prune")
    world.begin(IDENTITY + INSIDE[name or "main"])
    return world


def move(base, name):
    """A commit of the host on that branch, in packed-refs alone; its id, or None."""
    at = git(base, "rev-parse", "-q", "--verify", f"refs/heads/{name}", may_fail=True)
    parents = ("-p", at) if at else ()
    mine = git(base, "commit-tree", "-m", "host", *parents, "main^{tree}")
    if git(base, "update-ref", f"refs/heads/{name}", mine, may_fail=True) is None:
        return None
    git(base, "pack-refs", "--all", "--prune", may_fail=True)
    return mine


def judge_moved(world, before, name, mine, status, said):
    now = values(world.base)
    whole = f"refs/heads/{name}"
    if mine and now.get(whole) != mine:
        raise AssertionError(f"the host's commit {mine} is lost: {now}")
    if not status:
        return
    others = {k: v for k, v in now.items() if k != whole or not mine}
    if others != {k: v for k, v in before.items() if k != whole or not mine}:
        raise AssertionError(f"refused, and yet something changed: {before} {now}")
    if name.split("/")[0] not in said and "packed-refs" not in said:
        raise AssertionError("the reference is not named")


def meet_at(top, name, seen, number):
    """One commit with one meddling, as meet() has it; without a name it only packs."""
    world = new_world(top, name)
    before = values(world.base)
    mine = []

    def meddle():
        if name:
            mine.append(move(world.base, name))
        else:
            mine.append(git(world.base, "pack-refs", "--all", "--prune", may_fail=True))
        return mine[0] is not None

    def check(status, said, happened):
        if status not in (0, CONFLICT, BUSY):
            raise AssertionError(f"exit status {status}")
        seen[status] += 1
        judge_moved(world, before, name or "packed-refs", mine[0] if name else None, status, said)
        if status:
            world.must("commit", "-y", "@s")
            now = values(world.base)
            if happened and name and now[f"refs/heads/{name}"] != mine[0]:
                raise AssertionError(f"the host's commit is lost by the second commit: {now}")
        world.must("exec", "@s", "--", "sh", "-ec", f"cd '{world.base}'; {LATER}")
        world.must("commit", "-y", "@s")
        git(world.base, "fsck", "--strict")
        if left := [p for p in world.texts(world.base) if p.endswith(".lock")]:
            raise AssertionError(f"locks are left: {left}")

    return meet(world, number, meddle, check, CALLS)


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    names = (*INSIDE, None)
    print(f"1..{len(names)}")
    top = os.path.join(os.environ["TMPDIR"], "race")
    for count, name in enumerate(names):
        seen = collections.Counter()
        failures = sweep(1, 1, functools.partial(meet_at, top, name, seen))
        if not seen[CONFLICT if name else 0]:
            failures.append("no commit was ever refused" if name else "none was ever made")
        print("# " + ", ".join(f"{n} times {status}" for status, n in sorted(seen.items())))
        words = f"the host moves {name} and packs it" if name else "the host packs references"
        tell(count + 1, words, failures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
