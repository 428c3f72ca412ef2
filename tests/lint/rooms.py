#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No .c files of src call each other in a circle, a header declares the
functions of its own .c file, and no two .c files have one name."""

import collections
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points, write_tree  # noqa: E402

# Two files may share a name where one is the use of the other.
PAIRS = {
    "caps.c": "box uses the calls of sys",
    "landlock.c": "box uses the calls of sys",
    "seccomp.c": "box uses the calls of sys",
    "check.c": "txn/check.c judges files, run/check.c runs the owner's check",
    "commit.c": "review/commit.c is txn/commit.c between the locks",
    "rollback.c": "review/rollback.c is txn/rollback.c between the locks",
    "salvage.c": "review/salvage.c is txn/salvage.c between the locks",
    "held.c": "strategy/held.c keeps files of a copy, txn/held.c looks for open databases",
    "record.c": "store/record.c is a session's, txn/record.c an operation's",
    "run.c": "run/run.c runs a command, txn/run.c a journal",
    "main.c": "each program has one",
}
# Headers without a .c file: the face of several files.
FACES = {
    "box/state.h": "the stages of stage.c and the state that they share",
    "cli/commands/cmd.h": "the functions that the table of commands names",
    "cli/commands/commit.h": "the commit of two commands",
    "db/db.h": "the ways to call the program for databases",
    "gate/gate.h": "the gate",
    "plan/bwrap/bwrap.h": "the grammar of bubblewrap",
    "plan/bwrap/bwrap_grammar.h": "the option table and its parser",
    "net/relay_state.h": "the files of the relay and the state that they share",
    "txn/txn.h": "a transaction",
}
NOISE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
HEAD = r"^(?!static\b|typedef\b|extern\b)[a-z][\w\s*]*?\b(\w+)\("
DEFINITION = re.compile(HEAD + r"[^;{}]*\)\s*\{", re.M)
PROTOTYPE = re.compile(HEAD + r"[^{}]*?\)(?:\s*__attribute__\(\(.*?\)\))?;", re.M | re.S)
WORD = re.compile(r"\b[a-z]\w+\b")


def read_sources(tree):
    """Maps each file below src to its text without comments and strings."""
    top, texts = os.path.join(tree, "src"), {}
    for where, _, names in os.walk(top):
        for name in names:
            if name.endswith((".c", ".h")):
                path = os.path.join(where, name)
                with open(path, encoding="utf-8") as file:
                    texts[os.path.relpath(path, top)] = NOISE.sub(" ", file.read())
    return texts


def calls(texts):
    """Maps each .c file to those that define a function which it names."""
    owner = {}
    for name, text in sorted(texts.items()):
        if name.endswith(".c"):
            for function in DEFINITION.findall(text):
                owner.setdefault(function, name)
    owner.pop("main", None)
    graph = collections.defaultdict(set)
    for name, text in texts.items():
        if name.endswith(".c"):
            graph[name] = {owner[w] for w in set(WORD.findall(text)) if w in owner} - {name}
    return graph


def circles(graph):
    """Yields each set of files from which every other one of it is reached."""
    index, low, stack = {}, {}, []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                yield from visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = stack[stack.index(node):]
            del stack[-len(part):]
            if len(part) > 1:
                yield "a circle: " + " ".join(sorted(part))

    for node in sorted(graph):
        if node not in index:
            yield from visit(node)


def foreign_declarations(texts):
    for header, text in sorted(texts.items()):
        if not header.endswith(".h") or header in FACES:
            continue
        own = header[:-2] + ".c"
        defined = set(DEFINITION.findall(texts.get(own, "")))
        for function in PROTOTYPE.findall(text):
            if function not in defined:
                yield f"src/{header} declares {function}(), which src/{own} does not define"


def needless_faces(texts):
    for header in sorted(FACES):
        if header not in texts or header[:-2] + ".c" in texts:
            yield f"{header} is no face"


def twins(texts):
    places = collections.defaultdict(list)
    for name in texts:
        if name.endswith(".c"):
            places[os.path.basename(name)].append(name)
    for base, names in sorted(places.items()):
        if len(names) > 1 and base not in PAIRS:
            yield "one name: " + " ".join(sorted(names))
    for base in sorted(PAIRS):
        if len(places[base]) < 2:
            yield f"{base} is no pair"


def fixture(top):
    files = {
        "a/one.c": "int one(void)\n{\n\treturn two();\n}\n",
        "a/two.c": "/* one() */\nint two(void)\n{\n\treturn three();\n}\n",
        "b/three.c": "static int f(void)\n{\n\treturn one();\n}\nint three(void)\n{\n\treturn f();\n}\n",
        "b/four.c": "int four(void)\n{\n\treturn three();\n}\n",
        "b/four.h": "int four(void);\nint three(void);\n",
        "c/four.c": "",
    }
    write_tree(os.path.join(top, "src"), files)
    return read_sources(top)


def main():
    points = Points()
    with tempfile.TemporaryDirectory() as top:
        texts = fixture(top)
    points.expect("a circle of calls is found", circles(calls(texts)), ["a circle: a/one.c a/two.c b/three.c"])
    points.expect("a declaration in the wrong header is found", foreign_declarations(texts),
                  ["src/b/four.h declares three(), which src/b/four.c does not define"])
    points.expect("a second file of one name is found",
                  (line for line in twins(texts) if line.startswith("one name")), ["one name: b/four.c c/four.c"])

    texts = read_sources(os.environ["HB_SOURCE"])
    points.add("no .c files call each other in a circle", list(circles(calls(texts))))
    points.add("a header declares the functions of its own .c file", list(foreign_declarations(texts)))
    points.add("every face is a header without a .c file", list(needless_faces(texts)))
    points.add("no two .c files have one name", list(twins(texts)))
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
