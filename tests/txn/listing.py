#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash
"""ls tells what is in each session; cleanup removes several of them at once."""

import json
import os
import re
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


def hb(command, *words, status=0):
    done = subprocess.run(
        [HOLDBACK, command, "--state-dir", STATE, *words],
        cwd=PROJECT, check=False, capture_output=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    same(done.returncode, status)
    return done.stdout.decode() + done.stderr.decode()


def begin():
    """Three sessions: pending changes, a commit, and nothing at all."""
    shutil.rmtree(WORK)
    os.makedirs(PROJECT)
    for name in ("pending", "committed", "empty"):
        hb("create", name, "--cow", PROJECT)
    hb("exec", "@pending", "--", "sh", "-c", "echo a >a; mkdir d; echo b >d/b")
    hb("mark", "@pending", "first")
    hb("exec", "@committed", "--", "touch", "c")
    hb("commit", "-y", "@committed")


def names():
    return [session["name"] for session in json.loads(hb("ls", "--json"))["sessions"]]


def columns_tell_all():
    begin()
    rows = {line.split()[0]: line.split() for line in hb("ls").splitlines()}
    same(sorted(rows), ["committed", "empty", "pending"])
    same([rows["pending"][i] for i in (1, 3, 4, 5, 6)], ["idle", "2", "first", "sh", PROJECT])
    same([rows["committed"][i] for i in (1, 3, 4, 5, 6, 7)],
         ["idle", "0", "-", "touch", "c", PROJECT])  # fmt: skip
    same(rows["empty"][3:7], ["0", "-", "-", PROJECT])
    same(all(re.fullmatch(r"\d+[smhd]", row[2]) for row in rows.values()), True)


def json_has_the_same():
    begin()
    rows = {s["name"]: s for s in json.loads(hb("ls", "--json"))["sessions"]}
    pending, empty = rows["pending"], rows["empty"]
    same((pending["pending"], pending["mark"], pending["command"]), (2, "first", "sh"))
    same((empty["pending"], "mark" in empty, "command" in empty), (0, False, False))


def arguments_are_not_kept():
    """The word after an option may be a secret, and is in no file of the store."""
    begin()
    hb("exec", "@empty", "--", "true", "--token", "sesame-open")
    kept = subprocess.run(["grep", "-rl", "sesame-open", STATE], check=False, capture_output=True)
    same(kept.stdout, b"")
    same([line.split()[5] for line in hb("ls").splitlines() if line.startswith("empty")], ["true"])


def header_on_a_terminal(shell):
    begin()
    shell.start(f"'{HOLDBACK}' ls --state-dir '{STATE}'",
                r"SESSION +STATE +AGE +CHANGES +MARK +COMMAND +DIRECTORY")  # fmt: skip
    shell.expect(r"pending +idle")
    shell.expect("hb> ")


def cleaned(options, rest, removed):
    begin()
    same(f"removed {removed}" in hb("cleanup", "-y", *options), True)
    same(names(), rest)


def question_names_them():
    begin()
    words = hb("cleanup", "--all", status=2)
    same("session pending, with 2 pending changes" in words, True)
    same("session committed, with nothing pending" in words, True)
    same(names(), ["committed", "empty", "pending"])


def live_stays():
    begin()
    with subprocess.Popen([HOLDBACK, "keep", "--state-dir", STATE, "@empty"],
                          cwd=PROJECT, stderr=subprocess.DEVNULL) as keeper:  # fmt: skip
        while "live" not in hb("ls"):
            pass
        words = hb("cleanup", "-y", "--all")
        same(names(), ["empty"])
        hb("stop", "@empty")
        keeper.wait()
    same("1 session is in use" in words and "removed 2" in words, True)


def bad_words(words):
    begin()
    hb("cleanup", "-y", *words, status=2)
    same(names(), ["committed", "empty", "pending"])


def main():
    os.makedirs(PROJECT)
    shell, tap = Shell(), Tap()
    tap.after_failure = shell.restart
    tap.test("ls shows state, age, changes, mark, command and directory", columns_tell_all)
    tap.test("ls --json has the same", json_has_the_same)
    tap.test("the arguments of a command are not kept", arguments_are_not_kept)
    tap.test("ls has a header on a terminal", header_on_a_terminal, shell)
    tap.test("cleanup --all removes all sessions", cleaned, ["--all"], [], 3)
    tap.test("cleanup --committed leaves pending changes", cleaned, ["--committed"], ["pending"], 2)
    tap.test("cleanup --older leaves sessions that were used", cleaned, ["--older", "1h"],
             ["committed", "empty", "pending"], 0)  # fmt: skip
    tap.test("cleanup --all names the sessions before it asks", question_names_them)
    tap.test("cleanup --all leaves a live session", live_stays)
    for words in (["--all", "@pending"], ["--older", "1x"], ["--stale", "--all"]):
        tap.test(f"cleanup {' '.join(words)} is refused", bad_words, words)
    shell.close()
    shutil.rmtree(WORK)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
