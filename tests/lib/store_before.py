#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""store_before.py DIR: unpacks a store of the version before, and its projects.

store_before.json is what that version had written: `ran` by run; `two` by create
with two directories, a mark and changes after it; `undone`, committed and taken
back; `conflict`, for which somebody then edits the project.  DIR/state/holdback is
the store, DIR/base has the projects.

A record names what depends on the place, and that is put in here, as it would be
had the session been made in DIR: the paths, the inode and the birth time of each
project and of the session's own directory, t0, the boot and at last the checksum.
The overlay's notes for itself (uuid, impure, origin) hold handles of files and are
left out: the kernel does without.  The journal of `undone` still has the inodes of
the place where it was written.
"""
import ctypes
import hashlib
import json
import os
import stat
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OPAQUE = "user.overlay.opaque"
STATX_BTIME = 0x800


def unpack(root, entries):
    """Everything but the records."""
    directories = []
    for e in entries:
        path = os.path.join(root, e["path"])
        if e["type"] == "dir":
            os.makedirs(path, 0o700, exist_ok=True)
            directories.append((path, int(e["mode"], 8)))
        elif e["type"] == "whiteout":
            os.mknod(path, stat.S_IFCHR, 0)
        else:
            data = bytes.fromhex(e["hex"]) if "hex" in e else e["text"].encode()
            with open(path, "wb") as f:
                f.write(data)
            os.chmod(path, int(e["mode"], 8))
        if e.get("opaque"):
            os.setxattr(path, OPAQUE, b"y")
    for path, mode in reversed(directories):
        os.chmod(path, mode)


def birth(path):
    """As SECONDS.NANOSECONDS: Python has no call for it."""
    libc = ctypes.CDLL(None, use_errno=True)
    block = ctypes.create_string_buffer(256)
    if libc.statx(-100, path.encode(), 0, STATX_BTIME, block) != 0:
        sys.exit(f"statx: {os.strerror(ctypes.get_errno())}")
    mask = struct.unpack_from("<I", block, 0)[0]
    if not mask & STATX_BTIME:
        return "0.000000000"
    seconds, nanoseconds = struct.unpack_from("<qI", block, 0x50)
    return f"{seconds}.{nanoseconds:09d}"


def clock(root):
    """A time after which nothing of the projects was changed."""
    marker = os.path.join(root, "state", "marker")
    newest = max(
        os.lstat(os.path.join(d, name)).st_ctime_ns
        for d, _, files in os.walk(os.path.join(root, "base"))
        for name in files + ["."]
    )
    now = 0
    while now <= newest:
        with open(marker, "w", encoding="ascii") as f:
            f.write("x")
        now = os.stat(marker).st_ctime_ns
    os.unlink(marker)
    return f"{now // 10**9}.{now % 10**9:09d}"


def boot():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        return f.read().strip()


def patch(root, record):
    """The values of a record that are about this place."""
    with open(record, encoding="ascii") as f:
        lines = f.read().replace("@ROOT@", root).splitlines()
    own = {
        "dir-ino": os.stat(os.path.dirname(record)).st_ino,
        "boot": boot(),
        "t0": clock(root),
    }
    for i, line in enumerate(lines):
        key, value = line.split(" = ", 1)
        if key == "resource":
            own["ino"] = os.stat(value).st_ino
            own["btime"] = birth(value)
        if key in own:
            lines[i] = f"{key} = {own[key]}"
    text = "".join(line + "\n" for line in lines if not line.startswith("sum = "))
    text += f"sum = {hashlib.sha256(text.encode()).hexdigest()}\n"
    with open(record, "w", encoding="ascii") as f:
        f.write(text)


def main():
    root = os.path.realpath(sys.argv[1])
    with open(os.path.join(HERE, "store_before.json"), encoding="ascii") as f:
        entries = json.load(f)
    unpack(root, entries)
    for e in entries:
        if os.path.basename(e["path"]) == "session":
            patch(root, os.path.join(root, e["path"]))


main()
