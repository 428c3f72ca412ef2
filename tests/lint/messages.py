#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages name things: no pronoun stands for the supervisor, a file or a user."""

import os
import re
import sys

SOURCE = os.path.join(os.environ["HB_SOURCE"], "src")
PRONOUN = re.compile(
    r"\b(?:what|who|whom|whoever|whatever|nobody|somebody|one that|one who)\b", re.I
)
LITERAL = r'"(?:\\.|[^"\\\n])*"'
TEXT = re.compile(rf"{LITERAL}(?:\s*{LITERAL})*")
COMMENT = re.compile(r"/\*.*?\*/|^#include [^\n]*", re.S | re.M)
# The words of an assertion are for the reader of the code.
ASSERTION = re.compile(r"\bstatic_assert\([^;]*;", re.S)


def blank(match):
    return "\n" * match[0].count("\n")


def messages(text):
    """(line, text) of each literal with a blank in it; pieces are joined."""
    text = ASSERTION.sub(blank, COMMENT.sub(blank, text))
    for found in TEXT.finditer(text):
        words = "".join(piece[1:-1] for piece in re.findall(LITERAL, found[0]))
        if " " in words.strip():
            yield text.count("\n", 0, found.start()) + 1, words


def unnamed(text):
    return [(n, words) for n, words in messages(text) if PRONOUN.search(words)]


def main():
    sample = 'f("cannot tell who "\n  "holds it"); g("nobody"); /* "what is" */ h("whose file");\n'
    found = unnamed(sample)
    good = [words for _, words in found] == ["cannot tell who holds it"]
    print(f"{'ok' if good else 'not ok'} 1 - a message that names nothing is found")
    faults, seen = [], 0
    for folder, _, names in sorted(os.walk(SOURCE)):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            seen += sum(1 for _ in messages(text))
            for number, words in unnamed(text):
                faults.append(f"{os.path.relpath(path, SOURCE)}:{number}: {words}")
    print(f"{'not ok' if faults else 'ok'} 2 - every message names its things")
    for fault in faults:
        print(f"# {fault}")
    print(f"{'ok' if seen > 1000 else 'not ok'} 3 - more than a thousand messages were read")
    print("1..3")
    return 0 if good and not faults and seen > 1000 else 1


sys.exit(main())
