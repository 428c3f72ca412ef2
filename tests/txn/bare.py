#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
# modes: user userns
"""The same random operations over an overlay, and without any namespace.

As tests/txn/strategies.py, with sessions that `run` made: one as always, one
where a filter refuses user namespaces and --allow-degraded runs the command on
a copy at its own path.  Change set, committed tree and way back are the same.
Root is refused there (tests/cli/bare.sh).
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
import strategies as two  # noqa: E402

SEEDS = 400 if os.environ.get("HB_SOAK") == "1" else 2
NO_NAMESPACES = ["deny", "clone:0&0x10000000", "EPERM", "--"]


class Operations(one.Operations):
    """Without attributes: there they are refused."""

    def attribute(self):
        pass


class Side(two.Side):
    """`strategy` is overlay or bare."""

    def __init__(self, work, strategy, native):  # pylint: disable=super-init-not-called
        self.work = os.path.join(work, strategy)
        self.real = os.path.join(self.work, "real")
        self.state = os.path.join(self.work, "state")
        self.before = [] if strategy == "overlay" else [os.environ["HB_PROBE"]] + NO_NAMESPACES
        self.words = [] if strategy == "overlay" else ["--allow-degraded"]
        os.mkdir(self.work)
        subprocess.run(["cp", "-a", native, self.real], check=True)
        self.run("run", "-q", "-s", "s", "--ro", TESTS, *self.words, "--", "true")

    def run(self, *words):
        env = dict(os.environ, XDG_STATE_HOME=self.state, HOME=self.work)
        done = subprocess.run(
            self.before + [os.environ["HB_BIN"], *words],
            cwd=self.real, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def do(self, *words):
        return self.run(*words)

    def operate(self, seed, count, last):
        inside = [sys.executable, os.path.abspath(__file__), "--inside"]
        self.run("exec", "@s", "--", *inside, str(seed), str(count), str(int(last)))


if __name__ == "__main__":
    one.Operations = Operations
    if sys.argv[1:2] == ["--inside"]:
        Operations(os.getcwd(), int(sys.argv[2]), sys.argv[4] == "1").run(int(sys.argv[3]))
        sys.exit(0)
    two.Side, two.STRATEGIES, two.SEEDS = Side, ["overlay", "bare"], SEEDS
    two.BATCH = 1
    sys.exit(two.main())
