#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
# soak-modes: userns
"""A real file changes right before each change that a commit makes.

What was written is in the base, also if it was written
into a directory that goes as a whole; a refused commit lists it, and the session
goes on.

Two real files change, one that is in place already and one that is not: then
the first cannot be taken back and the commit cannot go on.  All others are as
they were, both of these have what was written, the version before is kept.  The
same holds of a file that has left a directory which is then removed.
"""

import collections
import functools
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import stopper  # noqa: E402
from meddle import World, meet, sweep, tell  # noqa: E402
from stopper import STAMP, append, replace  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
CONFLICT, STATE = 5, 10
BASE = {
    "f": "f\n", "g": "g\n", "r": "r\n", "d/x": "x\n", "k/x": "k\n", "e/y": "y\n", "u": "u\n",
    "h/x": "h\n", "touched": "t\n",
}  # fmt: skip
INSIDE = (
    "echo session >>f; echo session >g.new; mv g.new g; rm r h/x; rm -r d k; mkdir d;"
    " echo o >d/o; echo z >e/z; echo n >new; touch touched"
)
OUTCOMES = {0: "committed", CONFLICT: "refused", STATE: "left in part"}
SECOND = "r"
STEP = 5  # of the changes, without HB_SOAK
MOVES = ("renameat2",)  # what finds that something is no longer there


def replace_two(path):
    """One of them may be in place already when the other one stops it."""
    replace(path)
    replace(os.path.join(os.path.dirname(path), SECOND))


def append_two(path):
    append(path)
    replace(os.path.join(os.path.dirname(path), SECOND))


def remove_two(path):
    os.unlink(path)
    replace(os.path.join(os.path.dirname(path), SECOND))


def remove_around(path):
    """What it lay in, once it has left; before that nothing happens."""
    folder = os.path.dirname(path)
    os.rmdir(folder)
    replace(os.path.join(os.path.dirname(folder), SECOND))


def file_around(path):
    """And a file has the name of what it lay in."""
    remove_around(path)
    add(os.path.dirname(path))


def away(path):
    """Out of the project, with all that is in it."""
    os.rename(path, os.path.join(os.path.dirname(path), "..", "away"))


def add(path):
    """Something of that name that was not there before."""
    with open(path, "x", encoding="ascii") as file:
        file.write(STAMP)


def held(file):
    """By a program that has the file open since before the commit."""
    file.write(STAMP)
    file.flush()


# After these the file is not there; after all of them two have changed.
REMOVE = (remove_two, remove_around, file_around)
TWO = (replace_two, append_two, *REMOVE)
# Of this the session has no more than a copy, so that the edit wins once it is
# looked at again: before that it stops the commit.
COPY = "touched"
# What these do is found by the next that moves.
AT_MOVES = (away, remove_around, file_around)

# name of the act: (function, path)
ACTS = {
    f"{act.__name__} {path}": (act, path)
    for act, path in (
        (append, "f"), (replace, "f"), (append, "g"), (replace, "g"),
        (append, "r"), (replace, "r"), (replace_two, "f"), (append_two, "f"),
        (replace_two, "g"), (remove_two, "g"), (replace_two, "new"),
        (append, "d/x"), (replace, "d/x"), (append, "k/x"),
        (add, "d/user"), (add, "new"), (add, "e/z"), (append, "u"), (append, COPY),
        (away, "f"), (away, "r"), (away, "k"), (away, "e"),
        (held, "f"), (held, "r"), (held, "k/x"),
        (remove_around, "h/x"), (file_around, "h/x"),
    )
}  # fmt: skip


def new_world(top):
    world = World(top, "p")
    world.write("p", BASE)
    world.begin(INSIDE)
    return world


def judge(world, status, said, act, path, happened):
    """What holds after a commit that somebody meddled with."""
    real = world.texts(world.base)
    is_two = act in TWO
    known = (0, CONFLICT) + ((STATE,) if is_two else ())
    if status not in known or (status == 0) != said.startswith("committed"):
        raise AssertionError(f"exit status {status}")
    if not happened:
        return
    # The one of another name is in nobody's way.
    in_base = any(STAMP in text for text in real.values())
    kept = world.texts(world.state, "/undo")
    if act is held and status == 0:
        judge_held(world)
    elif not in_base and act is not away:
        raise AssertionError(f"what was written is no longer there\n{real}\n{kept}")
    if status:
        stamped = {path, path.split("/", maxsplit=1)[0], SECOND} if is_two else {path}
        # With what was taken away went what was in it.
        rest = [p for p in {**BASE, **real} if stamped.isdisjoint((p, os.path.dirname(p)))]
        if {p: real.get(p) for p in rest} != {p: BASE.get(p) for p in rest}:
            raise AssertionError(f"refused, and yet something changed: {real}")
        if path.split("/", maxsplit=1)[0] not in said:
            raise AssertionError("the path is not named")
    if status == STATE:
        judge_left(world, act, path, real, kept)


def judge_held(world):
    """What was written to a file after it had gone to undo is not freed."""
    for command in (None, ("gc", "--older-than", "0")):
        if command:
            world.must(*command)
        kept = {**world.texts(world.base), **world.texts(world.state, "/undo")}
        if not any(STAMP in text for text in kept.values()):
            raise AssertionError(f"what was written is lost by {command or 'commit'}: {kept}")


def judge_left(world, act, path, real, kept):
    """What somebody made of a file that was in place already is left."""
    if (path in real) != (act not in REMOVE):
        raise AssertionError(f"what was left is not as it was left: {real}")
    if act not in REMOVE and STAMP not in real[path]:
        raise AssertionError(f"what was written there is lost: {real}")
    if path in BASE and BASE[path] not in kept.values():
        raise AssertionError(f"the version before is lost: {kept}")
    if STAMP not in real[SECOND]:
        raise AssertionError(f"what stopped it is lost: {real}")


def go_on(world, status, act, path):
    """The session is as usable as the commit said."""
    if status == 0:
        # What was written after it is not undone.
        world.must("undo", "@s", known=(0, CONFLICT))
        return
    if status == STATE:
        world.must("commit", "-y", "@s", known=(STATE,))
        world.must("recover", "@s")
    pending = world.must("diff", "--name-status", "@s").splitlines()
    expected = {"M\tf", "M\tg", f"D\t{SECOND}", "D\td/x", "A\td/o", "A\te/z", "A\tnew"}
    # Of a file that is left the session's version may be what is there.
    missing = {line for line in expected.difference(pending) if line[2:] != path}
    if missing:
        raise AssertionError(f"no longer pending: {missing} of {pending}")
    # What was taken back is not somebody else's change.
    stamped = {path.split("/", maxsplit=1)[0]}
    if act in TWO:
        stamped.add(SECOND)
    world.must("commit", "-y", "@s", *(w for s in stamped for w in ("--except", s)))
    world.must("rollback", "-y", "@s")


def meet_at(top, act, path, seen, number):
    """One commit with one meddling, as meet() has it."""
    world = new_world(top)
    where = os.path.join(world.base, path)
    file = open(where, "a", encoding="ascii") if act is held else None

    def meddle():
        try:
            act(file or where)
        except OSError:
            return False
        return True

    def check(status, said, happened):
        judge(world, status, said, act, path, happened)
        go_on(world, status, act, path)
        seen[OUTCOMES[status]] += 1

    try:
        return meet(world, number, meddle, check, MOVES if act in AT_MOVES and not SOAK else None)
    finally:
        if file:
            file.close()


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    print(f"1..{len(ACTS)}")
    top = os.path.join(os.environ["TMPDIR"], "steps")
    for count, (words, (act, path)) in enumerate(ACTS.items()):
        seen = collections.Counter()
        is_thorough = SOAK or act in AT_MOVES
        failures = sweep(
            1 if is_thorough else 1 + count % STEP,
            1 if is_thorough else STEP,
            functools.partial(meet_at, top, act, path, seen),
        )
        if act in REMOVE and is_thorough and not seen[OUTCOMES[STATE]]:
            failures.append("nothing was ever left")
        print("# " + ", ".join(f"{seen[k]} {k}" for k in OUTCOMES.values()))
        tell(count + 1, words, failures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
