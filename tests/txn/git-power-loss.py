#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: root
# needs: git mkfs.ext4 losetup
# timeout: 900
"""The power goes at each change that a commit of a repository, or its undo, makes to the disk.

When the power is back and the session is recovered, `git fsck` finds nothing, no lock is left, and
references, HEAD, index, logs and files are all old or all new.  See power-loss.py.
"""

import importlib.util
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "lib")]
# pylint: disable=wrong-import-position
import gitsnap  # noqa: E402
import volume  # noqa: E402

spec = importlib.util.spec_from_file_location("power", os.path.join(HERE, "power-loss.py"))
power = importlib.util.module_from_spec(spec)
spec.loader.exec_module(power)

PERSON = "".join(
    f"export GIT_{who}_{key}='{value}';"
    for who in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "n"), ("EMAIL", "e"), ("DATE", "@1700000000 +0000"))
)
PERSON += "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null;"
# No branch is deleted, and nothing runs: the gate has nothing to ask.
POINTS = 14
SCENE = (
    PERSON + "git init -q -b main --template= .; git config gc.auto 0; for i in f g h; do echo $i >$i; done;"
    " git add .; git commit -qm one; git branch moves; git pack-refs --all; echo staged >>h; git add h",
    PERSON + "echo more >>f; git commit -qm two f; git branch -f moves; git branch new/one;"
    " git tag -a -m t v1; echo x >n; git add n; echo loose >>f",
    POINTS,
)  # fmt: skip


class Repository(power.Session):
    """New objects stay in the repository after an undo, and are pending no more."""

    def now(self):
        """A tree that is neither is told by its differences to the new one."""
        try:
            return super().now()
        except AssertionError:
            lines = set(gitsnap.digest(self.base)) ^ set(self.new)
            raise AssertionError("neither old nor new: " + "; ".join(sorted(lines))) from None

    def pending(self):
        found = json.loads(self.must("status", "--json", "@s"))
        refs = sorted((row["ref"], row.get("old"), row.get("new")) for row in found.get("git", ()))
        return refs, self.must("diff", "--name-status", "@s")


def main():
    reason = power.why_not()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    power.digest, power.SCENES = gitsnap, {"git": SCENE}
    folder = os.path.join(os.environ["TMPDIR"], "disks")
    os.mkdir(folder)
    tap = power.Tap()
    disk = volume.Volume(folder, "ext4")
    try:
        session = Repository(disk, "git")
        for how, words in ((volume.NO_LOG, "nothing"), (volume.LOG, "the log")):
            for command in ("commit", "undo", "recover") if power.SOAK else ("commit", "undo"):
                name = f"{command} of a repository, {words} of the rest is written"
                tap.point(name, power.try_all(tap, session, command, how))
    finally:
        disk.remove()
        shutil.rmtree(folder)
    print(f"# the power went {tap.cuts} times\n1..{tap.count}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
