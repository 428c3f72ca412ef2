#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gc and cleanup --stale are held before each lock while another command works.

What they judged before they had the lock may be somebody's by then.
"""

import fcntl
import functools
import os
import shutil
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import stopper  # noqa: E402
from meddle import World, sweep, tell  # noqa: E402

COLLECTORS = (("gc", "--older-than", "0"), ("cleanup", "--stale", "-y"))
PUBLISH = {"renameat2": stopper.CALLS["renameat2"]}


def stop(world, calls, *words):
    return stopper.Stopper(
        world.call(*words), calls, cwd=world.base, stdout=subprocess.DEVNULL
    )  # fmt: skip


def ends_well(program):
    if program.status is None:
        program.go_on()
    if program.status != 0:
        raise AssertionError(f"{program.child.args[1]}: exit status {program.status}")


def crash(world):
    """A command that changes nothing is killed with its supervisor."""
    with subprocess.Popen(
        world.call("exec", "@s", "--", "sh", "-c", "echo; read -r line"),
        cwd=world.base, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as box:  # fmt: skip
        box.stdout.readline()
        box.kill()
    # The lock goes with the box.
    with open(os.path.join(world.state, "sessions/s/lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def change(world):
    world.must("exec", "@s", "--", "sh", "-c", "echo new >f")


def is_pending(world):
    changes = world.must("diff", "--name-status", "@s")
    if changes != "M\tf\n":
        raise AssertionError(f"what was written is not pending: {changes!r}")


def meet_exec(world, collector, number):
    """An exec while a crashed session is about to be removed, at that lock."""
    world.must("create", "s", "--cow", world.base)
    crash(world)
    with stop(world, stopper.LOCKS, *collector) as program:
        name = program.run_to(number)
        if name:
            change(world)
        ends_well(program)
    if name:
        is_pending(world)
    elif number == 1 or world.must("ls"):
        raise AssertionError("what crashed with nothing pending is not removed under a lock")
    return name


def meet_create(world, collector, number):
    """A create gives its session the name while the collector is at that lock."""
    with stop(world, PUBLISH, "create", "s", "--cow", world.base) as maker:
        while not os.path.exists(os.path.join(os.path.dirname(world.top), ".holdback/store")):
            if not maker.run_to(maker.passed + 1):
                raise AssertionError("its store is not beside the project")
        with stop(world, stopper.LOCKS, *collector) as program:
            name = program.run_to(number)
            ends_well(maker)
            ends_well(program)
    change(world)
    is_pending(world)
    return name


def meet_at(meet, top, state, collector, number):
    """One meeting before that lock: what is wrong, or ""; None: there is no such lock."""
    world = World(top, "p")
    world.state = state
    world.write("p", {"f": "old\n"})
    try:
        return "" if meet(world, collector, number) else None
    except AssertionError as error:
        return f"before lock {number}: {error}"
    finally:
        subprocess.run(world.call("cleanup", "-y", "@s"), cwd=world.base, capture_output=True, check=False)
        world.remove()
        shutil.rmtree(state, ignore_errors=True)


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    print(f"1..{2 * len(COLLECTORS)}")
    here = os.environ["TMPDIR"]
    state = os.path.join(here, "state")
    # There a session has its store beside the project.
    apart = tempfile.mkdtemp(prefix="holdback.", dir="/dev/shm")
    is_apart = os.stat(apart).st_dev != os.stat(here).st_dev
    meetings = [
        (meet, top, collector)
        for meet, top in ((meet_exec, here), (meet_create, apart))
        for collector in COLLECTORS
    ]
    for count, (meet, top, collector) in enumerate(meetings, 1):
        words = f"{meet.__name__}: {' '.join(collector)}"
        if top == apart and not is_apart:
            print(f"ok {count} - {words} # SKIP there is no other file system")
            continue
        place = os.path.join(top, "gc")
        tell(count, words, sweep(1, 1, functools.partial(meet_at, meet, place, state, collector)))
    os.rmdir(apart)
    return 0


if __name__ == "__main__":
    sys.exit(main())
