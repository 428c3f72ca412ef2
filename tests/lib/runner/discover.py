# SPDX-License-Identifier: Apache-2.0
"""Finds the test files and reads what their first lines say about them."""

import fnmatch
import os
import re

MODES = ("user", "root", "userns")
SUITES = ("box", "cli", "bwrap", "escape", "gate", "hosts", "net", "stories", "txn", "agents")
SOAK_SUITES = ("soak",)

# Unit tests are built once with gcc and once with clang and sanitizers.  The
# latter look for mistakes in our code, which are the same in every mode.
UNIT_TREES = (("test", "unit", MODES), ("clang", "unit-clang", ("user",)))

HEADER_LINES = 20
HEADER = re.compile(r"^(?:#|//|/\*| \*)\s*(modes|soak-modes|needs|serial|timeout|agent)\b:?(.*)$")


class TestFile:
    """One executable that prints TAP."""

    def __init__(self, name, path, modes=MODES):
        self.name = name  # as printed and as --filter sees it: box/init.sh
        self.path = path
        self.modes = modes
        self.soak_modes = ()  # of these, what only HB_SOAK=1 runs
        self.needs = []
        self.serial = False
        self.timeout = None
        self.agent = None  # a program of tests/agents/bed/pins that it runs
        self.in_tree = False  # looks at the sources, so it runs where they are
        self.broken = None  # why it cannot be run

    def read_header(self, path):
        """Obeys the header of `path`, which is the source of a compiled test."""
        for key, value in header_of(path):
            words = value.replace("*/", "").split()
            if key == "modes":
                self.modes = tuple(m for m in self.modes if m in words)
                self.know_modes(words)
            elif key == "soak-modes":
                self.soak_modes = tuple(words)
                self.know_modes(words)
            elif key == "needs":
                self.needs += words
            elif key == "serial":
                self.serial = True
            elif key == "timeout":
                self.timeout = int(words[0])
            elif key == "agent":
                self.agent = words[0]

    def know_modes(self, words):
        unknown = set(words) - set(MODES)
        if unknown:
            self.broken = "unknown mode: " + " ".join(sorted(unknown))

    def mentions(self, text):
        if self.broken:
            return False
        with open(self.path, "rb") as file:
            return text.encode() in file.read()


def header_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for _, line in zip(range(HEADER_LINES), file):
            match = HEADER.match(line)
            if match:
                yield match[1], match[2]


def read_times(source):
    """Seconds by (mode, name), as tests/times has them."""
    path = os.path.join(source, "tests", "times")
    times = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.split("#")[0].split()
                if words:
                    times[words[1], words[2]] = float(words[0])
    return times


def listdir(path):
    return sorted(os.listdir(path)) if os.path.isdir(path) else []


def scripts(source, suite):
    folder = os.path.join(source, "tests", suite)
    for entry in listdir(folder):
        path = os.path.join(folder, entry)
        if not entry.endswith((".sh", ".py")):
            continue
        test = TestFile(f"{suite}/{entry}", path)
        if not os.access(path, os.X_OK):
            test.broken = "the file is not executable"
        yield test, path


def unit_tests(source, build):
    folder = os.path.join(source, "tests", "unit")
    for tree, suite, modes in UNIT_TREES:
        for entry in listdir(folder):
            if not fnmatch.fnmatchcase(entry, "t_*.c"):
                continue
            program = os.path.join(build, tree, "tests", "unit", entry[:-2])
            test = TestFile(f"{suite}/{entry[:-2]}", program, modes)
            if not os.path.exists(program):
                test.broken = f"not built: is it in {folder}/meson.build?"
            yield test, os.path.join(folder, entry)


def lints(source):
    for test, path in scripts(source, "lint"):
        test.in_tree = True
        test.modes = ("tree",)
        yield test, path


def is_chosen(name, patterns):
    names = (name, os.path.basename(name))
    return any(fnmatch.fnmatchcase(n, p) for p in patterns for n in names)


def find(source, build, patterns, soak):
    """All test files whose name matches one of `patterns`."""
    found = list(unit_tests(source, build))
    for suite in SUITES + (SOAK_SUITES if soak else ()):
        found += scripts(source, suite)
    found += lints(source)
    tests = []
    for test, header in found:
        if not is_chosen(test.name, patterns):
            continue
        modes = test.modes
        test.read_header(header)
        if test.in_tree:
            test.modes = modes
        elif not soak:
            test.modes = tuple(m for m in test.modes if m not in test.soak_modes)
        tests.append(test)
    return tests
