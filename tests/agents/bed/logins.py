# SPDX-License-Identifier: Apache-2.0
"""The story of a login: a machine without any state, and one agent on it.

The agent logs in inside, works, goes on with its conversation, and after the
login was published it works outside.  No variable has a key.
"""

import os

import model
import screen
from pty_shell import Failed, same
from sides import HOLDBACK, Side


class Machine(Side):
    """One home for outside and inside; the agent's key comes from its login."""

    def environment(self):
        env = super().environment()
        for name in self.kind.KEYS:
            env.pop(name, None)
        return dict(env, **self.kind.login_variables(self.model.url))


class Story:
    """The steps, each of which needs the ones before it."""

    def __init__(self, name, kind, directory):
        self.name = name
        self.kind = kind
        self.side = Machine(kind, "machine", directory)
        self.file = os.path.join(self.side.home, kind.LOGIN)

    def call(self, *words):
        done = self.side.call([*words])
        if done.returncode != 0:
            raise Failed(f"status {done.returncode} of {words}\n{done.stdout}\n{self.side.told()}")
        return done.stdout

    def log_in(self):
        same(os.path.exists(self.file), False)
        words = [HOLDBACK, *self.kind.login(self.side.model.url)]
        printed = self.on_screen(words) if self.kind.LOGIN_DIALOGS else self.call(*words)
        if f"holdback state {self.name} --publish" not in printed:
            raise Failed(f"no word of the login: {printed}")
        same(os.path.exists(self.file), False)

    def on_screen(self, words):
        """Its screen asks for the login; the last lines are holdback's."""
        socket = os.path.join(self.side.temporary, "tmux")
        shown = screen.Screen(socket, self.side.project, self.side.environment(), words)
        try:
            shown.run_until(
                lambda: shown.asked and self.kind.LOGIN_DONE in shown.text(),
                self.kind.LOGIN_DIALOGS,
            )
            # The login is asked about on a terminal.
            shown.quit(self.kind.QUIT, {"publish this login": ("n", "Enter")})
            return shown.text()
        finally:
            shown.close()

    def work(self, story, words, before=()):
        """A story that is done with the login, and what the model was told."""
        command = [*before, self.name, *words(self.side.model.url, self.side.prompt(story))]
        printed = self.call(*command)
        steps = self.side.model.steps(story)
        if [step["step"] for step in steps] != list(range(len(model.STORIES[story]) + 1)):
            raise Failed(f"steps {steps}\n{printed}\n{self.side.told()}")
        same({step["key"] for step in steps}, {self.kind.TOKEN})
        return printed, {tuple(step["told"]) for step in steps}

    def first(self):
        before = self.side.tree()
        printed, _ = self.work("first", self.kind.inside, [HOLDBACK])
        same(self.side.tree(), before)
        if self.kind.RESUME not in printed:
            raise Failed(f"no command that goes on: {printed}")
        self.call(HOLDBACK, "commit", "-y")
        same(self.side.tree()["hello.txt"][1], "two\n")

    def go_on(self):
        _, told = self.work("second", self.kind.again, [HOLDBACK])
        same(told, {("first", "second")})
        self.call(HOLDBACK, "commit", "-y")
        same(self.side.tree()["hello.txt"][1], "four\n")

    def outside(self):
        """With the login; the conversation is there if its directory is shared."""
        same(os.path.exists(self.file), False)
        self.call(HOLDBACK, "state", self.name, "--publish")
        same(oct(os.stat(self.file).st_mode & 0o777), "0o600")
        words = self.kind.again if self.kind.SHARED else self.kind.first
        _, told = self.work("outside", words)
        same(told, {("first", "second", "outside") if self.kind.SHARED else ("outside",)})
        same(self.side.tree()["outside.txt"][1], "seven\n")

    def unknown(self):
        same(self.side.model.unknown(), [])

    def remove(self):
        self.side.call([HOLDBACK, "cleanup", "-y", "--all"])
        self.side.remove()


def stories(tap, name, kind, directory):
    story = Story(name, kind, directory)
    title = f"{name}{kind.LOGIN_STAND_IN}"
    try:
        tap.test(f"{title} logs in inside, and the host has no login", story.log_in)
        tap.test(f"{title} works inside with that login, and says how to go on", story.first)
        tap.test(f"{title} inside goes on with its conversation by that login", story.go_on)
        tap.test(f"{title} works outside with the login once it is published", story.outside)
        tap.test(f"{title} asks nothing that the model does not know", story.unknown)
    finally:
        story.remove()
