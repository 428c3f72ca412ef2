#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash
"""A run in a project with pending sessions: on a terminal it asks, elsewhere a
line tells how to go on.  --continue takes the last session of the same kind, and
a command that changes something takes none by chance where two have changes.
"""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, run_tests, same  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
QUESTION = r"go on in (\S+)\? \[C\]ontinue \[n\]ew session \[r\]eview \[q\]uit: "
LAST = "Go on: holdback -c "


def hb(*words):
    """Status, stdout and stderr of a call without a terminal."""
    done = subprocess.run([HOLDBACK, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def names():
    return [line.split()[0] for line in hb("ls")[1].splitlines()]


def clean():
    hb("cleanup", "-y", "--all")
    same(names(), [])


def begins(text, want):
    if not text.startswith(want):
        raise Failed(f"{text!r} does not begin with {want!r}")


def without_terminal():
    same(hb("sh", "-c", "echo 1 >a")[2].splitlines()[-1], LAST + "sh -c 'echo 1 >a'")
    _, _, said = hb("sh", "-c", "test ! -e a && echo 2 >b")
    same(said.splitlines()[0], "holdback: session sh-1 has changes here; this is a new one"
                               " (to go on: holdback -c sh)")  # fmt: skip
    same(names(), ["sh-1", "sh-2"])
    _, _, said = hb("sh", "-c", "echo 3 >c")
    begins(said, "holdback: session sh-2 and others have changes here; this is a new one")
    same(hb("-q", "sh", "-c", "echo 4 >d")[2], "")
    same(hb("-s", "sh-1", "sh", "-c", "cat a")[1], "1\n")
    begins(hb("--ephemeral", "sh", "-c", "echo >e")[2], "")


def nothing_pending():
    hb("-q", "sh", "-c", "echo 1 >a")
    same(hb("commit", "-y")[0], 0)
    said = hb("sh", "-c", "echo 2 >b")[2]
    begins(said, "holdback: session sh-2 is kept")
    os.unlink("a")


def words_of_the_last_line():
    for words, want in (
        (["sh", "-c", "echo >a", "it's"], "sh -c 'echo >a' 'it'\\''s'"),
        (["sh", "-c", "echo >b # " + 60 * "x"], "COMMAND"),
        (["sh", "-c", "echo >c # \033"], "COMMAND"),
        (["--", "touch", "f"], "touch f"),
    ):
        same(hb("-s", "w", *words)[2].splitlines()[-1], LAST + want)
    same(hb("-s", "w", "--go-on", "again", "touch", "g")[0], 0)


def agents():
    """Each agent is a program of its own here; the last line has its option."""
    home = os.environ["HOME"]
    os.makedirs(home + "/.local/bin")
    os.environ["PATH"] = home + "/.local/bin:" + os.environ["PATH"]
    options = {"claude": "-c", "codex": "resume --last", "gemini": "--resume latest",
               "opencode": "-c", "aider": "--restore-chat-history"}  # fmt: skip
    for agent, option in options.items():
        path = f"{home}/.local/bin/{agent}"
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho >>made\n")
        os.chmod(path, 0o755)
        same(hb(agent, "-p", "task")[2].splitlines()[-1], f"{LAST}{agent} {option}")
        same(hb("-c", agent, *option.split())[0], 0)
        same(names(), [agent + "-1"])
        status, _, said = hb("-c", "sh", "-c", "true")
        same(status, 125)
        begins(said, f"holdback: [9] there is no session of sh to continue: {agent}-1 has the rights")
        begins(hb("sh", "-c", "echo >sh")[2], "holdback: session sh-1 is kept")
        hb("-q", "-c", agent)
        same(hb("diff", "--name-status", f"@{agent}-1")[1], "A\tmade\n")
        clean()
    shutil.rmtree(home + "/.local/bin")


def continued():
    same(hb("-c", "true")[0], 125)
    begins(hb("-c", "true")[2], "holdback: [9] there is no session to continue")
    begins(hb("-c", "-s", "x", "true")[2], "holdback: [2] --continue says where the changes go")
    hb("-q", "sh", "-c", "echo 1 >a")
    hb("-q", "sh", "-c", "echo 2 >b")
    same(hb("-q", "--continue", "sh", "-c", "cat b; echo 3 >c; exit 4")[:2], (4, "2\n"))
    same(names(), ["sh-1", "sh-2"])
    same(hb("diff", "--name-status", "@sh-2")[1], "A\tb\nA\tc\n")
    hb("rollback", "-y", "@sh-2")
    same(hb("-q", "-c", "cat", "a")[1], "1\n")


def asked(sh):
    hb("-q", "sh", "-c", "echo 1 >a")
    hb("-q", "sh", "-c", "echo 2 >b; echo 2 >b2")
    sh.type("$HB_BIN -q sh -c 'ls; echo 3 >c'\r")
    sh.expect(r"earlier sessions have changes here:\r\n  sh-2 .* ago  2 files: 2 added\r\n"
              r"  sh-1 .* ago  1 file: 1 added\r\n")  # fmt: skip
    same(sh.expect(QUESTION)[1], "sh-2")
    sh.type("\r")
    sh.expect(r"b\s+b2\s+probe\s+hb> ")
    same(hb("diff", "--name-status", "@sh-2")[1], "A\tb\nA\tb2\nA\tc\n")
    same(names(), ["sh-1", "sh-2"])


def asked_for_a_new_one(sh):
    hb("-q", "sh", "-c", "echo 1 >a")
    sh.start("$HB_BIN -q sh -c 'ls; echo 3 >c'", QUESTION)
    sh.type("x\r")
    sh.expect(QUESTION)
    sh.type("n\r")
    sh.expect(r"probe\s+hb> ")
    same(names(), ["sh-1", "sh-2"])


def asked_for_a_review(sh):
    hb("-q", "sh", "-c", "echo 1 >a")
    sh.start("PAGER=cat $HB_BIN -q sh -c 'echo 3 >c'", QUESTION)
    sh.type("r\r")
    sh.expect(r"\+\+\+ b/a")
    sh.expect(QUESTION)
    sh.type("q\r")
    sh.expect(r"nothing was run\r\nhb> ")
    same(sh.status(), 125)
    same(hb("diff", "--name-status", "@sh-1")[1], "A\ta\n")


def end_of_file(sh):
    hb("-q", "sh", "-c", "echo 1 >a")
    sh.start("$HB_BIN -q sh -c 'echo 3 >c'", QUESTION)
    sh.type("\x04")
    sh.expect(r"nothing was run\r\nhb> ")


def no_question(sh):
    """For a word that is no program, and for a session in which a command runs."""
    hb("-q", "sh", "-c", "echo 1 >a")
    if "did you mean 'holdback commit'" not in sh.run("$HB_BIN comit"):
        raise Failed("a slip is not told")
    hb("cleanup", "-y", "--all")
    with subprocess.Popen([HOLDBACK, "-q", "sh", "-c", "echo >a; echo up; read x"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as live:  # fmt: skip
        live.stdout.readline()
        same(sh.run("$HB_BIN -q echo other"), "other")
        live.stdin.close()


def refused():
    hb("-q", "sh", "-c", "echo 1 >a")
    hb("-q", "sh", "-c", "echo 2 >b")
    for words in (["commit", "-y"], ["rollback", "-y"], ["cleanup", "-y"], ["sync", "--auto"],
                  ["undo"], ["redo"], ["mark"], ["mark", "m"], ["fork", "new"], ["recover"],
                  ["exec", "--", "true"], ["shell"], ["keep"], ["commit", "-y", "a"],
                  ["exec", "@", "true"], ["stop"], ["resume"], ["stop", "@"]):  # fmt: skip
        status, _, said = hb(*words)
        same(status, 125 if words[0] in ("exec", "shell", "keep") else 2)
        if "2 sessions have changes" not in said or f"holdback {words[0]} @sh-2" not in said:
            raise Failed(f"{words}: {said}")
    same(names(), ["sh-1", "sh-2"])
    for words in (["status"], ["diff"]):
        status, _, said = hb(*words)
        same(status, 0)
        begins(said, "holdback: this is session sh-2, the last one used of 2")


def undo_of_two():
    """A session that is committed as a whole has changes that undo would take."""
    hb("-q", "sh", "-c", "echo 1 >a")
    hb("commit", "-y")
    hb("-q", "sh", "-c", "echo 2 >b")
    hb("commit", "-y")
    same(hb("undo")[0], 2)
    same(hb("undo", "@sh-2")[0], 0)
    same(hb("undo", "@sh-1")[0], 0)
    same(sorted(os.listdir(".")), ["probe"])


def all_tests(tap, sh):
    # An agent makes the directories of its profile: in a home of this test.
    os.environ["HOME"] = os.path.realpath("../home")
    os.mkdir(os.environ["HOME"])
    sh.run(f"export HOME={os.environ['HOME']}")
    for name, function, arguments in (
        ("without a terminal a new session is made, and a line tells how to go on", without_terminal, ()),
        ("a session with nothing pending is not told", nothing_pending, ()),
        ("the last line is the command for a shell", words_of_the_last_line, ()),
        ("the last line has the agent's own option, and a session is of one kind", agents, ()),
        ("--continue goes on in the last session with changes", continued, ()),
        ("on a terminal it asks, and the default is to continue", asked, (sh,)),
        ("on a terminal a new session can be had", asked_for_a_new_one, (sh,)),
        ("on a terminal the changes can be reviewed first", asked_for_a_review, (sh,)),
        ("at the end of the input nothing runs", end_of_file, (sh,)),
        ("no question for no program and for a live session", no_question, (sh,)),
        ("two sessions with changes: no command that changes something takes one", refused, ()),
        ("two committed sessions: undo takes none by chance", undo_of_two, ()),
    ):  # fmt: skip
        tap.test(name, function, *arguments)
        clean()


if __name__ == "__main__":
    sys.exit(run_tests("", all_tests))
