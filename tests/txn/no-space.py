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
import subprocess
import sys

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

# What a command that fills the disk itself leaves: first, these go on with it.
FILL = "echo more >>f; head -c 8M /dev/zero >zeroes; for i in $(seq 400); do : >n$i; done"
AFTER = ("status", "diff", "ls", "rollback", "cleanup")


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


def play_filled(top, place, command):
    """The command in the session has filled the disk; by exec or by run."""
    world = World(top, place)
    tree = world.tree()
    world.must("create")
    done = subprocess.run(
        [HOLDBACK, "exec", "--state-dir", world.state, "@s", "--", "sh", "-c",
         f"cd '{world.base}'; {FILL}"],
        cwd=world.base, stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    world.fill("names")
    status, said = world.run(command)
    if status != 0:
        raise Fault(f"{command}: exit status {status}: {said}")
    if world.tree() != tree:
        raise Fault(f"the base is another one after: {said}")
    if command == "rollback":
        world.make_room()
        if world.run("diff") != (0, ""):
            raise Fault(f"something is pending: {world.run('diff')}")
        if "undo cannot bring" not in said and world.run("undo")[0] != 0:
            raise Fault(f"it cannot be undone, and nothing was said: {said}")


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
    for command in AFTER:
        number += 1
        why = play_alone(top, "both", "filled", command)
        subprocess.run(["rm", "-rf", top], check=True)
        print(f"{'not ok' if why else 'ok'} {number} - {command} after a command filled the disk")
        for line in (why or "").splitlines()[:12]:
            print(f"# {line}")
    print(f"1..{number}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        try:
            if sys.argv[4] == "filled":
                play_filled(sys.argv[2], sys.argv[3], sys.argv[5])
            else:
                play(*sys.argv[2:])
        except (Fault, OSError, subprocess.CalledProcessError) as fault:
            print(fault)
            sys.exit(1)
        sys.exit(0)
    sys.exit(main())
