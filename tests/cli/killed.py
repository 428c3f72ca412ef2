#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# serial
# needs: strace
# timeout: 300
"""Kills `holdback run` with SIGKILL, at its system calls and at random instants.

Afterwards there is no process of the box, no mount and nothing in the store but
sessions; the real tree is what it was, and each session can be gone on with and
be committed or removed.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOLDBACK = os.environ["HB_BIN"]
SOAK = os.environ.get("HB_SOAK") == "1"
RANDOM = 2000 if SOAK else 200
# The supervisor's system calls, and how many of each are left out.
CALLS = {"mkdirat": 5, "unlinkat": 7, "renameat": 1, "renameat2": 1, "write": 4, "clone": 1,
         "poll": 1, "wait4": 1, "fsync": 1, "flock": 1, "openat": 23, "openat2": 13}  # fmt: skip
MARK = f"1000.{os.getpid()}"
# Changes something, and then either ends or has to be ended.
ENDS = "echo more >>f; echo new >added"
STAYS = f"echo more >>f; exec sleep {MARK}"
SEED = int(os.environ.get("HB_SEED", random.randrange(1 << 30)))


class World:
    """A home with a project and the store."""

    def __init__(self):
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.project = os.path.join(self.top, "p")
        os.mkdir(self.project)
        with open(os.path.join(self.project, "f"), "w", encoding="ascii") as file:
            file.write("old\n")
        self.env = dict(os.environ, HOME=self.top)
        self.env.pop("XDG_STATE_HOME", None)
        self.sessions = os.path.join(self.top, ".local/state/holdback/sessions")

    def words(self, script):
        return [HOLDBACK, "run", "-q", "--", "sh", "-c", script]

    def run(self, *words):
        return subprocess.run(
            words, cwd=self.project, env=self.env, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip

    def names(self):
        return sorted(os.listdir(self.sessions)) if os.path.isdir(self.sessions) else []

    def done(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return file.read()


def has_sleepers():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if MARK.encode() in words:
            return True
    return False


def is_free(world, name):
    lock = os.path.join(world.sessions, name, "lock")
    if not os.path.exists(lock):
        return True
    return subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 0


def wait_until(what, condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"{what}: after 30 s not yet")


def settle(world, before):
    """What has to hold when everything has ended; returns the sessions."""
    wait_until("processes", lambda: not has_sleepers())
    for name in world.names():
        wait_until("the lock", lambda name=name: is_free(world, name))
    if mounts() != before:
        raise AssertionError("mounts are left")
    with open(os.path.join(world.project, "f"), encoding="ascii") as file:
        if file.read() != "old\n" or os.listdir(world.project) != ["f"]:
            raise AssertionError("the real tree has changed")
    done = world.run(HOLDBACK, "cleanup", "--stale", "-y")
    if done.returncode != 0:
        raise AssertionError(f"cleanup --stale: {done.stderr}")
    names = world.names()
    if any(name.startswith(".") for name in names):
        raise AssertionError(f"left in the store: {names}")
    return names


def use(world, name):
    """The session works, and what is in it is nothing or what was written."""
    done = world.run(HOLDBACK, "exec", f"@{name}", "--", "cat", "f")
    if done.returncode != 0 or done.stdout not in ("old\n", "old\nmore\n"):
        raise AssertionError(f"{name}: {done.returncode} {done.stdout!r} {done.stderr}")
    done = world.run(HOLDBACK, "cleanup", "-y", f"@{name}")
    if done.returncode != 0:
        raise AssertionError(f"{name}: {done.stderr}")


def at_calls(world, before):
    """At system calls of the supervisor, from the first to the last."""
    visited = 0
    for call, step in CALLS.items():
        count = 1
        while True:
            inject = f"inject={call}:signal=KILL:when={count}"
            done = world.run(
                "strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject,
                *world.words(ENDS),
            )  # fmt: skip
            for name in settle(world, before):
                use(world, name)
            if done.returncode == 0:
                break
            visited += 1
            count += 1 if SOAK else step
    if visited < 20:
        raise AssertionError(f"only {visited} calls were visited")
    return visited


def at_random(world, before):
    """At instants between the start and long after the command runs."""
    chance = random.Random(SEED)
    begin = time.monotonic()
    world.run(*world.words("true"))
    usual = time.monotonic() - begin
    for number in range(RANDOM):
        with subprocess.Popen(
            world.words(STAYS), cwd=world.project, env=world.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as victim:  # fmt: skip
            # An instant is what is tested: nothing depends on which.
            time.sleep(chance.random() * 2 * usual)
            victim.send_signal(signal.SIGKILL)
        if number % 20 == 19:
            names = settle(world, before)
            use(world, names[0]) if names else None
            for name in settle(world, before):
                world.run(HOLDBACK, "cleanup", "-y", f"@{name}")
    if settle(world, before):
        raise AssertionError("sessions are left")
    return RANDOM


def main():
    world = World()
    failed = 0
    before = mounts()
    print("1..2")
    for number, test in enumerate((at_calls, at_random), 1):
        try:
            print(f"ok {number} - {test.__name__}: {test(world, before)} kills leave nothing")
        except AssertionError as error:
            failed = 1
            print(f"not ok {number} - {test.__name__}\n# seed {SEED}: {error}")
        sys.stdout.flush()
    if not failed:
        world.done()
    return failed


if __name__ == "__main__":
    sys.exit(main())
