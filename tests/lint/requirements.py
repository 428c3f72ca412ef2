#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/requirements names tests that exist, and forgets no requirement."""

import os
import re
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(TESTS, "requirements")
# How many there are of each kind.
KINDS = {
    "L": 11, "I": 14, "F": 17, "T": 12, "G": 12, "A": 6, "M": 7, "C": 6,
    "N": 7, "X": 9, "Q": 26, "V": 10,
}  # fmt: skip
ID = re.compile(r"([A-Z][0-9]+) \S")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rows():
    """(number of the line, id, what follows it) of the table."""
    name = None
    for number, line in enumerate(read(TABLE).splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("\t"):
            yield number, name, line[1:]
            continue
        found = ID.match(line)
        name = found.group(1) if found else line
        yield number, name, None


def wrong_row(text):
    """Why that is no test, or None."""
    if text.startswith("! "):
        return None
    name, _, words = text.partition(": ")
    path = os.path.join(TESTS, name)
    if not words:
        return "names no test point"
    if not os.path.isfile(path):
        return f"there is no tests/{name}"
    if words not in read(path):
        return f"tests/{name} does not say '{words}'"
    return None


def failures():
    shown = {}
    for number, name, text in rows():
        shown.setdefault(name, 0)
        if text is None:
            continue
        shown[name] += 1
        why = wrong_row(text)
        if why:
            yield f"line {number}, {name}: {why}"
    wanted = {f"{kind}{i}" for kind, n in KINDS.items() for i in range(1, n + 1)}
    for name in sorted(wanted ^ set(shown)):
        yield f"{name} is {'missing' if name in wanted else 'no requirement'}"
    for name, count in shown.items():
        if not count:
            yield f"{name} is shown by nothing"


def main():
    found = list(failures())
    print(f"{'not ' if found else ''}ok 1 - every requirement names what shows it")
    for line in found:
        print(f"# {line}")
    print("1..1")


if __name__ == "__main__":
    sys.exit(main())
