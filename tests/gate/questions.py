#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash
"""On a terminal what the gate asks is a question, with the diff at hand."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
# pylint: disable=wrong-import-position
from pty_shell import Shell, Tap, same  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
WORK = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
PROJECT, STATE = os.path.join(WORK, "p"), os.path.join(WORK, "state")
ASK = r"let it pass\? \[y,n,d,q,\?\] "
COMMIT = r"commit\? \[y/N\] "
ODD = "a[*]\x1b[31m"


def hb(command, *words):
    return subprocess.run(
        [HOLDBACK, command, "--state-dir", STATE, *words],
        cwd=PROJECT, check=True, capture_output=True,
    ).stdout.decode()  # fmt: skip


def begin(script):
    """A session in which the script ran; nothing of an earlier one is there."""
    subprocess.run([HOLDBACK, "cleanup", "--state-dir", STATE, "-y", "@s"],
                   cwd=PROJECT, check=False, capture_output=True)
    shutil.rmtree(PROJECT)
    os.makedirs(PROJECT)
    with open(os.path.join(PROJECT, "old"), "w", encoding="utf-8") as file:
        file.write("old\n")
    hb("create", "s", "--cow", PROJECT)
    hb("exec", "@s", "--", "sh", "-c", script)


def line(command):
    return f"cd '{PROJECT}'; '{HOLDBACK}' {command} --state-dir '{STATE}' @s"


def there():
    return sorted(os.listdir(PROJECT))


def answer(shell, text, pattern):
    shell.type(text + "\r")
    return shell.expect(pattern)


def yes_commits(shell, command):
    """Each is asked, then whether to commit; the diff is what changed."""
    begin("echo sneaky-content >.envrc; mkdir .vscode; echo {} >.vscode/tasks.json; rm old; echo n >n")
    shell.start(line(command), r"\(1/2\) ask: \.envrc: .*\[environment\]")
    shell.expect(ASK)
    answer(shell, "d", r"\+sneaky-content")
    shell.expect(ASK)
    answer(shell, "?", r"nothing is committed")
    shell.expect(ASK)
    answer(shell, "y", r"\(2/2\) ask: \.vscode/tasks\.json: ")
    shell.expect(ASK)
    same(there(), ["old"])
    answer(shell, "y", COMMIT)
    same(there(), ["old"])
    answer(shell, "y", r"committed session s: 4 files: 3 added, 1 deleted")
    shell.expect("hb> ")
    same(shell.status(), 0)
    same(there(), [".envrc", ".vscode", "n"])


def only_that_path(shell):
    """A yes is for one path: the next one asks again."""
    begin("mkdir d; echo x >.envrc; echo y >d/.envrc")
    shell.start(line("commit"), r"\(1/2\) ask: \.envrc")
    shell.expect(ASK)
    answer(shell, "y", r"\(2/2\) ask: d/\.envrc")
    shell.expect(ASK)
    answer(shell, "n", "not allowed")
    shell.expect("hb> ")
    same(shell.status(), 4)
    same(there(), ["old"])


def what_was_listed_is_committed(shell, command):
    """What changes between the list and the answer is not; nor what it was."""
    begin("echo harmless >f; echo x >g; rm old")
    shell.start(line(command), COMMIT)
    (layer,) = [os.path.join(folder, "f") for folder, _, files in os.walk(WORK)
                if "f" in files and folder != PROJECT]  # fmt: skip
    before = os.stat(layer)
    with open(layer, "r+", encoding="ascii") as file:
        file.write("harmful!\n")
    os.utime(layer, ns=(before.st_atime_ns, before.st_mtime_ns))
    answer(shell, "y", "not the expected ones")
    shell.expect("hb> ")
    same(shell.status(), 5)
    same(there(), ["old"])
    shell.start(line(command), COMMIT)
    answer(shell, "y", "committed session s: 3 files: 2 added, 1 deleted")
    shell.expect("hb> ")


def no_stops(shell, word):
    begin("echo x >.envrc")
    shell.start(line("sync"), ASK)
    answer(shell, word, "not allowed")
    shell.expect("hb> ")
    same(shell.status(), 4)
    same(there(), ["old"])


def end_of_input_stops(shell):
    begin("echo x >.envrc")
    shell.start(line("commit"), ASK)
    shell.type("\x04")
    shell.expect("not allowed")
    shell.expect("hb> ")
    same(shell.status(), 4)
    same(there(), ["old"])


def yes_option_answers_nothing(shell):
    """-y is about the commit alone."""
    begin("echo x >.envrc")
    shell.start(line("commit -y"), ASK)
    same(there(), ["old"])
    answer(shell, "y", "committed session s: 1 file: 1 added")
    shell.expect("hb> ")
    same(shell.status(), 0)
    same(there(), [".envrc", "old"])


def auto_asks_nothing(shell):
    begin("echo x >.envrc")
    shell.run(line("sync --auto"))
    same(shell.status(), 4)
    same(there(), ["old"])


def denied_is_no_question(shell):
    """What cannot be allowed is not asked."""
    begin("echo x >.envrc; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'")
    shell.run(line("commit"))
    same(shell.status(), 4)
    same(there(), ["old"])


def names_are_harmless(shell):
    """A name of patterns and escape sequences is one path, and quoted."""
    begin(f"mkdir '{ODD}'; echo x >'{ODD}/.envrc'")
    shell.start(line("commit"), ASK)
    same("\x1b[31m" in shell.seen[:shell.taken], False)
    answer(shell, "y", COMMIT)
    answer(shell, "y", "committed session s: 1 file: 1 added")
    shell.expect("hb> ")
    same(os.listdir(os.path.join(PROJECT, ODD)), [".envrc"])


def main():
    os.makedirs(PROJECT)
    shell = Shell()
    tap = Tap()
    tap.after_failure = shell.restart
    tap.test("commit asks, shows the diff and commits", yes_commits, shell, "commit")
    tap.test("sync asks, shows the diff and commits", yes_commits, shell, "sync")
    tap.test("a yes is for one path", only_that_path, shell)
    tap.test("commit: what was listed, or nothing", what_was_listed_is_committed, shell, "commit")
    tap.test("sync: what was listed, or nothing", what_was_listed_is_committed, shell, "sync")
    tap.test("n stops a commit", no_stops, shell, "n")
    tap.test("q stops a commit", no_stops, shell, "q")
    tap.test("the end of input stops a commit", end_of_input_stops, shell)
    tap.test("-y answers nothing of the gate's", yes_option_answers_nothing, shell)
    tap.test("--auto asks nothing, and is refused", auto_asks_nothing, shell)
    tap.test("what is denied is no question", denied_is_no_question, shell)
    tap.test("names are harmless", names_are_harmless, shell)
    shell.close()
    shutil.rmtree(WORK)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
