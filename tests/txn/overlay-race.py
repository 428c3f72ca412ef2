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
import stopper  # noqa: E402
from meddle import World, meet, sweep, tell  # noqa: E402
from stopper import STAMP, append, replace  # noqa: E402

IS_ROOT = os.environ.get("HB_MODE") == "root"
INSIDE = "HB_OVERLAY_RACE"  # set in the namespace
CONFLICT = 5
# As long as what is replaced: size alone tells nothing.
BASE = {"edited": "edited!\n", "gone": "is gone\n", "linked": "linked!\n"}
STEP = 1 if os.environ.get("HB_SOAK") == "1" else 8


class OverlayWorld(World):
    """One whose project lies in the lower layer of an overlay."""

    def __init__(self, top):
        super().__init__(top, "o/p")
        self.mount = os.path.join(top, "o")
        for name in ("l/p", "u", "w", "o"):
            os.makedirs(os.path.join(top, name))
        self.write("l/p", BASE)
        os.link(os.path.join(top, "l/p/linked"), os.path.join(top, "l/p/other"))
        options = f"lowerdir={top}/l,upperdir={top}/u,workdir={top}/w"
        options += "" if IS_ROOT else ",userxattr"
        subprocess.run(
            ["mount", "-t", "overlay", "-o", options, "none", self.mount], check=True
        )
        self.begin("echo more >>edited; rm gone; echo more >>linked")

    def remove(self):
        subprocess.run(["umount", self.mount], check=True)
        super().remove()


def judge(world, status, said, name):
    texts = world.texts(world.base)
    if status not in (0, CONFLICT):
        raise AssertionError(f"exit status {status}")
    if STAMP not in texts.get(name, ""):
        raise AssertionError(f"what was written is no longer there: {texts}")
    if status == 0:
        return
    if name not in said:
        raise AssertionError("the path is not named")
    for other, text in BASE.items():
        if other != name and texts.get(other) != text:
            raise AssertionError(f"refused, and yet something changed: {texts}")
    # What was taken back is nobody else's change.
    world.must("commit", "-y", "@s", "--except", name)


def meet_at(top, act, name, number):
    world = OverlayWorld(top)

    def meddle():
        act(os.path.join(world.base, name))
        return True

    return meet(
        world, number, meddle, lambda status, said, _: judge(world, status, said, name)
    )


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    namespace = ["unshare", "-m"] if IS_ROOT else ["unshare", "-Urm"]
    if INSIDE not in os.environ:
        if subprocess.run([*namespace, "true"], check=False, capture_output=True).returncode:
            print("1..0 # SKIP no namespace for mounts of our own")
            return 0
        again = [*namespace, sys.executable, os.path.abspath(__file__)]
        return subprocess.run(again, env={**os.environ, INSIDE: "1"}, check=False).returncode
    acts = [(act, name) for act in (append, replace) for name in BASE]
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
    sys.exit(main())
