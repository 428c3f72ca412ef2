#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""V36: what runs by itself does not come back from a session unasked.

Each plant is put into the project in every way of WAYS.  `commit -y` refuses
it, naming path and rule, and changes nothing; with the rule allowed it passes.
"""

import json
import os
import shutil
import subprocess
import sys

HOLDBACK = os.environ.get("HB_BIN", "holdback")
TOP = os.path.join(os.environ["TMPDIR"], "plants")
PROJECT = os.path.join(TOP, "p")
STATE = os.path.join(TOP, "state")
DENIED = 4

# Rule, path, what is planted, and a harmless version of it.
CONFIG = "[core]\n\tbare = false\n"
PLANTS = (
    ("git-hook", ".git/hooks/pre-commit", "evil", "good"),
    ("git-hook", ".git/modules/m/hooks/post-checkout", "evil", "good"),
    ("git-config", ".git/config", CONFIG + "\tfsmonitor = evil\n", CONFIG),
    ("git-config", ".git/config.worktree", "[core]\nhooksPath = /tmp\n", "[user]\nname = n\n"),
    ("git-alias", ".git/modules/m/config", "[alias] st = !evil\n", CONFIG),
    ("git-config", ".gitconfig", '[filter "x"]\n\tclean = evil\n', "[user]\nname = n\n"),
    ("git-attributes", ".gitattributes", "*.c filter=x\n", "*.c text\n"),
    ("git-attributes", ".git/info/attributes", "* diff=evil\n", "* eol=lf\n"),
    ("git-submodule", ".gitmodules", '[submodule "x"]\n\turl = ../evil\n', "# none\n"),
    ("git-alternates", ".git/objects/info/alternates", "/tmp/evil\n", "../more\n"),
    ("git-link", "sub/.git", "gitdir: /tmp/evil\n", "gitdir: ../real\n"),
    ("git-bare", "bare/HEAD", "ref: refs/heads/evil\n", "ref: refs/heads/main\n"),
    ("git-todo", ".git/rebase-merge/git-rebase-todo", "exec evil\n", "pick 1\n"),
    ("hook-manager", ".pre-commit-config.yaml", "evil", "good"),
    ("hook-manager", ".husky/pre-push", "evil", "good"),
    ("editor", ".vscode/tasks.json", "evil", "good"),
    ("editor", ".vscode/settings.json", "evil", "good"),
    ("editor", ".idea/workspace.xml", "evil", "good"),
    ("editor", "x.code-workspace", "evil", "good"),
    ("dev-container", ".devcontainer/devcontainer.json", "evil", "good"),
    ("dev-container", ".devcontainer.json", "evil", "good"),
    ("environment", ".envrc", "evil", "good"),
    ("environment", ".mise.toml", "evil", "good"),
    ("environment", ".tool-versions", "evil", "good"),
    ("environment", "rust-toolchain.toml", "evil", "good"),
    ("environment", ".cargo/config.toml", "evil", "good"),
    ("install-script", "package.json", '{"scripts": {"postinstall": "evil"}}', '{"a": 1}'),
    ("install-script", "web/package.json", '{"scr\\u0069pts": {"prepare": "x"}}', '{"a": 1}'),
    ("composer-script", "composer.json", '{"scripts": {"post-install-cmd": "x"}}', "{}"),
    ("package-config", ".npmrc", "evil", "good"),
    ("package-config", ".pnpmfile.cjs", "evil", "good"),
    ("ci", ".github/workflows/build.yml", "evil", "good"),
    ("ci", ".gitlab-ci.yml", "evil", "good"),
    ("shell", ".bashrc", "evil", "good"),
    ("shell", ".config/fish/config.fish", "evil", "good"),
    ("start-up", ".config/autostart/x.desktop", "evil", "good"),
    ("start-up", ".ssh/config", "evil", "good"),
    ("agent", ".claude/settings.json", "evil", "good"),
    ("agent", ".mcp.json", "evil", "good"),
    ("agent", ".cursor/mcp.json", "evil", "good"),
    ("agent", ".codex/config.toml", "evil", "good"),
    ("agent", ".gemini/settings.json", "evil", "good"),
    ("holdback", ".holdback.rules", "# evil\n", "# good\n"),
)

# Inside of the box: removes, moves and writes what it is told.
ACT = """
import json, os, shutil, sys
for what, path, arg in json.load(sys.stdin):
    if what == "remove":
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        continue
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    if what == "move":
        os.rename(arg, path)
    elif what == "link":
        os.link(arg, path)
    elif what == "copy":
        shutil.copyfile(arg, path)
    else:
        with open(path, "w") as file:
            file.write(arg)
"""


def new(plant, number):
    """Nothing was there."""
    _, path, text, _ = plant
    return path, [], [("write", path, text)]


def modified(plant, number):
    """A harmless one was there."""
    _, path, text, harmless = plant
    return path, [("write", path, harmless)], [("write", path, text)]


def new_parent(plant, number):
    _, path, text, _ = plant
    return f"n{number}/{path}", [], [("write", f"n{number}/{path}", text)]


def replaced_parent(plant, number):
    """What was a directory with something in it, or a file, is another one."""
    _, path, text, _ = plant
    before = [("write", f"r{number}" + ("/d/f" if number % 2 else ""), "x")]
    return (
        f"r{number}/{path}", before,
        [("remove", f"r{number}", ""), ("write", f"r{number}/{path}", text)],
    )  # fmt: skip


def renamed(plant, number):
    """It was there under a name that means nothing."""
    _, path, text, _ = plant
    return (
        path, [("write", f"doc/{number}", text)],
        [("move", path, f"doc/{number}")],
    )  # fmt: skip


def linked(plant, number):
    """The same, and it keeps that name."""
    _, path, text, _ = plant
    return (
        path, [("write", f"doc/{number}", text)],
        [("link", path, f"doc/{number}")],
    )  # fmt: skip


def copied(plant, number):
    """Over a harmless one, from a file that has it already."""
    _, path, text, harmless = plant
    return (
        path, [("write", f"doc/{number}", text), ("write", path, harmless)],
        [("copy", path, f"doc/{number}")],
    )  # fmt: skip


def other_case(plant, number):
    _, path, text, _ = plant
    path = path.swapcase()
    return path, [], [("write", path, text)]


WAYS = (new, modified, new_parent, replaced_parent, renamed, linked, copied, other_case)


def hb(command, *words, status=0, stdin=None):
    done = subprocess.run(
        [HOLDBACK, command, "--state-dir", STATE, *words], cwd=PROJECT, check=False,
        input=stdin, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != status:
        raise AssertionError(f"{command}: {done.returncode}, not {status}: {done.stderr[-600:]}")
    return done.stdout


def act(steps):
    subprocess.run(
        [sys.executable, "-c", ACT], cwd=PROJECT, input=json.dumps(steps), text=True, check=True
    )


def picture():
    seen = {}
    for folder, _, files in os.walk(PROJECT):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, encoding="ascii") as file:
                seen[path] = file.read()
    return seen


def try_way(way):
    planned = [(plant[0], *way(plant, i)) for i, plant in enumerate(PLANTS)]
    os.makedirs(PROJECT)
    act([("write", "f", "x")] + [s for _, _, before, _ in planned for s in before])
    hb("create", "s", "--cow", PROJECT)
    steps = [s for _, _, _, inside in planned for s in inside]
    hb("exec", "@s", "--", "/usr/bin/python3", "-c", ACT, stdin=json.dumps(steps))
    before = picture()
    hb("commit", "-y", "@s", status=DENIED)
    findings = json.loads(hb("gate", "--json", "@s", status=DENIED))["findings"]
    told = {(f["rule"], f["path"]) for f in findings if f["severity"] == "ask"}
    missing = [(rule, path) for rule, path, _, _ in planned if (rule, path) not in told]
    if missing:
        raise AssertionError(f"not asked about: {missing}")
    # One by one, so that none hides behind another; a unit's part stands for all of it.
    for _, path, _, _ in planned if way in (new, renamed) else ():
        hb("commit", "-y", "--only", "/" + path, "@s", status=DENIED)
    if picture() != before:
        raise AssertionError("something has changed")
    allow = [w for rule in sorted({p[0] for p in planned}) for w in ("--allow", rule)]
    hb("commit", "-y", *allow, "@s")
    for _, path, _, _ in planned:
        if not os.path.lexists(os.path.join(PROJECT, path)):
            raise AssertionError(f"{path} is not there")


def main():
    assert len(PLANTS) >= 40
    print(f"1..{len(WAYS)}")
    for number, way in enumerate(WAYS, 1):
        try:
            try_way(way)
            print(f"ok {number} - {way.__name__}: {len(PLANTS)} plants")
        except AssertionError as error:
            print(f"not ok {number} - {way.__name__}\n# {error}")
        sys.stdout.flush()
        shutil.rmtree(TOP)
    return 0


if __name__ == "__main__":
    sys.exit(main())
