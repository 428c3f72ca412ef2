#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files, functions and nesting stay small enough to be read in one go."""

import ast
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points, write_tree  # noqa: E402

FILE_LINES = 800
FUNCTION_LINES = 60
NESTING = 4
# What decides over the user's files once a plan is on disk: docs/decisions/0030.
CORE = "op record journal site step dress apply run history recover".split()
CORE_LINES = 4000
FOLDERS = ("src", "include", "tests", "bench", "tools", "docs")
OUTSIDE_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
BLOCK = re.compile(r"(?:\)|\belse|\bdo) $")  # a literal has no space there


def blank(match):
    """Keeps the lines of a comment or string and drops its text."""
    return "\n" * match[0].count("\n")


def c_functions(text):
    """Yields (first line, lines, nesting) of each function; Linux braces."""
    lines = OUTSIDE_CODE.sub(blank, text).splitlines()
    start, kinds, deepest = None, [], 0
    for number, line in enumerate(lines, 1):
        if start is None:
            if line == "{":
                start, kinds, deepest = number, [], 0
            continue
        if line.startswith("}"):
            yield start, number - start + 1, deepest
            start = None
            continue
        for place, letter in enumerate(line):
            if letter == "{":
                kinds.append(bool(BLOCK.search(line[:place])))
                deepest = max(deepest, sum(kinds))
            elif letter == "}" and kinds:
                kinds.pop()


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1, 0


def shell_functions(text):
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\w+\(\) [{(]$", line):
            start = number
        elif start is not None and line in ("}", ")"):
            yield start, number - start + 1, 0
            start = None


def functions_of(name, text):
    first = text.split("\n", 1)[0]
    if name.endswith((".c", ".h")):
        return c_functions(text)
    if name.endswith(".py") or (first.startswith("#!") and "python" in first):
        return python_functions(text)
    if name.endswith(".sh") or (first.startswith("#!") and first.endswith("sh")):
        return shell_functions(text)
    return ()


def offences(tree):
    for folder in FOLDERS:
        for where, folders, files in os.walk(os.path.join(tree, folder)):
            # Inputs of the fuzzers are data that nobody reads.
            folders[:] = [f for f in folders if f not in ("__pycache__", "corpus")]
            for file in sorted(files):
                path = os.path.join(where, file)
                with open(path, "rb") as stream:
                    data = stream.read()
                if b"\0" in data:
                    continue
                yield from offences_of(os.path.relpath(path, tree), data.decode(errors="replace"))


def offences_of(name, text):
    count = text.count("\n")
    if count > FILE_LINES:
        yield f"{name}: {count} lines, at most {FILE_LINES}"
    for start, length, nesting in functions_of(name, text):
        if length > FUNCTION_LINES:
            yield f"{name}:{start}: a function of {length} lines, at most {FUNCTION_LINES}"
        if nesting > NESTING:
            yield f"{name}:{start}: {nesting} levels of nesting, at most {NESTING}"


def core_lines(top):
    """The lines of the transaction's core, headers and all."""
    names = (os.path.join(top, "src/txn", f"{noun}.{kind}") for noun in CORE for kind in "ch")
    return sum(len(open(name, encoding="utf-8").readlines()) for name in names if os.path.exists(name))


def core_offences(top):
    lines = core_lines(top)
    if lines > CORE_LINES:
        yield f"src/txn: the core has {lines} lines, at most {CORE_LINES}"


def fixture(top):
    """One file for each kind of offence, and one that is just good enough."""
    deep = "\tif (x) {\n" * 5 + "\t}\n" * 5
    edge = "\tif (x) {\n" * 4 + "\t\ts = (struct t){ 1 };\n" + "\t}\n" * 4
    texts = {
        "src/good.c": "void f(void)\n{\n" + edge + "\tx++;\n" * 49 + "}\n",
        "src/deep.c": 'void f(void)\n{\n\tputs("}{");\n' + deep + "}\n",
        "src/long.c": "void f(void)\n{\n" + "\tx++;\n" * 59 + "}\n",
        "src/big.h": "/* */\n" * 801,
        "tests/long.py": "def f():\n" + "    x()\n" * 60,
        "tests/long.sh": "f() {\n" + "\tx\n" * 59 + "}\n",
    }
    write_tree(top, texts)
    return [
        "src/big.h: 801 lines, at most 800",
        "src/deep.c:2: 5 levels of nesting, at most 4",
        "src/long.c:2: a function of 61 lines, at most 60",
        "tests/long.py:1: a function of 61 lines, at most 60",
        "tests/long.sh:1: a function of 61 lines, at most 60",
    ]


def main():
    points = Points()
    with tempfile.TemporaryDirectory() as top:
        expected = fixture(top)
        points.expect("too much of each kind is found", sorted(offences(top)), expected)
        write_tree(top, {"src/txn/step.c": "x\n" * CORE_LINES, "src/txn/op.h": "x\n"})
        points.expect(
            "a core that has grown is found",
            list(core_offences(top)),
            [f"src/txn: the core has {CORE_LINES + 1} lines, at most {CORE_LINES}"],
        )
    points.add("every file can be read in one go", sorted(offences(os.environ["HB_SOURCE"])))
    points.add("the core of the transaction does not grow", list(core_offences(os.environ["HB_SOURCE"])))
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
