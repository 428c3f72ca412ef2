#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# serial
# needs: strace
# timeout: 300
"""Kills `holdback run` with SIGKILL, at its system calls and at random instants.

Afterwards there is no process of the box, no mount and nothing in the store but
sessions; the real tree is what it was, and each session can be gone on with and
be committed or removed.
"""

import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

from killed import HOLDBACK, STAYS, at_each, main, settle, use  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
RANDOM = 2000 if SOAK else 200
# The supervisor's system calls, and how many of each are left out.
CALLS = {"mkdirat": 5, "unlinkat": 7, "renameat": 1, "renameat2": 1, "write": 4, "clone": 1,
         "poll": 1, "wait4": 1, "fsync": 1, "flock": 1, "symlinkat": 1, "openat": 23, "openat2": 13}  # fmt: skip
SEED = int(os.environ.get("HB_SEED", random.randrange(1 << 30)))


def at_calls(world):
    """At system calls of the supervisor."""

    def kill(call, number):
        inject = f"inject={call}:signal=KILL:when={number}"
        return ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject]

    calls = {call: 1 if SOAK else step for call, step in CALLS.items()}
    visited = sum(at_each(world, calls, kill).values())
    if visited < 20:
        raise AssertionError(f"only {visited} calls were visited")
    return visited


def at_random(world):
    """At instants between the start and long after the command runs."""
    chance = random.Random(SEED)
    begin = time.monotonic()
    world.run(*world.words("true"))
    usual = time.monotonic() - begin
    for number in range(RANDOM):
        with subprocess.Popen(
            world.words(STAYS), cwd=world.project, env=world.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as victim:  # fmt: skip
            # An instant is what is tested: nothing depends on which.
            time.sleep(chance.random() * 2 * usual)
            victim.send_signal(signal.SIGKILL)
        if number % 20 == 19:
            names = settle(world)
            use(world, names[0]) if names else None
            for name in settle(world):
                world.run(HOLDBACK, "cleanup", "-y", f"@{name}")
    if settle(world):
        raise AssertionError(f"seed {SEED}: sessions are left")
    return RANDOM


if __name__ == "__main__":
    sys.exit(main(at_calls, at_random))
