#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: unshare
"""A file of an overlay's lower layer changes while a commit to it runs.

Moving such a file makes it look like another one, so that the commit lets that
pass; what somebody writes in any moment has to be found all the same.
"""

import functools
import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import overlay  # noqa: E402
import stopper  # noqa: E402
from meddle import World, meet, sweep, tell  # noqa: E402
from stopper import STAMP, append, replace  # noqa: E402

CONFLICT, STATE = 5, 10
# As long as what is replaced: size alone tells nothing.
BASE = {"edited": "edited!\n", "gone": "is gone\n", "linked": "linked!\n", "dir/in": "inside!\n"}
NEW = "dir/new"  # in a directory that goes, entry by entry
LAST = "linked"  # what goes after it
MOVES = ("renameat2",)  # what finds that a directory is no longer there
STEP = 1 if os.environ.get("HB_SOAK") == "1" else 8


class OverlayWorld(World):
    """One whose project lies in the lower layer of an overlay."""

    def __init__(self, top):
        super().__init__(top, "o/p")

        def fill(path):
            self.write("l/p", BASE)
            os.link(os.path.join(path, "linked"), os.path.join(path, "other"))

        overlay.make(top, fill)
        self.begin("echo more >>edited; rm gone; echo more >>linked; rm -r dir")

    def remove(self):
        overlay.unmake(self.top)
        super().remove()


def file_around(path):
    """A file where the directory was, once it has gone, and one that stops the rest."""
    folder = os.path.dirname(path)
    with open(folder, "x", encoding="ascii") as file:
        file.write(STAMP)
    replace(os.path.join(os.path.dirname(folder), LAST))


def top_of(name):
    return name.split("/", maxsplit=1)[0]


def kept(world):
    """The texts that the store beside the project holds, which lists nothing."""
    store = os.path.join(os.path.dirname(world.base), ".holdback")
    subprocess.run(["chmod", "-R", "u+rwx", store], check=False)
    return world.texts(store, "undo").values()


def judge_around(world, status, said, name, happened):
    """What cannot come back is left and named, and all the rest comes back."""
    top, texts = top_of(name), world.texts(world.base)
    if status not in (0, STATE if happened else 0):
        raise AssertionError(f"exit status {status}")
    if happened and not STAMP == texts.get(top) == texts.get(LAST):
        raise AssertionError(f"what was written is no longer there: {texts}")
    if status == 0:
        return False
    if name not in said:
        raise AssertionError("the path is not named")
    if BASE[name] not in kept(world):
        raise AssertionError(f"the version before is lost: {texts}")
    if any(texts.get(n) != BASE[n] for n in BASE if n not in (name, LAST)):
        raise AssertionError(f"not taken back: {texts}")
    world.must("recover", "@s")
    world.must("commit", "-y", "@s", "--except", top, "--except", LAST)
    return True


def judge(world, status, said, name, happened):
    top = top_of(name)
    texts = world.texts(world.base)
    # Of a directory that is not empty any more one entry had gone already.
    if status not in (0, CONFLICT, STATE if name == "dir/in" else 0):
        raise AssertionError(f"exit status {status}")
    # Where its directory has gone already there is nothing to be written.
    if happened and STAMP not in texts.get(name, ""):
        raise AssertionError(f"what was written is no longer there: {texts}")
    if status == 0:
        return
    if top not in said:
        raise AssertionError("the path is not named")
    if status == STATE:
        if BASE[name] not in kept(world):
            raise AssertionError(f"the version before is lost: {texts}")
        world.must("recover", "@s")
    for other, text in BASE.items():
        if other != name and texts.get(other) != text:
            raise AssertionError(f"refused, and yet something changed: {texts}")
    # What was taken back is nobody else's change.
    world.must("commit", "-y", "@s", "--except", top)


def meet_at(top, act, name, left, number):
    """As meet() has it; `left` gets the changes after which something was left."""
    world = OverlayWorld(top)

    def meddle():
        try:
            act(os.path.join(world.base, name))
        except (FileNotFoundError, FileExistsError):
            return False
        return True

    def check(status, said, happened):
        if act is not file_around:
            judge(world, status, said, name, happened)
        elif judge_around(world, status, said, name, happened):
            left.append(number)

    return meet(world, number, meddle, check, MOVES if act is file_around and STEP > 1 else None)


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    acts = [(act, name) for act in (append, replace) for name in BASE] + [(append, NEW), (file_around, "dir/in")]
    print(f"1..{len(acts)}")
    top = os.path.join(os.environ["TMPDIR"], "race")
    for count, (act, name) in enumerate(acts):
        left = []
        step = 1 if act is file_around else STEP
        failures = sweep(
            1 + count % step,
            step,
            functools.partial(meet_at, top, act, name, left),
        )
        if act is file_around and not left:
            failures.append("nothing was ever left")
        tell(count + 1, f"{act.__name__} {name}", failures)
    return 0


if __name__ == "__main__":
    sys.exit(overlay.run_inside(main))
