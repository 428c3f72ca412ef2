# SPDX-License-Identifier: Apache-2.0
"""A test of one agent: the same work outside and through holdback.

Outside and inside have a home and a project each.  Everything is judged by the
bytes that lie in these, and by the requests that the model got.
"""

import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Tap, same  # noqa: E402
import kinds  # noqa: E402
import model  # noqa: E402
import screen  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
SECONDS = 120


class Side:
    """A home with a project in it, and the model that its agent talks to."""

    def __init__(self, kind, name, directory):
        self.kind = kind
        self.home = os.path.join(os.environ["HOME"], name)
        self.project = os.path.join(self.home, "p")
        self.path = f"{directory}/bin:{os.environ['PATH']}"
        self.model = model.Model()
        self.temporary = os.path.join(os.environ["TMPDIR"], name)
        os.makedirs(self.temporary)
        os.makedirs(self.project)
        self.git("init", "-q")
        self.write("README", "a project\n")
        for path, text in kind.files(self.model.url).items():
            self.write(path, text)
        self.git("add", ".")
        self.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first")

    def write(self, path, text):
        path = os.path.join(self.project, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def environment(self):
        env = {"HOME": self.home, "PATH": self.path, "TERM": "xterm-256color",
               "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8", "USER": os.environ["USER"],
               "LOGNAME": os.environ["USER"], "TMPDIR": self.temporary}  # fmt: skip
        return dict(env, **self.kind.variables(self.model.url))

    def call(self, words):
        """Runs a command in the project; what it printed, and its status."""
        try:
            return subprocess.run(words, cwd=self.project, env=self.environment(), check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=SECONDS, text=True)  # fmt: skip
        except subprocess.TimeoutExpired as slow:
            printed = (slow.stdout or b"").decode(errors="replace")
            raise Failed(f"no end after {SECONDS} s: {words}\n{printed}\n{self.told()}") from slow

    def git(self, *words):
        done = self.call(["git", *words])
        if done.returncode != 0:
            raise Failed(done.stdout)
        return done.stdout

    def prompt(self, story):
        return f"Please tell the story {story} in {self.project}: go on to its end"

    def told(self):
        """The last requests, for the reader of a failure."""
        return "\n".join(json.dumps(request)[:600] for request in self.model.requests[-6:])

    def tree(self):
        """The project's files: name, mode, bytes; without git's own."""
        found = {}
        for folder, folders, names in os.walk(self.project):
            if folder == self.project:
                folders.remove(".git")
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    text = file.read().decode(errors="replace")
                found[os.path.relpath(path, self.project)] = (oct(os.stat(path).st_mode), text)
        return found

    def remove(self):
        self.model.__exit__()
        shutil.rmtree(self.home)
        shutil.rmtree(self.temporary)


class Bed:
    """The two sides of an agent."""

    def __init__(self, name, directory, kind=None):
        self.name = name
        self.kind = kind or kinds.ALL[name]
        self.outside = Side(self.kind, "outside", directory)
        self.inside = Side(self.kind, "inside", directory)

    def work(self, side, story, words, before=()):
        """The agent does a story, and says so to the model by its tool results."""
        command = [*before, self.name, *words(side.model.url, side.prompt(story))]
        done = side.call(command)
        steps = [request["step"] for request in side.model.steps(story)]
        wanted = list(range(len(model.STORIES[story]) + 1))
        if done.returncode != 0 or steps != wanted:
            raise Failed(f"status {done.returncode}, steps {steps}\n{done.stdout}\n{side.told()}")
        return done.stdout

    def first_outside(self):
        self.work(self.outside, "first", self.kind.first)
        found = {name: text for name, (_, text) in self.outside.tree().items()}
        same((found.get("hello.txt"), found.get("shell.txt")), ("two\n", "three\ntwo\n"))

    def first_inside(self):
        before = self.inside.tree()
        self.work(self.inside, "first", self.kind.inside, [HOLDBACK])
        same(self.inside.tree(), before)

    def holdback(self, *words):
        done = self.inside.call([HOLDBACK, *words])
        if done.returncode != 0:
            raise Failed(f"status {done.returncode} of {words}\n{done.stdout}")
        return done.stdout

    def status(self):
        printed = self.holdback("status", "--json")
        try:
            return json.loads(printed)
        except ValueError as why:
            raise Failed(f"not JSON: {printed!r}") from why

    def review(self):
        """The project's changes, by their names and as a patch."""
        status = self.status()
        paths = {c["path"] for c in status["changes"] if not c["path"].startswith(("/", ".git/"))}
        new = set(self.outside.tree()) - set(self.inside.tree())
        same(paths, new)
        patch = self.holdback("diff")
        for name in new:
            if f"+++ b/{name}\n" not in patch:
                raise Failed(f"no {name} in {patch}")

    def commit(self):
        self.holdback("commit", "-y")
        same(self.inside.tree(), self.outside.tree())

    def second(self, side, before=()):
        """The conversation goes on where it ended."""
        self.work(side, "second", self.kind.again, before)
        if side is self.inside:
            self.commit()
        told = {tuple(request["told"]) for request in side.model.steps("second")}
        same(told, {("first", "second")})

    def second_work(self):
        self.work(self.inside, "second", self.kind.inside, [HOLDBACK])
        self.commit()

    def carries_state(self):
        """Whether this holdback keeps an agent's state for the next run."""
        return self.inside.call([HOLDBACK, "help", "state"]).returncode == 0

    def on_screen(self, side, before=()):
        words = [*before, self.name, *self.kind.screen(side.model.url, side.prompt("screen"))]
        socket = os.path.join(side.temporary, "tmux")
        self.kind.stand_in(side.home)
        shown = screen.Screen(socket, side.project, side.environment(), words)
        last = len(model.STORIES["screen"])
        try:
            shown.run_until(
                lambda: any(r["step"] == last for r in side.model.steps("screen")),
                self.kind.DIALOGS,
            )
            shown.quit(self.kind.QUIT)
        except Failed as why:
            raise Failed(f"{why}\n{side.told()}") from why
        finally:
            shown.close()

    def screen_inside(self):
        before = self.inside.tree()
        self.on_screen(self.inside, [HOLDBACK])
        same(self.inside.tree(), before)
        self.commit()

    def questions(self):
        """Both models were asked the same, and nothing that they do not know."""
        same(self.inside.model.unknown() + self.outside.model.unknown(), [])
        for story in model.STORIES:
            inside, outside = (
                [request["answer"] for request in side.model.steps(story)]
                for side in (self.inside, self.outside)
            )
            same(inside, outside)

    def remove(self):
        self.inside.call([HOLDBACK, "cleanup", "-y", "--all"])
        self.inside.remove()
        self.outside.remove()


def stories(tap, bed):
    name = bed.name
    tap.test(f"{name} writes, edits and runs a command outside of holdback", bed.first_outside)
    tap.test(f"{name} does the same inside without a flag, and the project stays", bed.first_inside)
    tap.test(f"{name}'s changes of the project are what status and diff show", bed.review)
    tap.test(f"the bytes that {name} wrote inside are in the project after commit", bed.commit)
    if os.environ.get("HB_SOAK") == "1":
        soak(tap, bed)
    tap.test(f"{name} asks the model the same inside and outside", bed.questions)


def soak(tap, bed):
    name = bed.name
    tap.test(f"{name} outside goes on with its conversation", bed.second, bed.outside)
    inside = f"{name} inside goes on with its conversation"
    if bed.carries_state():
        tap.test(inside, bed.second, bed.inside, [HOLDBACK])
    else:
        tap.skip(inside, "holdback has no command for the state of agents")
        tap.test(f"{name} inside does a second piece of work", bed.second_work)
    if not shutil.which("tmux"):
        tap.skip(f"{name} works full-screen", "there is no tmux")
        return
    name += bed.kind.STAND_IN
    tap.test(f"{name} works full-screen outside of holdback", bed.on_screen, bed.outside)
    tap.test(f"{name} works full-screen inside, and its bytes are committed", bed.screen_inside)


def run(name):
    """The test file of one agent."""
    found = json.loads(os.environ["HB_AGENT"])
    if "reason" in found:
        print(f"1..0 # SKIP {name} is not to be had: {found['reason']}")
        return 0
    tap = Tap()
    bed = Bed(name, found["directory"])
    try:
        stories(tap, bed)
    finally:
        bed.remove()
    return tap.done()
