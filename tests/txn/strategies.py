#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""The same random operations under each strategy.

They give the same change set with the same hash, the same committed tree, and
the same way back; also when the changes of two commands are pending together.
A seed that fails is printed; HB_SEED repeats it.
"""

import json
import os
import random
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.path.insert(0, os.path.join(TESTS, "txn"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import differential as one  # noqa: E402
import digest  # noqa: E402

STRATEGIES = ["overlay", "copy_on_write"]
SEEDS = 4000 if os.environ.get("HB_SOAK") == "1" else 6
BATCH = 3
OPERATIONS = 60


class Side:
    """One strategy with a tree and a session of its own."""

    def __init__(self, work, strategy, native):
        self.work = os.path.join(work, strategy)
        self.real = os.path.join(self.work, "real")
        self.state = os.path.join(self.work, "state")
        os.mkdir(self.work)
        subprocess.run(["cp", "-a", native, self.real], check=True)
        self.do("create", "s", "--cow", self.real, "--ro", TESTS, "--no-fallback",
                "--strategy", strategy)  # fmt: skip

    def do(self, *words):
        return one.holdback(self.state, *words, cwd=self.work)

    def operate(self, seed, count, last):
        inside = [sys.executable, os.path.abspath(__file__), "--inside"]
        one.holdback(self.state, "exec", "@s", "--", *inside, str(seed), str(count),
                     str(int(last)), cwd=self.real)  # fmt: skip

    def changes(self):
        document = json.loads(self.do("status", "--json", "-v", "@s"))
        for change in document["changes"]:
            for key in ("source", "base_time", "session_time"):
                change.pop(key, None)
        return document["changes"], document["summary"]

    def names(self):
        return self.do("diff", "--name-status", "@s")


def same(what, sides, ask):
    """The answer of all, which is one."""
    answers = [ask(side) for side in sides]
    for answer in answers[1:]:
        if answer != answers[0]:
            raise AssertionError(f"{what}:\n  {answers[0]}\n  {answer}")
    return answers[0]


def tree(side):
    return one.without_holes(digest.digest(side.real))


def try_seed(work, seed):
    native = os.path.join(work, "native")
    os.mkdir(native)
    rounds = random.Random(seed).choice([1, 2, 3])
    one.fill(native, seed, rounds == 1)
    sides = [Side(work, strategy, native) for strategy in STRATEGIES]
    before = same("the tree at the beginning", sides, tree)
    for number in range(rounds):
        part = seed + 1000003 * (number + 1)
        last = number == rounds - 1
        one.Operations(native, part, last).run(OPERATIONS // rounds)
        for side in sides:
            side.operate(part, OPERATIONS // rounds, last)
        same("the change set", sides, Side.changes)
        same("the names", sides, Side.names)
        if same("the real tree", sides, tree) != before:
            raise AssertionError("the real tree has changed")
    for side in sides:
        side.do("commit", "-y", *one.ALLOW, "@s")
    after = same("the committed tree", sides, tree)
    one.compare_to_native("the committed tree", after, digest.digest(native))
    for command, want in (("undo", before), ("redo", after), ("undo", before)):
        for side in sides:
            side.do(command, "@s")
        one.compare_to_native(f"the tree after {command}", same(command, sides, tree), want)
    way_back(sides, seed, before)
    for side in sides:
        side.do("cleanup", "-y", "@s")


def way_back(sides, seed, before):
    """With changes pending again: the view follows every change of mind."""
    pending = same("the change set after undo", sides, Side.changes)
    for side in sides:
        side.do("rollback", "-y", "@s")
        side.do("exec", "@s", "--", "true")
    if same("what is left after rollback", sides, Side.names) != "":
        raise AssertionError("something is left after rollback")
    for side in sides:
        side.do("undo", "@s")
        side.do("exec", "@s", "--", "true")
    if same("the change set that came back", sides, Side.changes) != pending:
        raise AssertionError("another change set came back")
    for side in sides:
        side.operate(seed + 7, 10, True)
    same("the change set of one more command", sides, Side.changes)
    if same("the real tree", sides, tree) != before:
        raise AssertionError("the real tree has changed")


def main():
    batches = one.batches_of(SEEDS, BATCH)
    print(f"1..{len(batches)}")
    one.try_batches(try_seed, batches)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        one.Operations(os.getcwd(), int(sys.argv[2]), sys.argv[4] == "1").run(int(sys.argv[3]))
        sys.exit(0)
    sys.exit(main())
