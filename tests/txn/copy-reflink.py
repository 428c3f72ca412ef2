#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: root
# needs: mkfs.xfs losetup
"""On a file system that can share data, a copy shares its data with the real directory.

Base and store are on one xfs.  A session by copy_on_write of 64 MiB takes almost nothing of it,
where a plain copy takes all of it.  A command that writes into its copy leaves the real file alone.
"""

import os
import shutil
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import volume  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
MIB = 1 << 20
SIZE = 64
FILES = 8
points = []


def check(name, is_so, found=""):
    points.append(is_so)
    print(f"{'ok' if is_so else 'not ok'} {len(points)} - {name}")
    if not is_so:
        print(f"# {found}")


def used(top):
    """In MiB, of what is on the disk."""
    os.sync()
    stat = os.statvfs(top)
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize / MIB


def try_it(top):
    base, state = os.path.join(top, "base"), os.path.join(top, "state")
    os.mkdir(base)
    for number in range(FILES):
        with open(os.path.join(base, f"f{number}"), "wb") as file:
            file.write(os.urandom(SIZE * MIB // FILES))

    def do(command, *words):
        done = subprocess.run([HOLDBACK, command, "--state-dir", state, *words], cwd=base,
                              capture_output=True, text=True, check=False)  # fmt: skip
        check(f"{command} works", done.returncode == 0, done.stderr)
        return done.stdout

    before = used(top)
    do("create", "s", "--cow", base, "--strategy", "copy_on_write", "--no-fallback")
    shared = used(top) - before
    check("a copy by reflinks takes less than an eighth", shared < SIZE / 8, f"{shared} MiB")
    before = used(top)
    subprocess.run(["cp", "-a", "--reflink=never", base, os.path.join(top, "plain")], check=True)
    plain = used(top) - before
    check("a plain copy takes all of it", plain > SIZE / 2, f"{plain} MiB")
    with open(os.path.join(base, "f0"), "rb") as file:
        old = file.read()
    do("exec", "@s", "--", "sh", "-c", "printf changed | dd of=f0 conv=notrunc status=none")
    with open(os.path.join(base, "f0"), "rb") as file:
        check("a write to the copy leaves the real file alone", file.read() == old)
    do("commit", "-y", "@s")
    with open(os.path.join(base, "f0"), "rb") as file:
        check("the commit has the write and the rest", file.read() == b"changed" + old[7:])
    do("cleanup", "-y", "@s")


def main():
    folder = tempfile.mkdtemp()
    try:
        volume.leave_the_host()
        disk = volume.Volume(folder, "xfs")
    except OSError as why:
        shutil.rmtree(folder)
        print(f"1..0 # SKIP no xfs can be mounted here: {why}")
        return 0
    try:
        try_it(disk.top)
    finally:
        disk.down()
        shutil.rmtree(folder)
    print(f"1..{len(points)}")
    return 0 if all(points) else 1


if __name__ == "__main__":
    sys.exit(main())
