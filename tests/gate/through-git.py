#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
"""V36: what git keeps is asked about as the file would be.

Each case is a project with a repository, and commands in a session.  `commit
-y` refuses, naming rule, path and place, and changes nothing; with the rules
allowed it passes.  The controls do the same with harmless content: nothing is
asked.
"""

import json
import os
import shutil
import subprocess
import sys

HOLDBACK = os.environ.get("HB_BIN", "holdback")
TOP = os.path.join(os.environ["TMPDIR"], "through-git")
PROJECT = os.path.join(TOP, "p")
STATE = os.path.join(TOP, "state")
DENIED = 4
CONFLICT = 5
KEY = "AKIA" + "Q3EGRJ2KLMN4T7XY"
ENV = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
       "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
       "GIT_COMMITTER_EMAIL": "a@b"}
BASE = """
git init -q -b main .
mkdir -p tools/hooks tools/vscode src
for f in src/a.c src/b.c tools/hooks/pre-commit tools/conv.sh tools/extra tools/vscode/tasks.json; do
	echo "$f" >"$f"
done
echo '# none' >tools/extra
git add . && git commit -qm first
"""
HIDE = "git update-index --skip-worktree {0}; rm -r {0}\n"
COMMIT = "mkdir -p $(dirname {0}); echo evil >{0}; git add {0}; git commit -qm x {0}\n"
ODD_TREE = """
import subprocess, sys
blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], input=b"evil",
                      stdout=subprocess.PIPE, check=True).stdout.decode().strip()
sys.stdout.buffer.write(b"100644 .github/workflows/x.yml" + bytes(1) + bytes.fromhex(blob))
"""# One blob under 100 001 names.
MANY = """
awk 'BEGIN {
	print "blob\\nmark :1\\ndata 2\\nx"
	print "commit refs/heads/odd\\ncommitter a <a@b> 1700000000 +0000\\ndata 1\\nx"
	for (i = 0; i < 100001; i++) print "M 100644 :1 d" i % 300 "/f" i
}' | git fast-import --quiet
"""


# Without an object that they need, commits are no delivery: a conflict, before the gate.
BROKEN = ("no-tree-at-all", "missing-tree", "missing-commit")


def hidden(path):
    return ("git-hidden", path, "index", "index")


# Name; more of the base; what the session does; the findings that it must have:
# rule, path, and "commit", "index" or "file"; the beginning of the reference.
CASES = (
    ("workflow-in-objects", "",
     COMMIT.format(".github/workflows/e.yml") + HIDE.format(".github/workflows/e.yml"),
     [("ci", ".github/workflows/e.yml", "commit", "refs/heads/main"),
      hidden(".github/workflows/e.yml")]),
    ("hook-in-objects", "git config core.hooksPath tools/hooks",
     "echo evil >tools/hooks/pre-push; git add -f tools/hooks; "
     "git -c core.hooksPath=/dev/null commit -qm x; "
     "rm tools/hooks/pre-push; git update-index --skip-worktree tools/hooks/pre-push",
     [("git-hook", "tools/hooks/pre-push", "commit", "refs/heads/main"),
      hidden("tools/hooks/pre-push")]),
    ("husky-in-objects", "", COMMIT.format(".husky/pre-push") + HIDE.format(".husky/pre-push"),
     [("hook-manager", ".husky/pre-push", "commit", "refs/heads/main"),
      hidden(".husky/pre-push")]),
    ("branch-in-objects", "",
     "git switch -qc side; " + COMMIT.format(".envrc") + "git switch -q main",
     [("environment", ".envrc", "commit", "refs/heads/side")]),
    ("branch-in-a-pack", "",
     "git switch -qc side; " + COMMIT.format(".envrc") + "git switch -q main; git gc -q",
     [("environment", ".envrc", "commit", "refs/heads/side")]),
    ("stash-in-objects", "",
     "mkdir .vscode; echo evil >.vscode/tasks.json; git stash -qu",
     [("editor", ".vscode/tasks.json", "commit", "refs/stash")]),
    ("two-stashes", "",
     "echo evil >.envrc; git stash -qu; echo x >src/n; git stash -qu",
     [("environment", ".envrc", "commit", "refs/stash")]),
    ("tag-in-objects", "",
     "git switch -q --detach; " + COMMIT.format(".envrc") + "git tag -am t t; git switch -q main",
     [("environment", ".envrc", "commit", "refs/tags/t")]),
    ("detached-head", "",
     "git switch -q --detach; " + COMMIT.format(".envrc") + HIDE.format(".envrc"),
     [("environment", ".envrc", "commit", "HEAD"), hidden(".envrc")]),
    ("removed-in-the-next", "",
     COMMIT.format(".envrc") + "git rm -q .envrc; git commit -qm gone",
     [("environment", ".envrc", "commit", "refs/heads/main")]),
    ("secret-removed-in-the-next", "",
     f"echo 'key = \"{KEY}\"' >src/k; git add .; git commit -qm k; git rm -q src/k; git commit -qm gone",
     [("secret", "src/k", "commit", "refs/heads/main")]),
    ("in-a-merge", "",
     "git switch -qc side; echo s >src/s; git add .; git commit -qm s; git switch -q main; "
     "git merge -q --no-ff --no-commit side; echo evil >.envrc; git add .envrc; git commit -qm m\n"
     + HIDE.format(".envrc"),
     [("environment", ".envrc", "commit", "refs/heads/main"), hidden(".envrc")]),
    ("known-commit-on-another-branch",
     "git switch -qc theirs; echo evil >.envrc; git add .envrc; git commit -qm x; git switch -q main",
     "git update-ref refs/heads/main theirs; git read-tree main; "
     "git update-index --skip-worktree .envrc",
     [("environment", ".envrc", "commit", "refs/heads/main"), hidden(".envrc")]),
    ("staged-and-hidden", "",
     "echo evil >.envrc; git add .envrc\n" + HIDE.format(".envrc"),
     [("environment", ".envrc", "index", "index"), hidden(".envrc")]),
    ("assume-unchanged", "echo x >.envrc; git add .envrc; git commit -qm e",
     "git update-index --assume-unchanged .envrc",
     [hidden(".envrc")]),
    ("other-content-than-the-file", "",
     "echo evil >.envrc; git add .envrc; git commit -qm x; echo tame >.envrc",
     [("environment", ".envrc", "file", None),
      ("environment", ".envrc", "commit", "refs/heads/main")]),
    # What is in a file and in a commit alike is one question.
    ("same-content-as-the-file", "", COMMIT.format(".envrc") + "git tag t; git branch b",
     [("environment", ".envrc", "file", None)]),
    ("same-secret-as-the-file", "", f"echo 'key = \"{KEY}\"' >src/k; git add .; git commit -qm k",
     [("secret", "src/k", "file", None)]),
    ("same-link-as-the-file", "", "ln -s /etc/x .envrc; git add .; git commit -qm k",
     [("environment", ".envrc", "file", None), ("link-out", ".envrc", "file", None)]),
    ("merge-of-a-known-branch",
     "git switch -qc theirs; echo evil >.envrc; git add .envrc; git commit -qm x; git switch -q main",
     "git merge -q --no-ff -m m theirs",
     [("environment", ".envrc", "file", None)]),
    ("nested-repository", "git init -q -b main sub; git -C sub commit -q --allow-empty -m x",
     "cd sub; " + COMMIT.format(".envrc") + HIDE.format(".envrc"),
     [("environment", "sub/.envrc", "commit", "refs/heads/main"), hidden("sub/.envrc")]),
    ("linked-worktree-index", "git worktree add -q ../w >/dev/null 2>&1",
     "GIT_DIR=.git/worktrees/w GIT_WORK_TREE=. git update-index --add --cacheinfo "
     "100644,$(echo evil | git hash-object -w --stdin),.envrc",
     [("environment", ".envrc", "index", "worktrees/w/index")]),
    ("name-with-a-slash", "",
     f"t=$(/usr/bin/python3 -c '{ODD_TREE}' | git hash-object -w -t tree --literally --stdin); "
     "git update-ref refs/heads/odd $(git commit-tree -m x $t)",
     [("ci", ".github/workflows/x.yml", "commit", "refs/heads/odd")]),
    ("no-tree-at-all", "",
     "t=$(echo 100644 nonsense | git hash-object -w -t tree --literally --stdin); "
     "git update-ref refs/heads/odd $(printf 'tree %s\\nauthor a <a> 1 +0\\ncommitter a <a> 1 +0\\n\\nx\\n' $t | "
     "git hash-object -w -t commit --literally --stdin)",
     [("git-unread", ".git", "commit", "refs/heads/odd")]),
    ("missing-tree", "",
     "t=$(git rev-parse HEAD^{tree} | tr 0-9a-f 1-9a-f0); "
     "printf 'tree %s\\nauthor a <a> 1 +0\\ncommitter a <a> 1 +0\\n\\nx\\n' $t >c; "
     "c=$(git hash-object -w -t commit --literally c); rm c; echo $c >.git/refs/heads/odd",
     [("git-unread", ".git", "commit", "refs/heads/odd")]),
    ("missing-commit", "", "git rev-parse HEAD | tr 0-9a-f 1-9a-f0 >.git/refs/heads/odd",
     [("git-unread", ".git", "commit", "refs/heads/odd")]),
    ("more-than-can-be-looked-at", "", MANY, [("git-unread", ".git", "commit", "refs/heads/odd")]),
    ("index-of-nonsense", "", "echo nonsense >.git/index",
     [("git-unread", ".git", "index", "index")]),
    ("link-for-a-reference", "", "ln -s ../../../x .git/refs/heads/odd; git rev-parse HEAD >x",
     [("git-unread", ".git", "index", None)]),
    ("stash-gone", "echo x >src/a.c; git stash -q", "git stash drop -q",
     [("git-refs", ".git/refs/stash", "file", None)]),
    # What the base runs already.
    ("hooksPath-elsewhere", "git config core.hooksPath tools/hooks",
     "echo evil >tools/hooks/pre-commit",
     [("git-hook", "tools/hooks/pre-commit", "file", None)]),
    ("hooksPath-absolute", 'git config core.hooksPath "$PWD/tools/hooks"',
     "echo evil >tools/hooks/post-checkout",
     [("git-hook", "tools/hooks/post-checkout", "file", None)]),
    ("hook-behind-link", "ln -s ../../tools/hooks/pre-commit .git/hooks/pre-commit",
     "echo evil >tools/hooks/pre-commit",
     [("git-hook", "tools/hooks/pre-commit", "file", None)]),
    ("hooks-behind-two-links",
     "rm -r .git/hooks; ln -s hooks tools/more; ln -s ../tools/more .git/hooks",
     "echo evil >tools/hooks/pre-commit",
     [("git-hook", "tools/hooks/pre-commit", "file", None)]),
    ("include-of-base", "git config include.path ../tools/extra",
     "printf '[core]\\n\\tfsmonitor = evil\\n' >tools/extra",
     [("git-config", "tools/extra", "file", None)]),
    ("include-of-include",
     "printf '[include]\\n\\tpath = more\\n' >tools/extra; git config include.path ../tools/extra",
     "printf '[core]\\n\\tfsmonitor = evil\\n' >tools/more",
     [("git-config", "tools/more", "file", None)]),
    ("hooksPath-of-include",
     "printf '[core]\\n\\thooksPath = tools/hooks\\n' >tools/extra; git config include.path ../tools/extra",
     "echo evil >tools/hooks/pre-commit",
     [("git-hook", "tools/hooks/pre-commit", "file", None)]),
    ("textconv-script-of-base", "git config diff.x.textconv 'sh ./tools/conv.sh'",
     "echo evil >tools/conv.sh",
     [("git-hook", "tools/conv.sh", "file", None)]),
    ("attributes-file-of-base", "git config core.attributesFile tools/extra",
     "echo '*.c filter=evil' >tools/extra",
     [("git-attributes", "tools/extra", "file", None)]),
    ("dir-behind-link", "ln -s tools/vscode .vscode", "echo evil >tools/vscode/tasks.json",
     [("editor", "tools/vscode/tasks.json", "file", None)]),
    ("dir-behind-link-new-file", "mkdir .claude; ln -s ../tools/vscode .claude/hooks",
     "echo evil >tools/vscode/new.sh",
     [("agent", "tools/vscode/new.sh", "file", None)]),
)

# The same with harmless content: nothing is asked.
CONTROLS = (
    ("an ordinary commit", "", "echo more >>src/a.c; echo n >src/n.c; git add .; git commit -qm x"),
    ("branches, tags and stashes", "",
     "git switch -qc side; echo s >src/s; git add .; git commit -qm s; git tag -am t t; "
     "git switch -q main; echo u >src/u; git stash -qu; git gc -q; git pack-refs --all"),
    ("a merge, a rebase and an amended commit", "",
     "git switch -qc side; echo s >src/s; git add .; git commit -qm s; git switch -q main; "
     "echo m >src/m; git add .; git commit -qm m; git merge -q -m x side; "
     "git commit -q --amend -m y; git switch -qc other HEAD~1; echo o >src/o; git add .; "
     "git commit -qm o; git rebase -q main"),
    ("a workflow that the user has in a branch, merged",
     "mkdir -p .github/workflows; echo good >.github/workflows/x.yml; git add .; git commit -qm w",
     "git switch -qc side; echo s >src/s; git add .; git commit -qm s; git switch -q main; "
     "git merge -q --no-ff -m x side"),
    ("stashes of the user", "echo evil >.envrc; git stash -qu; echo evil >.npmrc; git stash -qu",
     "echo n >src/n; git stash -qu"),
    ("a hidden file that nothing runs", "", "git update-index --skip-worktree src/a.c"),
    ("hooksPath, and a file beside it", "git config core.hooksPath tools/hooks",
     "echo x >tools/other; echo x >tools/hooks2"),
    ("an include without a program", "git config include.path ../tools/extra",
     "printf '[user]\\n\\tname = n\\n' >tools/extra"),
    ("a link that leads out", "ln -s ../../../../elsewhere .git/hooks/pre-commit",
     "echo x >src/elsewhere"),
    ("a submodule", "git init -q -b main ../m; git -C ../m commit -q --allow-empty -m x; "
     "git -c protocol.file.allow=always submodule --quiet add ../m m; git commit -qm m",
     "cd m; echo x >x; git add .; git commit -qm x; cd ..; git add m; git commit -qm bump"),
)


def shell(script):
    subprocess.run(["sh", "-ec", script], cwd=PROJECT, check=True, env={**os.environ, **ENV})


def hb(command, *words, status=(0,)):
    done = subprocess.run(
        [HOLDBACK, command, "--state-dir", STATE, *words], cwd=PROJECT, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode not in status:
        raise AssertionError(f"{command}: {done.returncode}, not {status}: {done.stderr[-600:]}")
    return done


def begin(base, inside):
    os.makedirs(PROJECT)
    shell(BASE + base)
    hb("create", "s", "--cow", PROJECT)
    env = [f"{name}={value}" for name, value in ENV.items()]
    hb("exec", "@s", "--", "env", *env, "sh", "-ec", inside)


def picture():
    seen = {}
    for folder, _, files in os.walk(PROJECT):
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    seen[path] = file.read()
    return seen


def place(finding):
    if "repository" not in finding:
        return "file"
    return "commit" if "commit" in finding else "index"


def asked():
    findings = json.loads(hb("gate", "--json", "@s", status=(0, DENIED)).stdout)["findings"]
    return [f for f in findings if f["severity"] != "warn"]


def try_case(base, inside, wanted, is_broken):
    begin(base, inside)
    before = picture()
    refused = hb("commit", "-y", "@s", status=(CONFLICT if is_broken else DENIED,)).stderr
    if picture() != before:
        raise AssertionError("something has changed")
    told = {(f["rule"], f["path"], place(f), f.get("ref")) for f in asked()}
    missing = [w for w in wanted if w not in told]
    if missing or len(told) > len(wanted):
        raise AssertionError(f"asked {sorted(told, key=str)}, expected {wanted}")
    for rule, path, where, ref in wanted:
        if where == "commit" and not is_broken and not any(
            f"[{rule}]" in line and f"{path} in commit " in line or f"{path}:1 in commit " in line
            for line in refused.splitlines()
        ):
            raise AssertionError(f"{path} of {ref} is not in the message: {refused}")
    # The unit is left out as a whole, and the files pass by themselves.
    if all(w[2] != "file" for w in wanted):
        hb("commit", "-y", "--dry-run", "--except", "**/.git", "--except", ".git", "@s")
    allow = [w for rule in sorted({w[0] for w in wanted}) for w in ("--allow", rule)]
    if not is_broken:
        hb("commit", "-y", "--dry-run", *allow, "@s")


def try_control(base, inside):
    begin(base, inside)
    told = asked()
    if told:
        raise AssertionError(f"asked {told}")
    hb("commit", "-y", "@s")
    shell("git fsck --no-dangling 2>&1 >/dev/null | head -3 | grep . && exit 1 || true")


def try_diverged(path):
    """The branch moved outside as well, so that the commits go to a branch of their own."""
    begin("", COMMIT.format(path))
    shell("echo outside >src/b.c; git commit -qam outside")
    hb("commit", "-y", "@s", status=(DENIED,))
    told = {(f["rule"], f["path"]) for f in asked()}
    if ("ci", path) not in told:
        raise AssertionError(f"asked {told}")
    hb("commit", "-y", "--allow", "ci", "@s")
    shell(f"git cat-file -e holdback/s:{path}; test ! -e {path}")


def main():
    todo = [(name, try_case, [*rest, name in BROKEN]) for name, *rest in CASES]
    todo += [(name, try_control, rest) for name, *rest in CONTROLS]
    todo.append(("commits-for-another-branch", try_diverged, [".github/workflows/x.yml"]))
    only = os.environ.get("HB_CASE")
    print(f"1..{len(todo)}")
    for number, (name, attempt, words) in enumerate(todo, 1):
        if only and only != name:
            continue
        try:
            attempt(*words)
            print(f"ok {number} - {name}")
        except (AssertionError, subprocess.CalledProcessError) as error:
            print(f"not ok {number} - {name}\n# {error}")
        sys.stdout.flush()
        shutil.rmtree(TOP)
    return 0


if __name__ == "__main__":
    sys.exit(main())
