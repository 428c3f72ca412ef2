#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace unshare
# timeout: 900
"""What crash.py promises holds where the real directory lies on an overlay.

No directory of its lower layer can be moved there: those go entry by entry.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import crash  # noqa: E402
import overlay  # noqa: E402 (crash knows the way)

SOAK = os.environ.get("HB_SOAK") == "1"
BASE = crash.BASE + "; mkdir -p k/in j; echo k >k/in/k; echo j >j/j; touch -d 2002-02-02 k j"
CHANGE = crash.CHANGE + "; rm -r k j; echo file >j"
FEW = ("renameat2", "unlinkat", "fsync")


class OnOverlay(crash.Session):
    """The same, and two directories more that go."""

    def make_base(self):
        def fill(path):
            subprocess.run(["sh", "-c", BASE], cwd=path, check=True)

        self.real = overlay.make(self.work, fill)

    def tree(self):
        return [line for line in super().tree() if ".holdback-" not in line]

    def remove(self):
        overlay.unmake(self.work)
        super().remove()


def main():
    crash.Session, crash.CHANGE = OnOverlay, CHANGE
    checks = (crash.check_commit, crash.check_undo)
    if SOAK:
        return crash.run([(x, crash.CALLS, 1) for x in checks])
    return crash.run([(x, FEW, step) for x, step in zip(checks, (7, 11))])


if __name__ == "__main__":
    sys.exit(overlay.run_inside(main))
