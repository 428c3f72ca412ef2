#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 900
"""The random operations of txn/strategies in a git checkout, also by a session on a
branch of its own.

It gives the same change set with the same hash, the same committed tree, and the
same way back as the other strategies, also for what git does not know.  A seed that
fails is printed; HB_SEED repeats it.
"""

import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.path.insert(0, os.path.join(TESTS, "txn"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import differential as one  # noqa: E402
import strategies as plain  # noqa: E402

NAMES = ["overlay", "git_worktree"]
SEEDS = 1000 if os.environ.get("HB_SOAK") == "1" else 6
GIT = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "core.fsync=none",
       "-c", "core.excludesFile=/dev/null"]  # fmt: skip


class Side(plain.Side):
    """One strategy in a checkout, in which the tree is a directory."""

    def __init__(self, work, strategy, native):  # pylint: disable=super-init-not-called
        self.work = os.path.join(work, strategy)
        self.top = os.path.join(self.work, "top")
        self.real = os.path.join(self.top, "tree")
        self.state = os.path.join(self.work, "state")
        os.makedirs(self.top)
        subprocess.run(["cp", "-a", native, self.real], check=True)
        for words in (["init", "-q", "."], ["add", "-A", "--ignore-errors"],
                      ["commit", "-q", "--allow-empty", "-m", "one"]):  # fmt: skip
            subprocess.run(GIT + words, cwd=self.top, check=words[0] != "add",
                           capture_output=True)  # fmt: skip
        self.do("create", "s", "--cow", self.top, "--ro", TESTS, "--no-fallback",
                "--strategy", strategy)  # fmt: skip


def main():
    plain.STRATEGIES, plain.Side = NAMES, Side
    batches = one.batches_of(SEEDS, plain.BATCH)
    print(f"1..{len(batches)}")
    one.try_batches(plain.try_seed, batches)
    return 0


if __name__ == "__main__":
    sys.exit(main())
