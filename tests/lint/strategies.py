#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The names of strategies stand in one file of the source: their table."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points, write_tree  # noqa: E402

TABLE = "src/base/strategy_names.h"
PAGES = ("docs/man/common/view.scd", "docs/man/holdback.conf.5.scd")
# The same word for another thing.
OTHERS = {
    "src/box/overlay.c": "the kernel's file system",
    "src/sys/mount.c": "the kernel's file system",
    "src/plan/op_kinds.h": "an operation of a plan",
}
# Words that mean much else: only a comparison with them is looked for.
COMMON = ("none",)
ROW = re.compile(r'ROW\((\w+), "([^"]+)"')
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def read(tree, name):
    with open(os.path.join(tree, name), encoding="utf-8") as file:
        return file.read()


def names_of(tree):
    return [name for _, name in ROW.findall(COMMENT.sub("", read(tree, TABLE)))]


def unused(tree):
    """Yields the names that no row of a strategy has."""
    rows = COMMENT.sub("", read(tree, "src/strategy/strategy.h"))
    for number, name in ROW.findall(COMMENT.sub("", read(tree, TABLE))):
        if not re.search(rf"ROW\((\w+, )?{number},", rows):
            yield f"{name} has no row in src/strategy/strategy.h"


def named_elsewhere(tree):
    """Yields the files beside the table that have a name as a text."""
    names = names_of(tree)
    for top in ("src", "include"):
        for where, _, files in sorted(os.walk(os.path.join(tree, top))):
            for file in sorted(files):
                path = os.path.relpath(os.path.join(where, file), tree)
                if not file.endswith((".c", ".h")) or path == TABLE or path in OTHERS:
                    continue
                code = COMMENT.sub("", read(tree, path))
                for name in names:
                    text = f'strategy, "{name}"' if name in COMMON else f'"{name}"'
                    if text in code:
                        yield f"{path} names the strategy {name}"


def check_fixture(points):
    with tempfile.TemporaryDirectory() as top:
        write_tree(top, {
            TABLE: '#define STRATEGY_NAMES(ROW) \\\n\tROW(OVERLAY, "overlay", 0) \\\n\tROW(COPY, "copy_on_write", 0) \\\n'
            '\tROW(NONE, "none", 0)\n\n',
            "src/strategy/strategy.h": "#define STRATEGIES(ROW) \\\n\tROW(overlay, OVERLAY, 0)\n\n",
            "src/run/a.c": 'if (strcmp(name, "overlay") == 0)\n/* "copy_on_write" */\n',
            "src/run/c.c": 'if (strcmp(r->strategy, "none") == 0 || strcmp(net, "none") == 0)\n',
            "src/sys/mount.c": 'mount("overlay")\n',
            "include/holdback/b.h": '#define COPY "copy_on_write"\n',
        })
        points.expect("a name outside of the table is found", named_elsewhere(top),
                      ["src/run/a.c names the strategy overlay",
                       "src/run/c.c names the strategy none",
                       "include/holdback/b.h names the strategy copy_on_write"])
        points.expect("a name without functions is found", unused(top),
                      ["copy_on_write has no row in src/strategy/strategy.h",
                       "none has no row in src/strategy/strategy.h"])


def main():
    points = Points()
    check_fixture(points)
    tree = os.environ["HB_SOURCE"]
    points.add("the table has strategies", [] if len(names_of(tree)) > 1 else ["fewer than two"])
    points.add("no other file names a strategy", list(named_elsewhere(tree)))
    points.add("every name has functions", list(unused(tree)))
    for page in PAGES:
        man = read(tree, page)
        points.add(f"{page} has every strategy",
                   [name for name in names_of(tree) if "*" + name.replace("_", "\\_") + "*" not in man])
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
