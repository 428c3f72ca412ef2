# SPDX-License-Identifier: Apache-2.0
"""Measures the scanner for secrets against `grep -E` with the same formats.

Both read the same tree, which is in the page cache.  grep has an easier task: it
checks no sums, no entropy and no words, and counts no lines.
"""

import os
import re
import statistics
import subprocess
import time

TREE = "/usr/include"
# What src/gate/scan/scan_assign.c knows, without types.
ASSIGNED = r"""[0-9A-Za-z_.-]{0,40}["'`)]{0,3}[ ]{0,16}(=|:|:=|=>|>)[ ]{0,16}["'`]?"""


def any_case(word):
    return "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in word)


def expressions(path):
    """The formats of the rules as extended regular expressions."""
    found, assigned = [], []
    with open(path, encoding="ascii") as file:
        for key, value in re.findall(r"(?m)^(kind|match|assign|value) = (.*)$", file.read()):
            if key == "kind":
                assigned = []
            elif key == "match":
                found.append(value)
            elif key == "assign":
                assigned.append(any_case(value))
            else:
                found += [word + ASSIGNED + value for word in assigned]
    return found


def timed(words, options):
    begin = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode())
    return time.monotonic() - begin


def measure(program, rules, folder, rounds, options):
    """{name: seconds}, medians of rounds in which everything runs once."""
    patterns = os.path.join(folder, "patterns")
    with open(patterns, "w", encoding="ascii") as file:
        file.write("\n".join(expressions(rules)) + "\n")
    options["env"] = dict(options["env"], LC_ALL="C")
    commands = {
        "scan": [program, TREE],
        "scan again": [program, TREE],
        "grep -E": ["grep", "-rEc", "-f", patterns, TREE],
        "grep -aE": ["grep", "-raEc", "-f", patterns, TREE],
    }
    times = {name: [] for name in commands}
    timed(commands["scan"], options)
    for _ in range(rounds):
        for name, words in commands.items():
            times[name].append(timed(words, options))
    return {name: statistics.median(values) for name, values in times.items()}
