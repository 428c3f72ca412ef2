#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/formats has the numbers of the journal, and each operation has steps.  The
schema of the documents is that of their tables."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from lint import Points  # noqa: E402

SOURCE = os.environ["HB_SOURCE"]
# These move no object, and code decides them.
WITHOUT_STEPS = {"DIRECTORY", "LAYER"}
OPERATION = re.compile(r"^\tOP_([A-Z]+)(?: = 1)?,", re.M)
TYPE = re.compile(r"\bROW\(([A-Z]+), ")
STEP = re.compile(r"^\t\{ OP_([A-Z]+), H_", re.M)


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def enum_of(text, name):
    return text.split(f"enum {name} {{", 1)[1].split("};", 1)[0]


def listed(text, word):
    """'| word: 0 none, 1 file |' as {1: 'file'}; 0 is none."""
    row = re.search(rf"\| {word}: ([^|]*)\|", text)[1]
    found = {int(number): name for number, name in re.findall(r"(\d+) (\w+)", row)}
    return {number: name for number, name in found.items() if number}


def differences(names, found):
    """How the numbers of a document differ from the names of a table, from 1 on."""
    for number in sorted(set(found) | set(range(1, len(names) + 1))):
        name = names[number - 1].lower() if number <= len(names) else ""
        if not name or not found.get(number, "").startswith(name):
            yield f"{number} is '{name}', and the document says '{found.get(number, '')}'"


def main():
    points = Points()
    found = listed("| 0 | 4 | kind: 0 none, 1 one, 3 three |", "kind")
    points.expect("a number that a document lacks is found", differences(["ONE", "TWO"], found),
                  ["2 is 'two', and the document says ''", "3 is '', and the document says 'three'"])
    journal = read("docs/formats/journal.md")
    operations = OPERATION.findall(enum_of(read("src/txn/op.h"), "op_kind"))
    types = TYPE.findall(read("src/tree/entry.h").split("#define ENTRY_ROWS", 1)[1].split("#define", 1)[0])
    points.add("journal.md lists the operations of txn/op.h",
               list(differences(operations, listed(journal, "operation"))))
    points.add("journal.md lists the types of tree/entry.h", list(differences(types, listed(journal, "type"))))
    steps = set(STEP.findall(read("src/txn/step.c")))
    points.add("every operation that moves an object has rows in txn/step.c",
               [f"OP_{name} has none" for name in sorted(set(operations) - steps - WITHOUT_STEPS)])
    made = subprocess.run([os.path.join(SOURCE, "tools/schema")], stdout=subprocess.PIPE, text=True, check=True)
    points.add("holdback.schema.json is what tools/schema makes of json.md",
               [] if made.stdout == read("docs/formats/holdback.schema.json")
               else ["run: tools/schema >docs/formats/holdback.schema.json"])
    return points.end()


sys.exit(main())
