#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash git
"""The session of README.md, word for word: each command in it is typed on a
terminal of 80 columns, by a user who has a ~/.claude, and prints the lines that
follow it.  VOLATILE is all that may differ.  With HB_README_PRINT=1 the session
is printed as it is on this host.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import PROMPT, Failed, Shell, Tap  # noqa: E402

README = os.path.join(os.environ["HB_SOURCE"], "README.md")
ANN = "/home/ann"
# How long a command took, and how this kernel catches the network by name.
VOLATILE = ((re.compile(r"(?<= after )(\d+h)?(\d+m)?[\d.]+m?s$", re.M), "TIME"),
            (re.compile(r"holdback: (weakened: )?net: \d+ names, .*?@ruby", re.S), "NET"))  # fmt: skip
# "# …" behind a command is a remark for the reader, as in a shell.
COMMAND = re.compile(r"^\$ (.*?)(?: +# .*)?$")
QUESTION = re.compile(r"^(?:commit\? |.*\? \[y/N\] )")

# What a user of the agent has before, and what it writes when it is used.
BEFORE = {
    ".claude/settings.json": '{"model": "opus"}\n',
    ".claude/.credentials.json": '{"claudeAiOauth": {"accessToken": "x"}}\n',
    ".claude/history.jsonl": '{"display": "hello"}\n',
    ".claude/projects/-other/1.jsonl": '{"type": "user"}\n',
    ".claude.json": '{"numStartups": 3}\n',
    "shop/shop.py": "price = 100  # cents\n",
    "shop/docs/price.md": "The price is in cents.\n",
}
AGENT = r"""#!/bin/sh
echo '  … the agent works …'
sed -i 's/cents/euros/' shop.py
echo euros >NOTES.md
rm -r docs
mkdir -p ~/.claude/todos ~/.claude/projects/-shop
echo '{"display": "use euros"}' >>~/.claude/history.jsonl
echo '{"type": "user"}' >~/.claude/projects/-shop/2.jsonl
echo '[]' >~/.claude/todos/2.json
"""


def story():
    """(command, lines that it prints) of the first block of the section."""
    with open(README, encoding="utf-8") as file:
        section = file.read().split("\n## Show me\n", 1)[1].split("\n## ", 1)[0]
    block = re.search(r"(?:^    .*\n)+", section, re.M)[0]
    steps = []
    for line in block.splitlines():
        line = line[4:]
        match = COMMAND.match(line)
        if match:
            steps.append((match[1], []))
        else:
            steps[-1][1].append(line)
    return steps


def answers(lines):
    """The line typed at each question, which is the rest of that line."""
    return [line.rsplit(" ", 1)[1] for line in lines if QUESTION.match(line)]


def play(sh, command, lines):
    """Types the command and its answers; what the terminal shows."""
    start = len(sh.seen)
    sh.type(command + "\r")
    sh.expect(re.escape(command) + r"\r?\n")
    for answer in answers(lines):
        sh.expect(r"\[e\]dit selection: |\[y/N\] ")
        sh.type(answer + "\r")
    end = sh.expect(r"(?:^|\n|\r)" + re.escape(PROMPT)).start()
    text = sh.seen[start:end].replace("\r", "")
    return text.split("\n", 1)[1].rstrip("\n") if "\n" in text else ""


def shape(text, home):
    text = text.replace(home, ANN)
    for pattern, word in VOLATILE:
        text = pattern.sub(word, text)
    return text


def prepare(home):
    for path, text in BEFORE.items():
        path = os.path.join(home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    agent = os.path.join(home, ".local/bin/claude")
    os.makedirs(os.path.dirname(agent))
    with open(agent, "w", encoding="utf-8") as file:
        file.write(AGENT)
    os.chmod(agent, 0o755)
    os.symlink(os.environ["HB_BIN"], os.path.join(home, ".local/bin/holdback"))
    who = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "shop"]):
        subprocess.run(["git", *words], cwd=os.path.join(home, "shop"), check=True)


def step(sh, home, command, want):
    got = shape(play(sh, command, want), home)
    want = shape("\n".join(want), home)
    if os.environ.get("HB_README_PRINT"):
        print("#     $ " + command + "\n" + "".join(f"#     {line}\n" for line in got.splitlines()), end="")
    if got != want:
        raise Failed(f"got:\n{got}\nexpected:\n{want}")


def narrow(steps):
    for command, lines in steps:
        for line in ["$ " + command, *lines]:
            if len(line) > 80:
                raise Failed(f"{len(line)} columns: {line}")


def main():
    steps = story()
    home = os.path.realpath(tempfile.mkdtemp())
    old = os.environ["HOME"]
    tap = Tap()
    try:
        prepare(home)
        os.environ.update(HOME=home, PAGER="cat", LC_ALL="C.UTF-8", GIT_PAGER="cat")
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            os.environ.pop(name, None)
        os.environ["PATH"] = home + "/.local/bin:/usr/local/bin:/usr/bin:/bin"
        sh = Shell("cd")
        try:
            for number, (command, lines) in enumerate(steps, 1):
                tap.test(f"step {number} of README.md prints its lines: {command}",
                         step, sh, home, command, lines)  # fmt: skip
            tap.test("the session of README.md has 80 columns", narrow, steps)
        finally:
            sh.close()
    finally:
        os.environ["HOME"] = old
        subprocess.run(["chmod", "-R", "u+rwx", home], check=False)
        shutil.rmtree(home)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
