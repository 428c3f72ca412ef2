#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: unshare ip mount openssl
# timeout: 300
"""No attempt of tests/net/vectors gets past the network by name: from a box, from
a command that joined it, and from a box inside of a box."""

import fnmatch
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from net_place import NO_TABLES, NO_TPROXY  # noqa: E402
from net_world import HOLDBACK, World, as_user, enter  # noqa: E402
from pty_shell import Failed, Tap  # noqa: E402

HERE = os.path.join(os.environ["HB_TESTS"], "net")
RULES = ("--allow", "www.example.com:80", "--allow", "www.example.com", "--allow", "rebind.example.com:80")
# Where, and by which way connections are caught; the table has the first three.
PLACES = ("box", "joined", "nested", "redirect", "list")
WITHOUT = {"redirect": NO_TPROXY, "list": NO_TABLES}


def read_table():
    rows = []
    with open(os.path.join(HERE, "vectors"), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            patterns = []
            for word in words[1:]:
                patterns.append(patterns[-1] if word == "=" else word)
            rows.append((words[0], dict(zip(PLACES, patterns))))
    return rows


def parse(text):
    return dict(line.split("\t") for line in text.splitlines() if "\t" in line)


class Boxes:
    """The three places, each with the outcome of every attempt."""

    def __init__(self, folder, name):
        self.folder = folder
        shown = ["--ro", os.environ["HB_TESTS"]]
        nested = ["--allow-nested", "--ro", os.path.dirname(HOLDBACK), "--ro", os.environ["HB_LIBEXEC"]]
        inner = ["python3", os.path.join(HERE, "inside", "attempts.py"), name]
        self.words = {
            "box": ["run", "--ephemeral", "-q", *RULES, *shown, "--", *inner],
            "joined": ["exec", "@evade", "--", *inner],
            "nested": ["run", "--ephemeral", "-q", *RULES, *shown, *nested, "--",
                       HOLDBACK, "run", "--ephemeral", "-q", "--net", "host", *shown, "--", *inner],
        }
        self.first = ["run", "-q", "-s", "evade", *RULES, *shown, "--", "sh", "-c", "echo up; cat"]
        # In one user namespace: a box is joined from the one that it was made in.
        self.script = (f"mkfifo {folder}/go; {shlex.join([HOLDBACK, *self.first])} <{folder}/go >{folder}/up & "
                       f"exec 3>{folder}/go; until grep -q up {folder}/up; do sleep 0.05; done; "
                       f"{shlex.join([HOLDBACK, *self.words['joined']])}; exec 3>&-; wait")
        self.env = dict(os.environ, HOME=f"{folder}/home", XDG_RUNTIME_DIR=f"{folder}/run",
                        XDG_STATE_HOME=f"{folder}/state")
        for part in ("p", "home", "run"):
            os.makedirs(f"{folder}/{part}", mode=0o700)

    def outcomes(self, place):
        words = ["sh", "-c", self.script] if place == "joined" else [HOLDBACK, *self.words.get(place, self.words["box"])]
        if place in WITHOUT:
            words = [os.environ["HB_PROBE"], "deny", *WITHOUT[place], "--", *words]
        done = subprocess.run([*as_user(), *words], cwd=f"{self.folder}/p", env=self.env, capture_output=True,
                              text=True, timeout=200, check=False)
        if "\t" not in done.stdout:
            raise Failed(f"{place}: {done.stdout}{done.stderr}")
        return parse(done.stdout)


def expect(row, place, found):
    name, patterns = row
    got, expected = found.get(name, "not tried"), patterns.get(place, patterns["box"])
    # Where no rule has the port the kernel refuses.
    if place == "list" and expected.startswith("refused"):
        expected += "|ECONNREFUSED"
    if not any(fnmatch.fnmatch(got, pattern) for pattern in expected.split("|")):
        raise Failed(f"{name} in {place}: {got}, expected {expected}")


def all_rows(rows, place, found):
    for row in rows:
        expect(row, place, found)
    extra = set(found) - {name for name, _ in rows}
    if extra or len(rows) < 40:
        raise Failed(f"{len(rows)} rows, and without one: {extra}")


def main():
    enter()
    folder = tempfile.mkdtemp()
    tap = Tap()
    host = socket.socket(socket.AF_UNIX)
    name = f"hb-{os.getpid()}"
    host.bind("\0" + name)
    host.listen()
    world = World(folder)
    try:
        boxes, rows = Boxes(folder, name), read_table()
        # The kernel gives root's command no namespace: escape/vectors.sh.
        places = [one for one in PLACES if one != "nested" or os.environ["HB_MODE"] != "root"]
        with ThreadPoolExecutor(len(places)) as pool:
            runs = {place: pool.submit(boxes.outcomes, place) for place in places}
            for place, run in runs.items():
                tap.test(f"no attempt gets past the network: {place}",
                         lambda where=place, run=run: all_rows(rows, where, run.result()))

        def no_leak():
            leaked = [one for one in world.asked if "evil" in one or "secret" in one]
            if leaked:
                raise Failed(f"servers were asked for {leaked}")
        tap.test("no server was asked for a name without a rule", no_leak)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tap.done()


sys.exit(main())
