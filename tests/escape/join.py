#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
"""Somebody hostile in a box lies in wait for those who join it.

He knows the next pid, stops the process the moment it is there, and looks at
everything that /proc has of it: descriptors of the host, the environment and
the program of who joins, the host's mounts and network.  All this without
landlock, whose domains would keep the two apart by themselves.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Tap, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
PROBE = os.environ["HB_PROBE"]
SECRET = "plugh-xyzzy"
CAUGHT = 15  # before they executed
TRIES = 1500

WATCHER = r"""
import ctypes, os, random, signal, sys, time
SPAN = 0.0005  # about what one takes until it executes
libc = ctypes.CDLL(None, use_errno=True)
own = {name: open(f"/proc/self/{name}").read() for name in ("mountinfo", "net/dev", "net/unix")}
own_links = {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")}
def holds(pid):
    found = []
    base = f"/proc/{pid}"
    for file in ("environ", "mem", "auxv", "maps", "stack", "syscall"):
        try:
            with open(f"{base}/{file}", "rb") as f:
                if file == "mem":
                    found.append(file)
                elif SECRET in f.read():
                    found.append(file)
        except OSError:
            pass
    for link in ("exe", "root", "cwd"):
        try:
            where = os.readlink(f"{base}/{link}")
            if link == "exe" or where != "/":
                found.append(f"{link} {where}")
        except OSError:
            pass
    for fd in range(32):
        try:
            where = os.readlink(f"{base}/fd/{fd}")
            found.append(f"fd {fd} {where}")
        except OSError:
            pass
        try:
            os.close(os.open(f"{base}/fd/{fd}", os.O_PATH))
            found.append(f"fd {fd} opens")
        except OSError:
            pass
    for file, want in own.items():
        try:
            if open(f"{base}/{file}").read() != want:
                found.append(file)
        except OSError:
            pass
    for ns, want in own_links.items():
        try:
            os.readlink(f"{base}/ns/{ns}")
            found.append(f"ns {ns}")
        except OSError:
            pass
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return found
    for fd in range(3, 16):
        if libc.syscall(438, pidfd, fd, 0) >= 0:  # pidfd_getfd
            found.append(f"pidfd_getfd {fd}")
    os.close(pidfd)
    return found
def trace(pid):
    if libc.ptrace(16, pid, 0, 0) != 0:  # PTRACE_ATTACH
        return
    if comm(pid) == "holdback":
        print("found: ptrace")
    os.kill(pid, signal.SIGKILL)
    while not os.WIFSIGNALED(os.waitpid(pid, 0x40000000)[1]):  # __WALL
        pass
def comm(pid):
    try:
        return open(f"/proc/{pid}/comm").read().strip()
    except OSError:
        return ""
SECRET, want, limit = sys.argv[1].encode(), int(sys.argv[2]), int(sys.argv[3])
caught = 0
def last_pid():
    return int(open("/proc/loadavg").read().split()[-1])
def catch():
    # Stops the next one; those that were missed are gone.
    while True:
        pid = last_pid() + 1
        for _ in range(200):
            try:
                os.kill(pid, 0)
                # At another of its steps each time.
                end = time.perf_counter() + random.random() * SPAN
                while time.perf_counter() < end:
                    pass
                os.kill(pid, signal.SIGSTOP)
                return pid
            except ProcessLookupError:
                pass
open("ready", "w").close()
for _ in range(limit):
    pid = catch()
    before = comm(pid)
    found = holds(pid) if before == "holdback" else []
    # Who executed meanwhile is the command, and his own.
    if before == "holdback" and comm(pid) == "holdback":
        caught += 1
        for what in found:
            print("found:", what)
        trace(pid)
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass
    if caught >= want:
        break
print("caught", caught, flush=True)
open("over", "w").close()
sys.stdin.read()
"""


class World:
    def __init__(self, prefix):
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.project = os.path.join(self.top, "p")
        self.state = os.path.join(self.top, "state")
        os.mkdir(self.project)
        self.prefix = prefix
        with open(os.path.join(self.project, "watcher"), "w", encoding="ascii") as file:
            file.write(WATCHER)
        self.run("create", "s", "--cow", self.project)
        self.upper = os.path.join(self.state, "sessions/s/r0/upper")

    def words(self, command, *words):
        return [HOLDBACK, command, "--state-dir", self.state, *words]

    def run(self, *words, env=None):
        return subprocess.run(
            self.prefix + self.words(*words), cwd=self.project, check=False, env=env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip

    def has(self, name):
        return os.path.exists(os.path.join(self.upper, name))

    def done(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def join(world, env):
    """A command that stops for a moment stops who waits for it, as ^Z does."""
    with subprocess.Popen(
        world.prefix + world.words("exec", "@s", "--", "/bin/true"), cwd=world.project, env=env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as client:  # fmt: skip
        while True:
            try:
                client.wait(0.02)
                return
            except subprocess.TimeoutExpired:
                client.send_signal(signal.SIGCONT)


def lie_in_wait(world):
    with subprocess.Popen(
        world.prefix
        + world.words("exec", "@s", "--", sys.executable, "watcher", SECRET, str(CAUGHT), str(TRIES)),
        cwd=world.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as watcher:  # fmt: skip
        try:
            wait_until(lambda: world.has("ready") or watcher.poll() is not None, "the watcher is up")
            env = dict(os.environ, HB_SECRET=SECRET)
            for _ in range(TRIES):
                if world.has("over") or watcher.poll() is not None:
                    break
                join(world, env)
        finally:
            out = watcher.communicate()[0]
    lines = out.splitlines()
    found = sorted(set(line for line in lines if line.startswith("found:")))
    if found:
        raise Failed("\n".join(found))
    if f"caught {CAUGHT}" not in lines:
        raise Failed(f"control: nobody was caught before executing: {out}")


def main():
    tap = Tap()
    world = World([PROBE, "deny", "landlock_create_ruleset", "ENOSYS", "--"])
    tap.test("V5 V6 nothing of the host is seen in who joins", lie_in_wait, world)
    world.done()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
