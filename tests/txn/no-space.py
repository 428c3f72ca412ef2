#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""A disk that is full, at each command that writes.

The base, the store or both lie on a file system of a few megabytes, which is
filled to the last byte, or has no name left, before the command.  It exits with
7 and says what to do, base and session are as before, and after room was made
the same command works.
"""

import json
import os
import select
import subprocess
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import digest  # noqa: E402

HOLDBACK = os.environ.get("HB_BIN", "holdback")
NO_SPACE, OURS = 7, 125
SIZE = "size=4m,nr_inodes=300"
INSIDE = "echo more >>f; rm g; mkdir -p n/o; echo z >n/o/z"

# What is on the small disk, and what fills it.
PLACES = ("base", "state", "both")
WAYS = ("bytes", "names")

# command: (its words, what it is to be done after).
COMMANDS = {
    "create": (["s", "--cow", "BASE"], []),
    "exec": (["@s", "--", "sh", "-ec", "cd 'BASE'; " + INSIDE], ["create"]),
    "commit": (["-y", "@s"], ["create", "exec"]),
    "undo": (["@s"], ["create", "exec", "commit"]),
    "redo": (["@s"], ["create", "exec", "commit", "undo"]),
    "rollback": (["-y", "@s"], ["create", "exec"]),
    "cleanup": (["-y", "@s"], ["create", "exec"]),
    "status": (["@s"], ["create", "exec"]),
    "diff": (["@s"], ["create", "exec"]),
    "ls": ([], ["create", "exec"]),
}
# To look, to throw away and to remove is always possible.
NEEDS_NO_ROOM = {"cleanup", "rollback", "status", "diff", "ls"}

# A command that fills the disk itself, and what is asked of its session then.
FILL = "echo more >>f; head -c 8M /dev/zero >zeroes; for i in $(seq 100); do true >n$i; done"
BEFORE = "echo a >a; echo more >>f"
STRATEGIES = ("overlay", "copy_on_write")
ENDS = ("ended", "killed")
AFTER = {
    "status": ["status", "@s"],
    "diff": ["diff", "@s"],
    "ls": ["ls"],
    "rollback": ["rollback", "-y", "@s"],
    "rollback of a path": ["rollback", "-y", "@s", "zeroes"],
    "rollback of two paths": ["rollback", "-y", "@s", "zeroes", "f"],
    "cleanup": ["cleanup", "-y", "@s"],
    "rollback of marks": ["rollback", "-y", "@s"],
    "rollback to a mark": ["rollback", "-y", "--to", "m", "@s"],
    "rollback to the first of two marks": ["rollback", "-y", "--to", "m", "@s"],
    "rollback of what a fork has as well": ["rollback", "-y", "@s"],
    "cleanup of marks": ["cleanup", "-y", "@s"],
}


class Fault(Exception):
    """What was found."""


class World:
    """A small disk, and a base and a store on it or beside it."""

    def __init__(self, top, place):
        self.disk = os.path.join(top, "disk")
        large = os.path.join(top, "large")
        for folder in (self.disk, large):
            os.makedirs(folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", SIZE, "tmpfs", self.disk], check=True)
        self.base = os.path.join(self.disk if place in ("base", "both") else large, "p")
        self.state = os.path.join(self.disk if place in ("state", "both") else large, "s")
        self.filler = os.path.join(self.disk, "filler")
        os.mkdir(self.base)
        script = "echo one >f; echo two >g; mkdir d; echo x >d/x"
        subprocess.run(["sh", "-ec", script], cwd=self.base, check=True)

    def run(self, command):
        words = [word.replace("BASE", self.base) for word in COMMANDS[command][0]]
        done = subprocess.run(
            [HOLDBACK, command, "--state-dir", self.state, *words], cwd=self.base,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, (done.stdout + done.stderr).strip()

    def must(self, command):
        status, said = self.run(command)
        if status != 0:
            raise Fault(f"{command}: exit status {status}: {said}")

    def fill(self, way):
        os.mkdir(self.filler)
        try:
            if way == "names":
                for number in range(100_000):
                    os.mknod(os.path.join(self.filler, str(number)))
            with open(os.path.join(self.filler, "bytes"), "wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
        except OSError:
            pass

    def make_room(self):
        subprocess.run(["rm", "-rf", self.filler], check=True)

    def tree(self):
        """Without our own store at the top of the base."""
        return [line for line in digest.digest(self.base)[1:] if not line.startswith(".holdback")]

    def pending(self):
        done = subprocess.run(
            [HOLDBACK, "status", "--state-dir", self.state, "--json", "@s"],
            cwd=self.base, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            return f"exit status {done.returncode}: {done.stdout} {done.stderr}"
        return json.loads(done.stdout)["summary"]["hash"]


def check_failure(command, status, said):
    if command == "exec":
        # The command inside may be the one that meets the full disk.
        if status in range(1, OURS) or (status == OURS and f"[{NO_SPACE}]" in said):
            return
    elif status == NO_SPACE:
        if "fix: " not in said:
            raise Fault(f"{command} knows no fix: {said}")
        return
    raise Fault(f"{command}: exit status {status}: {said}")


def play(top, place, way, command):
    world = World(top, place)
    for before in COMMANDS[command][1]:
        world.must(before)
    tree, pending = world.tree(), world.pending()
    world.fill(way)
    status, said = world.run(command)
    failed = status != 0
    if failed:
        check_failure(command, status, said)
    if failed or command == "create":
        if world.tree() != tree:
            raise Fault(f"the base is another one after: {said}")
    world.make_room()
    if failed and command != "exec" and world.pending() != pending:
        raise Fault(f"the session was {pending} and is {world.pending()} after: {said}")
    if failed:
        world.must(command)
    if command in NEEDS_NO_ROOM and failed:
        raise Fault(f"it needs room: {said}")
    print(f"# {command}: {'refused' if failed else 'done'}", file=sys.stderr)


class Filled(World):
    """A session whose command has filled the disk: as it is without room."""

    def __init__(self, top, strategy, end, asked):
        super().__init__(top, "both")
        self.old = self.tree()
        self.asked = asked
        self.told("create", "s", "--cow", self.base, "--strategy", strategy)
        if "mark" in asked or "fork" in asked:
            self.inside(BEFORE)
            self.told("mark", "@s", "m")
        if "first of two" in asked:
            self.inside("echo b >b")
            self.told("mark", "@s", "m2")
        if "fork" in asked:
            self.told("fork", "@s", "t")
        self.fork = self.names("@t") if "fork" in asked else None
        if end == "killed":
            self.kill_inside(FILL)
        else:
            self.inside(FILL, may_fail=True)
        # What is kept of a copy has to be carried to the layer: that needs names.
        self.fill("bytes" if strategy != "overlay" and "path" in asked else "names")

    def call(self, *words):
        return subprocess.run(
            [HOLDBACK, words[0], "--state-dir", self.state, *words[1:]], cwd=self.base,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def told(self, *words):
        done = self.call(*words)
        if done.returncode != 0:
            raise Fault(f"{words[0]}: exit status {done.returncode}: {done.stderr}")
        return done.stdout

    def inside(self, script, may_fail=False):
        done = self.call("exec", "@s", "--", "sh", "-c", f"cd '{self.base}'; {script}")
        if done.returncode != 0 and not may_fail:
            raise Fault(f"exec: exit status {done.returncode}: {done.stderr}")

    def kill_inside(self, script):
        """Its supervisor is killed, and so it is."""
        words = [HOLDBACK, "exec", "--state-dir", self.state, "@s", "--", "sh", "-c"]
        with subprocess.Popen(
            [*words, f"cd '{self.base}'; {script}; echo ready; exec sleep 600"], cwd=self.base,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as child:  # fmt: skip
            if child.stdout.readline() != b"ready\n":
                raise Fault("the command is not ready")
            with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="utf-8") as file:
                below = [os.pidfd_open(int(pid)) for pid in file.read().split()]
            if not below:
                raise Fault("the supervisor has no process below it")
            child.kill()
        # The mounts of the box hold the room of a file until its last process has ended.
        for process in below:
            select.select([process], [], [])
            os.close(process)
        while "live" in self.told("ls"):
            time.sleep(0.05)

    def names(self, session="@s"):
        return self.told("diff", "--name-status", session)

    def check(self, said):
        if self.tree() != self.old:
            raise Fault(f"the base is another one after: {said}")
        if "rollback" not in self.asked:
            return
        names = self.names().replace(self.base + "/", "").splitlines()
        if self.asked == "rollback of a path":
            is_right = "M\tf" in names and "A\tn1" in names and "A\tzeroes" not in names
        elif self.asked == "rollback of two paths":
            is_right = "A\tn1" in names and not {"M\tf", "A\tzeroes"} & set(names)
        elif "to" in self.asked.split():
            is_right = names == ["A\ta", "M\tf"]
        else:
            is_right = not names
        if not is_right:
            raise Fault(f"pending is: {names[:5]}, after: {said}")
        if self.fork is not None and self.names("@t") != self.fork:
            raise Fault(f"the fork is another one: {self.names('@t')}")


def play_filled(top, strategy, end, asked):
    world = Filled(top, strategy, end, asked)
    done = world.call(*AFTER[asked])
    said = done.stdout + done.stderr
    if done.returncode != 0:
        raise Fault(f"exit status {done.returncode}: {said}")
    if asked.startswith("cleanup") and "s " in world.told("ls"):
        raise Fault("the session is there")
    world.make_room()
    if "holdback recover @s" in said:
        world.told("recover", "@s")
    world.check(said)
    if asked.startswith("rollback") and "undo cannot bring" not in said:
        done = world.call("undo", "@s")
        if done.returncode not in (0, NO_SPACE):
            raise Fault(f"undo: exit status {done.returncode}: {done.stderr}")
    if "rollback" not in asked:
        return
    # It works on, also if undo has brought all of it back.
    world.told("rollback", "-y", "@s")
    world.told("gc", "--older-than", "0s")
    world.inside("echo after >after")
    world.told("commit", "-y", "@s")


def play_alone(*words):
    """In a mount namespace of its own, whose mounts go with it."""
    how = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    done = subprocess.run(
        ["unshare", *how, "--", sys.executable, __file__, "--alone", *words],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    return None if done.returncode == 0 else done.stdout + done.stderr


def remove_berth(folder):
    """What sessions had there whose state directory is gone."""
    berth = os.path.join(folder, ".holdback")
    for path in (berth, os.path.join(berth, "store")):
        if os.path.exists(path):
            os.chmod(path, 0o700)
    subprocess.run(["rm", "-rf", berth], check=True)


def main():
    number = 0
    top = os.path.join(os.environ["TMPDIR"], "top")
    for place in PLACES:
        for way in WAYS:
            for command in COMMANDS:
                number += 1
                why = play_alone(top, place, way, command)
                subprocess.run(["rm", "-rf", top], check=True)
                remove_berth(os.path.dirname(top))
                name = f"{command}, the disk of {place} has no {way} left"
                print(f"{'not ok' if why else 'ok'} {number} - {name}")
                for line in (why or "").splitlines()[:12]:
                    print(f"# {line}")
                sys.stdout.flush()
    for strategy in STRATEGIES:
        for end in ENDS:
            for asked in AFTER:
                number += 1
                why = play_alone(top, "filled", strategy, end, asked)
                subprocess.run(["rm", "-rf", top], check=True)
                remove_berth(os.path.dirname(top))
                name = f"{asked} after a command that filled the disk was {end} ({strategy})"
                print(f"{'not ok' if why else 'ok'} {number} - {name}")
                for line in (why or "").splitlines()[:12]:
                    print(f"# {line}")
                sys.stdout.flush()
    print(f"1..{number}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        try:
            if sys.argv[3] == "filled":
                play_filled(sys.argv[2], *sys.argv[4:])
            else:
                play(*sys.argv[2:])
        except (Fault, OSError, subprocess.CalledProcessError) as fault:
            print(fault)
            sys.exit(1)
        sys.exit(0)
    sys.exit(main())
