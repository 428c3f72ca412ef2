#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash zsh fish
"""Completion in the shells themselves: words are begun on a terminal, the key
for completion is typed, and the line that results is run.
"""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, run_tests, same  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]

# What is typed before the key, what the whole line is, what it prints then.
LINES = (
    ("a session", "holdback status @work-", "holdback status @work-one", "session work-one:\\s+idle"),
    ("a session behind an option", "holdback diff --stat @work-", "holdback diff --stat @work-one", "2 files"),
    ("a session before a command", "holdback exec @work-", "holdback exec @work-one", "no command to run"),
    ("the name of a session", "holdback run -s work-", "holdback run -s work-one", "no command"),
    ("a mark", "holdback diff --name-status @work-one --since half",
     "holdback diff --name-status @work-one --since halfway", "A\tlater"),
    ("a profile", "holdback profile open", "holdback profile opencode", "net = allow"),
    ("the profile of a run", "holdback run --profile open", "holdback run --profile opencode", "no command"),
    ("a command", "holdback vers", "holdback version", "holdback [0-9]"),
    ("a command to help with", "holdback help vers", "holdback help version", "usage: holdback version"),
    ("an option", "holdback status --verb", "holdback status --verbose", "no session has this directory"),
    ("a program of PATH", "holdback hb-test-pro", "holdback hb-test-program", "it ran"),
    ("a program of PATH to run", "holdback run hb-test-pro", "holdback run hb-test-program", "it ran"),
    ("a file", "holdback why notes-of", "holdback why notes-of-mine", "notes-of-mine"),
)  # fmt: skip


def hb(*words):
    done = subprocess.run([HOLDBACK, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)  # fmt: skip
    same((words, done.returncode, done.stderr if done.returncode else ""), (words, 0, ""))


def prepare(sh):
    home = os.path.realpath("../home")
    os.makedirs(home + "/.local/bin")
    os.environ["HOME"] = home
    program = home + "/.local/bin/hb-test-program"
    with open(program, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho it ran\n")
    os.chmod(program, 0o755)
    os.symlink(HOLDBACK, home + "/.local/bin/holdback")
    with open("notes-of-mine", "w", encoding="utf-8"):
        pass
    # Elsewhere: a run here asks nothing.
    project = os.getcwd()
    os.mkdir("../other")
    os.chdir("../other")
    hb("-q", "-s", "work-one", "touch", "first")
    hb("mark", "@work-one", "halfway")
    hb("-q", "-s", "work-one", "touch", "later")
    os.chdir(project)
    os.environ["PATH"] = f"{home}/.local/bin:" + os.environ["PATH"]
    # Also for the shell that comes after a failure.
    sh.prepare = f"export HOME={home} PATH={os.environ['PATH']} PAGER=cat; " + 'eval "$(holdback completion bash)"'


def typed(sh, begun, whole, printed):
    """The key completes the line; the line runs."""
    sh.type(begun + "\t")
    # A shell may write a part of the line once more.
    sh.expect(".*".join(map(re.escape, (begun, whole[len(begun) :]))))
    sh.type(" -h\r" if printed == "no command" else "\r")
    if printed and printed != "no command":
        sh.expect(printed)
    sh.expect("hb> ")


def listed(begun, whole):
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"holdback completion fish | source; complete -C '{begun}'"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    words = [line.split("\t")[0] for line in done.stdout.splitlines()]
    if whole.split()[-1] not in words:
        raise Failed(f"{words} {done.stderr}")


def all_tests(tap, sh):
    tap.test("sessions, marks and programs are there", prepare, sh)
    tap.test("bash takes its script", lambda: same(sh.run(sh.prepare), ""))
    for name, begun, whole, printed in LINES:
        tap.test(f"bash completes {name}", typed, sh, begun, whole, printed)
    sh.run("COMP_WORDBREAKS=${COMP_WORDBREAKS//@}")
    tap.test("bash completes a session where '@' breaks no word", typed, sh, *LINES[0][1:])
    sh.type("PS1='hb> ' zsh -f -o nopromptsp -o nopromptcr\r")
    sh.expect("\\nhb> ")
    sh.type("unsetopt autolist automenu; autoload -U compinit; compinit -D -u;"
            " source <(holdback completion zsh); print rea''dy\r")  # fmt: skip
    tap.test("zsh takes its script", sh.expect, "ready\\s[^a-z]*hb> ")
    for name, begun, whole, printed in LINES:
        tap.test(f"zsh completes {name}", typed, sh, begun, whole, printed)
    sh.type("exit\r")
    sh.expect("hb> ")
    for name, begun, whole, _ in LINES:
        tap.test(f"fish completes {name}", listed, begun, whole)
    shutil.rmtree(os.environ["HOME"])


if __name__ == "__main__":
    sys.exit(run_tests("", all_tests))
