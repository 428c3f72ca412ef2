#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 900
"""`git apply` of `holdback diff --binary` on a copy of the base gives the tree
that a commit gives, as far as git knows it: names, contents, targets of links
and whether a file can be executed.  Applied backwards it gives the base.

The histories are those of differential.py.  A seed that fails is printed;
HB_SEED repeats it.
"""

import os
import stat
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import differential  # noqa: E402

HOLDBACK = os.environ.get("HB_BIN", "holdback")
SEEDS = 20000 if os.environ.get("HB_SOAK") == "1" else 30
BATCH = 20
GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CEILING_DIRECTORIES": "/",
}


def as_git_knows_it(top):
    """{path: what it is}; directories are in the paths alone."""
    found = {}
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                found[os.path.relpath(path, top)] = ("link", os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
                is_program = bool(status.st_mode & stat.S_IXUSR)
                found[os.path.relpath(path, top)] = ("file", is_program, content)
    return found


def drop_empty(top):
    """git has no empty directories, and cannot take one out of the way."""
    for folder, _, files in os.walk(top, topdown=False):
        if folder != top and not files and not os.listdir(folder):
            os.rmdir(folder)


def compare(what, got, want):
    if got == want:
        return
    wrong = [p for p in sorted(got.keys() | want.keys()) if got.get(p) != want.get(p)]
    lines = [f"  {p!r}: {str(got.get(p))[:90]}, not {str(want.get(p))[:90]}" for p in wrong]
    raise AssertionError("\n".join([what] + lines[:20]))


def git(cwd, *words, text=b""):
    return subprocess.run(
        ["git", *words], cwd=cwd, input=text, env=dict(os.environ, **GIT),
        capture_output=True, check=False,
    )  # fmt: skip


def apply(tree, patch, *words):
    done = git(tree, "apply", "--binary", *words, "-", text=patch)
    if done.returncode != 0:
        raise AssertionError(f"git apply {' '.join(words)}: {done.stderr.decode(errors='replace')}")


def git_cannot(work):
    """A link to itself that becomes a directory is too much for git: its own
    patch does not apply either, for the same reason."""
    theirs = git(work, "diff", "--no-index", "--binary", "copy", "real").stdout
    done = git(os.path.join(work, "copy"), "apply", "--binary", "-p2", "-", text=theirs)
    return done.returncode != 0 and b"Too many levels of symbolic links" in done.stderr


def text_of(state, work, *words):
    done = subprocess.run(
        [HOLDBACK, "diff", "--state-dir", state, *words, "@s"],
        cwd=work, capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(f"diff: {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def try_seed(work, seed):
    real, copy = os.path.join(work, "real"), os.path.join(work, "copy")
    state = os.path.join(work, "state")
    os.mkdir(real)
    differential.fill(real, seed, True)
    subprocess.run(["cp", "-a", real, copy], check=True)
    before = as_git_knows_it(real)
    differential.holdback(
        state, "create", "s", "--cow", real, "--ro", differential.TESTS, cwd=work
    )
    inside = [sys.executable, differential.__file__, "--inside", str(seed + 1000003), "1"]
    differential.holdback(state, "exec", "@s", "--", *inside, cwd=real)
    patch = text_of(state, work, "--binary")
    compare("the tree before the commit", as_git_knows_it(real), before)
    differential.holdback(state, "commit", "-y", *differential.ALLOW, "@s", cwd=work)
    after = as_git_knows_it(real)
    drop_empty(copy)
    try:
        apply(copy, patch)
    except AssertionError as error:
        if "Too many levels" not in str(error) or not git_cannot(work):
            raise
    else:
        compare("the patched tree", as_git_knows_it(copy), after)
        drop_empty(copy)
        apply(copy, patch, "-R")
        compare("the tree with the patch taken back", as_git_knows_it(copy), before)
    differential.holdback(state, "cleanup", "-y", "@s", cwd=work)


def main():
    batches = differential.batches_of(SEEDS, BATCH)
    print(f"1..{len(batches)}")
    differential.try_batches(try_seed, batches)
    return 0


if __name__ == "__main__":
    sys.exit(main())
