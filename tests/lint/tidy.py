#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: clang-tidy clang
# timeout: 1200
"""clang-tidy on every file of src/.

A verdict depends on the preprocessed file and the settings alone, so a good
one is remembered under their hash and the next run looks at changes only.
"""

import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys

SOURCE = os.environ["HB_SOURCE"]
BUILD = os.environ["HB_BUILD"]
DATABASE = os.path.join(BUILD, "clang")
CACHE = os.path.join(BUILD, "tidy")
# With one command for each file: clang-tidy looks at a file once for each
# command, and then takes the second va_list for an uninitialized one.
ONCE = os.path.join(BUILD, "tidy-commands")


def commands():
    """The compile commands of the files in src/, one each."""
    with open(os.path.join(DATABASE, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        path = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
        if path.startswith(os.path.join(os.path.realpath(SOURCE), "src", "")):
            found.setdefault(path, entry)
    os.makedirs(ONCE, exist_ok=True)
    with open(os.path.join(ONCE, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(list(found.values()), file)
    return sorted(found.items())


def output_of(command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def hash_of(entry, settings):
    words = shlex.split(entry["command"])
    words = words[: words.index("-o")] + words[words.index("-o") + 2 :]
    status, text = output_of(words + ["-E"], entry["directory"])
    if status != 0:
        return None
    # A checkout elsewhere is judged the same.
    text = text.replace(os.path.realpath(SOURCE), "")
    return hashlib.sha256((settings + text).encode()).hexdigest()


def inspect(job):
    path, entry, settings = job
    key = hash_of(entry, settings)
    good = os.path.join(CACHE, key) if key else None
    if good and os.path.exists(good):
        return path, 0, ""
    status, text = output_of(["clang-tidy", "-p", ONCE, "--quiet", path], SOURCE)
    if status == 0 and good:
        with open(good, "w", encoding="utf-8"):
            pass
    return path, status, text


def main():
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(SOURCE, ".clang-tidy"), encoding="utf-8") as file:
        settings = file.read() + output_of(["clang-tidy", "--version"], SOURCE)[1]
    jobs = [(path, entry, settings) for path, entry in commands()]
    bad = 0
    print(f"1..{len(jobs)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, (path, status, text) in enumerate(pool.map(inspect, jobs), 1):
            name = os.path.relpath(path, os.path.realpath(SOURCE))
            print(f"{'ok' if status == 0 else 'not ok'} {number} - {name}", flush=True)
            if status != 0:
                bad += 1
                for line in text.splitlines():
                    print("# " + line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
