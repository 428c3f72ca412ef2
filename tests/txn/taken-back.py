#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
# soak-modes: userns
"""A commit that was taken back makes no conflict of new files in directories that it touched.

A real file changes right before each change of a commit, so that the commit is refused.  The
directories that it touched have their old time and a new change time then, as after a move.
New files below them, of before and of after the refused commit, are no conflict.  The same holds
if the user writes a file to the directory meanwhile, and if a commit came before.
"""

import functools
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import stopper  # noqa: E402
from meddle import World, meet, sweep, tell  # noqa: E402
from stopper import replace  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
CONFLICT = 5
STEP = 1 if SOAK else 3
BASE = {"e/y": "y\n", "e/deep/y": "y\n", "z": "z\n", "gone/x": "x\n", "gone/y": "y\n"}
INSIDE = "echo 1 >e/one; echo 1 >e/deep/one; echo s >>e/y; rm gone/x; mkdir new; echo n >new/n; echo s >>z"
LATER = "echo 2 >e/two; echo 2 >e/deep/two; echo 2 >gone/two; echo 2 >new/two"
NEW = ("e/one", "e/two", "e/deep/one", "e/deep/two", "gone/two", "new/n", "new/two")


def new_world(top, is_second):
    world = World(top, "p")
    world.write("p", BASE)
    world.begin("echo 0 >e/zero; echo 0 >gone/zero; echo 0 >zero" if is_second else INSIDE)
    if is_second:
        world.must("commit", "-y", "@s")
        world.must("exec", "@s", "--", "sh", "-ec", f"cd '{world.base}'; {INSIDE}")
    return world


def meet_at(top, is_second, is_filled, seen, number):
    """One commit that is refused, then another without the file that stood against it."""
    world = new_world(top, is_second)

    def meddle():
        replace(os.path.join(world.base, "z"))
        if is_filled:
            world.write("p", {"e/his": "his\n", "e/deep/his": "his\n"})
        return True

    def check(status, said, _):
        seen.append(status)
        if status == 0:
            return
        if status != CONFLICT:
            raise AssertionError(f"exit status {status}: {said}")
        world.must("exec", "@s", "--", "sh", "-ec", f"cd '{world.base}'; {LATER}")
        world.must("commit", "-y", "--except", "z", "@s")
        real = world.texts(world.base)
        if missing := [path for path in NEW if path not in real]:
            raise AssertionError(f"not committed: {missing}")
        if is_filled and real.get("e/his") != "his\n" or is_filled and real.get("e/deep/his") != "his\n":
            raise AssertionError(f"a file of the user is gone: {real}")

    return meet(world, number, meddle, check, ("renameat2", "utimensat", "linkat"))


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    print("1..4")
    top = os.path.join(os.environ["TMPDIR"], "back")
    for number in range(4):
        is_second, is_filled, seen = number > 1, bool(number % 2), []
        failures = sweep(1 + number % STEP, STEP, functools.partial(meet_at, top, is_second, is_filled, seen))
        if CONFLICT not in seen:
            failures.append(f"no commit was ever refused: {seen}")
        words = "new files after a commit that was taken back"
        tell(number + 1, words + ", with files of the user" * is_filled + ", the second" * is_second, failures)
        print(f"# {seen.count(CONFLICT)} refused of {len(seen)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
