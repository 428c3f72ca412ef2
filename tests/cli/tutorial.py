#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdback-tutorial(7): each command in it prints the lines that follow it.

Compared is the shape: times, sizes and the name of the strategy are the host's.
With HB_TUTORIAL_PRINT=1 it prints the page's blocks as they are on this host.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.environ["HB_SOURCE"], "docs/man/holdback-tutorial.7.scd")
HOME = "/home/you"
SHAPES = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? [kMG]?B\b"), "SIZE"),
    (re.compile(r"^(overlay|copy_on_write) ", re.M), "STRATEGY "),
    (re.compile(r"(?<= idle ) +\d+[smh]\b"), "AGE"),
)
CHANGES = re.compile(r"(?:^  [A-Z] .*\n)+", re.M)
NEEDED = (
    "run", "status", "diff", "exec", "commit", "undo", "redo", "mark", "fork", "gate",
    "rollback", "cleanup", "ls",
)  # fmt: skip


def steps(text):
    """(command, answer) of each line with a `$` in the page's literal blocks."""
    command, answer = None, []
    for block in re.findall(r"^```\n(.*?)^```\n", text, re.M | re.S):
        for line in block.splitlines(keepends=True):
            if not line.startswith("$ "):
                answer.append(line)
                continue
            if command is not None:
                yield command, "".join(answer)
            command, answer = line[2:].rstrip("\n"), []
    if command is not None:
        yield command, "".join(answer)


def shape(text):
    for pattern, word in SHAPES:
        text = pattern.sub(word, text)
    # Files that were written in one tick of the clock come in any order.
    return CHANGES.sub(lambda found: "".join(sorted(found[0].splitlines(True))), text)


class Walk:
    """A shell that keeps its directory from one step to the next."""

    def __init__(self, top):
        self.top = top
        self.folder = top
        self.env = dict(
            os.environ,
            PATH=os.path.dirname(os.environ["HB_BIN"]) + ":" + os.environ["PATH"],
            XDG_STATE_HOME=os.path.join(top, ".state"),
            XDG_CONFIG_HOME=os.path.join(top, ".config"),
            PAGER="cat",
        )

    def step(self, command):
        """The answer of one command, with the reader's home in it."""
        if command.startswith("cd "):
            self.folder = os.path.join(self.folder, command[3:])
            return ""
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env=self.env, check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.stdout.replace(self.top, HOME)


def check(number, name, good, got, want):
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    if not good:
        for head, text in (("got", got), ("expected", want)):
            print(f"# {head}:\n" + "".join(f"#   {line}\n" for line in text.splitlines()), end="")
    return good


def main():
    with open(PAGE, encoding="utf-8") as file:
        walk_steps = list(steps(file.read()))
    top = tempfile.mkdtemp()
    walk = Walk(top)
    good, number = True, 0
    try:
        for number, (command, want) in enumerate(walk_steps, 1):
            got = walk.step(command)
            if os.environ.get("HB_TUTORIAL_PRINT"):
                print(f"$ {command}\n{got}", end="")
                continue
            name = f"step {number} of the tutorial prints its answer: {command}"
            good &= check(number, name, shape(got) == shape(want), got, want)
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", top], check=False)
        shutil.rmtree(top)
    used = {command.split()[1] for command, _ in walk_steps if command.startswith("holdback ")}
    missing = " ".join(sorted(set(NEEDED) - used))
    number += 1
    good &= check(number, "the tutorial has every command of a session", not missing, "", missing)
    print(f"1..{number}")
    return 0 if good else 1


sys.exit(main())
