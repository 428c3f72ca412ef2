#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: unshare
"""A file of an overlay's lower layer changes while a commit to it runs.

Moving such a file makes it look like another one, so that the commit lets that
pass; what somebody writes in any moment has to be found all the same.
"""

import os
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import stopper  # noqa: E402
from stopper import STAMP, append, replace  # noqa: E402

HOLDBACK = os.environ.get("HB_BIN", "holdback")
IS_ROOT = os.environ.get("HB_MODE") == "root"
INSIDE = "HB_OVERLAY_RACE"  # set in the namespace
CONFLICT = 5
# As long as what is replaced: size alone tells nothing.
BASE = {"edited": "edited!\n", "gone": "is gone\n", "linked": "linked!\n"}
STEP = 1 if os.environ.get("HB_SOAK") == "1" else 8


class World:
    """An overlay whose lower layer has a project, and the session `s`."""

    def __init__(self, top):
        self.top = top
        self.mount = os.path.join(top, "o")
        self.base, self.state = os.path.join(self.mount, "p"), os.path.join(top, "s")
        for name in ("l/p", "u", "w", "o"):
            os.makedirs(os.path.join(top, name))
        for name, text in BASE.items():
            with open(os.path.join(top, "l/p", name), "w", encoding="ascii") as file:
                file.write(text)
        os.link(os.path.join(top, "l/p/linked"), os.path.join(top, "l/p/other"))
        options = f"lowerdir={top}/l,upperdir={top}/u,workdir={top}/w"
        options += "" if IS_ROOT else ",userxattr"
        subprocess.run(
            ["mount", "-t", "overlay", "-o", options, "none", self.mount], check=True
        )
        self.must("create", "s", "--cow", self.base)
        script = "echo more >>edited; rm gone; echo more >>linked"
        self.must("exec", "@s", "--", "sh", "-ec", f"cd '{self.base}'; {script}")

    def call(self, command, *words):
        return [HOLDBACK, command, "--state-dir", self.state, *words]

    def must(self, command, *words):
        done = subprocess.run(
            self.call(command, *words), cwd=self.base,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"{command}: {done.returncode}: {done.stderr}")

    def texts(self):
        found = {}
        for name in BASE:
            try:
                with open(os.path.join(self.base, name), encoding="ascii") as file:
                    found[name] = file.read()
            except FileNotFoundError:
                pass
        return found

    def remove(self):
        subprocess.run(["umount", self.mount], check=True)
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def judge(world, status, said, name):
    texts = world.texts()
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


def meet(top, number, act, name):
    """One commit with one meddling; None when it has no such change."""
    world = World(top)
    try:
        with stopper.Stopper(
            world.call("commit", "-y", "@s"), cwd=world.base,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as program:  # fmt: skip
            call = program.run_to(number)
            if call:
                act(os.path.join(world.base, name))
                program.go_on()
            said = program.child.stdout.read()
            program.child.stdout.close()
        if not call:
            return None
        try:
            judge(world, program.status, said, name)
        except AssertionError as error:
            return f"before change {number}, {call}: {error}\n{said}"
    finally:
        world.remove()
    return ""


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
        failures, number = [], 1 + count % STEP
        while (why := meet(top, number, act, name)) is not None:
            failures += [why] if why else []
            number += STEP
        print(f"{'not ok' if failures else 'ok'} {count + 1} - {act.__name__} {name}")
        for line in "\n".join(failures).splitlines():
            print(f"# {line}")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
