# SPDX-License-Identifier: Apache-2.0
"""How long a commit of a database by its rows takes, beside a copy of the file."""

import statistics
import time

SIZE_MB = 100
FILL = """
import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("pragma journal_mode=" + sys.argv[3])
c.execute("create table t (id integer primary key, x blob)")
for _ in range(int(sys.argv[2])):
    c.executemany("insert into t (x) values (?)", [(os.urandom(4000),) for _ in range(250)])
c.commit()
c.close()
"""
CHANGE = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("insert into t (x) values ('new')")
c.commit()
c.close()
"""
REPLACE = 'cp "$1" "$1.new"; sync "$1.new"; mv "$1.new" "$1"; sync "$(dirname "$1")"'


def timed(act):
    begin = time.monotonic()
    act()
    return time.monotonic() - begin


def measure_mode(stand, mode, rounds):
    """{way: seconds} of one database."""
    folder = stand.path("work", "database-" + mode)
    path, name = folder + "/app.db", "database-" + mode
    python, holdback = "/usr/bin/python3", stand.path("bin", "holdback")
    stand.run("mkdir", folder)
    stand.run(python, "-c", FILL, path, str(SIZE_MB), mode)
    stand.run("cp", path, folder + "/other.db")
    stand.run(holdback, "create", name, "--cow", folder, "--db", path)
    ways = {
        "commit": lambda: stand.run(holdback, "commit", "-y", "--only", "app.db", "@" + name),
        "backup": lambda: stand.run("sqlite3", folder + "/other.db", f".backup {folder}/copy.db"),
        "cp": lambda: stand.run("sh", "-ec", REPLACE, "sh", folder + "/other.db"),
        "cp again": lambda: stand.run("sh", "-ec", REPLACE, "sh", folder + "/other.db"),
    }
    found = {way: [] for way in ways}
    for _ in range(rounds):
        stand.run(holdback, "exec", "@" + name, "--", python, "-c", CHANGE, path)
        for way, act in ways.items():
            found[way].append(timed(act))
        stand.run("rm", folder + "/copy.db")
    stand.run(holdback, "cleanup", "-y", "@" + name)
    stand.run("rm", "-r", folder)
    return {way: statistics.median(times) for way, times in found.items()}


def measure(stand, rounds):
    return {mode: measure_mode(stand, mode, rounds) for mode in ("wal", "delete")}
