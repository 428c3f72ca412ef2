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
import logins  # noqa: E402
import model  # noqa: E402
import screen  # noqa: E402
from sides import HOLDBACK, Side  # noqa: E402


NAMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "named.py")
NAMED_NEEDS = ("unshare", "ip", "mount", "openssl")


class Bed:
    """The two sides of an agent."""

    def __init__(self, name, directory, kind=None):
        self.name = name
        self.kind = kind or kinds.ALL[name]
        self.outside = Side(self.kind, "outside", directory)
        self.inside = Side(self.kind, "inside", directory)
        self.asked = []  # of the first screen outside

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

    def by_name(self, directory):
        """In a world of its own, where the names of its maker lead to the model."""
        done = subprocess.run([sys.executable, NAMED, self.name, directory], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)  # fmt: skip
        if done.returncode != 0:
            raise Failed(done.stdout)

    def carries_state(self):
        """Whether this holdback keeps an agent's state for the next run."""
        return self.inside.call([HOLDBACK, "help", "state"]).returncode == 0

    def on_screen(self, side, story, before=(), must_ask=()):
        """The agent does a story full-screen; the questions that it asked."""
        kind = self.kind
        words = [*before, self.name, *kind.screen(side.model.url, side.prompt(story))]
        socket = os.path.join(side.temporary, "tmux")
        env = side.environment()
        for name in kind.NOT_ON_SCREEN:
            env.pop(name, None)
        last = len(model.STORIES[story])
        dialogs = kind.DIALOGS
        shown = screen.Screen(socket, side.project, env, words)
        try:
            if kind.READY:
                shown.run_until(lambda: set(must_ask) <= set(shown.asked), dialogs)
                shown.enter(
                    side.prompt(story), kind.READY, lambda: side.model.steps(story), dialogs
                )
            shown.run_until(
                lambda: any(r["step"] == last for r in side.model.steps(story)),
                dialogs | kind.APPROVALS,
                side.prompt(story),
                kind.READY,
            )
            shown.quit(kind.QUIT)
        except Failed as why:
            raise Failed(f"{why}\n{side.told()}") from why
        finally:
            shown.close()
        return [words for words in shown.asked if words in dialogs]

    def screen_outside(self):
        self.kind.stand_in(self.outside.home)
        self.asked = self.on_screen(self.outside, "screen", (), self.kind.MUST_ASK)
        same([words for words in self.kind.MUST_ASK if words not in self.asked], [])

    def screen_inside(self):
        before = self.inside.tree()
        self.kind.stand_in(self.inside.home)
        asked = self.on_screen(self.inside, "screen", [HOLDBACK], self.kind.MUST_ASK)
        same(self.inside.tree(), before)
        self.commit()
        same(sorted(asked), sorted(self.asked))

    def second_screen(self, side, before=()):
        """What was answered is not asked again."""
        same(self.on_screen(side, "twice", before), [])
        if side is self.inside:
            self.commit()

    def questions(self):
        """Both models were asked the same, and nothing that they do not know.  On a slow machine
        an agent may ask for a step again."""
        same(self.inside.model.unknown() + self.outside.model.unknown(), [])
        for story in model.STORIES:
            inside, outside = (
                sorted({(r["step"], r["answer"]) for r in side.model.steps(story)})
                for side in (self.inside, self.outside)
            )
            same(inside, outside)

    def remove(self):
        self.inside.call([HOLDBACK, "cleanup", "-y", "--all"])
        self.inside.remove()
        self.outside.remove()


def stories(tap, bed, directory):
    name = bed.name
    tap.test(f"{name} writes, edits and runs a command outside of holdback", bed.first_outside)
    tap.test(f"{name} does the same inside without a flag, and the project stays", bed.first_inside)
    tap.test(f"{name}'s changes of the project are what status and diff show", bed.review)
    tap.test(f"the bytes that {name} wrote inside are in the project after commit", bed.commit)
    point = f"{name} reaches the hosts of its maker by name, without a flag, a URL or a proxy"
    if name == "codex":
        point += ", and its browser comes back after codex login"
    lacks = [program for program in NAMED_NEEDS if not shutil.which(program)]
    if lacks:
        tap.skip(point, f"there is no {lacks[0]}")
    else:
        tap.test(point, bed.by_name, directory)
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
    tap.test(f"{name} works full-screen outside of holdback", bed.screen_outside)
    tap.test(f"{name} works full-screen inside, and asks what it asks outside", bed.screen_inside)
    tap.test(f"{name} asks no question twice outside", bed.second_screen, bed.outside)
    tap.test(f"{name} asks no question twice inside", bed.second_screen, bed.inside, [HOLDBACK])


def run(name):
    """The test file of one agent."""
    found = json.loads(os.environ["HB_AGENT"])
    if "reason" in found:
        print(f"1..0 # SKIP {name} is not to be had: {found['reason']}")
        return 0
    tap = Tap()
    bed = Bed(name, found["directory"])
    try:
        stories(tap, bed, found["directory"])
    finally:
        bed.remove()
    if os.environ.get("HB_SOAK") == "1" and bed.kind.LOGIN:
        logins.stories(tap, name, bed.kind, found["directory"])
    return tap.done()
