#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 600
"""A commit with --git=merge is killed right before each change that it makes.

The repository is that of before or has the merge, and is whole.  The same command
ends it; no session that was made for the merge, branch, lock or other file is left.
Undo brings everything back.
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

STEP = 5 if os.environ.get("HB_SOAK") == "1" else 23
MERGE = ("commit", "-y", "--git=merge", "@s")
GIT = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "core.fsync=none"]


def git(world, *words):
    done = subprocess.run(
        GIT + list(words), cwd=world.base, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise AssertionError(f"git {words}: {done.stderr}")
    return done.stdout


def new_world(top):
    world = World(top, "p")
    world.write("p", {"f": "".join(f"{n}\n" for n in range(10)), "g": "g\n"})
    git(world, "init", "-q", "-b", "master", ".")
    git(world, "add", ".")
    git(world, "commit", "-qm", "one")
    world.begin(f"sed -i s/^2/two/ f; echo new >new; git add new; {' '.join(GIT)} commit -qam two")
    world.write("p", {"f": "".join(f"{n}\n" for n in range(9)) + "nine\n"})
    git(world, "commit", "-qam", "nine")
    return world


def look(world):
    """Files, references, HEAD, index and what git says about them."""
    files = {k: v for k, v in world.texts(world.base).items() if not k.startswith(".git/")}
    return (files, git(world, "for-each-ref"), git(world, "symbolic-ref", "HEAD"),
            git(world, "ls-files", "-s"), git(world, "status", "--porcelain"))  # fmt: skip


def judge(world, old):
    world.must("status", "@s", known=(0, 10))
    world.must("recover", "@s", known=(0, 10))
    git(world, "fsck", "--strict")
    now = look(world)
    if now != old and "nine" not in now[0]["f"]:
        raise AssertionError(f"neither old nor new: {now}")
    is_new = "two" in now[0]["f"]
    if not is_new and now != old:
        raise AssertionError(f"not as it was: {now}")
    world.must(*MERGE)
    git(world, "fsck", "--strict")
    files, refs, _, _, status = look(world)
    if status or len(refs.splitlines()) != 1 or not {"two\n", "nine\n"} <= set(
        files["f"].splitlines(keepends=True)
    ):
        raise AssertionError(f"not merged: {files}, {refs}, {status}")
    world.must("undo", "@s")
    if look(world) != old:
        raise AssertionError("undo is not exact")
    world.must("gc", known=(0,))
    names = os.listdir(os.path.join(world.state, "sessions"))
    if names != ["s"]:
        raise AssertionError(f"left in the store: {names}")
    locks = [name for name in world.texts(world.base) if name.endswith(".lock")]
    if locks:
        raise AssertionError(f"locks are left: {locks}")


def meet_at(top, number):
    """One commit that is killed there; None when it makes no such change."""
    world = new_world(top)
    name = None
    try:
        old = look(world)
        with stopper.Stopper(
            world.call(*MERGE), cwd=world.base,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as program:  # fmt: skip
            name = program.run_to(number)
            if name:
                program.kill()
        if not name:
            return None
        judge(world, old)
        return ""
    except AssertionError as error:
        return f"before change {number}, {name}: {error}"
    finally:
        world.remove()


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    print("1..1")
    top = os.path.join(os.environ["TMPDIR"], "merge")
    tell(1, "a merge that is killed", sweep(1, STEP, functools.partial(meet_at, top)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
