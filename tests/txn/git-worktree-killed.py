#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 900
"""A session on a branch of its own is killed right before each change that its
beginning makes, and its commit, undo, rollback, cleanup and gc.

The real repository is that of before or has the merge, and is whole.  The next
command begins anew, or ends the commit.  Edits of the user are never lost, and no
branch, lock or session that was made aside is left.
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

STEP = 5 if os.environ.get("HB_SOAK") == "1" else 31
# The ways back share most of their steps with all other sessions.
RARELY = 5 if os.environ.get("HB_SOAK") == "1" else 111
COMMIT = ("commit", "-y", "@s")
GIT = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "core.fsync=none"]
WORK = f"sed -i s/^2/two/ f; echo new >new; {' '.join(GIT)} commit -qam two; sed -i s/^3/three/ f"


def git(world, *words):
    done = subprocess.run(
        GIT + list(words), cwd=world.base, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise AssertionError(f"git {words}: {done.stderr}")
    return done.stdout


def create(world):
    return ("create", "s", "--cow", world.base, "--strategy", "git_worktree")


def new_world(top):
    """A repository with an edit in no commit, and no session."""
    world = World(top, "p")
    world.write("p", {"f": "".join(f"{n}\n" for n in range(10)), "g": "g\n"})
    git(world, "init", "-q", "-b", "master", ".")
    git(world, "add", ".")
    git(world, "commit", "-qm", "one")
    world.write("p", {"g": "edit\n"})
    return world


def begun_world(top):
    world = new_world(top)
    world.must(*create(world))
    world.must("exec", "@s", "--", "sh", "-c", WORK)
    world.write("p", {"f": "".join(f"{n}\n" for n in range(9)) + "nine\n"})
    git(world, "commit", "-qm", "nine", "f")
    return world


def look(world):
    """Files, references, HEAD, index and what git says about them."""
    files = {k: v for k, v in world.texts(world.base).items() if not k.startswith(".git/")}
    return (files, git(world, "for-each-ref"), git(world, "symbolic-ref", "HEAD"),
            git(world, "ls-files", "-s"), git(world, "status", "--porcelain"))  # fmt: skip


def need_clean_store(world, want):
    world.must("gc", known=(0,))
    names = os.listdir(os.path.join(world.state, "sessions"))
    if names != want:
        raise AssertionError(f"left in the store: {names}")
    locks = [name for name in world.texts(world.base) if name.endswith(".lock")]
    if locks:
        raise AssertionError(f"locks are left: {locks}")


def judge_commit(world, old):
    world.must("status", "@s", known=(0, 10))
    world.must("recover", "@s", known=(0, 10))
    git(world, "fsck", "--strict")
    now = look(world)
    is_new = "two" in now[0]["f"]
    if not is_new and now != old:
        raise AssertionError(f"not as it was: {now}")
    world.must(*COMMIT)
    git(world, "fsck", "--strict")
    files, refs, _, _, status = look(world)
    if status != " M g\n" or files["g"] != "edit\n" or len(refs.splitlines()) != 1:
        raise AssertionError(f"an edit is lost, or a branch is left: {files}, {refs}, {status}")
    if not {"two", "three", "nine"} <= set(files["f"].split()) or files["new"] != "new\n":
        raise AssertionError(f"not merged: {files}")
    world.must("undo", "@s")
    if look(world) != old:
        raise AssertionError("undo is not exact")
    need_clean_store(world, ["s"])


def judge_beginning(world, old):
    if look(world) != old:
        raise AssertionError(f"the host has changed: {look(world)}")
    world.must(*create(world), known=(0, 10))
    out = world.must("exec", "@s", "--", "sh", "-c",
                     "git symbolic-ref HEAD; git status --porcelain; cat g; echo more >>f")  # fmt: skip
    if out is not None and "refs/heads/holdback/s\ng\n" not in str(out):
        raise AssertionError(f"not on its branch: {out}")
    world.must(*COMMIT)
    if look(world)[4] != " M g\n" or "more" not in look(world)[0]["f"]:
        raise AssertionError(f"not committed: {look(world)}")
    world.must("cleanup", "-y", "@s")
    world.must("cleanup", "-y", "--stale", known=(0,))
    need_clean_store(world, [])


def committed_world(top):
    world = begun_world(top)
    world.old = look(world)
    world.must(*COMMIT)
    return world


def judge_undo(world, new):
    world.must("recover", "@s", known=(0, 10))
    git(world, "fsck", "--strict")
    if look(world) not in (world.old, new):
        raise AssertionError(f"neither before nor after: {look(world)}")
    world.must("undo", "@s", known=(0, 10))
    if look(world) != world.old:
        raise AssertionError(f"undo is not exact: {look(world)}")
    out = world.must("exec", "@s", "--", "cat", "f", "new")
    if not {"two", "three", "new"} <= set(out.split()):
        raise AssertionError(f"work of the session is lost: {out}")
    world.must(*COMMIT)
    if look(world)[0] != new[0]:
        raise AssertionError(f"another commit: {look(world)}")
    world.must("cleanup", "-y", "@s")
    need_clean_store(world, [])


def judge_end(world, old):
    """The host has nothing of it, before and after the session is gone."""
    if look(world) != old:
        raise AssertionError(f"the host has changed: {look(world)}")
    world.must("recover", "@s", known=(0, 9, 10))
    world.must("gc", "--older-than", "0s", known=(0,))
    world.must("cleanup", "-y", "-f", "@s", known=(0,))
    if look(world) != old:
        raise AssertionError(f"the host has changed: {look(world)}")
    need_clean_store(world, [])


def meet_at(make, words, judge, top, number):
    """One command that is killed there; None when it makes no such change."""
    world = make(top)
    name = None
    try:
        old = look(world)
        with stopper.Stopper(
            world.call(*words(world)), cwd=world.base,
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
    print("1..6")
    top = os.path.join(os.environ["TMPDIR"], "own")
    begin = functools.partial(meet_at, new_world, create, judge_beginning, top)
    commit = functools.partial(meet_at, begun_world, lambda _: COMMIT, judge_commit, top)
    tell(1, "a beginning that is killed", sweep(1, 7 if STEP > 5 else 2, begin))
    tell(2, "a commit that is killed", sweep(1, STEP, commit))
    undo = functools.partial(meet_at, committed_world, lambda _: ("undo", "@s"), judge_undo, top)
    tell(3, "an undo that is killed", sweep(7, RARELY, undo))
    ends = (("rollback", "-y", "@s"), ("cleanup", "-y", "@s"), ("gc", "--older-than", "0s"))
    for number, words in enumerate(ends, 4):
        make = committed_world if words[0] == "gc" else begun_world
        end = functools.partial(meet_at, make, lambda _, words=words: words, judge_end, top)
        tell(number, f"a {words[0]} that is killed", sweep(7, RARELY, end))
    return 0


if __name__ == "__main__":
    sys.exit(main())
