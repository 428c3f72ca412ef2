#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace unshare
# timeout: 900
"""What crash.py promises holds where the real directory lies on an overlay.

No directory of its lower layer can be moved there: those go entry by entry.
What somebody puts into one of them while a redo removes it is there afterwards.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import crash  # noqa: E402
import overlay  # noqa: E402 (crash knows the way)
import stopper  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
BASE = crash.BASE + "; mkdir -p k/in j; echo k >k/in/k; echo j >j/j; touch -d 2002-02-02 k j"
CHANGE = crash.CHANGE + "; rm -r k j; echo file >j"
FEW = ("renameat2", "unlinkat", "fsync")
MOVES = ("renameat2",)


class OnOverlay(crash.Session):
    """The same, and two directories more that go."""

    def make_base(self):
        def fill(path):
            subprocess.run(["sh", "-c", BASE], cwd=path, check=True)

        self.real = overlay.make(self.work, fill)

    def tree(self):
        return [line for line in super().tree() if ".holdback" not in line]

    def remove(self):
        overlay.unmake(self.work)
        super().remove()


def put(path):
    """Whether it could be: its directory may have gone."""
    try:
        stopper.append(path)
    except FileNotFoundError:
        return False
    return True


def killed_after(session, call, number, path):
    """A redo that dies at the call after that one, right before which the file comes.

    Whether there is such a call, and whether the file came.
    """
    with stopper.Stopper(
        session.words("redo", "@s"), cwd=session.work,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as program:  # fmt: skip
        program.names = {n: c for n, c in program.names.items() if c == call}
        is_there = program.run_to(number) is not None
        is_put = is_there and put(path)
        if is_there and program.run_to(number + 1):
            program.kill()
    return is_there, is_put


def check_redo(call, number):
    """What somebody puts into a directory that goes is in the base."""
    session = OnOverlay()
    try:
        session.must("commit", "-y", "--only", "k", "@s")
        session.must("undo", "@s")
        path = os.path.join(session.real, "k/in/user")
        died, is_put = killed_after(session, call, number, path)
        session.must("recover", "@s")
        session.must("status", "@s")
        if is_put and not os.path.exists(path):
            raise AssertionError(f"{call} {number}: what somebody wrote is not there")
        if number == 1 and not is_put:
            raise AssertionError("nothing could be written before the first")
        return died, None
    finally:
        session.remove()


def main():
    crash.Session, crash.CHANGE = OnOverlay, CHANGE
    checks = (crash.check_commit, crash.check_undo)
    redo = [(check_redo, MOVES, 1)] if stopper.is_known_machine() else []
    if SOAK:
        return crash.run([(x, crash.CALLS, 1) for x in checks] + redo)
    return crash.run([(x, FEW, step) for x, step in zip(checks, (7, 11))] + redo)


if __name__ == "__main__":
    sys.exit(overlay.run_inside(main))
