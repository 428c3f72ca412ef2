#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every document of --json is what docs/formats/json.md says, and no more, and
what the schema beside it says."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from schema import Validator  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
DOCUMENT = os.path.join(os.environ["HB_SOURCE"], "docs", "formats", "json.md")
SCHEMA = os.path.join(os.environ["HB_SOURCE"], "docs", "formats", "holdback.schema.json")
TYPES = {"number": int, "string": str, "bool": bool}
ROW = re.compile(r"^\| ([a-z_, ]+) \| `([a-z_]+)(\??)` \| ([a-z_ ]+) \|")


class Schema:
    """The tables of the document."""

    def __init__(self, path):
        self.objects = {}
        self.seen = set()
        with open(path, encoding="utf-8") as file:
            rows = [match for line in file if (match := ROW.match(line))]
        for row in rows:
            for name in row[1].split(", "):
                members = self.objects.setdefault(name, {})
                members[row[2]] = (row[4], bool(row[3]))

    def members(self, name):
        """Those of the document of a command include what every one has."""
        own = self.objects.get(name, {})
        return own if name not in COMMANDS else {**self.objects["every"], **own}

    def check(self, value, name):
        """What is wrong with an object, one line each."""
        members = self.members(name)
        for key in value.keys() - members.keys():
            yield f"{name} has {key}, which is not documented"
        is_error = name in COMMANDS and "error" in value
        for key, (kind, is_optional) in members.items():
            if key in value:
                self.seen.add((name, key))
                yield from self.check_value(value[key], kind, f"{name}.{key}")
            elif not is_optional and not is_error:
                yield f"{name} has no {key}"

    def check_value(self, value, kind, where):
        if kind.startswith("array of "):
            if not isinstance(value, list):
                yield f"{where} is no array"
                return
            for item in value:
                yield from self.check_value(item, kind.removeprefix("array of "), where)
        elif kind in self.objects:
            yield from self.check(value, kind)
        elif type(value) is not TYPES[kind]:  # a bool is an int otherwise
            yield f"{where} is no {kind}: {value!r}"


COMMANDS = (
    "run", "create", "exec", "shell", "keep", "stop", "resume", "ls", "status", "diff", "gate", "commit", "sync", "undo",
    "redo", "state", "mark", "fork", "verify", "log", "gc", "rollback", "recover", "cleanup",
    "config", "profile", "why", "net", "caps", "doctor", "strategies", "enable", "disable",
)  # fmt: skip
# Their output is that of the command: the documents are on descriptor 3.
RUNNING = ("run", "exec", "shell")
# These know no sessions.
STATELESS = ("config", "profile", "why", "net", "caps", "doctor", "strategies", "enable", "disable")

# The line about a live session, and the pid in it.
LIVE = HOLDBACK + " status --state-dir ../state @s | sed -n 2p"
PID = " | sed 's/.* pid \\([0-9]*\\) .*/\\1/'"

GIT_COMMIT = "git -c user.name=n -c user.email=e commit -q --allow-empty -m words"

# A program that has a database open until a line comes.
HOLDS = (
    "python3 -c 'import sqlite3; c = sqlite3.connect(\"q.db\"); c.execute(\"pragma journal_mode=wal\");"
    ' c.execute("create table t (x)"); open("../held", "w"); open("../let-go").read()\''
)

# Name, status, words; "!" before the words: a shell command in the project.
STEPS = (
    ("create", 0, "create s --cow ."),
    ("create: there is one", 10, "create s --cow ."),
    ("nothing to undo", 10, "undo @s"),
    ("exec", 3, "exec @s -- sh -c 'echo b>b;echo >>a;rm c;mv d e;mkfifo p;exit 3'"),
    ("exec: no such session", 125, "exec @x -- true"),
    ("exec: a signal", 137, "exec @s -- sh -c 'kill -9 $$'"),
    ("shell", 0, "shell @s"),
    ("run", 3, "run sh -c 'echo out; echo err >&2; echo >r; exit 3'"),
    ("run: a signal", 143, "run -s r sh -c 'kill $$'"),
    ("run: with syncs", 0, "run --sync 1h -s y sh -c 'echo >y'"),
    ("", 0, "!" + HOLDBACK + " cleanup -y @y; rm y"),
    ("run: nothing is left", 0, "run true"),
    ("run: no session", 0, "run --ephemeral true"),
    ("run: verified", 0, "run --ephemeral --verify true"),
    ("run: not found", 127, "run no-such"),
    ("run: a failure of ours", 125, "run -s a/b true"),
    ("", 0, "!" + HOLDBACK + " cleanup -y @r; " + HOLDBACK + " cleanup -y @sh-1"),
    # It ends with its parent, so that one shell does all of it.
    ("", 0, "!" + HOLDBACK + " keep --state-dir ../state --json-fd 4 @s 4>../kept >../out 2>&1 & until " + HOLDBACK
            + " stop --state-dir ../state @s | grep stopped; do sleep 0.02; done; wait"),
    ("keep", 0, "=keep ../kept"),
    ("ls", 0, "ls"),
    ("status", 0, "status @s"),
    ("diff", 1, "diff --name-status --exit-code @s"),
    ("diff --stat", 0, "diff --stat @s"),
    ("diff: hunks", 0, "diff @s"),
    ("gate", 4, "gate @s"),
    ("gate: allowed", 0, "gate --allow special:p @s"),
    ("gate: a check", 4, "gate --gate-run false @s"),
    ("gate: no such rule", 2, "gate --allow specal @s"),
    ("gate: rules", 0, "gate --rules @s"),
    ("commit: denied", 4, "commit -y @s"),
    ("commit: not the expected", 5, "commit -y --expect " + 64 * "0" + " @s"),
    ("commit: not asked for", 4, "commit -y --no-gate @s"),
    ("sync: denied", 4, "sync --auto @s"),
    ("commit: dry run", 0, "commit -n --special @s"),
    ("commit: in part", 0, "commit -y --only b @s"),
    ("commit", 0, "commit -y --special @s"),
    ("", 0, "!cd ../state/sessions/s && cp done/$(ls done | sort -n | tail -n 1) journal"),
    ("recover: the files put aside", 0, "recover --list @s"),
    ("recover: copied out", 0, "recover --take ../taken @s"),
    ("", 0, "!rm ../state/sessions/s/journal"),
    ("commit: nothing", 0, "commit -y @s"),
    ("sync", 0, "sync --auto @s"),
    ("undo", 0, "undo @s"),
    ("redo", 0, "redo @s"),
    ("", 0, "!echo user >a"),
    ("", 0, "!" + HOLDBACK + " exec --state-dir ../state @s -- sh -c 'echo x >>a'"),
    ("", 0, "!echo more >>a"),
    ("undo: a conflict", 5, "undo @s"),
    ("status: a conflict", 0, "status @s"),
    ("commit: a conflict", 5, "commit -y @s"),
    ("sync: a conflict", 5, "sync -y @s"),
    ("sync: a part", 0, "sync --partial @s"),
    ("", 0, "!" + HOLDBACK + " sync -q --every 1h --state-dir ../state @s"),
    ("status: after syncs", 0, "status @s"),
    ("", 0, "!mkfifo ../let-go && " + HOLDS + " >../out 2>&1 &"),
    ("", 0, "!until [ -e ../held ]; do sleep 0.02; done"),
    ("", 0, "!" + HOLDBACK + " exec --state-dir ../state @s -- rm q.db"),
    ("status: an open database", 0, "status @s"),
    ("", 0, "!echo >../let-go; " + HOLDBACK + " rollback -y --state-dir ../state @s q.db"),
    ("", 0, "!" + HOLDBACK + " exec --state-dir ../state @s -- sh -c 'echo \"[core] pager = b\" >.gitconfig'"),
    ("gate: a key", 4, "gate @s"),
    ("mark", 0, "mark @s"),
    ("ls: a mark", 0, "ls"),
    ("mark: there is one", 10, "mark @s m1"),
    ("fork", 0, "fork @s t"),
    ("status: marks", 0, "status @t"),
    ("rollback to a mark", 0, "rollback -y --to m1 @t"),
    ("", 0, "!" + HOLDBACK + " cleanup -y --state-dir ../state @t"),
    ("verify", 1, "verify @s"),
    ("", 0, "!mkdir .git && echo i >.gitignore"),
    ("", 0, "!" + HOLDBACK + " exec --state-dir ../state @s -- touch i"),
    ("status: something ignored", 0, "status @s"),
    ("", 0, "!mkdir ../v && cd ../v && git init -q -b main . && " + GIT_COMMIT + " && " + HOLDBACK
            + " create --state-dir ../state v --cow . >/dev/null && " + HOLDBACK
            + " exec --state-dir ../state @v -- sh -c 'echo f >f; git add f; " + GIT_COMMIT
            + "; echo g >f; git add f; " + GIT_COMMIT
            + "; git checkout -q -b side; mkdir -p .github/workflows; echo on: push >.github/workflows/w.yml"
            + "; git add .github; " + GIT_COMMIT + "; git checkout -q main'"),
    ("gate: a file that only a branch has", 4, "gate @v"),
    ("", 0, "!cd ../v && " + HOLDBACK + " exec --state-dir ../state @v -- git branch -q -D side"),
    ("status: commits", 0, "status @v"),
    ("diff --commits", 0, "diff --commits @v"),
    ("", 0, "!cd ../v && " + GIT_COMMIT),
    ("commit to a branch", 0, "commit -y @v"),
    ("", 0, "!" + HOLDBACK + " cleanup -y --state-dir ../state @v && rm -rf ../v"),
    ("", 0, "!mkdir ../m && cd ../m && git init -q -b main . && echo 0 >f && git add f && " + GIT_COMMIT + " && " + HOLDBACK
            + " create --state-dir ../state m --cow . >/dev/null && " + HOLDBACK
            + " exec --state-dir ../state @m -- sh -c 'echo in >f; git add f; " + GIT_COMMIT
            + "' && echo out >f && git add f && " + GIT_COMMIT),
    ("commit: git cannot merge", 5, "commit -y --git=merge @m"),
    ("sync: git cannot merge", 5, "sync -y --git=merge @m"),
    ("", 0, "!" + HOLDBACK + " cleanup -y --state-dir ../state @m && rm -rf ../m"),
    ("gc", 0, "gc -n --older-than 0"),
    ("log --verify", 0, "log --verify"),
    ("", 0, "!sed -i 2d ../state/log/00000001.jsonl"),
    ("log --verify of a damaged log", 10, "log --verify"),
    ("rollback", 0, "rollback -y @s"),
    ("recover", 0, "recover @s"),
    ("", 0, "!: >../state/sessions/s/journal"),
    ("status: interrupted", 0, "status @s"),
    ("", 0, "!rm ../state/sessions/s/journal"),
    ("", 0, "!mkfifo ../go && " + HOLDBACK + " exec --state-dir ../state @s -- cat <>../go >../out 2>&1 &"),
    ("", 0, "!until " + LIVE + " | grep -q ' command$'; do sleep 0.02; done"),
    ("status: live", 0, "status @s"),
    ("", 0, "!p=$(" + LIVE + PID + "); kill -STOP $p; until grep -q '^State:.T' /proc/$p/status; do sleep 0.02; done"),
    ("status: stopped", 0, "status @s"),
    ("", 0, "!kill -CONT $(" + LIVE + PID + ")"),
    ("resume", 0, "resume @s"),
    ("stop", 0, "stop @s"),
    ("", 0, "!mkdir ../w && echo 1 >../w/f && " + HOLDBACK + " create --state-dir ../state w --cow ../w >/dev/null"),
    ("", 0, "!" + HOLDBACK + " exec --state-dir ../state @w -- sh -c 'echo 2 >'$(cd ../w && pwd)/f"),
    ("commit before a redo", 0, "commit -y @w"),
    ("undo before a redo", 0, "undo @w"),
    ("", 0, "!echo 3 >../w/f"),
    ("redo: a conflict", 5, "redo @w"),
    ("", 0, "!" + HOLDBACK + " cleanup -y --state-dir ../state @w && rm -r ../w"),
    ("", 0, "!mkdir ../g && " + HOLDBACK + " create --state-dir ../state g --cow ../g >/dev/null"),
    ("", 0, "!" + HOLDBACK + " exec --state-dir ../state @g -- touch $(cd ../g && pwd)/x && mv ../g ../away"),
    ("status: a directory that is gone", 0, "status @g"),
    ("", 0, "!" + HOLDBACK + " cleanup -y --state-dir ../state @g && rmdir ../away"),
    ("", 0, "!mkdir ~/.a && " + HOLDBACK + " create --state-dir ../state a --cow . --state ~/.a >/dev/null"),
    ("", 0, "!" + HOLDBACK + " exec --state-dir ../state @a -- sh -c 'echo >~/.a/f'"),
    ("state", 0, "state"),
    ("status: state of an agent", 0, "status @a"),
    ("state: taken", 0, "state -y --take"),
    ("state: forgotten", 0, "state -y --forget"),
    ("", 0, "!" + HOLDBACK + " cleanup -y --state-dir ../state @a && rm -r ~/.a"),
    ("cleanup --stale", 0, "cleanup --stale -y"),
    ("cleanup", 0, "cleanup -y @s"),
    ("status: no such session", 9, "status @s"),
    ("config", 0, "config claude"),
    ("", 0, "!mkdir -p ~/.config/holdback && echo net = host >~/.config/holdback/own.conf"),
    ("", 0, "!echo nett = host >.holdback.conf"),
    ("config: an unknown key", 3, "config true"),
    ("", 0, "!rm .holdback.conf"),
    ("profile", 0, "profile claude"),
    ("profile: there is none", 3, "profile none"),
    ("profile: all", 0, "profile"),
    ("", 0, "!rm -r ~/.config"),
    ("why: a file of the system", 0, "why /usr/bin/env"),
    ("why: the workspace", 0, "why ."),
    ("why: a host of a group", 0, "why github.com run --allow @github -- true"),
    ("net: the rules of a run", 0, "net list -- run --net allow --deny a.example claude"),
    ("net: a rule that is kept", 0, "net allow --keep a.example"),
    ("", 0, "!rm -r ~/.config"),
    ("caps", 0, "caps"),
    ("doctor", 0, "doctor"),
    ("strategies", 0, "strategies"),
    ("enable", 0, "enable env"),
    ("enable: a slash", 2, "enable a/b"),
    ("disable", 0, "disable env"),
    ("", 0, "!rm -r ~/.local"),
)


# What no command prints: a validator that takes it looks at nothing.
ENDED = {"version": 1, "command": "run", "event": "ended", "status": 0}
WRONG = (
    ("another version", {**ENDED, "version": 2}),
    ("an unknown command", {**ENDED, "command": "walk"}),
    ("a number in words", {**ENDED, "status": "0"}),
    ("a truth for a number", {**ENDED, "status": True}),
    ("a missing member", {"version": 1, "command": "run"}),
    ("a member of an object", {**ENDED, "summary": {}}),
    ("an item of an array", {"version": 1, "command": "ls", "sessions": [{}]}),
    ("an error of another form", {"version": 1, "command": "run", "error": {"code": 1}}),
)


def run(words, project):
    name, _, rest = words.partition(" ")
    if words.startswith("!"):
        command = words[1:]
    elif words.startswith("="):
        command = f"cat {rest}"
    else:
        state = "" if name in (*STATELESS, "run") else "--state-dir ../state"
        where = "3>&1 >../out" if name in RUNNING else ""
        command = f"exec {HOLDBACK} {name} {state} --json {rest} {where}"
    return subprocess.run(
        ["sh", "-c", command], cwd=project, capture_output=True, check=False,
        env=dict(os.environ, SHELL="/bin/true", XDG_STATE_HOME=os.path.dirname(project) + "/xdg"),
    )  # fmt: skip


def step(schema, validator, project, status, words):
    """What is wrong with one step, one line each."""
    done = run(words, project)
    # A command that a signal ends takes holdback with it.
    if done.returncode not in (status, 128 - status):
        yield f"status {done.returncode}, expected {status}: {done.stderr.decode()}"
    if words.startswith("!"):
        return
    values = [json.loads(line) for line in done.stdout.decode().splitlines()]
    command = words.split()[0].removeprefix("=")
    events = [value.get("event") for value in values]
    if events not in ([None], ["started", "ended"]):
        yield f"events {events}"
    for value in values:
        if value.get("version") != 1 or value.get("command") != command:
            yield "version or command is another"
        if status != 125 and value.get("error", {}).get("code", status) != status:
            yield "the code is not the status"
        if value.get("event") == "ended" and value["status"] != status:
            yield "the status is another"
        yield from schema.check(value, command)
        yield from validator.check(value)


def main():
    schema = Schema(DOCUMENT)
    with open(SCHEMA, encoding="utf-8") as file:
        validator = Validator(json.load(file))
    work = tempfile.mkdtemp()
    project = os.path.join(work, "p")
    os.mkdir(project)
    for name in "acd":
        with open(os.path.join(project, name), "w", encoding="utf-8") as file:
            file.write(20 * name + "\n")
    count = 0
    for name, status, words in STEPS:
        wrong = list(step(schema, validator, project, status, words))
        if not name and not wrong:
            continue
        count += 1
        print(f"{'not ' if wrong else ''}ok {count} - {name or words}")
        for line in wrong:
            print(f"# {line}")
    for name, value in WRONG:
        count += 1
        print(f"{'' if validator.check(value) else 'not '}ok {count} - the schema refuses {name}")
    count += 1
    missing = sorted(
        f"{name}.{key}"
        for name in schema.objects.keys() - {"every"}
        for key in schema.members(name)
        if (name, key) not in schema.seen and (key != "error" or name == "status")
    )
    print(f"{'not ' if missing else ''}ok {count} - every member was there once")
    for name in missing:
        print(f"# {name}")
    print(f"1..{count}")
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
