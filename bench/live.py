# SPDX-License-Identifier: Apache-2.0
"""Commands that join a box which is there, and boxes that are kept open."""

import json
import os
import statistics
import subprocess
import time

import figures
from stand import Failure

MANY_ROUNDS = 3
ABREAST = (1, 8)


class Kept(figures.Crowd):
    """Sessions that are kept open and have no command in them."""

    def __init__(self, stand, size, name="kept"):
        super().__init__(stand, [], size)
        self.names = [f"{name}{number}" for number in range(size)]

    def __enter__(self):
        try:
            for name in self.names:
                folder = self.stand.path("work", name)
                self.stand.run("mkdir", folder)
                self.run("create", name, "--cow", folder)
                self.members.append(self.keep(name))
            self.await_live()
        except BaseException:
            self.__exit__()
            raise
        return self

    def await_live(self):
        deadline = time.monotonic() + figures.READY_SECONDS
        count = 0
        while count < self.size:
            time.sleep(figures.LOOK_SECONDS)
            sessions = json.loads(self.run("ls", "--json"))["sessions"]
            count = sum(session["state"] == "live" for session in sessions)
            self.check(count, deadline - time.monotonic())
        # A command waits until the view behind the lock is there.
        for name in self.names:
            self.run("exec", "@" + name, "--", "/bin/true")

    def run(self, *words):
        return self.stand.run(self.stand.path("bin", "holdback"), *words)

    def keep(self, name):
        words = [self.stand.path("bin", "holdback"), "keep", "@" + name]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, **self.stand.identity())

    def __exit__(self, *_):
        for member in self.members:
            member.terminate()
        bad = [member for member in self.members if member.wait() != 0]
        for name in self.names[: len(self.members)]:
            self.run("cleanup", "-y", "@" + name)
            self.stand.run("rm", "-r", self.stand.path("work", name))
        if bad:
            raise Failure(f"{len(bad)} of {self.size} kept sessions failed")


def commands_of(stand, session, payload):
    joins = [stand.path("bin", "holdback"), "exec", "@" + session, "--", payload]
    return {
        "bare": [payload],
        "exec": joins,
        "exec again": joins,
        "bwrap": [*stand.theirs(), "--", payload],
    }


def run_many(stand, command, count, abreast):
    """Seconds for so many of the command, some of them at a time."""
    words = ["/usr/bin/xargs", "-P", str(abreast), "-n", "1", "--replace={}", *command]
    numbers = "".join(f"{n}\n" for n in range(count)).encode()
    begin = time.monotonic()
    done = subprocess.run(words, input=numbers, capture_output=True, **stand.identity())
    if done.returncode != 0:
        raise Failure(f"{command[0]}: {done.stderr.decode().strip()}")
    return time.monotonic() - begin


def measure_many(stand, commands, count):
    """{(name, abreast): seconds}, medians of rounds in which all take turns."""
    times = {(name, n): [] for n in ABREAST for name in commands}
    for _ in range(MANY_ROUNDS):
        for (name, abreast), values in times.items():
            values.append(run_many(stand, commands[name], count, abreast))
    return {key: statistics.median(values) for key, values in times.items()}


def measure(stand, rounds, many, crowd, crowds):
    """{"start": {payload: {name: Times}}, "many": ..., "memory": {who: Memory}}."""
    payloads = {"dynamic": "/bin/true", "static": stand.payload()}
    with Kept(stand, 1, "live") as kept:
        work = stand.path("work", kept.names[0])
        # What it shows is the session's directory.
        stand.run("cp", payloads["static"], os.path.join(work, "payload"))
        payloads["static"] = os.path.join(work, "payload")
        commands = {p: commands_of(stand, kept.names[0], path) for p, path in payloads.items()}
        start = {p: figures.measure_pair(stand, rounds, c, "exec") for p, c in commands.items()}
        counted = {n: c for n, c in commands["dynamic"].items() if n != "exec again"}
        found = {"start": start, "many": measure_many(stand, counted, many)}
    makers = {
        "kept": lambda: Kept(stand, crowd),
        "bwrap": lambda: figures.Crowd(stand, [*stand.theirs(), "--"], crowd),
    }
    found["memory"] = figures.measure_crowds(makers, crowds)
    return found
