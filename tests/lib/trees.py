# SPDX-License-Identifier: Apache-2.0
"""The hostile trees of tests/txn/hostile-trees.py, and the words they are in.

The parts of a scene are Python that runs in the place it is about: `base` and
`alter` in the project, before and after the session was written to, `inside` in
the view, `forge` in the layer from outside, `check` in the project after a
commit, `restore` before the cleanup.
"""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
from typing import NamedTuple

SOAK = os.environ.get("HB_SOAK") == "1"
# At their full size in one mode: what they cost does not depend on who pays.
IS_LARGE = os.environ.get("HB_MODE", "user") == "user" and not os.environ.get("HB_STRATEGY")
ENTRIES = 1_000_000 if SOAK else 100_000 if IS_LARGE else 3_000
SOME = 100_000 if SOAK else 2_000 if IS_LARGE else 500  # each is moved by itself
LINKS = 60_000 if SOAK else 2_000 if IS_LARGE else 500
REAL_SIZE = 2 << 30 if SOAK else 96 << 20 if IS_LARGE else 12 << 20
DEPTH = 3000 if SOAK else 400 if IS_LARGE else 250
# Short of time rather than of memory.
UNTOLD = "size=0"  # of which nobody says how much is free
LARGE = "" if SOAK else "size=512m,nr_inodes=500k"

COMMITTED, NOTHING, REFUSED = "committed", "nothing", "refused"
UNREADABLE, NO_SESSION = "unreadable", "no session"
CAPABILITY = "security.capability"
CAPABILITY_VALUE = bytes.fromhex("0100000200200000000000000000000000000000")
OTHER_USER = 54321
MS_RDONLY, MS_REMOUNT = 1, 32


class Scene(NamedTuple):
    """See above."""

    ids: str
    name: str
    base: str = "put('f')"
    inside: str = "pass"
    outcome: str = COMMITTED
    forge: str = ""
    alter: str = ""
    check: str = ""
    restore: str = ""
    says: str = ""  # what refuses says
    words: tuple = ()  # options of commit
    modes: str = "user root userns"
    disk: str = ""  # options of a file system of its own
    place: str = ""  # the project, if it is one that is there
    is_same: bool = True  # what was seen inside is what arrives
    is_partial: bool = False  # the words leave something out
    is_large: bool = False

    @property
    def is_alone(self):
        return bool(self.disk)


def put(path, text="old"):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def dig(levels, name):
    for _ in range(levels):
        os.mkdir(name)
        os.chdir(name)


def descend(name):
    levels = 0
    while os.path.isdir(name):
        os.chdir(name)
        levels += 1
    return levels


def make(path, kind):
    """A file, a directory with something in it, a link, nothing."""
    if kind == "f":
        put(path, "of " + path)
    elif kind == "d":
        os.mkdir(path)
        put(path + "/in")
    elif kind == "l":
        os.symlink("to " + path, path)


def unmake(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def fill(path, size):
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))


def forge(path, name, value=b"y"):
    os.setxattr(path, "user.overlay." + name, value)


def set_capability(path):
    """Whoever may not, may in a user namespace of their own."""
    try:
        os.setxattr(path, CAPABILITY, CAPABILITY_VALUE)
    except PermissionError:
        code = f"import os; os.setxattr({path!r}, {CAPABILITY!r}, {CAPABILITY_VALUE!r})"
        command = ["unshare", "--map-root-user", "--", sys.executable, "-c", code]
        subprocess.run(command, check=True)


def is_mode(path, mode):
    return stat.S_IMODE(os.stat(path).st_mode) == mode


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def remount(flags):
    """Not with mount(8), which does not find every name again."""
    folder = os.fsencode(os.path.dirname(os.getcwd()))
    if ctypes.CDLL(None).mount(None, folder, None, MS_REMOUNT | flags, None) != 0:
        raise OSError("cannot remount it")


def chattr(option, path):
    subprocess.run(["chattr", option, path], check=True)


def acl(*entries):
    """The value of an attribute that is a POSIX ACL: (tag, rights, id)."""
    value = (2).to_bytes(4, "little")
    for tag, rights, who in entries:
        value += tag.to_bytes(2, "little") + rights.to_bytes(2, "little")
        value += (who & 0xFFFFFFFF).to_bytes(4, "little")
    return value


ME = os.getuid()
ACL = acl((1, 6, -1), (2, 4, ME), (4, 4, -1), (16, 4, -1), (32, 0, -1))
TYPES = [(a, b) for a in "fdl-" for b in "fdl-"]
TIMES = (-1, -1_000_000_001, 1, 2**33 * 10**9 + 7, 10**18 + 123_456_789)
NAMES = [b"a\nb", b"\x1b]0;x\x07", b"\xff\xfe", b"\xe2\x80\xaegpj", b"\xe2\x80\x8b", b"-rf",
         b"..x", b" ", b"a\\b", b"\xd0\xb0", b"*", b"x" * 255]  # fmt: skip

# fmt: off
SCENES = [
    Scene("H1 H4 H5", "links to elsewhere", "put('f'); put('a')",
          "os.symlink('/etc/passwd', 'p'); os.symlink('../../outside', 'up'); "
          "os.symlink('loop', 'loop'); os.symlink('c2', 'c1'); os.symlink('c1', 'c2'); "
          "os.symlink('x' * 4095, 'long'); os.unlink('a'); os.symlink('/etc/shadow', 'a')"),
    Scene("H2", "a link replaces a directory", "os.makedirs('d/e'); put('d/e/file')",
          "shutil.rmtree('d'); os.symlink(outside, 'd')"),
    Scene("H3", "a directory replaces a link", "os.symlink(outside, 'd')",
          "os.unlink('d'); os.mkdir('d'); put('d/file', 'mine')"),
    Scene("H6", "a directory in the layer, a link in the base", "os.symlink(outside, 'd')",
          forge="os.mkdir('d'); put('d/file', 'mine')", is_same=False,
          check="assert not os.path.islink('d')"),
    Scene("H6", "a parent becomes a link", "os.mkdir('d'); put('d/file')",
          "put('d/file', 'new')", REFUSED, says="d",
          alter="os.rename('d', 'away'); os.symlink(outside, 'd')",
          restore="os.unlink('d'); os.rename('away', 'd')"),
    Scene("H7", "a fifo", inside="os.mkfifo('p'); put('f', 'new')", outcome=REFUSED, says="p"),
    Scene("H7", "a fifo that is asked for", inside="os.mkfifo('p')", words=("--special",)),
    Scene("H7", "a fifo in the base", "os.mkfifo('p'); os.mkdir('d'); os.mkfifo('d/p')",
          "os.unlink('p'); put('p'); shutil.rmtree('d')"),
    Scene("H8", "a socket", "put('f')",
          "socket.socket(socket.AF_UNIX).bind('s'); put('f', 'new')", REFUSED, says="s"),
    Scene("H8", "a device cannot be made", "put('f')",
          "put('g')\ntry: os.mknod('c', 0o20600 | stat.S_IFCHR, os.makedev(1, 3))\n"
          "except PermissionError: pass", check="assert not os.path.exists('c')"),
    Scene("H8", "a device by hand", inside="put('f', 'new')", outcome=REFUSED, says="c",
          forge="os.mknod('c', stat.S_IFCHR | 0o600, os.makedev(1, 3))", modes="root"),
    Scene("H8", "a device that is a whiteout", "put('f'); put('g')", outcome=COMMITTED,
          forge="os.mknod('g', stat.S_IFCHR, 0)", is_same=False,
          check="assert not os.path.exists('g')"),
    Scene("H22", "a whiteout of nothing", outcome=NOTHING,
          forge="os.mknod('nothing', stat.S_IFCHR, 0)"),
    Scene("H9", "three names, one is written to",
          "put('a'); os.link('a', 'b'); os.link('a', 'c')", "put('a', 'new')"),
    Scene("H9", "three names made inside", "put('a'); os.mkdir('d')",
          "os.link('a', 'b'); os.link('a', 'd/c'); put('a', 'new')", is_same=False,
          check="assert os.stat('a').st_nlink == 3 and os.path.samefile('a', 'd/c')"),
    Scene("H10", "setuid and setgid", inside="put('s'); os.chmod('s', 0o6755)",
          outcome=REFUSED, says="s"),
    Scene("H10", "setuid that is asked for", inside="put('s'); os.chmod('s', 0o6755)",
          words=("--setid",), check="assert is_mode('s', 0o6755)"),
    Scene("H11", "a file capability", inside="put('c'); os.chmod('c', 0o755)",
          outcome=REFUSED, forge="set_capability('c')", says="c"),
    Scene("H11", "a file capability that is asked for", inside="put('c')", is_same=False,
          forge="set_capability('c')", words=("--setid",),
          check="assert os.listxattr('c') == [CAPABILITY]"),
    Scene("H11", "a file capability in the base", "put('f'); os.chmod('f', 0o755); "
          "set_capability('f')", "put('f', 'new')", is_same=False,
          check="assert not os.listxattr('f')"),
    Scene("H12", "an ACL", "put('f'); os.mkdir('d'); put('g'); "
          "os.setxattr('g', 'system.posix_acl_access', ACL)",
          "put('n'); os.setxattr('n', 'system.posix_acl_access', ACL); "
          "os.setxattr('d', 'system.posix_acl_default', ACL); put('d/f'); "
          "os.removexattr('g', 'system.posix_acl_access')"),
    Scene("H12", "attributes as large as they can be", "put('f'); os.mkdir('d'); put('g'); "
          "os.setxattr('g', 'user.large', b'o' * 65536)",
          "os.setxattr('f', 'user.large', b'x' * 65536); put('n'); "
          "os.setxattr('n', 'user.large', b'y' * 65536); "
          "os.setxattr('g', 'user.large', b'n' * 65536); "
          "os.setxattr('d', 'user.large', b'z' * 65536)", disk=UNTOLD),
    Scene("H13 H14 H15 H16", "names", "put('f'); os.mkdir(b'o\\xff'); put(b'o\\xff/\\n')",
          "[put(n) for n in NAMES]; [os.mkdir(n + b'd') for n in NAMES if len(n) < 255]; "
          "unmake(b'o\\xff')"),
    *(Scene("H17", f"opaque is {value}", "os.mkdir('d'); put('d/f')", "put('d/f', 'new')",
            UNREADABLE, forge=f"forge('d', 'opaque', b'{value}')", says="opaque")
      for value in ("x", "n", "yy")),
    Scene("H18", "a whiteout with data", "os.mkdir('d'); put('d/f')", "put('d/f', 'new')",
          UNREADABLE, forge="forge('d', 'opaque', b'x'); forge('d/f', 'whiteout')", says="d"),
    *(Scene(number, f"a forged {name}", "os.mkdir('d'); put('d/f')", "put('d/f', 'new')",
            UNREADABLE, forge=f"forge({where!r}, {name!r}, b'/etc')", says=where)
      for number, where, name in (("H19", "d", "redirect"), ("H20", "d/f", "metacopy"),
                                  ("H20", "d/f", "verity"), ("H20", "d/f", "nonsense"))),
    Scene("H21", "escaped attributes", "os.mkdir('d'); put('d/f')",
          "[forge(p, n) for p in ('d', 'd/f') for n in ('opaque', 'whiteout', 'redirect')]",
          NOTHING, is_same=False),
    Scene("H23", "very deep", "put('f')", "dig(DEPTH, 'd' * 200); put('f')"),
    Scene("H23", "very deep, and it goes", "os.mkdir('t'); os.chdir('t'); dig(DEPTH, 'd' * 200);"
          " put('f')", "subprocess.run(['rm', '-r', 't'], check=True)"),
    Scene("H24", "a change very deep", "dig(150, 'e' * 40); put('f'); put('g')",
          "descend('e' * 40); put('f', 'new'); os.unlink('g'); dig(50, 'n' * 40); put('h')"),
    Scene("H25 H26", "many files in one directory, and many directories",
          "os.mkdir('d'); put('d/old')",
          "[os.mknod(f'd/f{i}') for i in range(ENTRIES * 7 // 10)]; "
          "[os.makedirs(f'e{i // 1000}/e{i}') for i in range(ENTRIES * 3 // 10)]", disk=LARGE,
          is_large=True),
    Scene("H25", "many files of the base", "os.mkdir('d'); [put(f'd/f{i}') for i in range(SOME)]",
          "[put(f'd/f{i}', 'new') for i in range(SOME // 2)]; "
          "[os.unlink(f'd/f{i}') for i in range(SOME // 2, SOME)]", is_large=True),
    Scene("H26", "many directories that go",
          "[os.makedirs(f'd/d{i // 1000}/e{i}') for i in range(SOME)]", "shutil.rmtree('d')",
          is_large=True),
    Scene("H27", "holes", inside="os.mkdir('d'); put('d/s'); os.truncate('d/s', 4 << 40)",
          check="assert os.stat('d/s').st_blocks < 1000"),
    Scene("H27", "holes in the base", "put('s'); os.truncate('s', 1 << 40)",
          "os.unlink('s'); put('s'); os.truncate('s', (1 << 40) + 1)"),
    Scene("H28", "a large file", "fill('l', REAL_SIZE)",
          "os.utime('l'); put('f')\nwith open('l', 'r+b') as file: file.write(b'new')"),
    Scene("H28", "a large file that is the same", "fill('l', REAL_SIZE // 2)",
          "open('l', 'r+b').close(); os.chmod('l', 0o600); os.chmod('l', 0o644)", NOTHING),
    Scene("H29", "many names of one file", "put('f'); os.mkdir('o'); put('o/0'); "
          "[os.link('o/0', f'o/{i}') for i in range(1, LINKS)]",
          "os.mkdir('l'); put('l/0'); [os.link('l/0', f'l/{i}') for i in range(1, LINKS)]; "
          "shutil.rmtree('o')", is_large=True),
    Scene("H30", "long names", inside="dig(16, 'n' * 255); put('f')"),
    Scene("H30", "long names in the base", "dig(16, 'n' * 255); put('f')",
          "descend('n' * 255); put('f', 'new'); dig(4, 'm' * 255)"),
    Scene("H31", "every type to every other", "put('f'); [make(a + b, a) for a, b in TYPES]",
          "[(unmake(a + b), make(a + b, b)) for a, b in TYPES]; put('f', 'new')"),
    Scene("H32", "a name in capitals", "put('f'); put('name'); os.mkdir('d'); put('d/f')",
          "os.rename('name', 'NAME'); shutil.copytree('d', 'D'); shutil.rmtree('d')"),
    Scene("H33", "closed files and directories", "os.mkdir('d'); put('d/f'); put('g')",
          "put('c'); os.chmod('c', 0); os.mkdir('e'); put('e/f'); os.chmod('e', 0o500);"
          "os.chmod('g', 0); os.chmod('d', 0o555); os.mkdir('n'); os.chmod('n', 0)"),
    Scene("H33", "a closed directory with something in it", "put('f')",
          "os.mkdir('e'); put('e/f'); os.chmod('e', 0); put('f', 'new')"),
    Scene("H34", "times", inside="[(put(f't{t}'), os.utime(f't{t}', ns=(t, t))) for t in TIMES]; "
          "os.mkdir('d'); os.utime('d', ns=(TIMES[3], TIMES[3])); os.symlink('x', 'l'); "
          "os.utime('l', ns=(-1, -1), follow_symlinks=False)"),
    Scene("H35", "a file that is immutable", "put('f'); put('g')",
          "put('f', 'new'); os.unlink('g')", REFUSED, words=("--theirs", "g"),
          alter="chattr('+i', 'g')", restore="chattr('-i', 'g')", says="immutable", modes="root"),
    Scene("H35", "one deep in what goes", "os.makedirs('d/e'); put('d/e/f')",
          "shutil.rmtree('d')", REFUSED, words=("--theirs", "d/**"),
          alter="chattr('+i', 'd/e/f')", restore="chattr('-i', 'd/e/f')", says="immutable",
          modes="root"),
    Scene("H35", "a directory that only grows", "os.mkdir('d'); put('d/f')",
          "os.unlink('d/f')", REFUSED, words=("--theirs", "d/**"),
          alter="chattr('+a', 'd')", restore="chattr('-a', 'd')", says="append-only",
          modes="root"),
    Scene("H36", "a disk that is read-only by now", "put('f')", "put('f', 'new')", REFUSED,
          alter="remount(MS_RDONLY)", restore="remount(0)", says="Read-only", disk="size=16m"),
    Scene("H36", "a disk that is read-only", "put('f'); remount(MS_RDONLY)", "put('f', 'new')", REFUSED,
          says="Read-only", disk="size=16m"),
    Scene("H37", "somebody else's files", "put('f'); os.mkdir('d'); put('d/f'); "
          "[os.chown(p, OTHER_USER, OTHER_USER) for p in ('d', 'd/f')]",
          "put('f', 'new')\ntry: put('d/f', 'new')\nexcept OSError: pass", modes="root",
          is_same=False),
    Scene("H37", "a directory of somebody else", "",
          "put('f', 'new')", REFUSED, says="Permission denied", modes="user userns",
          place="/usr/share/base-files"),
    Scene("H38", "a mount in the project", "put('f'); os.mkdir('m'); "
          "mount('-t', 'tmpfs', 'tmpfs', 'm')", outcome=NO_SESSION, says="/m", disk="size=16m"),
    Scene("H38", "a mount that comes later", "put('f'); os.mkdir('m'); put('m/f')",
          "shutil.rmtree('m'); put('f', 'new')", REFUSED, says="m", disk="size=16m",
          alter="mount('-t', 'tmpfs', 'tmpfs', 'm')",
          restore="subprocess.run(['umount', 'm'], check=True)"),
    Scene("H39 H40", "nothing at all", "put('f')", "open('f').read()", NOTHING),
]
# fmt: on
