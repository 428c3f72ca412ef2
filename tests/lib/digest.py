#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints every attribute of everything below a directory, one object a line.

usage: digest.py DIRECTORY

Two trees that print the same are the same: type, mode, owner, size, content,
holes, nanosecond times of modification, extended attributes and which names
share an inode.
"""

import hashlib
import os
import stat
import sys


def content(path, status):
    if stat.S_ISLNK(status.st_mode):
        return os.fsencode(os.readlink(path)).hex()
    if not stat.S_ISREG(status.st_mode):
        return "-"
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]


def holes(path, status):
    """Where there is data: `0-4096,65536-69632`."""
    if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
        return "-"
    found, at = [], 0
    file = os.open(path, os.O_RDONLY)
    try:
        while at < status.st_size:
            try:
                begin = os.lseek(file, at, os.SEEK_DATA)
            except OSError:  # there is no more
                break
            at = os.lseek(file, begin, os.SEEK_HOLE)
            found.append(f"{begin}-{at}")
    finally:
        os.close(file)
    return ",".join(found) or "hole"


def attributes(path):
    found = []
    try:
        for name in sorted(os.listxattr(path, follow_symlinks=False)):
            if name.startswith(("user.", "system.posix_acl")):
                value = os.getxattr(path, name, follow_symlinks=False)
                found.append(f"{name}={value.hex()}")
    except OSError:
        pass
    return ",".join(found) or "-"


def shown(name):
    return name if name.isprintable() else os.fsencode(name).hex()


def describe(top, relative, groups):
    path = os.path.join(top, relative) if relative else top
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    group = groups.get(status.st_ino, "-") if not stat.S_ISDIR(status.st_mode) else "-"
    size = status.st_size if not stat.S_ISDIR(status.st_mode) else "-"
    readable = True
    if stat.S_ISREG(status.st_mode) and not os.access(path, os.R_OK):
        readable = False
    return " ".join(
        str(part)
        for part in (
            shown(relative or "."),
            f"{kind:o}",
            f"{stat.S_IMODE(status.st_mode):o}",
            status.st_uid,
            status.st_gid,
            size,
            f"data:{holes(path, status)}" if readable else "unreadable",
            status.st_mtime_ns,
            group,
            content(path, status) if readable else "unreadable",
            attributes(path),
        )
    )


def walk(top, relative):
    """Every path below, in the order of bytes, a directory before its inside."""
    yield relative
    path = os.path.join(top, relative) if relative else top
    if os.path.islink(path) or not os.path.isdir(path):
        return
    try:
        names = sorted(os.listdir(path), key=os.fsencode)
    except PermissionError:
        return
    for name in names:
        yield from walk(top, os.path.join(relative, name))


def shared(top, found):
    """A number for each inode that has several names in the tree itself."""
    first, groups = {}, {}
    for relative in found:
        status = os.lstat(os.path.join(top, relative))
        if stat.S_ISDIR(status.st_mode) or status.st_nlink < 2:
            continue
        if status.st_ino in first:
            groups.setdefault(status.st_ino, len(groups))
        first[status.st_ino] = relative
    return groups


def digest(top):
    found = list(walk(top, ""))
    groups = shared(top, found)
    return [describe(top, relative, groups) for relative in found]


if __name__ == "__main__":
    print("\n".join(digest(sys.argv[-1])))
