#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The way of a command into its box is short: from main() of the executable in
front to box_run() there are at most so many frames, whichever way is taken.
A function that is handed over, alone or in a table, counts as called."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points, write_tree  # noqa: E402

FRAMES = 7  # main() and box_run() are two of them
START, END = "cli/front/main.c:main", "box/box.c:box_run"
# Each has to be on a way, or this looks at nothing.
ON_THE_WAY = ("cmd_run", "cmd_exec", "hb_run", "hb_exec", "launch")
NOISE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^#.*?(?<!\\)$', re.S | re.M)
FUNCTION = re.compile(r"^(static )?[a-z_][\w \t*]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.S | re.M)
TABLE = re.compile(r"^(static )?[a-z_][^;=]*?\b(\w+)\[[^=;]*\] = (\{.*?^\}|\{[^;]*\});", re.S | re.M)
# No name of a struct, and no member.
NAME = re.compile(r"(?<!struct )(?<!enum )(?<!->)(?<!\w\.)\b[a-z_]\w*\b(?! :)")


def read_functions(tree):
    """Maps FILE:NAME of each function and table to the names in it, and each
    name that other files know to its places."""
    top, found, known = os.path.join(tree, "src"), {}, {}
    for where, _, names in os.walk(top):
        for name in names:
            if not name.endswith(".c"):
                continue
            path = os.path.join(where, name)
            with open(path, encoding="utf-8") as file:
                text = NOISE.sub(" ", file.read())
            short = os.path.relpath(path, top)
            for kind in (TABLE, FUNCTION):
                for own, function, body in kind.findall(text):
                    found[f"{short}:{function}"] = set(NAME.findall(body))
                    if not own and function != "main":
                        known.setdefault(function, []).append(f"{short}:{function}")
    return found, known


def call_graph(functions, known):
    """Maps each function to those that it names: of its own file, or of any."""
    graph = {}
    for place, names in functions.items():
        file = place.split(":")[0]
        graph[place] = set()
        for name in names:
            own = f"{file}:{name}"
            graph[place].update([own] if own in functions else known.get(name, ()))
        graph[place].discard(place)
    return graph


def reaching(graph, end):
    """The part of the graph from which `end` is reached."""
    found, grown = {end}, True
    while grown:
        more = {place for place, others in graph.items() if others & found} - found
        found |= more
        grown = bool(more)
    return {place: sorted(graph[place] & found) for place in found if place in graph}


def ways(graph, start, end):
    """Yields each way from `start` to `end` that passes no function twice."""
    part = reaching(graph, end)
    stack = [[start]] if start in part else []
    while stack:
        way = stack.pop()
        if way[-1] == end:
            yield way
        else:
            stack += [[*way, other] for other in part[way[-1]] if other not in way]


def offences(tree, must_pass):
    found = list(ways(call_graph(*read_functions(tree)), START, END))
    seen = {place.split(":")[1] for way in found for place in way}
    yield from (f"no way to box_run() passes {name}()" for name in must_pass if name not in seen)
    for way in sorted(found, key=len, reverse=True)[:3]:
        if len(way) > FRAMES:
            yield f"{len(way)} frames, at most {FRAMES}: " + " ".join(p.split(":")[1] for p in way)


def fixture(top):
    """A way of seven frames, one of eight through a table, and words that are none."""
    chain = "".join(
        f"static int f{n}(void)\n{{\n\treturn f{n + 1}();\n}}\n\n" for n in (4, 3, 2, 1)
    ).replace("f5()", "box_run()")
    main = "int main(void)\n{\n\treturn cmd_run() + go();\n}\n"
    write_tree(os.path.join(top, "src"), {
        "box/box.c": "int box_run(void)\n{\n\treturn 0;\n}\n",
        "run/a.c": chain + "int cmd_run(void)\n{\n\treturn f1();\n}\n",
        "run/b.c": "static const struct row rows[] = {\n\t{ cmd_run },\n};\n\n"
                   "int go(void)\n{\n\treturn rows[0].take();\n}\n",
        "run/c.c": "int f1(struct cmd_run *r)\n{\n\t/* cmd_run() */\n\treturn r->cmd_run;\n}\n",
        "cli/front/main.c": main,
    })  # fmt: skip


def main():
    points = Points()
    with tempfile.TemporaryDirectory() as top:
        fixture(top)
        points.expect("a way that is too long, and one that is missing, are found",
                      offences(top, ["cmd_run", "hb_run"]),
                      ["no way to box_run() passes hb_run()",
                       "9 frames, at most 7: main go rows cmd_run f1 f2 f3 f4 box_run"])
    points.add(f"no way from main() to box_run() has more than {FRAMES} frames",
               list(offences(os.environ["HB_SOURCE"], ON_THE_WAY)))
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
