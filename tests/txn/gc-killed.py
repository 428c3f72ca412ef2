#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gc is killed right before each change that it makes.

Of commits that could be undone the last ones are left, without a gap: what undo
takes back then is what was done last.
"""

import functools
import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import stopper  # noqa: E402
from meddle import World, sweep, tell  # noqa: E402

COMMITS = 6
TEXTS = [f"{n}\n" for n in range(COMMITS + 1)]
STEP = 1 if os.environ.get("HB_SOAK") == "1" else 12


def new_world(top):
    world = World(top, "p")
    world.write("p", {"f": TEXTS[0]})
    world.must("create", "s", "--cow", world.base)
    for n in range(1, COMMITS + 1):
        world.must("exec", "@s", "--", "sh", "-c", f"echo {n} >'{world.base}/f'")
        world.must("commit", "-y", "@s")
    return world


def read(world):
    return world.texts(world.base)["f"]


def step_by_step(world, command, texts):
    """As often as it goes, and what is in the file after each time."""
    for text in texts:
        done = subprocess.run(
            world.call(command, "@s"), cwd=world.base, capture_output=True, check=False
        )
        if done.returncode == 10:
            return
        if done.returncode or read(world) != text:
            raise AssertionError(f"{command}: {done.returncode}, {read(world)!r} and not {text!r}")


def meet_at(top, undone, number):
    """One gc that is killed there; None when it makes no such change."""
    world = new_world(top)
    try:
        for _ in range(undone):
            world.must("undo", "@s")
        with stopper.Stopper(
            world.call("gc", "--older-than", "0"), cwd=world.base, stdout=subprocess.DEVNULL
        ) as program:
            name = program.run_to(number)
            if name:
                program.kill()
        now = COMMITS - undone
        step_by_step(world, "redo", TEXTS[now + 1 :])
        at = int(read(world))
        step_by_step(world, "undo", TEXTS[:at][::-1])
        return "" if name else None
    except AssertionError as error:
        return f"before change {number}, {name}: {error}"
    finally:
        world.remove()


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    print("1..2")
    top = os.path.join(os.environ["TMPDIR"], "gc")
    for count, undone in enumerate((0, COMMITS // 2)):
        failures = sweep(1, STEP, functools.partial(meet_at, top, undone))
        tell(count + 1, f"{COMMITS} commits, {undone} of them undone", failures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
