# SPDX-License-Identifier: Apache-2.0
"""A repository as a dictionary of its files, read without git: references, HEADs, index, stashes.

Taken of a directory, or of a tar file that a box wrote, so that what a session has and what its
user has are read by the same code.
"""

import hashlib
import io
import os
import stat
import struct
import subprocess
import tarfile
import tempfile
import zlib

GIT = ".git/"
OBJECTS = ".git/objects/"
PACKS = ".git/objects/pack/"
ENTRY_HEAD = 62  # bytes of an entry of an index before its name, with SHA-1


class Snapshot:
    """{path: (mode, bytes)}; directories are left out, links have their target."""

    def __init__(self, files, times=None):
        self.files = files
        self.times = times or {}  # {path: change time}, of a directory

    def text(self, path):
        found = self.files.get(path)
        return found[1].decode("latin1") if found else None

    def tree(self):
        """The files of the work tree."""
        return {p: f for p, f in self.files.items() if not p.startswith(GIT)}

    def plain(self):
        """Everything but objects: a commit that is undone leaves these."""
        return {p: f for p, f in self.files.items() if not p.startswith(OBJECTS)}

    def refs(self):
        """{name: value} of all references and of the HEADs of all worktrees, by value."""
        found = {}
        for line in (self.text(".git/packed-refs") or "").splitlines():
            if line and line[0] not in "#^":
                value, name = line.split(" ", 1)
                found[name] = value
        for path in self.files:
            name = path[len(GIT):]
            is_ref = path.startswith(".git/refs/") and not name.endswith(".lock")
            is_head = name == "HEAD" or name.startswith("worktrees/") and name.endswith("/HEAD")
            if path.startswith(GIT) and (is_ref or is_head and "logs" not in name):
                found[name] = self.text(path).strip()
        return found

    def stashes(self):
        lines = (self.text(".git/logs/refs/stash") or "").splitlines()
        return [line.split(" ")[1] for line in lines]

    def tips(self):
        """The ids that history is reached from."""
        found = {v for v in self.refs().values() if not v.startswith("ref:")}
        return found | set(self.stashes())

    def index(self, desk=""):
        """{(path, stage): (mode, id)} of an index of version 2 or 3."""
        found = self.files.get(f"{GIT}{desk}index")
        return entries(found[1]) if found else {}


def entries(data):
    magic, version, count = struct.unpack(">4sII", data[:12])
    if magic != b"DIRC" or version not in (2, 3):
        raise AssertionError(f"an index of version {version}")
    if hashlib.sha1(data[:-20]).digest() != data[-20:] and data[-20:] != bytes(20):
        raise AssertionError("an index with a wrong sum")
    found, at = {}, 12
    for _ in range(count):
        mode = struct.unpack(">I", data[at + 24 : at + 28])[0]
        flags = struct.unpack(">H", data[at + 60 : at + 62])[0]
        name = at + ENTRY_HEAD + (2 if flags & 0x4000 else 0)
        end = data.index(b"\0", name)
        found[data[name:end].decode("latin1"), flags >> 12 & 3] = (mode, data[at + 40 : at + 60].hex())
        at += (end - at + 8) // 8 * 8
    return found


def listing(index):
    """As `git ls-files -s` prints it."""
    rows = sorted((path.encode("latin1"), stage, *value) for (path, stage), value in index.items())
    return "".join(f"{mode:o} {name} {stage}\t{path.decode('latin1')}\n" for path, stage, mode, name in rows)


def of_directory(top):
    files, times = {}, {}
    stack = [""]
    while stack:
        folder = stack.pop()
        for found in os.scandir(os.path.join(top, folder)):
            path = f"{folder}{found.name}"
            times[path] = found.stat(follow_symlinks=False).st_ctime_ns
            if found.is_dir(follow_symlinks=False):
                stack.append(path + "/")
            elif found.is_symlink():
                files[path] = (stat.S_IFLNK, os.fsencode(os.readlink(found.path)))
            else:
                with open(found.path, "rb") as file:
                    files[path] = (os.fstat(file.fileno()).st_mode, file.read())
    return Snapshot(files, times)


def of_tar(data, names):
    """One of each of these directories of a tar file."""
    found = {name: {} for name in names}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        while member := tar.next():
            # Else it keeps all of them.
            tar.members = []
            name, _, path = member.name.removeprefix("./").partition("/")
            if name not in found or not path or member.isdir():
                continue
            if member.issym():
                found[name][path] = (stat.S_IFLNK, os.fsencode(member.linkname))
            elif member.islnk():
                found[name][path] = found[name][member.linkname.partition("/")[2]]
            else:
                found[name][path] = (stat.S_IFREG | member.mode, tar.extractfile(member).read())
    return {name: Snapshot(files) for name, files in found.items()}


class Graph:
    """Which commit has which parents, over the objects of many snapshots."""

    def __init__(self, place):
        self.place = place
        self.parents = {}
        self.loose = {}
        self.packs = {}

    def add(self, *snapshots):
        for snapshot in snapshots:
            for path, found in snapshot.files.items():
                if path.startswith(PACKS):
                    self.packs[path[len(PACKS):]] = found[1]
                elif path.startswith(OBJECTS) and path[len(OBJECTS) + 2 : len(OBJECTS) + 3] == "/":
                    self.loose[path[len(OBJECTS):].replace("/", "")] = found[1]

    def unpack(self):
        """Git reads packs: they have deltas."""
        with tempfile.TemporaryDirectory(dir=self.place) as top:
            env = dict(os.environ, GIT_DIR=top)
            for folder in ("objects/pack", "refs"):
                os.makedirs(os.path.join(top, folder))
            with open(os.path.join(top, "HEAD"), "w", encoding="ascii") as file:
                file.write("ref: refs/heads/x\n")
            for name, data in self.packs.items():
                with open(os.path.join(top, "objects/pack", name), "wb") as file:
                    file.write(data)
            out = subprocess.run(
                ["git", "cat-file", "--batch", "--batch-all-objects", "--unordered"],
                env=env, capture_output=True, check=True,
            ).stdout  # fmt: skip
        at = 0
        while at < len(out):
            end = out.index(b"\n", at)
            name, kind, size = out[at:end].decode("ascii").split()
            at = end + 1 + int(size) + 1
            self.note(name, kind, out[end + 1 : at - 1])
        self.packs = {}

    def note(self, name, kind, data):
        head = data.split(b"\n\n", 1)[0].decode("latin1").splitlines()
        if kind == "commit":
            self.parents[name] = [line[7:] for line in head if line.startswith("parent ")]
        elif kind == "tag":
            self.parents[name] = [head[0][7:]]
        else:
            self.parents[name] = None

    def of(self, name):
        """Its parents; a tag has one.  None: no commit; KeyError: it is nowhere."""
        if name not in self.parents and name in self.loose:
            head, _, data = zlib.decompress(self.loose[name]).partition(b"\0")
            self.note(name, head.split()[0].decode("ascii"), data)
        if name not in self.parents and self.packs:
            self.unpack()
        return self.parents[name]

    def reached(self, tips):
        found, todo = set(), list(tips)
        while todo:
            name = todo.pop()
            if name not in found:
                above = self.of(name)
                if above is not None:
                    found.add(name)
                    todo += above
        return found


def digest(top):
    """As digest.py has it, of what a repository means: values, entries, logs, files.

    Objects do not count, for an undo leaves them; the repository has to be whole.
    """
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling", "--no-progress"],
        cwd=top, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"the repository is not whole: {done.stdout}{done.stderr}")
    found = of_directory(top)
    if left := [path for path in found.files if path.startswith(GIT) and path.endswith(".lock")]:
        raise AssertionError(f"locks are left: {left}")
    refs = found.refs()
    head = refs["HEAD"]
    if head.startswith("ref: ") and head[5:] not in refs:
        raise AssertionError(f"HEAD leads nowhere: {head}")
    lines = [f"{name} {value}" for name, value in refs.items()]
    lines += listing(found.index()).splitlines()
    for path, (mode, data) in found.files.items():
        if not path.startswith(GIT) or path.startswith(".git/logs/"):
            lines.append(f"{path} {mode:o} {hashlib.sha1(data).hexdigest()}")
    return sorted(lines)
