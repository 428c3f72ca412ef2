#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""Marks and forks of a session while its command runs (Q14).

The command makes two files longer, the second always after the first.  So a
copy that is not of one moment shows.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
import stopper  # noqa: E402
from caller import Caller  # noqa: E402
from pty_shell import Failed, Tap, below, same, state_of, wait_until  # noqa: E402

FILL = "echo mine >f; rm d/gone; mkdir n; echo n >n/1; ln n/1 n/2; ln -s f l; rm -r o; mkdir o; echo o >o/new"
COUNT = "rm -f a b; while [ ! -e end ]; do printf . >>a; printf . >>b; done"
VIEW = "find . -name '[ab]' -prune -o -print | sort; cat f o/*; cat n/1 2>/dev/null || :"


class World(Caller):
    """A project with a live session `s`."""

    def __init__(self):
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.project = os.path.join(self.top, "p")
        self.state = os.path.join(self.top, "state")
        os.makedirs(os.path.join(self.project, "d"))
        os.makedirs(os.path.join(self.project, "o"))
        for name in ("f", "d/gone", "d/stays", "o/old"):
            with open(os.path.join(self.project, name), "w", encoding="ascii") as file:
                file.write("real\n")
        self.must("create", "s", "--cow", self.project)
        self.box = None
        self.begin(FILL + "; " + COUNT)

    def begin(self, script):
        # The file of the box before may be long, and its first act is to remove it.
        before = self.count()[1]
        # pylint: disable=consider-using-with
        self.box = subprocess.Popen(
            self.words("exec", "@s", "--", "sh", "-c", script), cwd=self.project,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(lambda: self.count()[1] != before, "the command begins")
        self.moves()

    def end(self):
        # It may end with the box.
        self.run("exec", "@s", "--", "touch", "end")
        self.box.wait()
        self.must("exec", "@s", "--", "rm", "end")

    def count(self, folder=None):
        """How long the two files are; in what was cut short there may be none."""
        found = []
        for name in "ba":
            try:
                found.insert(0, os.stat(os.path.join(folder or self.upper(), name)).st_size)
            except FileNotFoundError:
                found.insert(0, 0)
        return found

    def upper(self):
        return os.path.join(self.state, "sessions/s/r0/upper")

    def moves(self):
        before = self.count()[1]
        wait_until(lambda: self.count()[1] != before, "the command goes on")

    def layers(self):
        top = os.path.join(self.state, "layers")
        return [
            os.path.join(top, family, name, "r0")
            for family in (os.listdir(top) if os.path.isdir(top) else [])
            for name in os.listdir(os.path.join(top, family))
            if name != "lock"
        ]

    def record(self):
        with open(os.path.join(self.state, "sessions/s/session"), encoding="utf-8") as file:
            return file.read()

    def marks(self):
        lines = self.must("status", "@s").splitlines()
        found = [line for line in lines if line.startswith("marks: ")]
        return found[0][len("marks: ") :].split(", ") if found else []

    def view(self, session="@s"):
        return self.must("exec", session, "--", "sh", "-c", VIEW)

    def done(self):
        if self.box.poll() is None:
            self.run("stop", "@s")
            self.box.wait()
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def without_live(world):
    for words in (("mark", "@s", "x"), ("fork", "@s", "x")):
        done = world.run(*words)
        same(done.returncode, 8)
        if "fix: holdback stop @s, or " not in done.stderr or "--live" not in done.stderr:
            raise Failed(done.stderr)


def one_moment(world):
    for number in range(10):
        same(world.must("mark", "--live", "@s", f"t{number}"), f"marked session s as t{number}\n")
    for layer in world.layers():
        first, second = world.count(layer)
        if first - second not in (0, 1):
            raise Failed(f"a is {first}, b is {second}")
    world.moves()
    same(world.marks(), [f"t{number}" for number in range(10)])


def as_json(world):
    said = json.loads(world.must("mark", "--live", "--json", "@s", "json"))
    same((said["name"], said["mark"]), ("s", "json"))


def upper_untouched(world):
    """Nothing is written to the layer of a box that is there."""
    fixed = [os.path.join(world.upper(), name) for name in ("f", "n", "n/1", "o", "d/gone", "l")]
    before = [(x.st_ino, x.st_ctime_ns) for x in map(os.lstat, fixed)]
    world.must("mark", "--live", "@s", "look")
    same([(x.st_ino, x.st_ctime_ns) for x in map(os.lstat, fixed)], before)


def same_name(world):
    done = world.run("mark", "--live", "@s", "t1")
    same(done.returncode, 10)


def kept_by_the_end(world):
    """The process that had the session live knows of marks that others made."""
    view = world.view()
    world.must("fork", "--live", "@s", "beside")
    same(world.view("@beside"), view)
    world.must("exec", "@s", "--", "sh", "-c", "echo later >f; rm -r n; echo more >o/more")
    marks = world.marks()
    world.end()
    same(world.marks(), marks)
    later = world.view()
    world.must("rollback", "-y", "--to", "t3", "@s")
    same(world.view(), view)
    same(world.marks(), ["t0", "t1", "t2", "t3"])
    world.must("undo", "@s")
    same((world.view(), world.marks()), (later, marks))
    world.must("redo", "@s")
    same((world.view(), world.marks()), (view, ["t0", "t1", "t2", "t3"]))
    world.must("undo", "@s")


def fork_from(world):
    world.must("fork", "--from", "t5", "@s", "past")
    same("mine" in world.view("@past"), True)
    world.must("exec", "@past", "--", "sh", "-c", "test n/1 -ef n/2 && test ! -e d/gone && test ! -e o/old")
    same(world.run("diff", "--since", "t5", "@s").returncode, 10)


def beside_idle_marks(world):
    """A mark of an idle session is a part of the stack, a copy lies beside it."""
    world.must("mark", "@s", "idle")
    world.begin("echo above >f; " + COUNT)
    world.must("mark", "--live", "@s", "above")
    world.must("exec", "@s", "--", "sh", "-c", "echo top >f")
    world.end()
    world.must("rollback", "-y", "--to", "above", "@s")
    same(world.must("exec", "@s", "--", "cat", "f"), "above\n")
    world.must("rollback", "-y", "--to", "idle", "@s")
    same(world.must("exec", "@s", "--", "cat", "f"), "later\n")
    world.must("rollback", "-y", "--to", "t2", "@s")
    same(world.must("exec", "@s", "--", "cat", "f"), "mine\n")


def committed(world):
    """A commit takes the copy as any layer, ends the marks, and undo brings them back."""
    marks = world.marks()
    world.must("commit", "-y", "@s")
    with open(os.path.join(world.project, "f"), encoding="ascii") as file:
        same(file.read(), "mine\n")
    same(os.path.exists(os.path.join(world.project, "d/gone")), False)
    same(sorted(os.listdir(os.path.join(world.project, "o"))), ["new"])
    same(world.marks(), [])
    world.must("undo", "@s")
    same(world.marks(), marks)
    with open(os.path.join(world.project, "f"), encoding="ascii") as file:
        same(file.read(), "real\n")
    world.must("gc", "--older-than", "0")
    same("mine" in world.view(), True)


def killed(world, deed, name):
    """Stops it before each change, and kills it there; the box goes on."""
    number = 0
    while True:
        number += 1
        words = world.words(*(word.replace("%", f"{name}{number}") for word in deed))
        with stopper.Stopper(words, cwd=world.project, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:  # fmt: skip
            at = child.run_to(number)
            if at is None:
                same(child.status, 0)
                return number
            if number == 20:
                busy = world.run("mark", "--live", "@s", "busy")
                same(busy.returncode, 8)
            helpers = below(child.child.pid)
            child.kill()
        wait_until(lambda: not any(state_of(pid) for pid in helpers), "the helpers are gone")
        world.moves()
        for layer in world.layers():
            named = os.path.basename(os.path.dirname(layer)) in world.record()
            first, second = world.count(layer)
            if named and first - second not in (0, 1):
                raise Failed(f"killed at {number}, {at}: a mark is not whole")


def killed_marks(world):
    if killed(world, ("mark", "--live", "@s", "%"), "k") < 30:
        raise Failed("fewer changes than files")
    world.must("mark", "--live", "@s", "alive")


def killed_forks(world):
    killed(world, ("fork", "--live", "@s", "%"), "g")


def nothing_left(world):
    world.end()
    world.must("gc")
    named = set()
    for name in os.listdir(os.path.join(world.state, "sessions")):
        with open(os.path.join(world.state, "sessions", name, "session"), encoding="utf-8") as file:
            named |= {line.split()[2] for line in file if line.startswith("layer = ")}
    same({os.path.basename(os.path.dirname(layer)) for layer in world.layers()}, named)


def supervisor_dies(world):
    """The box dies with it, and the mark that was made is there."""
    world.begin(COUNT)
    world.must("mark", "--live", "@s", "before")
    os.kill(world.box.pid, signal.SIGKILL)
    world.box.wait()
    wait_until(lambda: " live " not in world.must("ls"), "the box has ended")
    same("before" in world.marks(), True)
    world.must("rollback", "-y", "--to", "before", "@s")


def ends_meanwhile(world):
    """A box that ends while its session is lent waits, and nothing is lost."""
    world.begin(COUNT)
    words = world.words("mark", "--live", "@s", "last")
    with stopper.Stopper(words, cwd=world.project, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:  # fmt: skip
        child.run_to(3)
        world.run("exec", "@s", "--", "touch", "end")
        child.go_on()
    world.box.wait()
    same(world.run("status", "@s").returncode, 0)
    world.must("exec", "@s", "--", "rm", "end")


def bounded(world):
    world.must("rollback", "-y", "@s")
    world.begin(COUNT)
    for number in range(50):
        world.must("mark", "--live", "@s", f"n{number}")
    done = world.run("mark", "--live", "@s", "more")
    same(done.returncode, 10)
    if "50 marks of live states" not in done.stderr:
        raise Failed(done.stderr)
    world.moves()


def main():
    tap = Tap()
    world = World()
    try:
        tap.test("without --live it is [8], and the fix names both ways", without_live, world)
        tap.test("Q14 a mark of a live session is of one moment", one_moment, world)
        tap.test("--json", as_json, world)
        tap.test("the layer of the box is only read", upper_untouched, world)
        tap.test("a name is given once", same_name, world)
        tap.test("Q14 rollback to it, undo and redo, when the command has ended",
                 kept_by_the_end, world)  # fmt: skip
        tap.test("a fork from it", fork_from, world)
        tap.test("marks of both kinds", beside_idle_marks, world)
        tap.test("commit, undo and gc with a copy in the stack", committed, world)
        world.begin(COUNT)
        if stopper.is_known_machine():
            tap.test("mark --live killed at every change: the box goes on", killed_marks, world)
            tap.test("fork --live killed at every change: the box goes on", killed_forks, world)
        tap.test("no layer is left that no session names", nothing_left, world)
        tap.test("a killed supervisor leaves the marks", supervisor_dies, world)
        if stopper.is_known_machine():
            tap.test("a box that ends meanwhile waits for the mark", ends_meanwhile, world)
        tap.test("there is a limit to such marks", bounded, world)
    finally:
        world.done()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
