#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace
"""A run finds the sessions of its directory by notes, however many others there are.

The notes are hints: without them, in another boot, and where they cannot be
made, the same sessions are found.  tests/cli/killed.py kills the commands that
make and remove them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HOLDBACK = os.environ["HB_BIN"]
ELSEWHERE = 40
CALLS_MORE = 20  # a run's own number varies by a few: the name of its session, a retry


class World:
    def __init__(self):
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.state = self.top + "/state/holdback"
        self.notes = self.state + "/projects"
        self.env = dict(os.environ, XDG_STATE_HOME=self.top + "/state")
        os.mkdir(self.top + "/p")

    def call(self, *words, where="p", before=()):
        return subprocess.run([*before, HOLDBACK, *words], cwd=f"{self.top}/{where}", env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)  # fmt: skip

    def pending(self, where="p"):
        """A session with a change, by a run."""
        return self.call("-q", "sh", "-c", "echo >f", where=where)

    def noted(self):
        found = []
        for folder, _, files in os.walk(self.notes):
            found += [os.readlink(f"{folder}/{name}") for name in files if folder != self.notes]
        return sorted(found)

    def told(self, where="p"):
        """The session that a run names before it begins a new one, which is dropped."""
        said = self.call("true", where=where).stderr
        match = re.search(r"session (\S+)( and others have| has) changes here", said)
        return match[1] if match else None

    def calls(self, *words):
        log = self.top + "/calls"
        self.call(*words, before=["strace", "-f", "-qq", "-e", "signal=none", "-o", log])
        with open(log, encoding="utf-8", errors="replace") as file:
            return sum("(" in line and "resumed>" not in line for line in file)

    def done(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def same(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, expected {want!r}")


def noted(world):
    """A session is noted under each of its directories, and no more once it is gone."""
    os.mkdir(world.top + "/q")
    same(world.call("create", "two", "--cow", ".", "--cow", "../q").returncode, 0)
    same(world.noted(), ["two", "two"])
    same(world.call("cleanup", "-y", "@two").returncode, 0)
    same(world.noted(), [])
    same(world.call("true").returncode, 0)
    same(world.noted(), [])


def below(world):
    """A run below the session's directory finds it, a run beside it does not."""
    world.pending()
    os.makedirs(world.top + "/p/a/b")
    os.mkdir(world.top + "/pp")
    same(world.told("p/a/b"), "sh-1")
    same(world.told("pp"), None)
    same(world.told("."), None)


def another_boot(world):
    """Notes that a power cut took are made again in the next boot."""
    world.pending()
    for folder, _, files in os.walk(world.notes):
        for name in files:
            os.unlink(f"{folder}/{name}")
    os.symlink("another", world.notes + "/boot")
    same(world.told(), "sh-1")
    same(world.noted(), ["sh-1"])


def earlier_version(world):
    """Sessions of a version without notes are found."""
    world.pending()
    shutil.rmtree(world.notes)
    same(world.told(), "sh-1")


def no_notes(world):
    """Where notes cannot be made, all sessions are looked at."""
    world.pending()
    world.pending()
    shutil.rmtree(world.notes)
    with open(world.notes, "w", encoding="ascii"):
        pass
    done = world.call("commit", "-y")
    same((done.returncode, "2 sessions have changes" in done.stderr), (2, True))
    done = world.call("create", "new", "--cow", ".")
    same((done.returncode != 0, "cannot note the session of" in done.stderr), (True, True))
    same(sorted(os.listdir(world.state + "/sessions")), ["sh-1", "sh-2"])


def same_name(world):
    """A note of a session that is gone does not stand for a new one of its name."""
    world.pending()
    folder = next(f for f, _, files in os.walk(world.notes) if files and f != world.notes)
    (note,) = os.listdir(folder)
    world.call("cleanup", "-y", "@sh-1")
    os.symlink("sh-1", f"{folder}/{note}")
    world.pending()
    same(world.noted(), ["sh-1", "sh-1"])
    world.call("gc", "-n")
    same(world.noted(), ["sh-1", "sh-1"])
    same(world.call("gc").returncode, 0)
    same(world.noted(), ["sh-1"])
    same(note in os.listdir(folder), False)
    same(world.told(), "sh-1")


def kill_at(world, call, number, words):
    """Whether the command was killed there; its session is removed afterwards."""
    kill = ["-e", f"inject={call}:signal=KILL:when={number}"]
    done = world.call(*words, before=["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", *kill])
    there = {name for name in os.listdir(world.state + "/sessions") if name[0] != "."}
    if not there <= set(world.noted()):
        raise AssertionError(f"{call} {number}: there are {there}, noted {world.noted()}")
    world.call("cleanup", "-y", "--stale")
    world.call("cleanup", "-y", "@new")
    same((call, number, words[0], world.noted()), (call, number, words[0], ["other"]))
    same(sorted(os.listdir(world.state + "/sessions")), ["other"])
    return done.returncode < 0


def killed(world):
    """A session never has its name without its notes, also if create or cleanup is killed."""
    create, visited = ["create", "new", "--cow", "."], 0
    world.call("create", "other", "--cow", ".")
    for call in ("mkdirat", "symlinkat", "renameat2", "renameat", "unlinkat"):
        for number in range(1, 100):
            if not kill_at(world, call, number, create):
                break
            visited += 1
    for call in ("renameat", "unlinkat"):
        for number in range(1, 100):
            world.call(*create)
            if not kill_at(world, call, number, ["cleanup", "-y", "@new"]):
                break
            visited += 1
    if visited < 12:
        raise AssertionError(f"only {visited} calls were visited")


def grows(world, *commands):
    """Compares the calls of commands before and after other directories have many sessions."""
    os.mkdir(world.top + "/others")
    for words in commands:
        world.calls(*words)
    before = [world.calls(*words) for words in commands]
    for number in range(ELSEWHERE):
        os.mkdir(f"{world.top}/others/{number}")
        world.call("create", f"s{number}", "--cow", f"../others/{number}")
    for words, was in zip(commands, before):
        now = world.calls(*words)
        if now > was + CALLS_MORE:
            raise AssertionError(f"{words}: {was} calls, and {now} with {ELSEWHERE} sessions elsewhere")


def calls(world):
    """The start of a run takes no more calls where other directories have many sessions."""
    grows(world, ["true"])


def calls_without_name(world):
    """A command that names no session reads no record of another directory."""
    world.pending()
    grows(world, ["status"], ["exec", "--", "true"])


def main():
    count = failed = 0
    for test in (noted, below, another_boot, earlier_version, no_notes, same_name, killed, calls,
                 calls_without_name):  # fmt: skip
        world = World()
        count += 1
        try:
            test(world)
            print(f"ok {count} - {test.__doc__}")
        except AssertionError as why:
            failed += 1
            print(f"not ok {count} - {test.__doc__}\n# {why}")
        world.done()
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
