#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Errors are values, in one dialect.

A function that can fail has a `struct hb_error *` as its last parameter and
returns a number: less than zero is a failure, and nothing else is.  So its
result is compared with zero, never taken for true or false, and dropped only
by a cast to void.

A function that makes a failure, as hb_fail() does, has its words behind the
error: it is called fail, refuse or X_fail, or takes a format.  A function that
returns nothing adds words to a failure that there is already.  base/error.h is
where the dialect comes from.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points  # noqa: E402

TOP = os.environ["HB_SOURCE"]
FOLDERS = ("src", "include")
ORIGIN = ("src/base/error.c", "src/base/error.h")
NUMBERS = ("int", "ssize_t")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
FUNCTION = re.compile(
    r"^((?:(?:static|inline|_Noreturn|const|struct|enum|unsigned) )*[a-z_0-9]+ \**)"
    r"([a-z_0-9]+)\(((?:[^;{}()]|\([^()]*\))*)\)\s*([{;])",
    re.M,
)
CALL = re.compile(r"\b([a-z_0-9]+)\(")
MAKER = re.compile(r"(?:^|_)(?:fail|refuse)$")
TRUTH = re.compile(r"(?:&&|\|\||\b(?:if|while) \()$")
STATEMENT = re.compile(r"(?:[{};]|\belse|\bdo)$")
CLAUSE = re.compile(r"\b(?:if|for|while) \($")


def bare(text):
    """Without comments and literals, and as many lines."""
    text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    return LITERAL.sub('""', text)


class Function:
    """A declaration or definition with an error to fill."""

    def __init__(self, match, text):
        self.name, self.is_body = match[2], match[4] == "{"
        self.is_static = match[1].startswith("static ")
        self.type = re.sub(r"\b(?:static|inline|_Noreturn) ", "", match[1]).strip()
        self.params = [" ".join(p.split()) for p in re.split(r",(?![^()]*\))", match[3])]
        self.line = text.count("\n", 0, match.start()) + 1
        self.errors = [
            i for i, p in enumerate(self.params) if re.match(r"struct hb_error \*\w", p)
        ]

    def is_maker(self):
        return MAKER.search(self.name) or self.params[-1] == "..."

    def faults(self):
        if self.type not in (*NUMBERS, "void"):
            yield f"{self.name}() can fail and returns '{self.type}'"
        if self.errors[-1] != len(self.params) - 1 and not self.is_maker():
            yield f"the error of {self.name}() is not its last parameter"


def functions(text):
    found = (Function(match, text) for match in FUNCTION.finditer(text))
    return [function for function in found if function.errors]


def end_of(text, start):
    """Behind the parenthesis that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at + 1
    return len(text)


def is_statement(before):
    """Whether a call that stands behind `before` begins a statement."""
    if not before.endswith(")"):
        return STATEMENT.search(before)
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] == ")") - (before[at] == "(")
        if depth == 0:
            return CLAUSE.search(before[: at + 1])
    return False


def calls(text, names):
    """(line, fault) of each call of one of `names` whose result is misread."""
    for match in CALL.finditer(text):
        if match[1] not in names:
            continue
        before, after = text[: match.start()].rstrip(), text[end_of(text, match.end() - 1) :]
        line = text.count("\n", 0, match.start()) + 1
        after = after.lstrip()
        if before.endswith("!") or (
            TRUTH.search(before) and re.match(r"\)|&&|\|\||\?", after)
        ):
            yield line, f"{match[1]}() is taken for true or false"
        elif after.startswith(";") and is_statement(before):
            yield line, f"the result of {match[1]}() is dropped without a word"


def own_names(text):
    """What a name means in this file alone: its functions, and pointers to some."""
    static = {m[2] for m in FUNCTION.finditer(text) if m[1].startswith("static ")}
    pointers = set(re.findall(r"\b\w+_fn (\w+)\b", text))
    return static | pointers | set(re.findall(r"\(\*(\w+)\)\(", text))


def faults(texts):
    """Lines, from {path: text}."""
    found, everywhere = [], set()
    for text in texts.values():
        everywhere |= {f.name for f in functions(text) if not f.is_static and f.type in NUMBERS}
    for path, text in texts.items():
        own = functions(text)
        if path not in ORIGIN:
            found += [f"{path}:{f.line}: {fault}" for f in own for fault in f.faults()]
        names = everywhere - own_names(text)
        names |= {f.name for f in own if f.is_static and f.type in NUMBERS}
        found += [f"{path}:{line}: {fault}" for line, fault in calls(text, names)]
    return found


def read_all():
    texts = {}
    for top in FOLDERS:
        for folder, _, names in sorted(os.walk(os.path.join(TOP, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        texts[os.path.relpath(path, TOP)] = bare(file.read())
    return texts


SAMPLE = {
    "a.h": "int open_it(int n, struct hb_error *err);\nchar *name_it(struct hb_error *err);\n"
           "int odd(struct hb_error *err, int n);\nint it_fail(struct hb_error *err, int n);\n",
    "a.c": "static void f(struct hb_error *err)\n{\n\tif (open_it(1, err))\n\t\treturn;\n"
           "\tif (y)\n\t\topen_it((2), NULL);\n\tif (x && !open_it(3, err)) {}\n"
           "\t(void)open_it(4, err);\n"
           "\tif (open_it(5, err) < 0 || r) {}\n\tr = open_it(6, err);\n}\n",
    "b.c": "static bool open_it(int n)\n{\n\treturn n;\n}\n"
           "void g(void)\n{\n\tif (open_it(1)) {}\n}\n",
}  # fmt: skip
FOUND = [
    "a.h:2: name_it() can fail and returns 'char *'",
    "a.h:3: the error of odd() is not its last parameter",
    "a.c:3: open_it() is taken for true or false",
    "a.c:6: the result of open_it() is dropped without a word",
    "a.c:7: open_it() is taken for true or false",
]


def main():
    points = Points()
    points.expect("departures are found, and nothing else", faults(SAMPLE), FOUND)
    texts = read_all()
    points.add("every function that can fail speaks the dialect", faults(texts))
    seen = sum(len(functions(text)) for text in texts.values())
    points.add("two thousand such functions were read", [] if seen > 2000 else [str(seen)])
    return points.end()


sys.exit(main())
