#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: user
# timeout: 900
"""Sequences of edits on both sides, commits, undos and redos, by dice.

Each text that the user writes is unique.  None of them leaves the real files by
a commit unless the session was shown it, or --theirs named its path; none by an
undo; and by a redo only what the commit took that is redone.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HOLDBACK = os.environ.get("HB_BIN", "holdback")
SEQUENCES = 400 if os.environ.get("HB_SOAK") == "1" else 24
STEPS = 14
CONFLICT = 5
FILES = ["f", "d/a", "d/b"]
DIRS = ["d"]
# All that the session can see, before it changes something.
LOOK = "find -type f -exec cat {} +"
USER = re.compile(r"user[0-9]+\.")


class World:
    """Two resources with the same files, and one session over both."""

    def __init__(self, dice):
        self.dice = dice
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.bases = [os.path.join(self.top, name) for name in "pq"]
        for base in self.bases:
            os.makedirs(os.path.join(base, "d"))
            for name in FILES:
                with open(os.path.join(base, name), "w", encoding="ascii") as file:
                    file.write("old\n")
        self.number = 0
        self.shown = set()  # texts of the user that were seen inside
        self.taken = []  # of each commit in effect, the texts that it took
        self.undone = []
        self.disputed = []  # paths that the last commit found in conflict
        self.log = []
        words = [word for base in self.bases for word in ("--cow", base)]
        self.call("create", "s", *words)

    def call(self, command, *words):
        done = subprocess.run(
            [HOLDBACK, command, "--state-dir", os.path.join(self.top, "state"), *words],
            cwd=self.bases[0], capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.log.append(f"{command} {' '.join(words)}: {done.returncode}")
        return done

    def texts(self):
        """{(path, text of the user)} in the real files."""
        found = set()
        for base in self.bases:
            for folder, _, names in os.walk(base):
                for name in names:
                    path = os.path.join(folder, name)
                    with open(path, encoding="ascii") as file:
                        found.update((path, text) for text in USER.findall(file.read()))
        return found

    def somewhere(self):
        return self.dice.choice(self.bases), self.dice.choice(FILES)

    def both_edit(self):
        where = self.somewhere()
        self.agent_edits(*where)
        self.user_edits(*where)

    def user_edits(self, base=None, name=None):
        path = os.path.join(*((base, name) if base else self.somewhere()))
        self.number += 1
        how = self.dice.choice(["append", "replace", "write", "move"])
        self.log.append(f"the user: {how} {path} user{self.number}.")
        if not os.path.isdir(os.path.dirname(path)) or os.path.isdir(path):
            return
        if how == "move" and os.path.exists(path):
            # An older file in the place: nothing but its ctime is new.
            os.rename(path, path + "~")
            shutil.copy2(path + "~", path)
            os.unlink(path + "~")
            how = "append"
        aside = path + "~" if how == "replace" else path
        with open(aside, "a" if how == "append" else "w", encoding="ascii") as file:
            file.write(f"user{self.number}.\n")
        if how == "replace":
            os.rename(aside, path)

    def agent_edits(self, base=None, name=None):
        if not base:
            base, name = self.somewhere()
        folder = self.dice.choice(DIRS)
        self.number += 1
        text = f"agent{self.number}"
        script = self.dice.choice(
            [
                f"mkdir -p $(dirname {name}); echo {text} >{name}",
                f"mkdir -p $(dirname {name}); echo {text} >>{name}",
                f"rm {name}",
                f"rm -r {folder}",
                f"rm -r {folder}; mkdir -p {folder}; echo {text} >{folder}/a",
            ]
        )
        done = self.call("exec", "@s", "--", "sh", "-c", f"cd {base}; {LOOK}; {script}")
        for text in USER.findall(done.stdout):
            self.shown.add(text)

    def commits(self):
        words, named = [], []
        for option, chance in (("theirs", 0.5), ("ours", 0.2), ("only", 0.15)):
            if self.dice.random() < chance:
                name = self.dice.choice(self.disputed or FILES + DIRS)
                words += [f"--{option}", name]
                if option == "theirs":
                    named.append(name)
        before = self.texts()
        done = self.call("commit", "-y", *words, "@s")
        gone = before - self.texts()
        self.disputed = [
            os.path.relpath(path, base)
            for path in re.findall(r"conflict: (\S+?)/?:", done.stderr)
            for base in self.bases
            if path.startswith(base)
        ]
        if done.returncode != 0 and gone:
            raise AssertionError(f"a commit that failed took {sorted(gone)}")
        if done.returncode not in (0, CONFLICT):
            raise AssertionError(f"commit: {done.returncode}: {done.stderr}")
        for path, text in gone:
            names = [os.path.relpath(path, base) for base in self.bases]
            is_named = any(n == x or n.startswith(x + "/") for n in names for x in named)
            if text not in self.shown and not is_named:
                raise AssertionError(f"{text} of {path} was replaced unasked")
        if done.returncode == 0 and "nothing" not in done.stdout + done.stderr:
            self.taken.append(gone)
            self.undone = []

    def undoes(self):
        before = self.texts()
        done = self.call("undo", "@s")
        gone = before - self.texts()
        if gone:
            raise AssertionError(f"undo took {sorted(gone)}")
        if done.returncode == 0:
            self.undone.append(self.taken.pop())

    def redoes(self):
        before = self.texts()
        done = self.call("redo", "@s")
        gone = before - self.texts()
        if done.returncode != 0 and not gone:
            return
        taken = self.undone.pop()
        if gone - taken:
            raise AssertionError(f"redo took {sorted(gone - taken)}")
        self.taken.append(taken)

    def marks(self):
        self.number += 1
        self.call("mark", "@s", f"m{self.number}")

    def play(self):
        for _ in range(STEPS):
            steps = [self.user_edits, self.agent_edits, self.both_edit, self.marks]
            steps += [self.commits] * (8 if self.disputed else 3)
            steps += [self.undoes] * (4 if self.taken else 0)
            steps += [self.redoes] * (2 if self.undone else 0)
            self.dice.choice(steps)()

    def remove(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def main():
    first = int(os.environ.get("HB_SEED", "1"))
    print(f"1..{SEQUENCES}")
    for number in range(SEQUENCES):
        world = World(random.Random(first + number))
        try:
            world.play()
            print(f"ok {number + 1} - no text of the user is lost in sequence {first + number}")
        except AssertionError as error:
            print(f"not ok {number + 1} - no text of the user is lost in sequence {first + number}")
            print("\n".join(f"# {line}" for line in [*world.log, *str(error).splitlines()]))
        finally:
            world.remove()
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
