#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""News has one way: holdback/report.h.  Nothing else tells, and nothing else prints."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points  # noqa: E402

SOURCE = os.environ["HB_SOURCE"]
# A second channel by its name, or by its shape: words and no error.
NAMED = re.compile(r"\(\*(say|said|notice|notify|warn|weakened|progress|hear|ask|log)\w*\)\(")
SHAPED = re.compile(r"\bvoid \(\*(\w+)\)\(\s*void \*\w*,\s*const char \*\w*\)")
PRINTS = re.compile(r"\b(v?f?printf|v?dprintf|f?puts|putchar|perror|f?putc|fwrite|v?syslog)\(")
# They speak, and they answer.
FRONT = ("src/cli/", "src/bwrap/", "src/postgres/", "src/term/")
# Programs of the build: what they print is code.
MAKERS = ("src/box/filter/", "src/gate/mktext.c", "src/net/groups/mkgroups.c", "src/plan/profiles/mkprofiles.c")
CHANNEL = "include/holdback/report.h"
# Function pointers of that shape that tell no news, with the reason.
NO_NEWS = {("src/plan/filter/view_git.h", "include")}  # a file that git's configuration names


def code_of(text):
    """Without comments, lines kept."""
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)


def channels(name, text):
    if name == CHANNEL or name.startswith(FRONT):
        return
    code = code_of(text)
    for pattern in (NAMED, SHAPED):
        for found in pattern.finditer(code):
            if (name, found[1]) not in NO_NEWS:
                line = code.count("\n", 0, found.start()) + 1
                yield f"{name}:{line}: '{found[1]}' is a channel beside {CHANNEL}"


def prints(name, text):
    if name.startswith(FRONT + MAKERS):
        return
    code = code_of(text)
    for found in PRINTS.finditer(code):
        line = code.count("\n", 0, found.start()) + 1
        yield f"{name}:{line}: '{found[1]}' prints: report it, or return it"


def kinds_of(text):
    return re.findall(r"^\tROW\([A-Z]+, (\w+),", text, flags=re.M)


def shown_of(text):
    return re.findall(r"^#define SHOW_(\w+)", text, flags=re.M)


def sources():
    for top in ("src", "include"):
        for folder, _, names in sorted(os.walk(os.path.join(SOURCE, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, SOURCE), read(path)


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def main():
    points = Points()
    points.expect(
        "a second channel and a printed line are found",
        [fault for text in ("struct a {\n\tvoid (*say)(void *ctx, int n);\n};\n",
                            "/* (*say)( */\ntypedef void (*a_fn)(void *ctx, const char *line);\n",
                            'void a(void)\n{\n\t(void)fprintf(stderr, "a");\n\tsnprintf(b, n, "c");\n}\n')
         for look in (channels, prints) for fault in look("src/a/a.c", text)],
        ["src/a/a.c:2: 'say' is a channel beside include/holdback/report.h",
         "src/a/a.c:2: 'a_fn' is a channel beside include/holdback/report.h",
         "src/a/a.c:3: 'fprintf' prints: report it, or return it"])  # fmt: skip
    files = list(sources())
    points.add("every file of src and include is looked at", [] if len(files) > 300 else [str(len(files))])
    points.add("news travels as a report and in no other way",
               [fault for file in files for fault in channels(*file)])  # fmt: skip
    points.add("nothing prints outside of the front ends",
               [fault for file in files for fault in prints(*file)])  # fmt: skip
    kinds = kinds_of(read(CHANNEL))
    points.add("the command line has a way to show every kind of report",
               [] if kinds and kinds == shown_of(read("src/cli/show/reports.c"))
               else [f"{CHANNEL}: {kinds}"])  # fmt: skip
    return points.end()


sys.exit(main())
