#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures sessions against what people use instead.

usage: txn.py HOLDBACK DIRECTORY ROUNDS.  Runs as the user who owns DIRECTORY
and prints {name: seconds} as JSON: medians of commands that take turns.  What
is compared did the same work: it is durable, and starts from what is on disk.

A copy of 100000 files takes a quarter of a minute and a worktree of them twice
that, where ours takes milliseconds: these run once.  What writes 20000 changes
runs twice.  In each of five rounds both took longer than all the rest.
"""

import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

SMALL, LARGE = 1000, 100000
CHANGES = (10, 1000, 20000)
GIT_COMMITS = 100
IN_A_FOLDER = 100
LONG_ROUNDS = 2  # of what takes seconds
OLD, NEW = b"o" * 4096, b"n" * 4096
SIZES = {"edits": 4000, "one-size": 4096}  # of the new content, by session
OLD_LINES = b"".join(b"line %d of a file\n" % n for n in range(200))
NEW_LINES = OLD_LINES.replace(b"line 100 ", b"another ")
NO_GIT_CONFIG = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

# Inside a session: so many files of the tree get new content.
CHANGE = """
import os
for i in range({count}):
    with open(f"d{{i // {width}}}/f{{i}}", "wb") as file:
        file.write(b"n" * 4096)
"""


def path_of(number):
    return f"d{number // IN_A_FOLDER}/f{number}"


def fill(top, count, content):
    for number in range(count):
        path = os.path.join(top, path_of(number))
        if number % IN_A_FOLDER == 0:
            os.makedirs(os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(content)


class Bench:
    """The commands, and what they took."""

    def __init__(self, holdback, top):
        self.holdback, self.top = holdback, top
        self.state = os.path.join(top, "state")
        self.taken = {}
        self.null = os.open("/dev/null", os.O_RDWR)

    def path(self, *names):
        return os.path.join(self.top, *names)

    def run(self, *command, cwd=None, env=None):
        subprocess.run(
            command, cwd=cwd or self.top, env=dict(os.environ, **(env or {})),
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def ours(self, command, *words):
        return [self.holdback, command, "--state-dir", self.state, *words]

    def do(self, command, *words):
        self.run(*self.ours(command, *words))

    def sync(self):
        self.run("sync", "-f", self.top)

    def time(self, name, *commands, cwd=None):
        """Adds to a name what these commands take, one after the other."""
        os.chdir(cwd or self.top)
        actions = [(os.POSIX_SPAWN_DUP2, self.null, fd) for fd in (0, 1)]
        began = time.perf_counter()
        for command in commands:
            pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
            if os.waitpid(pid, 0)[1] != 0:
                raise SystemExit(f"{name}: {' '.join(command)}: failed")
        self.taken.setdefault(name, []).append(time.perf_counter() - began)

    def time_first(self, name, command):
        """Until its first byte is there; then nobody reads any more."""
        began = time.perf_counter()
        with subprocess.Popen(command, cwd=self.top, stdout=subprocess.PIPE) as process:
            if not process.stdout.read(1):
                raise SystemExit(f"{name}: {' '.join(command)}: says nothing")
            self.taken.setdefault(name, []).append(time.perf_counter() - began)
            process.stdout.close()

    def remove(self, *names):
        self.run("rm", "-rf", *(self.path(name) for name in names))

    def medians(self):
        return {name: statistics.median(taken) for name, taken in self.taken.items()}


def measure_create(bench, rounds):
    """create and the first exec, over a small and over a large tree."""
    for _ in range(rounds):
        for name, size in (
            ("create and exec", SMALL),
            ("create and exec", LARGE),
            ("create and exec again", SMALL),
        ):
            tree = bench.path(f"tree.{size}")
            bench.time(
                f"{name}, {size}",
                bench.ours("create", "c", "--cow", tree),
                bench.ours("exec", "@c", "--", "true"),
            )
            bench.do("cleanup", "-y", "@c")


def measure_copy(bench, rounds):
    """A session on a copy, against a copy; where there are reflinks, with them."""
    tree, copy = bench.path(f"tree.{SMALL}"), bench.path("copied")
    for _ in range(rounds):
        bench.time(
            f"create on a copy, {SMALL}",
            bench.ours("create", "c", "--cow", tree, "--strategy", "copy_on_write"),
        )
        bench.do("cleanup", "-y", "@c")
        bench.time(f"cp -a, {SMALL}", ["cp", "-a", tree, copy])
        bench.remove("copied")


def measure_layers(bench, rounds, size):
    """mark and fork of a session with 1000 changes, against copies of the tree."""
    tree, copy = bench.path(f"tree.{size}"), bench.path("copied")
    git = ["git", "-C", tree]
    bench.run(*git, "init", "-q", env=NO_GIT_CONFIG)
    bench.run(*git, "add", ".", env=NO_GIT_CONFIG)
    bench.run(
        *git, "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m", env=NO_GIT_CONFIG
    )
    bench.do("create", "m", "--cow", tree)
    change = CHANGE.format(count=SMALL, width=IN_A_FOLDER)
    bench.run(*bench.ours("exec", "@m", "--", "python3", "-c", change), cwd=tree)
    for number in range(rounds):
        bench.time(f"mark, {size}", bench.ours("mark", "@m", f"m{number}"))
        bench.time(f"fork, {size}", bench.ours("fork", "@m", "f"))
        bench.do("cleanup", "-y", "@f")
        if size == LARGE and number > 0:
            continue
        bench.time(f"cp -a of the tree, {size}", ["cp", "-a", tree, copy])
        bench.remove("copied")
        bench.time(
            f"git worktree add, {size}", [*git, "worktree", "add", "-q", "--detach", copy]
        )
        bench.remove("copied")
        bench.run(*git, "worktree", "prune")
    bench.do("cleanup", "-y", "@m")
    bench.remove(os.path.join(tree, ".git"))


def measure_diff(bench, rounds):
    """What changed, of 1000 changes in 100000 files.

    An edit mostly changes the size, which tells at once.  Where it does not,
    the first diff has to read both sides and the next one knows; git and rsync
    find every time what they found the time before.
    """
    tree, other = bench.path(f"tree.{LARGE}"), bench.path("other")
    script = CHANGE.format(count=SMALL, width=IN_A_FOLDER)
    for name, size in SIZES.items():
        bench.do("create", name, "--cow", tree)
        edit = script.replace("4096", str(size))
        bench.do("exec", f"@{name}", "--", "python3", "-c", f"import os; os.chdir('{tree}'){edit}")
    bench.run("cp", "-a", tree, other)
    git = ["git", "-C", other, "-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        bench.run(*git, *words, env=NO_GIT_CONFIG)
    for number in range(SMALL):
        with open(os.path.join(other, path_of(number)), "wb") as file:
            file.write(NEW)
    bench.sync()
    os.environ.update(NO_GIT_CONFIG)
    for _ in range(rounds):
        for known in glob.glob(bench.path("state", "sessions", "*", "compared-*")):
            os.unlink(known)
        for which in SIZES:
            for name in ("first diff", "diff", "diff again"):
                bench.time(f"{name} of {which}", bench.ours("diff", "--name-status", f"@{which}"))
        bench.time("git status", ["git", "-C", other, "status", "--porcelain"])
        bench.time("rsync -an", ["rsync", "-an", "--exclude=/.git", other + "/", tree])
    for name in SIZES:
        bench.do("cleanup", "-y", f"@{name}")
    bench.remove("other")


def measure_text(bench, rounds, count):
    """The text of so many changes: until its first line, and all of it."""
    tree, other = bench.path("real"), bench.path("other")
    fill(tree, count, OLD_LINES)
    bench.run("cp", "-a", tree, other)
    git = ["git", "-C", other, "-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        bench.run(*git, *words, env=NO_GIT_CONFIG)
    bench.do("create", "t", "--cow", tree)
    script = CHANGE.format(count=count, width=IN_A_FOLDER).replace('b"n" * 4096', repr(NEW_LINES))
    for top, run in ((tree, bench.ours("exec", "@t", "--")), (other, [])):
        bench.run(*run, "python3", "-c", f"import os; os.chdir('{top}'){script}")
    bench.sync()
    os.environ.update(NO_GIT_CONFIG)
    commands = {"text diff": bench.ours("diff", "@t"), "git diff": ["git", "-C", other, "diff"]}
    for _ in range(rounds):
        for name, command in commands.items():
            bench.time_first(f"first line of {name}, {count}", command)
        for name, command in commands.items():
            bench.time(f"{name}, {count}", command)
    bench.do("cleanup", "-y", "@t")
    bench.remove("real", "other")


def prepare_commit(bench, count):
    """A tree, and the session `s` over it with so many changes pending."""
    tree = bench.path("real")
    fill(tree, count, OLD)
    bench.do("create", "s", "--cow", tree)
    script = CHANGE.format(count=count, width=IN_A_FOLDER)
    bench.do("exec", "@s", "--", "python3", "-c", f"import os; os.chdir('{tree}'){script}")
    for name, content in (("old", OLD), ("new", NEW)):
        fill(bench.path(name), count, content)
        # rsync looks at times: those of the two have to differ.
        for folder, _, files in os.walk(bench.path(name)):
            for file in files:
                when = 1_000_000_000 if name == "old" else 1_100_000_000
                os.utime(os.path.join(folder, file), (when, when))
    bench.run("cp", "-a", bench.path("old"), bench.path("target"))
    return tree


def measure_commit(bench, rounds, count):
    """So many changes: from pending to durable, and back."""
    prepare_commit(bench, count)
    new, target = bench.path("new") + "/.", bench.path("target")
    durable = ["sync", "-f", target]
    peers = {
        "rsync": ["rsync", "-a", bench.path("new") + "/", target],
        "cp": ["cp", "-a", new, target],
    }
    for _ in range(rounds):
        bench.sync()
        bench.time(f"commit, {count}", bench.ours("commit", "-y", "@s"))
        bench.sync()
        bench.time(f"undo, {count}", bench.ours("undo", "@s"))
        for name, command in peers.items():
            bench.run("cp", "-a", bench.path("old") + "/.", target)
            bench.sync()
            bench.time(f"{name}, {count}", command, durable)
        bench.sync()
        bench.time(f"rollback, {count}", bench.ours("rollback", "-y", "@s"))
        bench.do("undo", "@s")
    bench.do("cleanup", "-y", "@s")
    bench.remove("real", "old", "new", "target")


def measure_git(bench, rounds, count):
    """So many commits of git: from a session, and from another repository."""
    os.environ.update(NO_GIT_CONFIG, GIT_AUTHOR_NAME="n", GIT_AUTHOR_EMAIL="e",
                      GIT_COMMITTER_NAME="n", GIT_COMMITTER_EMAIL="e")  # fmt: skip
    person = "".join(f"export {key}={value};" for key, value in os.environ.items() if key.startswith("GIT_"))
    first, tree, other, target = (bench.path(name) for name in ("first", "real", "other", "target"))
    fill(first, SMALL, OLD_LINES)
    for words in (["init", "-q"], ["config", "gc.auto", "0"], ["add", "."], ["commit", "-qm", "first"]):
        bench.run("git", "-C", first, *words)
    work = f"{person} i=0; while [ $i -lt {count} ]; do echo $i >>d0/f$((i % 100)); git commit -qam $i; i=$((i + 1)); done"
    bench.run("cp", "-a", first, other)
    bench.run("sh", "-ec", work, cwd=other)
    for _ in range(rounds):
        for copy in (tree, target):
            bench.run("cp", "-a", first, copy)
            bench.run("git", "-C", copy, "status")
        bench.do("create", "g", "--cow", tree)
        bench.do("exec", "@g", "--", "sh", "-ec", f"cd {tree}; {work}")
        bench.sync()
        bench.time(f"commit of git commits, {count}", bench.ours("commit", "-y", "@g"))
        bench.sync()
        bench.time(
            f"git fetch and merge, {count}", ["git", "-C", target, "fetch", "-q", other],
            ["git", "-C", target, "merge", "-q", "--ff-only", "FETCH_HEAD"], ["sync", "-f", target],
        )  # fmt: skip
        bench.do("cleanup", "-y", "@g")
        bench.remove("real", "target")
    bench.remove("first", "other")


def measure_gate(bench, rounds, count):
    """What the gate costs a commit of so many changes, and sync with its list."""
    prepare_commit(bench, count)
    bench.time(f"gate, {count}", bench.ours("gate", "@s"))
    commands = {
        "commit": ("commit", "-y", "@s"),
        "commit without the gate": ("commit", "-y", "--no-gate", "@s"),
        "sync --auto": ("sync", "--auto", "@s"),
        "sync": ("sync", "-y", "@s"),
    }
    for _ in range(rounds):
        for name, words in commands.items():
            bench.sync()
            bench.time(f"{name}, {count}", bench.ours(*words))
            bench.do("undo", "@s")
        bench.time(f"gate, {count}", bench.ours("gate", "@s"))
    bench.do("cleanup", "-y", "@s")
    bench.remove("real", "old", "new", "target")


def main():
    holdback, top, rounds, *part = sys.argv[1:]
    for peer in ("git", "rsync"):
        if not shutil.which(peer):
            raise SystemExit(f"no {peer} to compare with: apt-get install {peer}")
    bench, rounds = Bench(holdback, os.path.abspath(top)), int(rounds)
    if part == ["git"]:
        measure_git(bench, rounds, GIT_COMMITS)
        json.dump(bench.medians(), sys.stdout)
        return
    if part == ["gate"]:
        for count in CHANGES[1:]:
            measure_gate(bench, rounds, count)
        json.dump(bench.medians(), sys.stdout)
        return
    for size in (SMALL, LARGE):
        fill(bench.path(f"tree.{size}"), size, OLD)
    bench.sync()
    measure_create(bench, 2 * rounds)
    measure_copy(bench, 2 * rounds)
    for size in (SMALL, LARGE):
        measure_layers(bench, rounds, size)
    measure_diff(bench, rounds)
    measure_text(bench, min(rounds, LONG_ROUNDS), CHANGES[-1])
    for count in CHANGES:
        measure_commit(bench, min(rounds, LONG_ROUNDS) if count > SMALL else rounds, count)
    measure_git(bench, rounds, GIT_COMMITS)
    bench.remove(f"tree.{SMALL}", f"tree.{LARGE}")
    json.dump(bench.medians(), sys.stdout)


if __name__ == "__main__":
    main()
