#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
"""What a session folds because git ignores it, against git's own opinion.

Random trees, each a repository with patterns at several levels, some of them
odd, and files that are tracked all the same.  Everything else is made in a
session; `git check-ignore` looks at a tree that has it for real.  A seed that
fails is printed; HB_SEED repeats it.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HOLDBACK = os.environ.get("HB_BIN", "holdback")
SOAK = os.environ.get("HB_SOAK") == "1"
SEEDS = 3000 if SOAK else 90
BATCH = 45
NAMES = ["a", "b", "ab", "abc", "foo", "foobar", "x.o", "y.o", "a b", "c ", "-", "]", "[",
         "B", "1", "a*", "\\a", "!x", "#x", ".h", "ü", "foo.c", "a-c", "^"]
PIECES = ["a", "b", "c", "foo", "o", "x", ".", "*", "**", "***", "?", "/", "/", "/", "**/", "/**",
          "/**/", "[a-c]", "[!a]", "[^b]", "[]]", "[]-a]", "[a-]", "[--0]", "[[:alpha:]]",
          "[[:digit:]b]", "[[:bad:]]", "[[:upper:]-c]", "[a\\]]", "[", "[a", "[!]a]", "[\\-a]",
          "\\", "\\*", "\\a", "\\ ", " ", "!", "#", "-", "]", "ü", "1", "B", "\t", "[[:]", "[a-c-e]",
          "**\\/", "foo**", "*.o", "[[:punct:]]", "[[:space:]]", "[^]"]
WHOLE = ["*", "/*", "*/", "**", "/**", "!*/", "!*.o", "*.o", "/a", "a/", "foo/", "!foo", "a/b",
         "a/**/b", "**/b", "/foo**", "foo**/bar", "/foo*", "!/a/", "a/*", "!a/b", "\\!x", "\\#x",
         "# no", "", "   ", "a b", "c\\ ", "c ", "/", "//a", "!", "\\", "a\\", "**/", "./a", "a//b",
         "*/a", "/*/a", "a**", "**a", "?", "??", "/?/b", "x.o\r", "\0", "a\0b", "\ufeff*.o",
         "/[a-c]/", "[a-z]*", "!**/b", "!a/**"]
IDENTITY = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@x",
            "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@x"}


def git(top, *words, **more):
    return subprocess.run(["git", "-c", "core.fsync=none", "-C", top, *words], check=True, stdout=subprocess.PIPE,
                          env={**os.environ, **IDENTITY}, **more).stdout


def pattern(rng):
    if rng.random() < 0.5:
        return rng.choice(WHOLE)
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 5)))


def patterns(rng):
    lines = [pattern(rng) for _ in range(rng.randint(1, 6))]
    text = rng.choice(["\n", "\n", "\n", "\r\n"]).join(lines) + rng.choice(["\n", ""])
    return text.encode()


def fill(rng, top, depth, folders):
    """A tree; the folders of it are noted."""
    for name in rng.sample(NAMES, rng.randint(3, 7)):
        path = os.path.join(top, name)
        if depth > 0 and rng.random() < 0.45:
            os.mkdir(path)
            folders.append(path)
            fill(rng, path, depth - 1, folders)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(name)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def everything(top):
    for folder, folders, files in os.walk(top):
        if folder == top:
            folders.remove(".git")
        for name in folders + files:
            yield os.path.relpath(os.path.join(folder, name), top)


def make(seed, empty, real, base):
    """A repository with everything at `real`; at `base` with what is tracked."""
    rng = random.Random(seed)
    os.makedirs(real)
    shutil.copytree(empty, os.path.join(real, ".git"))
    folders = []
    fill(rng, real, 2, folders)
    rules = [os.path.join(real, ".gitignore")]
    rules += [os.path.join(f, ".gitignore") for f in folders if rng.random() < 0.3]
    for path in rules:
        write(path, patterns(rng))
    if rng.random() < 0.5:
        write(os.path.join(real, ".git", "info", "exclude"), patterns(rng))
    files = [p for p in sorted(everything(real))
             if os.path.isfile(os.path.join(real, p)) and not p.endswith(".gitignore")]
    tracked = rng.sample(files, len(files) // 5)
    if tracked:
        git(real, "--literal-pathspecs", "add", "-f", "--pathspec-from-file=-",
            "--pathspec-file-nul", input="\0".join(tracked).encode())
    if rng.random() < 0.3:
        git(real, "update-index", "--index-version", "4")
    os.makedirs(base)
    shutil.copytree(os.path.join(real, ".git"), os.path.join(base, ".git"))
    for path in rules:
        write(os.path.join(base, os.path.relpath(path, real)), open(path, "rb").read())
    for path in tracked:
        write(os.path.join(base, path), b"before")


def by_git(real):
    paths = sorted(p for p in everything(real) if not p.endswith(".gitignore"))
    found = subprocess.run(["git", "-C", real, "check-ignore", "--no-index", "-z", "--stdin"],
                           input="\0".join(paths).encode() + b"\0", stdout=subprocess.PIPE,
                           env={**os.environ, **IDENTITY}, check=False)
    if found.returncode not in (0, 1):
        raise RuntimeError(f"git check-ignore: {found.returncode}")
    tracked = set()
    # With the index it would take a name for a pattern.
    for path in git(real, "ls-files", "-z").decode().split("\0"):
        while path:
            tracked.add(path)
            path = os.path.dirname(path)
    return set(found.stdout.decode().split("\0")) - {""} - tracked


def changes(state, *words):
    out = subprocess.run([HOLDBACK, "status", "--state-dir", state, "--json", *words, "@s"],
                         check=True, stdout=subprocess.PIPE).stdout
    return {c["path"] for c in json.loads(out)["changes"]}


def check(seeds, work):
    """The seeds that the two disagree about."""
    base, real, state = (os.path.join(work, n) for n in ("base", "real", "state"))
    os.mkdir(base)
    git(work, "init", "-q", "--bare", "--template=", "empty")
    empty = os.path.join(work, "empty")
    git(empty, "config", "core.bare", "false")
    for seed in seeds:
        make(seed, empty, os.path.join(real, str(seed)), os.path.join(base, str(seed)))
    subprocess.run([HOLDBACK, "create", "--state-dir", state, "--cow", base, "s"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([HOLDBACK, "exec", "--state-dir", state, "@s", "--", "tar", "-C", base,
                    "--exclude=.git", "-xf", "-"], check=True,
                   stdin=subprocess.Popen(["tar", "-C", real, "-cf", "-", "."],
                                          stdout=subprocess.PIPE).stdout)
    every, seen = changes(state, "--ignored"), changes(state)
    bad = []
    for seed in seeds:
        top = f"{seed}/"
        ours = {p.removeprefix(top) for p in every - seen if p.startswith(top)}
        known = {p.removeprefix(top) for p in every if p.startswith(top)}
        theirs = by_git(os.path.join(real, str(seed))) & known
        if ours != theirs:
            print(f"# seed {seed}: only we ignore {sorted(ours - theirs)[:5]}, "
                  f"only git ignores {sorted(theirs - ours)[:5]}")
            bad.append(seed)
        if not known:
            bad.append(seed)
    subprocess.run([HOLDBACK, "cleanup", "--state-dir", state, "-y", "@s"], check=True,
                   stdout=subprocess.DEVNULL)
    return bad


def main():
    first = os.environ.get("HB_SEED")
    # Others are for `make soak`: a seed that fails is to fail every time.
    start = int(first) if first else (random.randrange(1 << 30) if SOAK else 1)
    seeds = range(start, start + (1 if first else SEEDS))
    print(f"# HB_SEED={start}")
    print("1..1")
    bad = []
    for at in range(0, len(seeds), BATCH):
        with tempfile.TemporaryDirectory() as work:
            bad += check(seeds[at:at + BATCH], work)
    print(f"{'not ' if bad else ''}ok 1 - git ignores the same paths, {len(seeds)} trees")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
