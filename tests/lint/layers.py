#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The folders of src hold to tests/lint/layers, and ARCHITECTURE shows it."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points, write_tree  # noqa: E402

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


def unbuilt_files(tree):
    """Yields the .c files that no meson.build of their folder names."""
    named = {}
    for where, _, names in os.walk(os.path.join(tree, "src")):
        if "meson.build" in names:
            folder = os.path.relpath(where, os.path.join(tree, "src")).split("/")[0]
            with open(os.path.join(where, "meson.build"), encoding="utf-8") as file:
                named.setdefault(folder, set()).update(re.findall(r"'([^']+\.c)'", file.read()))
    for name in sorted(sources(tree)):
        folder, rest = name.split("/", 1)
        if name.endswith(".c") and not {rest, os.path.basename(rest)} & named.get(folder, set()):
            yield f"src/{name} is not built"


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
        "src/box/meson.build": "files('a.c')\n",
        "src/sys/meson.build": "files('c.c')\n",
        "src/odd/meson.build": "files('d.c')\n",
        "src/odd/e.h": "\n" * 1001,
        "src/odd/below/f.c": "\n" * 4000,
        "layers": "# floor\nground sys raw base\nbox box banned base sys plan\nbox plan banned base\n",
    }
    write_tree(top, texts)
    return read_table(os.path.join(top, "layers"))


def check_fixture(top, points):
    rows = fixture(top)
    points.expect("an include of a folder above is found", wrong_includes(top, rows), [
        "src/box/a.c:1: box/ may not include txn/plan.h",
        "src/box/deep/b.h:1: box/ may not include session/store.h",
        "src/sys/c.c:2: sys/ may not include holdback/holdback.h",
    ])
    points.expect("a folder outside of the table is found, and a row without a folder",
                  unknown_folders(top, rows), ["src/odd is not in the table", "src/plan is in the table alone"])
    points.expect("a folder with too many lines is found", large_folders(top), ["src/odd: 5001 lines, at most 5000"])
    points.expect("a file that is not built is found", unbuilt_files(top), ["src/odd/below/f.c is not built"])
    shown = "| ground | `sys` | calls | base tree |\n| box | `box` | x | base sys plan |"
    points.expect("a picture that differs from the table is found",
                  (line.split(":")[0] for line in wrong_picture(shown, rows)),
                  ["ARCHITECTURE.md on plan", "ARCHITECTURE.md on sys"])


def main():
    points = Points()
    with tempfile.TemporaryDirectory() as top:
        check_fixture(top, points)
    tree = os.environ["HB_SOURCE"]
    rows = read_table(os.path.join(tree, "tests/lint/layers"))
    with open(os.path.join(tree, "docs/ARCHITECTURE.md"), encoding="utf-8") as file:
        text = file.read()
    points.add("every include is allowed", list(wrong_includes(tree, rows)))
    points.add("the table has every folder", list(unknown_folders(tree, rows)))
    points.add("every folder can be read in a day", list(large_folders(tree)))
    points.add("every file of src is built", list(unbuilt_files(tree)))
    points.add("ARCHITECTURE shows the table", list(wrong_picture(text, rows)))
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
