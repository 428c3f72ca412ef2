#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash git
"""Words for people fit the terminal, and colours are for a terminal alone.

Each command is shown in three widths.  A line may be wider only if it is a long
path, or a command to be copied.
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
WIDTHS = (80, 60, 40)
PAINT = re.compile("\033\\[[0-9;]*m")
LONG = "a/directory/with/a/long/name/that/is/wider/than/eighty/columns/altogether/and/more.txt"
# What is shown on a terminal, with a session that has changes and a commit.
SHOWN = ("ls", "status @s", "status -v @s", "diff --name-status @s", "gate @s", "gate --rules",
         "state", "config", "profile", "profile claude", "doctor", "why /etc/shadow", "caps",
         "verify @s", "commit --dry-run @s", "cleanup --stale", "gc --dry-run", "undo @s",
         "commit -y @s", "ls @x", "help", "run --help")  # fmt: skip
PAINTED = ("ls", "status @s", "commit --dry-run @s", "undo @s", "nosuchcommand")


def hb(*words):
    return subprocess.run([HOLDBACK, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)  # fmt: skip


def write(path, text):
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def prepare():
    """A session with a commit that cannot be undone any more, and with changes of all kinds."""
    subprocess.run(["git", "init", "-q", "."], check=True)
    for name in ("deleted", "changed", "disputed"):
        write(name, "old\n")
    hb("-q", "-s", "s", "sh", "-c", "echo 1 >first")
    same(hb("commit", "-y", "@s").returncode, 0)
    write("first", "by the user\n")
    script = (f"mkdir -p {os.path.dirname(LONG)}; echo >{LONG}; rm deleted; echo 2 >>changed; "
              "echo 2 >disputed; mkdir .vscode; echo '{}' >.vscode/tasks.json; echo new >new")  # fmt: skip
    same(hb("-q", "-s", "s", "sh", "-c", script).returncode, 0)
    write("disputed", "by the user\n")
    home = os.environ["HOME"]
    write(f"{home}/.local/bin/claude", "#!/bin/sh\nmkdir -p ~/.claude; echo '{}' >~/.claude/settings.json\n")
    os.chmod(f"{home}/.local/bin/claude", 0o755)
    os.environ["PATH"] = f"{home}/.local/bin:" + os.environ["PATH"]
    same(hb("-q", "claude").returncode, 0)


def is_path(line):
    """One word, behind the letter of its kind and its size."""
    return re.fullmatch(r" *([A-Zt] +)?(\d+ k?B +)?\S+", line)


def check_fits(text, columns, words):
    for line in PAINT.sub("", text).splitlines():
        if len(line) > columns and not is_path(line) and not line.startswith(("fix: ", "Go on: ")):
            raise Failed(f"{words}: {len(line)} columns, not {columns}: {line!r}")


def fits(sh, columns):
    sh.resize(columns, 24)
    for words in SHOWN:
        text = sh.run(f"PAGER=cat $HB_BIN {words}")
        # A list that is for programs has tabs, and one path a line.
        check_fits("\n".join(x for x in text.splitlines() if "\t" not in x), columns, words)
    sh.resize(80, 24)


def run_fits(sh, columns):
    """The lines of a run, from the first to the last."""
    sh.resize(columns, 24)
    text = sh.run(f"$HB_BIN -s w{columns} sh -c 'mkdir -p {os.path.dirname(LONG)}; echo >{LONG}; echo >short'")
    check_fits(text, columns, "run")
    for want in ("session w", "network: none", "Next: ", "Go on: "):
        if want not in text:
            raise Failed(f"no {want!r} in {text!r}")
    sh.resize(80, 24)


def speaker_is_not_alone(sh):
    """A line that is broken goes on behind the name of its speaker."""
    codex = f"{os.environ['HOME']}/.local/bin/codex"
    write(codex, "#!/bin/sh\nmkdir -p ~/.codex/sessions; date >~/.codex/sessions/a\n")
    os.chmod(codex, 0o755)
    text = PAINT.sub("", sh.run("PATH=$HOME/.local/bin:$PATH $HB_BIN codex"))
    if "holdback: the conversation is kept for" not in text:
        raise Failed(text)


def prepare_moved():
    """A repository of its own, of which session and user both moved the branch."""
    git = "git -c user.name=n -c user.email=e"
    commit = f"{git} commit -q --allow-empty -m"
    subprocess.run(["sh", "-ec", f"mkdir ../moved; cd ../moved; git init -q -b master; {commit} one"], check=True)
    script = f"cd ../moved && exec {HOLDBACK} -q -s moved sh -c '{commit} two; {commit} three'"
    subprocess.run(["sh", "-c", script], check=True, capture_output=True)
    subprocess.run(["sh", "-ec", f"cd ../moved; {commit} beside"], check=True)


def repository_fits(sh, columns):
    """What becomes of a repository, in a list and before the question, which is answered with no."""
    want = "master moved meanwhile: 2 commits go to holdback/moved; then: git merge holdback/moved"
    sh.resize(columns, 24)
    shown = {x: sh.run(f"$HB_BIN {x} @moved") for x in ("status", "commit --dry-run")}
    sh.type("$HB_BIN commit @moved\r")
    sh.expect(r"\r?\n")
    start = sh.taken
    sh.expect(r"selection: ")
    shown["commit"] = sh.seen[start : sh.taken].replace("\r", "")
    sh.run("n")
    for words, text in shown.items():
        check_fits(text, columns, words)
        if want not in " ".join(PAINT.sub("", text).split()):
            raise Failed(f"{words}: {text!r}")
    sh.resize(80, 24)


def has_colour(sh, words, env):
    return "\033[" in sh.run(f"env {env} $HB_BIN {words}")


def colours(sh):
    for words in PAINTED:
        same((words, has_colour(sh, words, "TERM=xterm")), (words, True))


def no_colours(sh):
    for env in ("TERM=xterm NO_COLOR=1", "TERM=dumb", "-u TERM", "TERM="):
        for words in PAINTED:
            same((env, words, has_colour(sh, words, env)), (env, words, False))


def empty_no_color(sh):
    same(has_colour(sh, "ls", "TERM=xterm NO_COLOR="), True)


def pipe(sh):
    for words in PAINTED:
        same((words, has_colour(sh, words + " 2>&1 | command cat", "TERM=xterm")), (words, False))


def run_colours(sh):
    """The list at the end of a run, and its last lines."""
    same(has_colour(sh, "-s painted sh -c 'echo >painted'", "TERM=xterm"), True)
    same(has_colour(sh, "-s painted sh -c 'echo >>painted'", "TERM=xterm NO_COLOR=1"), False)


def list_for_programs():
    """Without a terminal a line has the whole path, whatever its length."""
    line = [x for x in hb("ls").stdout.splitlines() if x.startswith("s ")][0]
    if os.getcwd() not in line:
        raise Failed(line)


def raw_state(sh):
    """The bytes of an agent's file are not broken into lines."""
    path = os.environ["HOME"] + "/.claude/settings.json"
    same(sh.run(f"$HB_BIN state claude {path}").strip(), "{}")


def harmless_state(sh):
    """What an agent wrote does not reach the terminal as it is; a pipe gets it."""
    path = os.environ["HOME"] + "/.claude/settings.json"
    write(os.environ["HOME"] + "/.local/bin/claude", "#!/bin/sh\nprintf 'a\\033]0;x\\007\\302\\233b\\n' >~/.claude/settings.json\n")
    same(hb("-q", "claude").returncode, 0)
    same(sh.run(f"$HB_BIN state claude {path}").strip(), "a?]0;x??b")
    same(hb("state", "claude", path).stdout, "a\033]0;x\007\u009bb\n")


def no_session(sh):
    """An empty list says so to a person, and nothing to a program."""
    same(sh.run("$HB_BIN ls --state-dir ../none").strip(), "no sessions; holdback COMMAND begins one")
    same(hb("ls", "--state-dir", "../none").stdout, "")


def all_tests(tap, sh):
    prepare()
    prepare_moved()
    one = tap.test
    one("an empty list says so on a terminal alone", no_session, sh)
    for columns in WIDTHS:
        one(f"every command fits in {columns} columns", fits, sh, columns)
        one(f"the lines of a run fit in {columns} columns", run_fits, sh, columns)
        one(f"the lines about a repository fit in {columns} columns", repository_fits, sh, columns)
    one("the name of a speaker stands alone in no line", speaker_is_not_alone, sh)
    one("commands use colours on a terminal", colours, sh)
    one("NO_COLOR and a terminal without colours switch them off in all commands", no_colours, sh)
    one("an empty NO_COLOR switches nothing off", empty_no_color, sh)
    one("a pipe gets no colours", pipe, sh)
    one("the end of a run has colours, unless NO_COLOR is set", run_colours, sh)
    one("ls without a terminal cuts nothing", list_for_programs)
    one("the text of a carried file is shown as it is", raw_state, sh)
    one("what an agent wrote does not speak to the terminal", harmless_state, sh)
    shutil.rmtree("../moved")
    for name in (".local", ".claude", ".codex"):
        shutil.rmtree(f"{os.environ['HOME']}/{name}", ignore_errors=True)


def main():
    os.environ["XDG_STATE_HOME"] = os.path.join(os.environ["TMPDIR"], "state")
    try:
        return run_tests("", all_tests)
    finally:
        shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
