# SPDX-License-Identifier: Apache-2.0
"""Somebody meddles with the real files right before each change of a commit.

The commit is stopped there from outside, so every window that a writer could
meet by luck is met.
"""

import os
import shutil
import stat
import subprocess
import sys

from stopper import Stopper

HOLDBACK = os.environ.get("HB_BIN", "holdback")
FAILURES_SHOWN = 5


class World:
    """A project and the session `s` over it, below `top`."""

    def __init__(self, top, base):
        self.top = top
        self.base, self.state = os.path.join(top, base), os.path.join(top, "state")

    def write(self, folder, texts):
        """Files of a directory below the top, {path: text}."""
        for name, text in texts.items():
            path = os.path.join(self.top, folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)

    def begin(self, script):
        """Makes the session, with the changes of a script pending."""
        self.must("create", "s", "--cow", self.base)
        self.must("exec", "@s", "--", "sh", "-ec", f"cd '{self.base}'; {script}")

    def call(self, command, *words):
        return [HOLDBACK, command, "--state-dir", self.state, *words]

    def must(self, command, *words, known=(0,)):
        """Runs a command that ends with one of the known states."""
        done = subprocess.run(
            self.call(command, *words), cwd=self.base,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode not in known:
            said = (done.stdout + done.stderr).strip()
            raise AssertionError(f"{command}: exit status {done.returncode}: {said}")
        return done.stdout

    def texts(self, top, wanted=""):
        """{path: text} of the files below whose folder has `wanted` in it."""
        found = {}
        for folder, _, files in os.walk(top):
            for name in files if wanted in folder else ():
                path = os.path.join(folder, name)
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, top)] = file.read().decode("latin1")
        return found

    def remove(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def meet(world, number, act, judge, calls=None):
    """One commit with one meddling: what is wrong then, or "".

    `calls`: which system calls are counted, if not all.  `act` returns whether it could be done; `judge` gets the exit status, what was
    said and that, and raises AssertionError.  None: there is no such change.
    """
    try:
        with Stopper(
            world.call("commit", "-y", "@s"), cwd=world.base,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as program:  # fmt: skip
            if calls:
                program.names = {n: c for n, c in program.names.items() if c in calls}
            name = program.run_to(number)
            happened = bool(name) and act()
            if name:
                program.go_on()
            said = program.child.stdout.read()
            program.child.stdout.close()
        if not name:
            return None
        try:
            judge(program.status, said, happened)
        except AssertionError as error:
            return f"before change {number}, {name}: {error}\n{said}"
    finally:
        world.remove()
    return ""


def sweep(first, step, meet_at):
    """The failures at every `step`-th change from the first on."""
    failures, number = [], first
    while (why := meet_at(number)) is not None:
        failures += [why] if why else []
        number += step
    return failures


def tell(number, words, failures):
    print(f"{'not ok' if failures else 'ok'} {number} - {words}")
    for failure in failures[:FAILURES_SHOWN]:
        for line in failure.splitlines():
            print(f"# {line}")
    sys.stdout.flush()
