#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: unshare
"""A file of an overlay's lower layer changes while a commit to it runs.

Moving such a file makes it look like another one, so that the commit lets that
pass; what somebody writes in any moment has to be found all the same.
"""

import functools
import os
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


def judge(world, status, said, name, happened):
    top = name.split("/", maxsplit=1)[0]
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
        if BASE[name] not in texts.values():
            raise AssertionError(f"the version before is lost: {texts}")
        world.must("recover", "@s")
    for other, text in BASE.items():
        if other != name and texts.get(other) != text:
            raise AssertionError(f"refused, and yet something changed: {texts}")
    # What was taken back is nobody else's change.
    world.must("commit", "-y", "@s", "--except", top)


def meet_at(top, act, name, number):
    world = OverlayWorld(top)

    def meddle():
        try:
            act(os.path.join(world.base, name))
        except FileNotFoundError:
            return False
        return True

    def check(status, said, happened):
        judge(world, status, said, name, happened)

    return meet(world, number, meddle, check)


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    acts = [(act, name) for act in (append, replace) for name in BASE] + [(append, NEW)]
    print(f"1..{len(acts)}")
    top = os.path.join(os.environ["TMPDIR"], "race")
    for count, (act, name) in enumerate(acts):
        failures = sweep(
            1 + count % STEP,
            STEP,
            functools.partial(meet_at, top, act, name),
        )
        tell(count + 1, f"{act.__name__} {name}", failures)
    return 0


if __name__ == "__main__":
    sys.exit(overlay.run_inside(main))
