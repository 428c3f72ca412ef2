# SPDX-License-Identifier: Apache-2.0
"""An agent's own sandbox, asked for as its documents say, outside and inside.

Outside is the control: the same words, and the sandbox of the agent.
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
from bed import HOLDBACK, Bed, Failed, Tap, same  # noqa: E402
import kinds  # noqa: E402


class Claude(kinds.Claude):
    """With the sandbox that a file of the project switches on."""

    ASKED = 'the setting "sandbox"'

    @staticmethod
    def files(_):
        return {".claude/settings.json": json.dumps({"sandbox": {"enabled": True}})}

    @staticmethod
    def left_alone(_, words):
        """Settings on the command line are the user's own."""
        return ["--", "claude", "--settings", "{}", *words]


class CodexWrite(kinds.Codex):
    """With the sandbox that its documents recommend."""

    ASKED = "-s workspace-write"
    WORDS = ("-s", "workspace-write")

    @classmethod
    def first(cls, url, prompt):
        return ["exec", *cls.options(url), *cls.WORDS, prompt]

    inside = first

    @staticmethod
    def left_alone(bed, words):
        """As the child of another program."""
        return ["--net", "host", "--env", "CODEX_API_KEY", "--ro", bed.directory, "--", "env", "codex",
                *words]  # fmt: skip


class CodexApprove(CodexWrite):
    """With the option that has another model approve."""

    ASKED = "--approve-for-me"
    WORDS = ("--approve-for-me",)


class CodexRead(CodexWrite):
    """With a sandbox in which nothing may be written."""

    ASKED = "-s read-only"
    WORDS = ("-s", "read-only")


class GeminiOutside(kinds.Gemini):
    """Without a sandbox: that would be a container, which no test has."""

    @staticmethod
    def variables(url):
        return dict(kinds.Gemini.variables(url), GEMINI_SANDBOX="false")

    inside = kinds.Gemini.first


class GeminiSetting(kinds.Gemini):
    """With the sandbox that a file of the project switches on."""

    ASKED = 'the setting "tools.sandbox"'
    OUTSIDE = GeminiOutside
    inside = kinds.Gemini.first

    @classmethod
    def files(cls, _):
        return {".gemini/settings.json": json.dumps(dict(cls.SETTINGS, tools={"sandbox": True}))}


class GeminiVariable(kinds.Gemini):
    """With the sandbox that a variable switches on."""

    ASKED = "the variable GEMINI_SANDBOX"
    OUTSIDE = GeminiOutside
    inside = kinds.Gemini.first

    @staticmethod
    def variables(url):
        return dict(kinds.Gemini.variables(url), GEMINI_SANDBOX="true")


def at_terminal(side, words):
    """All that is shown at a terminal, with one blank between words."""
    line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    done = side.call(["script", "-qec", line, "/dev/null"])
    return " ".join(done.stdout.split())


class Sandbox(Bed):
    """The two sides of an agent that is to have a sandbox of its own."""

    def __init__(self, name, directory, kind):
        super().__init__(name, directory, kind)
        self.directory = directory
        self.outside.kind = getattr(kind, "OUTSIDE", kind)

    def works_inside(self):
        """Its commands run, no call of it was refused, and the bytes are those of outside."""
        told = self.work(self.inside, "first", self.kind.inside, [HOLDBACK])
        if "which was refused" in told:
            raise Failed(told)
        self.commit()

    def says_so(self):
        words = [HOLDBACK, self.name, *self.kind.inside(self.inside.model.url, "a quiet word")]
        shown = at_terminal(self.inside, words)
        if f"{self.name}'s own sandbox is off: holdback is the sandbox" not in shown:
            raise Failed(shown)

    def keeps_settings(self):
        """No file of the home directory has it, nor what is carried to the next run."""
        off = r'sandbox_mode *= *.?danger|"sandbox": ?\{ ?"enabled": ?false'
        done = subprocess.run(["grep", "-rlaE", off, self.inside.home], check=False,
                              capture_output=True, text=True)  # fmt: skip
        same(done.stdout, "")
        if not self.status()["state"]:
            raise Failed("nothing is carried")

    def fails_by_itself(self):
        """Left alone, it wants its sandbox, which cannot be made, and the end says so."""
        words = self.kind.inside(self.inside.model.url, self.inside.prompt("second"))
        done = self.inside.call([HOLDBACK, "run", "--ephemeral", *self.kind.left_alone(self, words)])
        if "which was refused (--allow-nested allows it)" not in done.stdout:
            raise Failed(f"{done.stdout}\n{self.inside.told()}")

    def writes_nothing(self):
        before = self.outside.tree()
        words = self.kind.first(self.outside.model.url, self.outside.prompt("first"))
        self.outside.call([self.name, *words])
        if not self.outside.model.steps("first"):
            raise Failed(self.outside.told())
        same(self.outside.tree(), before)

    def is_refused(self):
        before = self.inside.tree()
        words = self.kind.first(self.inside.model.url, self.inside.prompt("first"))
        done = self.inside.call([HOLDBACK, self.name, *words])
        same(done.returncode, 125)
        for part in ("cannot keep 'read-only'", "leave it out", "--allow-nested -- codex"):
            if part not in done.stdout:
                raise Failed(done.stdout)
        same((self.inside.model.requests, self.inside.tree()), ([], before))
        same(self.holdback("ls"), "")


def of_kind(tap, name, kind, directory):
    bed = Sandbox(name, directory, kind)
    what = f"{name} with {kind.ASKED}"
    try:
        if kind is CodexRead:
            tap.test(f"{what} writes nothing outside of holdback", bed.writes_nothing)
            tap.test(f"{what} is refused inside, with the way out, and does not start", bed.is_refused)
            return
        if hasattr(kind, "OUTSIDE"):
            tap.test(f"{what} switched off does its work outside of holdback", bed.first_outside)
            tap.test(f"{what} does the same inside without a flag, to the byte", bed.works_inside)
            if kind is GeminiSetting:
                tap.test(f"{what} is told at the start that its own sandbox is off", bed.says_so)
            return
        tap.test(f"{what} does its work outside of holdback", bed.first_outside)
        tap.test(f"{what} does the same inside without a flag, to the byte", bed.works_inside)
        tap.test(f"{what} is told at the start that its own sandbox is off", bed.says_so)
        tap.test(f"{what} has no file afterwards that switches its sandbox off", bed.keeps_settings)
        if kind is not CodexApprove:
            tap.test(f"{what} that keeps it is refused inside, and the end says so", bed.fails_by_itself)
    finally:
        bed.remove()


KINDS = {"claude": (Claude,), "codex": (CodexWrite, CodexApprove, CodexRead),
         "gemini": (GeminiSetting, GeminiVariable)}  # fmt: skip


def run(name):
    """The test file of one agent."""
    found = json.loads(os.environ["HB_AGENT"])
    if "reason" in found:
        print(f"1..0 # SKIP {name} is not to be had: {found['reason']}")
        return 0
    tap = Tap()
    for kind in KINDS[name]:
        of_kind(tap, name, kind, found["directory"])
    return tap.done()
