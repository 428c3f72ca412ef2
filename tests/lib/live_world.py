# SPDX-License-Identifier: Apache-2.0
"""A project with a live session, from which others take work.

Its command makes two files longer, the second always after the first.  So a
copy that is not of one moment shows.
"""

import os
import shutil
import subprocess
import tempfile

from caller import Caller
from pty_shell import Failed, wait_until

COUNT = "rm -f a b end; while [ ! -e end ]; do printf . >>a; printf . >>b; done"


class World(Caller):
    """A project with a live session `s`."""

    def __init__(self):
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.project = os.path.join(self.top, "p")
        self.state = os.path.join(self.top, "state")
        os.makedirs(os.path.join(self.project, "d"))
        os.mkdir(os.path.join(self.project, "old"))
        os.mkdir(os.path.join(self.project, "other"))
        os.mkdir(os.path.join(self.project, "outside"))
        for name in ("outside/user", "f", "g", "d/gone", "d/stays", "old/x", "old/y", "other/x", "other/y"):
            self.write(name, "real\n")
        self.must("create", "s", "--cow", self.project)
        self.box = None
        self.begin(COUNT)

    def path(self, name):
        return os.path.join(self.project, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="ascii") as file:
            return file.read()

    def has(self, name):
        return os.path.lexists(self.path(name))

    def sync(self):
        return self.must("sync", "--auto", "@s")

    def inside(self, script):
        return self.must("exec", "@s", "--", "sh", "-c", script)

    def upper(self, name="."):
        return os.path.join(self.state, "sessions/s/r0/upper", name)

    def count(self, folder):
        found = []
        for name in "ba":
            try:
                found.insert(0, os.stat(os.path.join(folder, name)).st_size)
            except FileNotFoundError:
                found.insert(0, 0)
        return found

    def moves(self):
        before = self.count(self.upper())[1]
        wait_until(lambda: self.count(self.upper())[1] != before, "the command goes on")

    def begin(self, script):
        # pylint: disable=consider-using-with
        self.box = subprocess.Popen(
            self.words("exec", "@s", "--", "sh", "-c", script), cwd=self.project,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.moves()

    def end(self):
        self.run("exec", "@s", "--", "touch", "end")
        self.box.wait()

    def one_moment(self):
        first, second = self.count(self.project)
        if first - second not in (0, 1):
            raise Failed(f"a is {first}, b is {second}")
        return first

    def layers(self):
        top = os.path.join(self.state, "layers")
        return [
            name for family in os.listdir(top) for name in os.listdir(os.path.join(top, family))
            if name != "lock"
        ]  # fmt: skip

    def done(self):
        if self.box.poll() is None:
            self.run("stop", "@s")
            self.box.wait()
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)
