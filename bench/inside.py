#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `holdback run` from start to finish, and work inside of it.

usage: inside.py HOLDBACK BWRAP DIRECTORY ROUNDS STARTS.  Prints {name: seconds},
medians of rounds in which everything runs once, one after the other.

The view of bubblewrap is ours as far as it can be: the same places, built up on
an empty root; the workspace is a plain bind, because this bubblewrap has no
overlays.  Work inside is timed there, without the start, and made ready in the
same box, as work outside is made ready on the same mount.

Nothing is removed before the end, and each round has trees of its own: ext4
gives out no inode that was freed in the last minutes, and looking past
thousands of them took longer than the work.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

FILES, SOURCES = 4000, 60
VIEW = "--unshare-all --die-with-parent --tmpfs /tmp --tmpfs /run --dev /dev --proc /proc"
HIDDEN = """/etc/passwd-
/etc/group-
/etc/shadow
/etc/shadow-
/etc/gshadow
/etc/gshadow-
/etc/sudoers
/etc/sudoers.d
/etc/ssh
/etc/ssl/private
/etc/credstore
/etc/credstore.encrypted
/etc/NetworkManager""".split()
TIMER = """import subprocess, sys, time
begin = time.monotonic()
subprocess.run(["sh", "-ec", sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
print(time.monotonic() - begin)"""
# name: (what makes it ready, what is timed).
WORK = {
    "tar -x": ("mkdir out", "tar -xf ../tree.tar -C out"),
    "make": ("rm -f c/*.o", "make -s -j2 -C c"),
    "git status": ("git status >/dev/null", "git status >/dev/null"),
    "git checkout": ("git checkout -q one", "git checkout -q two"),
}
WHERE = ("native", "native again", "overlay alone", "inside")
# What the kernel's overlay costs without us: $1 is the tree, and the rest runs in it.
OVERLAY = """mkdir -p "$1.upper" "$1.work$$"
mount -t overlay overlay -o userxattr,volatile,index=off,xino=off \\
 -o "lowerdir=$1,upperdir=$1.upper,workdir=$1.work$$" "$1"
cd "$1"; shift; exec "$@"
"""
ALONE = ["unshare", "--map-current-user", "--keep-caps", "--mount", "sh", "-ec", OVERLAY, "sh"]


def sh(script, folder):
    subprocess.run(["sh", "-ec", script], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def make_project(top):
    """A repository with two branches that differ in every third file."""
    project = os.path.join(top, "project")
    os.makedirs(os.path.join(project, "c"))
    for number in range(SOURCES):
        with open(os.path.join(project, "c", f"f{number}.c"), "w", encoding="ascii") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
            file.writelines(
                f"int f{number}_{i}(int n) {{ return n * {i} + printf(\"%d\", n); }}\n"
                for i in range(120)
            )
    with open(os.path.join(project, "c", "Makefile"), "w", encoding="ascii") as file:
        file.write("all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n")
    for number in range(FILES):
        folder = os.path.join(project, f"d{number // 100}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"f{number}"), "w", encoding="ascii") as file:
            file.write(f"{number}\n" * 200)
    sh(
        "tar -cf ../tree.tar d*; git init -q; git config user.name b; git config user.email b@b;"
        "printf 'out\\n*.o\\n' >.gitignore; git add .; git commit -qm one; git branch -m one;"
        "git checkout -qb two; for f in $(git ls-files 'd*' | awk 'NR % 3 == 0'); do"
        " echo two >>$f; done; git commit -qam two; git checkout -q one",
        project,
    )
    return project


def bwrap_words(bwrap, project):
    home = os.environ["HOME"]
    words = [bwrap, *VIEW.split(), "--tmpfs", home, "--dir", "/var", "--tmpfs", "/var/tmp"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            words += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            words += ["--ro-bind", name, name]
    for name in ("/usr", "/etc", "/opt"):
        words += ["--ro-bind", name, name]
    for name in ("passwd", "group", "hosts", "resolv.conf", "machine-id"):
        if os.path.exists("/etc/" + name):
            words += ["--ro-bind", os.path.realpath("/etc/" + name), "/etc/" + name]
    for name in HIDDEN:
        if os.path.isdir(name):
            words += ["--tmpfs", name]
        elif os.path.exists(name):
            words += ["--ro-bind", "/dev/null", name]
    return [*words, "--bind", project, project, "--chdir", project]


def measure_start(commands, folder, rounds):
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, words in commands.items():
            begin = time.monotonic()
            subprocess.run(words, cwd=folder, check=True)
            times[name].append(time.monotonic() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def timed(words, folder):
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    return float(done.stdout)


def measure_work(holdback, top, project, rounds):
    """The same work natively and inside, each on a tree of its own."""
    found = {}
    for number in range(rounds):
        for where in WHERE:
            tree = f"{top}/{where.replace(' ', '-')}{number}"
            subprocess.run(["cp", "-a", project, tree], check=True)
    for name, (ready, work) in WORK.items():
        times = {where: [] for where in WHERE}
        words = ["sh", "-ec", ready + '; exec "$@"', "sh", "/usr/bin/python3", "-c", TIMER, work]
        for number in range(rounds):
            run = [holdback, "run", "-q", "-s", f"b{number}", "--ro", top + "/tree.tar", "--"]
            for where, values in times.items():
                tree = f"{top}/{where.replace(' ', '-')}{number}"
                box = {"inside": run, "overlay alone": [*ALONE, tree]}.get(where, [])
                values.append(timed([*box, *words], tree))
        found.update({f"{name}, {where}": statistics.median(v) for where, v in times.items()})
    for number in range(rounds):
        subprocess.run([holdback, "cleanup", "-y", f"@b{number}"], check=True,
                       cwd=project, stdout=subprocess.DEVNULL)  # fmt: skip
    return found


def main():
    holdback, bwrap, work, rounds, starts = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
    top = os.path.join(work, "inside")
    os.mkdir(top)
    project = make_project(top)
    ours = [holdback, "run", "-q", "--", "/bin/true"]
    commands = {
        "run": ours,
        "run again": ours,
        "run, ephemeral": [*ours[:3], "--ephemeral", *ours[3:]],
        "bwrap, the same view": [*bwrap_words(bwrap, project), "/bin/true"],
    }
    found = measure_start(commands, project, starts)
    found.update(measure_work(holdback, top, project, rounds))
    # The kernel closes its work directories to everybody.
    subprocess.run(["chmod", "-R", "u+rwx", top], check=True)
    shutil.rmtree(top)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
