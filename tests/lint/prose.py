#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents and comments have short lines and short sentences."""

import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points  # noqa: E402

SOURCE = os.environ["HB_SOURCE"]
COLUMNS = 100
WORDS = 25
# Every document but CHANGELOG, whose entries are of their time.
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "docs/man/**/*.scd"]
FENCE = re.compile(r"^```.*?^```\n", re.M | re.S)
BLOCK = re.compile(r"\n\s*\n|\+\+\n|\n(?=\s*(?:[-*.] |\d+\. |\||#|\t|\.exit ))")
CODE = re.compile(r"`[^`]*`|\[([^\]]*)\]\([^)]*\)")
# A pronoun in the place of a thing that has a name.
PRONOUN = re.compile(r"\b(?:nobody|somebody|whoever|whatever|one that|one who)\b", re.I)
# A sentence may begin with a name that is written small.
END = re.compile(r"(?<=[.?!])(?:\*\*)?\s+(?=[A-Z`*_\[(]|(?:init|holdback|bubblewrap|git|docs/\S+)\b)")


def blank(match):
    return "\n" * match[0].count("\n")


def long_lines(text):
    """(number, columns) of each line that is too long; tables and blocks may be."""
    for number, line in enumerate(FENCE.sub(blank, text).splitlines(), 1):
        if len(line) > COLUMNS and not line.startswith("|"):
            yield number, len(line)


def long_sentences(text):
    """Each sentence with too many words; an inline piece of code is one word."""
    for block in BLOCK.split(FENCE.sub("", text)):
        if block.startswith(("|", "    ", "#")):
            continue
        for sentence in END.split(CODE.sub("`code`", block).strip()):
            if len(sentence.split()) > WORDS:
                yield " ".join(sentence.split())


def faults_of(text):
    for number, columns in long_lines(text):
        yield f"line {number} has {columns} columns"
    for sentence in long_sentences(text):
        yield f"{len(sentence.split())} words: {sentence}"
    for found in PRONOUN.finditer(CODE.sub("code", FENCE.sub("", text))):
        yield f"'{found[0]}' names nothing"


# A string may look like the beginning of a comment.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/', re.S)
STAR = re.compile(r"^[ \t]*\*? ?", re.M)
# A value and its meaning, "-ENOENT: gone", is a sentence of its own.
STOP = re.compile(r"(?<=[.?!])\s+|(?<=[:;])\s+(?=[A-Z`-])|\s+(?=\([a-z]\) )")
# Of a comment: a table, which is indented by a tab.
INDENTED = re.compile(r"^\t.*\n?", re.M)


def comment_faults(text):
    """(number, fault) of each comment's sentences; a name in backquotes is one word."""
    for found in COMMENT.finditer(text):
        if found[1] is None:
            continue
        number = text.count("\n", 0, found.start()) + 1
        words = CODE.sub("`code`", INDENTED.sub("", STAR.sub("", found[1])))
        for block in re.split(r"\n\s*\n", words):
            for sentence in STOP.split(block):
                if len(sentence.split()) > WORDS:
                    yield number, f"{len(sentence.split())} words: {' '.join(sentence.split())}"
        for pronoun in PRONOUN.finditer(words):
            yield number, f"'{pronoun[0]}' names nothing"


def folder_faults(folder):
    for name in sorted(glob.glob(f"{folder}/**/*.[ch]", root_dir=SOURCE, recursive=True)):
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            for number, fault in comment_faults(file.read()):
                yield f"{name}:{number}: {fault}"


def folders():
    names = sorted(glob.glob("src/*/", root_dir=SOURCE))
    assert names
    return ["include", *(name.rstrip("/") for name in names)]


def documents():
    for pattern in DOCUMENTS:
        names = sorted(glob.glob(pattern, root_dir=SOURCE, recursive=True))
        assert names, pattern
        yield from names


def main():
    points = Points()
    point = points.add
    word = "word "
    found = list(faults_of("A " + word * 30 + "end.\n"))
    point("a line and a sentence that are too long are found", [] if len(found) == 2 else found)
    found = list(faults_of("Nobody can tell.\n"))
    point("a pronoun in the place of a name is found", [] if len(found) == 1 else ["none"])
    found = list(faults_of("- One `a b c` two.\n  Three.\n" + ("Four. " + word) * 9 + "\n"))
    point("short lines and sentences are no fault", found)
    found = list(comment_faults("/*\n * " + word * 30 + "\n *\n *\t" + word * 30 + "\n */\n/* nobody */\n"))
    point("a long sentence and a pronoun in a comment are found",
          [] if [number for number, _ in found] == [1, 6] else [str(found)])
    for folder in folders():
        point(f"the comments of {folder} have short sentences", list(folder_faults(folder)))
    for name in documents():
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            point(f"{name} has short lines and sentences", list(faults_of(file.read())))
    return points.end()


sys.exit(main())
