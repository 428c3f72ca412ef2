#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The words of a table stand in its documents: states of a session, networks."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points, write_tree  # noqa: E402

STATES = ("include/holdback/session_state.h", "HB_STATE_ROWS")
NETS = ("src/plan/keys.h", "NET_ROWS")
# The document, the line or block that lists the words, and how a word is written there.
JSON = ("docs/formats/json.md", r"^\| session \| `state` \| string \|(.*)\|$", r"`(\w+)`")
CONF = ("docs/man/holdback.conf.5.scd", r"^\*net\* = (\*.*\n(?:\t.*\n)*)", r"\*(\w+)\*")
PAGE = ("docs/man/common/view.scd", r"^\*--net\* _NET_\n((?:\t.*\n)+)", r"\*(\w+)\*")


def read(tree, name):
    with open(os.path.join(tree, name), encoding="utf-8") as file:
        return file.read()


def words_of(tree, table):
    """The words of the rows, each a text or the name of one."""
    text = read(tree, table[0])
    rows = re.search(rf"#define {table[1]}\(ROW\)(.*?[^\\])\n", text, re.S)[1]
    for word in re.findall(r"ROW\(\w+, ([^)]+)\)", rows):
        yield word.strip('"') if word[0] == '"' else re.search(rf'#define {word} "(.*)"', text)[1]


def differences(tree, table, document):
    """How the words of a document differ from those of the table."""
    found = re.search(document[1], read(tree, document[0]), re.M)
    wanted, said = set(words_of(tree, table)), set(re.findall(document[2], found[1] if found else ""))
    for word in sorted(wanted - said):
        yield f"{document[0]} lacks '{word}'"
    for word in sorted(said - wanted):
        yield f"{table[0]} has no '{word}'"


def check_fixture(points):
    with tempfile.TemporaryDirectory() as top:
        write_tree(top, {
            NETS[0]: '#define HOST_WORD "host"\n#define NET_ROWS(ROW) \\\n\tROW(NONE, "none") \\\n'
                     "\tROW(HOST, HOST_WORD)\n\n",
            CONF[0]: "*net* = none\n\n*net* = *none*|*some*\n",
        })
        points.expect("a word that only the table or only the document has is found", differences(top, NETS, CONF),
                      [f"{CONF[0]} lacks 'host'", f"{NETS[0]} has no 'some'"])


def main():
    points = Points()
    check_fixture(points)
    tree = os.environ["HB_SOURCE"]
    for table in (STATES, NETS):
        points.add(f"{table[1]} has rows", [] if len(list(words_of(tree, table))) > 1 else ["fewer than two"])
    points.add("json.md has every state of a session", list(differences(tree, STATES, JSON)))
    points.add("holdback.conf(5) has every network", list(differences(tree, NETS, CONF)))
    points.add("holdback-run(1) has every network", list(differences(tree, NETS, PAGE)))
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
