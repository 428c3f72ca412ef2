#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash git
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
ASK = r"let it pass\? \[y,a,s,l,d,q,\?\] "
COMMIT = r"commit\? \[y\]es \[n\]o \[d\]iff \[e\]dit selection: "
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
    answer(shell, "y", r"\(2/2\) ask: \.vscode/tasks\.json:\s")
    shell.expect(ASK)
    same(there(), ["old"])
    answer(shell, "y", COMMIT)
    same(there(), ["old"])
    answer(shell, "y", r"committed session s: 4 files: 3 added, 1 deleted")
    shell.expect("hb> ")
    same(shell.status(), 0)
    same(there(), [".envrc", ".vscode", "n"])


def a_commit_is_shown(shell):
    """A file that only a commit has is shown by that commit."""
    person = "git -c user.name=n -c user.email=e"
    begin("git init -q .; git add .; " + person + " commit -qm one")
    subprocess.run([HOLDBACK, "commit", "--state-dir", STATE, "-y", "--no-gate", "@s"],
                   cwd=PROJECT, check=True, capture_output=True)
    hb("exec", "@s", "--", "sh", "-c",
       f"echo sneaky-content >.envrc; git add -f .envrc; {person} commit -qm sneaky; git rm -q .envrc; {person} commit -qm clean")
    shell.start(line("commit"), r"\.envrc")
    shell.expect(ASK)
    answer(shell, "d", r"\+sneaky-content")
    shell.expect(ASK)
    answer(shell, "q", "hb> ")


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


def rest_of_the_rule(shell):
    """One answer for a rule is none for another rule."""
    begin("mkdir a b .vscode; touch a/.envrc b/.envrc; echo {} >.vscode/tasks.json; echo x >.envrc")
    shell.start(line("commit"), r"\(1/4\) ask: \.envrc: .*\[environment\]")
    shell.expect(ASK)
    answer(shell, "a", r"\(4/4\) ask: \.vscode/tasks\.json:\s")
    shell.expect(ASK)
    same(there(), ["old"])
    answer(shell, "y", COMMIT)
    answer(shell, "y", "committed session s: 4 files: 4 added")
    shell.expect("hb> ")
    same(there(), [".envrc", ".vscode", "a", "b", "old"])


def skipped_comes_again(shell):
    begin("mkdir d; echo x >.envrc; echo y >d/.envrc")
    shell.start(line("commit"), r"\(1/2\) ask: \.envrc")
    shell.expect(ASK)
    answer(shell, "s", r"ask: d/\.envrc")
    shell.expect(ASK)
    answer(shell, "y", r"\(2/2\) ask: \.envrc")
    shell.expect(ASK)
    answer(shell, "q", "not allowed")
    shell.expect("hb> ")
    same(shell.status(), 4)
    same(there(), ["old"])


def left_out_stays_pending(shell):
    """The path that is left out, and no other of that name, waits."""
    begin("mkdir d; echo x >.envrc; echo y >d/.envrc; echo z >z")
    shell.start(line("commit"), r"\(1/2\) ask: \.envrc")
    shell.expect(ASK)
    answer(shell, "l", r"\(2/2\) ask: d/\.envrc")
    shell.expect(ASK)
    answer(shell, "y", COMMIT)
    answer(shell, "y", "committed session s: 2 files: 2 added")
    shell.expect("hb> ")
    same(shell.status(), 0)
    same(there(), ["d", "old", "z"])
    same(hb("diff", "--name-status", "@s"), "A\t.envrc\n")


def edited(shell, editor, rest):
    shell.start(f"export EDITOR='{editor}'; unset VISUAL; {line('commit')}", COMMIT)
    answer(shell, "e", rest)
    shell.expect(COMMIT)


def selection_is_edited(shell):
    """A line that is deleted in the editor is a change that waits."""
    begin("mkdir d; echo 1 >d/one; echo 2 >two; echo 3 >three; rm old")
    edited(shell, "sed -i /two/d", r"3 files: 2 added, 1 deleted")
    answer(shell, "y", "committed session s: 3 files: 2 added, 1 deleted")
    shell.expect("Undo: holdback undo @s")
    shell.expect("hb> ")
    same(there(), ["d", "three"])
    same(hb("diff", "--name-status", "@s"), "A\ttwo\n")
    same([name for name in os.listdir(os.environ["TMPDIR"]) if "holdback-commit" in name], [])


def everything_deselected(shell):
    """With every line gone nothing is committed."""
    begin("echo 1 >one; echo 2 >two")
    edited(shell, "truncate -s 0", "no changes")
    answer(shell, "y", "nothing to commit")
    shell.expect("hb> ")
    same(there(), ["old"])
    same(hb("diff", "--name-status", "@s"), "A\tone\nA\ttwo\n")


def failing_editor(shell):
    begin("echo 1 >one")
    shell.start(f"export EDITOR=false; {line('commit')}", COMMIT)
    answer(shell, "e", "the editor 'false' failed")
    shell.expect("hb> ")
    same(there(), ["old"])
    shell.run("unset EDITOR")


def prompt_shows_the_changes(shell):
    """Session, directory and list stand before the question; d shows the text."""
    begin("echo some-text >new; rm old")
    shell.run("export GIT_PAGER=cat")
    shell.start(line("commit"), r"session s, on\s+" + PROJECT)
    shell.expect(r"A .* new")
    shell.expect(r"D .* old")
    shell.expect(COMMIT)
    answer(shell, "d", r"\+some-text")
    shell.expect(COMMIT)
    answer(shell, "?", "commit nothing")
    shell.expect(COMMIT)
    answer(shell, "", "nothing was committed")
    shell.expect("hb> ")
    same(shell.status(), 0)
    shell.run("unset GIT_PAGER")
    same(there(), ["old"])


def prompt_shows_conflicts(shell):
    """Before the question, and not only after the answer."""
    begin("echo session >>old")
    with open(os.path.join(PROJECT, "old"), "a", encoding="utf-8") as file:
        file.write("user\n")
    shell.start(line("commit"), r"M .* old")
    shell.expect(r"conflict: edited in the base")
    shell.expect(COMMIT)
    answer(shell, "n", "nothing was committed")
    shell.expect("hb> ")


def long_lists_are_paged(shell):
    begin("for i in $(seq 100); do echo $i >n$i; done")
    shell.run("export GIT_PAGER='tail -n 2; echo through the pager; :'")
    shell.start(line("commit"), "through the pager")
    shell.expect(COMMIT)
    answer(shell, "y", "committed session s: 100 files")
    shell.expect("hb> ")
    shell.run("unset GIT_PAGER")


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
    tap.test("a commit that has a file alone is shown", a_commit_is_shown, shell)
    tap.test("a yes is for one path", only_that_path, shell)
    tap.test("commit: what was listed, or nothing", what_was_listed_is_committed, shell, "commit")
    tap.test("sync: what was listed, or nothing", what_was_listed_is_committed, shell, "sync")
    tap.test("a lets all pass that the rule asks about", rest_of_the_rule, shell)
    tap.test("s puts a question off, and it comes again", skipped_comes_again, shell)
    tap.test("l leaves the path out of the commit", left_out_stays_pending, shell)
    tap.test("the question of commit shows the changes", prompt_shows_the_changes, shell)
    tap.test("the question of commit shows conflicts", prompt_shows_conflicts, shell)
    tap.test("a long list goes through the pager", long_lists_are_paged, shell)
    tap.test("e: a line deleted in the editor is left out", selection_is_edited, shell)
    tap.test("e: with all lines deleted nothing is committed", everything_deselected, shell)
    tap.test("e: a failing editor commits nothing", failing_editor, shell)
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
