#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The name of a test point is a sentence that stands alone in a log."""

import ast
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points  # noqa: E402

TESTS = os.path.join(os.environ["HB_SOURCE"], "tests")
# After the marks of requirements and attacks, such as V23 or F4.
LEAN = re.compile(r"(?:[A-Z]\d+ )*(?:and|nor|which|but|so|or)\b")
# A function of a test and its first word, in quotes: check 'NAME' COMMAND...
SHELL = re.compile(r"""(?:^|[;&|(])\s*(?:[A-Z_]+=\S*\s+)*[a-z_]+ (['"])(.+?)\1""")
NOT_POINTS = re.compile(r"\s*(?:echo|printf|eval|sed|grep|note|python3|exec) ")
UNIT = re.compile(r"\bT\((\w+)\)")


def shell_names(text):
    for number, line in enumerate(text.splitlines(), 1):
        found = SHELL.search(line)
        if found and not line.lstrip().startswith("#") and not NOT_POINTS.match(line):
            yield number, found[2]


def python_names(text):
    """The first argument of every call that is a text."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        first = node.args[0]
        if isinstance(first, ast.JoinedStr) and first.values:
            first = first.values[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("test", "one", "point", "check", "same", "ok"):
                yield node.lineno, first.value


def unit_names(text):
    for number, line in enumerate(text.splitlines(), 1):
        for name in UNIT.findall(line):
            yield number, name.replace("_", " ")


READERS = {".sh": shell_names, ".py": python_names, ".c": unit_names}


def leaning(text, suffix):
    """(line, name) of each name that leans on the one before it."""
    return [(n, name) for n, name in READERS[suffix](text) if LEAN.match(name)]


def files():
    for folder, _, names in sorted(os.walk(TESTS)):
        for name in sorted(names):
            suffix = os.path.splitext(name)[1]
            if suffix in READERS:
                yield os.path.join(folder, name), suffix


def main():
    points = Points()
    point = points.add
    samples = {
        ".sh": "\tis 'V5 nor the store' a b\ncheck_fails \"and $x stays\" true\nis 'sort' a\n",
        ".py": "tap.test('and so does sync', f)\ntap.test('sort', f)\n",
        ".c": "TESTS(T(which_gives_way), T(sorted_names))\n",
    }
    for suffix, want in ((".sh", 2), (".py", 1), (".c", 1)):
        found = leaning(samples[suffix], suffix)
        point(f"a name that leans on another is found in a {suffix} file",
              [] if len(found) == want else [str(found)])  # fmt: skip
    faults, seen = [], 0
    for path, suffix in files():
        with open(path, encoding="utf-8") as file:
            text = file.read()
        seen += sum(1 for _ in READERS[suffix](text))
        for number, name in leaning(text, suffix):
            faults.append(f"{os.path.relpath(path, TESTS)}:{number}: {name}")
    point("every name of a test point stands alone", faults)
    point("the names of more than two thousand test points were read",
          [] if seen > 2000 else [str(seen)])  # fmt: skip
    return points.end()


sys.exit(main())
