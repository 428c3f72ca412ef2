#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages name things: no pronoun stands for the supervisor, a file or a user."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points  # noqa: E402

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
    points = Points()
    points.expect("a message that names nothing is found", (words for _, words in unnamed(sample)),
                  ["cannot tell who holds it"])
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
    points.add("every message names its things", faults)
    points.add("more than a thousand messages were read", [] if seen > 1000 else [str(seen)])
    return points.end()


sys.exit(main())
