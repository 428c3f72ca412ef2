#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The folders of src hold to tests/lint/layers, and ARCHITECTURE shows it."""

import os
import re
import sys
import tempfile

INCLUDE = re.compile(r'^#include "(([a-z_0-9]+)/[^"]+)"')
FOLDER_LINES = 5000
LARGE = ("box", "txn")  # one subject each, which no cut makes simpler
PICTURE_ROW = re.compile(r"^\| (\w+) \| `(\w+)` \| .* \| ([^|]*) \|$")


def read_table(path):
    """Maps each folder to its floor and to the set that it may include."""
    rows = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and not words[0].startswith("#"):
                rows[words[1]] = (words[0], set(words[3:]))
    return rows


def sources(tree):
    for where, _, names in os.walk(os.path.join(tree, "src")):
        for name in names:
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(where, name), os.path.join(tree, "src"))


def wrong_includes(tree, rows):
    for name in sorted(sources(tree)):
        folder = name.split("/")[0]
        with open(os.path.join(tree, "src", name), encoding="utf-8") as file:
            lines = file.read().splitlines()
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            if not found or folder not in rows or found[2] == folder:
                continue
            if rows[folder][1].isdisjoint(found.groups()):
                yield f"src/{name}:{number}: {folder}/ may not include {found[1]}"


def unknown_folders(tree, rows):
    there = set(os.listdir(os.path.join(tree, "src")))
    for folder in sorted(there - set(rows)):
        yield f"src/{folder} is not in the table"
    for folder in sorted(set(rows) - there):
        yield f"src/{folder} is in the table alone"


def large_folders(tree):
    """Yields the folders with too many lines; a folder below counts by itself."""
    top = os.path.join(tree, "src")
    for where, _, names in os.walk(top):
        folder, count = os.path.relpath(where, top), 0
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(where, name), encoding="utf-8") as file:
                    count += file.read().count("\n")
        if count > FOLDER_LINES and folder not in LARGE:
            yield f"src/{folder}: {count} lines, at most {FOLDER_LINES}"


def wrong_picture(text, rows):
    """Compares the rows of ARCHITECTURE's table with those of the file."""
    shown = {}
    for line in text.splitlines():
        found = PICTURE_ROW.match(line)
        if found:
            shown[found[2]] = (found[1], set(found[3].split()))
    for folder in sorted(set(rows) | set(shown)):
        if rows.get(folder) != shown.get(folder):
            yield f"ARCHITECTURE.md on {folder}: {shown.get(folder)}, the table: {rows.get(folder)}"


def fixture(top):
    """A tree with one offence of each kind."""
    texts = {
        "src/box/a.c": '#include "txn/plan.h"\n',
        "src/box/deep/b.h": '#include "session/store.h"\n#include "box/a.h"\n',
        "src/sys/c.c": '#include "base/error.h"\n#include "holdback/holdback.h"\n',
        "src/odd/d.c": "\n" * 4000,
        "src/odd/e.h": "\n" * 1001,
        "src/odd/below/f.c": "\n" * 4000,
        "layers": "# floor\nground sys raw base\nbox box banned base sys plan\nbox plan banned base\n",
    }
    for name, text in texts.items():
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return read_table(os.path.join(top, "layers"))


def report(number, good, name, lines):
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    if not good:
        for line in lines:
            print("# " + line)
    return good


def check_fixture(top):
    rows = fixture(top)
    found = list(wrong_includes(top, rows))
    good = report(1, found == [
        "src/box/a.c:1: box/ may not include txn/plan.h",
        "src/box/deep/b.h:1: box/ may not include session/store.h",
        "src/sys/c.c:2: sys/ may not include holdback/holdback.h",
    ], "an include of a folder above is found", found)
    found = list(unknown_folders(top, rows))
    good &= report(2, found == ["src/odd is not in the table", "src/plan is in the table alone"],
                   "a folder outside of the table is found, and a row without a folder", found)
    found = list(large_folders(top))
    good &= report(3, found == ["src/odd: 5001 lines, at most 5000"], "a folder with too many lines is found", found)
    found = list(wrong_picture("| ground | `sys` | calls | base tree |\n| box | `box` | x | base sys plan |", rows))
    good &= report(4, len(found) == 2 and "on plan" in found[0] and "on sys" in found[1],
                   "a picture that differs from the table is found", found)
    return good


def main():
    with tempfile.TemporaryDirectory() as top:
        good = check_fixture(top)
    tree = os.environ["HB_SOURCE"]
    rows = read_table(os.path.join(tree, "tests/lint/layers"))
    with open(os.path.join(tree, "docs/ARCHITECTURE.md"), encoding="utf-8") as file:
        text = file.read()
    checks = [
        (wrong_includes(tree, rows), "every include is allowed"),
        (unknown_folders(tree, rows), "the table has every folder"),
        (large_folders(tree), "every folder can be read in a day"),
        (wrong_picture(text, rows), "ARCHITECTURE shows the table"),
    ]
    for number, (found, name) in enumerate(checks, 5):
        lines = list(found)
        good &= report(number, not lines, name, lines)
    print(f"1..{4 + len(checks)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
