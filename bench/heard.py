#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures work in boxes whose calls are heard: for the log, and for renames.

usage: heard.py HOLDBACK DIRECTORY ROUNDS.  Prints {work: {way: [processor seconds,
seconds]}}, medians of rounds in which every way runs once, one after the other.

The processor time is that of all processes of a run, our own included.  It hardly
depends on what else the machine does; the time that passes does, since caller and
notifier wait for each other.  Each run has a new session on disk, which is removed
afterwards.  The time of a run of `true` is taken off.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

FILES, SOURCES, RENAMES = 20000, 30, 20000
LOG = ("changes", "changes again", "calls", "strace -f")
RENAME = ("no", "no again", "yes")
STRACE = "strace -f -qq -e trace=%file -o trace.out "
# Static, so that nothing but the calls is measured.
RENAMER = """#include <stdio.h>
#include <stdlib.h>
int main(int n, char **words)
{
	for (int i = 0, end = atoi(words[n - 1]); i < end; i++)
		if (rename(i % 2 ? "b" : "a", i % 2 ? "a" : "b") < 0)
			return 1;
	return 0;
}
"""
NPM = "npm install --offline --cache npm-cache --no-audit --no-fund --silent"


def sh(script, folder, **more):
    subprocess.run(["sh", "-ec", script], cwd=folder, check=True, stdout=subprocess.DEVNULL, **more)


def make_sources(folder):
    os.makedirs(f"{folder}/c")
    for number in range(SOURCES):
        with open(f"{folder}/c/f{number}.c", "w", encoding="ascii") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n")
            file.writelines(f'int f{number}_{i}(int n) {{ return n * {i} + printf("%d", n); }}\n' for i in range(120))
    with open(f"{folder}/c/Makefile", "w", encoding="ascii") as file:
        file.write("all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n")


def make_repository(folder):
    for number in range(FILES // 10):
        os.makedirs(f"{folder}/g{number // 100}", exist_ok=True)
        with open(f"{folder}/g{number // 100}/f{number}", "w", encoding="ascii") as file:
            file.write(f"{number}\n" * 200)
    sh("git init -q; git config user.name b; git config user.email b@b; git add g*; git commit -qm one;"
       "git branch -m one; git checkout -qb two; for f in $(git ls-files 'g*' | awk 'NR % 3 == 0'); do"
       " echo two >>$f; done; git commit -qam two; git checkout -q one", folder)  # fmt: skip


def make_archive(folder):
    os.makedirs(f"{folder}/t")
    for number in range(FILES):
        os.makedirs(f"{folder}/t/d{number // 100}", exist_ok=True)
        with open(f"{folder}/t/d{number // 100}/f{number}", "w", encoding="ascii") as file:
            file.write("x" * 2000)
    sh("tar -cf t.tar t; rm -r t", folder)


def make_renamer(folder):
    with open(f"{folder}/renamer.c", "w", encoding="ascii") as file:
        file.write(RENAMER)
    sh("gcc -O1 -static -o renamer renamer.c; : >a", folder)


def make_packages(folder):
    """False: npm is not there, or cannot fetch."""
    with open(f"{folder}/package.json", "w", encoding="ascii") as file:
        file.write('{"name":"b","version":"1.0.0","dependencies":{"express":"4.19.2","webpack":"5.91.0"}}\n')
    try:
        sh(NPM.replace("--offline ", "") + "; rm -r node_modules", folder, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one(holdback, folder, options, work):
    words = [holdback, "run", "-q", "-s", "bench", *options, "--", "sh", "-c", work]
    used, begin = processor(), time.monotonic()
    subprocess.run(words, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    found = processor() - used, time.monotonic() - begin
    subprocess.run([holdback, "cleanup", "-y", "@bench"], cwd=folder, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)  # fmt: skip
    return found


def compare(holdback, folder, work, key, ways, rounds):
    times = {way: [] for way in ways}
    empty = []
    for _ in range(rounds):
        for way in ways:
            trace = STRACE if way.startswith("strace") else ""
            word = "changes" if trace else way.split()[0]
            times[way].append(one(holdback, folder, ["--" + key, word], f"{trace}{work}"))
        empty.append(one(holdback, folder, ["--" + key, ways[0]], "true"))
    less = [statistics.median(column) for column in zip(*empty)]
    return {way: [max(statistics.median(column) - off, 0) for column, off in zip(zip(*found), less)]
            for way, found in times.items()}  # fmt: skip


def main():
    holdback, top, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    works = {
        "tar -x of 20 000 files": (make_archive, "tar -xf t.tar", ("audit", "rename-directories")),
        "make": (make_sources, "make -s -j2 -C c", ("audit", "rename-directories")),
        "git checkout": (make_repository, "git checkout -q two", ("audit", "rename-directories")),
        "npm install": (make_packages, NPM, ("audit", "rename-directories")),
        "20 000 renames of a file": (make_renamer, f"./renamer {RENAMES}", ("rename-directories",)),
    }
    ways = {"audit": LOG, "rename-directories": RENAME}
    found = {key: {} for key in ways}
    for name, (make, work, keys) in works.items():
        folder = f"{top}/heard"
        os.makedirs(folder)
        if make(folder) is not False:
            for key in keys:
                print(f"{key}: {name}", file=sys.stderr, flush=True)
                found[key][name] = compare(holdback, folder, work, key, ways[key], rounds)
        shutil.rmtree(folder)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
