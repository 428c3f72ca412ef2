# SPDX-License-Identifier: Apache-2.0
"""Stops a program before the n-th system call that changes a file system.

The program is the one that is shipped: it is stopped from outside, by ptrace.
"""

import ctypes
import os
import platform
import signal
import subprocess

PTRACE_TRACEME, PTRACE_SYSCALL, PTRACE_DETACH = 0, 24, 17
PTRACE_SETOPTIONS, PTRACE_GET_SYSCALL_INFO = 0x4200, 0x420E
TRACESYSGOOD, EXITKILL = 1, 1 << 20
ENTRY = 1
CREATES = os.O_CREAT | os.O_TRUNC | os.O_TMPFILE & ~os.O_DIRECTORY

# name: number on x86_64, number on aarch64 and the other newer ones.
CALLS = {
    "write": (1, 64), "pwrite64": (18, 68), "openat": (257, 56),
    "fsync": (74, 82), "fdatasync": (75, 83), "syncfs": (306, 267),
    "ftruncate": (77, 46), "fallocate": (285, 47), "copy_file_range": (326, 285),
    "renameat": (264, 38), "renameat2": (316, 276), "linkat": (265, 37),
    "symlinkat": (266, 36), "unlinkat": (263, 35), "mkdirat": (258, 34),
    "mknodat": (259, 33), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "fchown": (93, 55), "fchownat": (260, 54),
    "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "setxattrat": (463, 463), "removexattrat": (466, 466),
}  # fmt: skip
LOCKS = {"flock": (73, 32)}
COLUMN = {"x86_64": 0, "aarch64": 1, "riscv64": 1, "loongarch64": 1}

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long

STAMP = "<stamp>\n"


def append(path):
    with open(path, "a", encoding="ascii") as file:
        file.write(STAMP)


def replace(path):
    with open(path + "~", "w", encoding="ascii") as file:
        file.write(STAMP)
    os.rename(path + "~", path)


class SyscallInfo(ctypes.Structure):
    """What PTRACE_GET_SYSCALL_INFO says of an entry."""

    _fields_ = [
        ("op", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("instruction_pointer", ctypes.c_uint64),
        ("stack_pointer", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
        ("space", ctypes.c_uint8 * 64),
    ]


def is_known_machine():
    return platform.machine() in COLUMN


def ptrace(request, pid, address=None, data=None):
    result = libc.ptrace(request, pid, address, data)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


class Stopper:
    """A program on its way to the n-th change, or other call; `with` ends it."""

    def __init__(self, command, calls=None, **options):
        column = COLUMN[platform.machine()]
        self.names = {numbers[column]: name for name, numbers in (calls or CALLS).items()}
        self.passed = 0
        self.status = None
        self.child = subprocess.Popen(
            command,
            preexec_fn=lambda: libc.ptrace(PTRACE_TRACEME, 0, None, None),
            **options,
        )
        os.waitpid(self.child.pid, 0)
        ptrace(PTRACE_SETOPTIONS, self.child.pid, None, TRACESYSGOOD | EXITKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            self.child.kill()
            self.finish()

    def change(self):
        """The name of the change that the program is about to make, or None."""
        info = SyscallInfo()
        size = ctypes.sizeof(info)
        ptrace(PTRACE_GET_SYSCALL_INFO, self.child.pid, size, ctypes.addressof(info))
        name = self.names.get(info.number) if info.op == ENTRY else None
        if name == "openat" and not info.arguments[2] & CREATES:
            return None
        # What it says is not what it does.
        if name == "write" and info.arguments[0] in (1, 2):
            return None
        return name

    def run_to(self, number):
        """Stops before that change; returns its name, or None at the end."""
        pending = 0
        while True:
            ptrace(PTRACE_SYSCALL, self.child.pid, None, pending)
            _, status = os.waitpid(self.child.pid, 0)
            pending = 0
            if not os.WIFSTOPPED(status):
                self.status = self.child.returncode = os.waitstatus_to_exitcode(status)
                return None
            stop = os.WSTOPSIG(status)
            if stop == signal.SIGTRAP | 0x80:
                name = self.change()
                self.passed += name is not None
                if name and self.passed == number:
                    return name
            elif stop != signal.SIGTRAP:
                pending = stop

    def kill(self):
        self.child.kill()
        self.finish()

    def go_on(self):
        """To the end, whatever that is."""
        ptrace(PTRACE_DETACH, self.child.pid)
        self.finish()

    def finish(self):
        self.status = self.child.wait()
