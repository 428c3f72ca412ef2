# SPDX-License-Identifier: Apache-2.0
"""A file system in a file, that can lose its power.

The caller is root in a mount namespace of its own: whatever becomes of it, its
mounts go, and the loop devices with them.
"""

import contextlib
import ctypes
import fcntl
import glob
import os
import shutil
import struct
import subprocess
import time

CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
IOC_SHUTDOWN = 0x8004587D
BOOT_ID = "/proc/sys/kernel/random/boot_id"
PATIENCE = 20.0

# What reaches the disk of what was not synced: nothing, or the log alone.
NO_LOG, LOG = 2, 1

# The smallest that their makers agree to.
KINDS = {
    "ext4": ("32M", ["mkfs.ext4", "-q", "-F"]),
    "xfs": ("300M", ["mkfs.xfs", "-q", "-f"]),
}

libc = ctypes.CDLL(None, use_errno=True)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


def leave_the_host():
    """A mount namespace of our own; raises OSError."""
    if libc.unshare(CLONE_NEWNS) != 0 or libc.mount(
        None, b"/", None, MS_REC | MS_PRIVATE, None
    ):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def backing_files():
    """The files that are loop devices now."""
    files = set()
    for path in glob.glob("/sys/block/loop*/loop/backing_file"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            files.add(file.read().rstrip("\n"))
    return files


@contextlib.contextmanager
def another_boot(folder):
    """Meanwhile everybody here sees another boot id."""
    path = os.path.join(folder, "boot_id")
    with open(path, "w", encoding="ascii") as file:
        file.write("00000000-0000-4000-8000-000000000000\n")
    run("mount", "--bind", path, BOOT_ID)
    try:
        yield
    finally:
        run("umount", BOOT_ID)
        os.unlink(path)


class Volume:
    """One kind of file system, mounted at `top` while it is up."""

    def __init__(self, folder, kind):
        self.kind = kind
        self.image = os.path.join(folder, kind + ".image")
        self.kept = []
        self.top = os.path.join(folder, kind)
        self.is_up = False
        os.mkdir(self.top)
        size, maker = KINDS[kind]
        run("truncate", "--size", size, self.image)
        run(*maker, self.image)
        self.up()

    def up(self):
        options = "loop,nouuid" if self.kind == "xfs" else "loop"
        run("mount", "-t", self.kind, "-o", options, self.image, self.top)
        self.is_up = True

    def down(self):
        if not self.is_up:
            return
        run("umount", self.top)
        self.is_up = False
        self.wait_until_gone()

    def wait_until_gone(self):
        """A box that is being taken down holds the file system for a while.

        Mounted again meanwhile, it would be the one whose power was cut.
        """
        image = os.path.realpath(self.image)
        deadline = time.monotonic() + PATIENCE
        while image in backing_files():
            if time.monotonic() > deadline:
                raise OSError(f"{image} stays in use")
            time.sleep(0.01)

    def keep(self, name):
        """Remembers the state it is in, under a name."""
        self.down()
        run("cp", "--sparse=always", self.image, f"{self.image}.{name}")
        self.kept.append(name)
        self.up()

    def same(self, name, other):
        """The state of one name has another one as well."""
        os.link(f"{self.image}.{name}", f"{self.image}.{other}")
        self.kept.append(other)

    def restore(self, name):
        self.down()
        run("cp", "--sparse=always", f"{self.image}.{name}", self.image)
        self.up()

    def cut(self, how):
        """From now on nothing reaches the disk, and every change fails."""
        top = os.open(self.top, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(top, IOC_SHUTDOWN, struct.pack("I", how))
        finally:
            os.close(top)

    def power_up(self):
        """After a cut, and when nobody uses it any more."""
        self.down()
        self.up()

    def power_up_after_box(self):
        """The kernel may still be taking the box and its mounts down."""
        deadline = time.monotonic() + PATIENCE
        while self.is_up:
            try:
                self.down()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self.up()

    def remove(self):
        self.down()
        for path in [self.image, *(f"{self.image}.{name}" for name in self.kept)]:
            os.unlink(path)
        shutil.rmtree(self.top)
