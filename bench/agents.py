# SPDX-License-Identifier: Apache-2.0
"""The start of a real agent, bare and through holdback, first and later."""

import json
import os
import subprocess
import sys

import figures
from stand import SOURCE, Failure

AGENT = "claude"
INSTALL = os.path.join(SOURCE, "tests", "agents", "bed", "install.py")
# A home without any state for each start.  Bare and inside pay the same for it.
NEW_HOME = 'HOME=$(mktemp -d "$HOME/new.XXXXXX") exec "$@"'


def find(stand):
    """The program of the agent, as the tests fetch it."""
    done = subprocess.run([sys.executable, INSTALL, AGENT], capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)[AGENT]
    except ValueError as why:
        raise Failure(f"{INSTALL}: {done.stderr.strip()}") from why
    if "reason" in found:
        raise Failure(f"{AGENT} is not to be had: {found['reason']}")
    program = os.path.join(found["directory"], "bin", AGENT)
    stand.run(program, "--version")
    return program


def measure(stand, rounds):
    """{name: Times} of `claude --version`, by turns; all but the first have the same home."""
    bare = [find(stand), "--version"]
    inside = [stand.path("bin", "holdback"), "-q", *bare]
    anew = ["/bin/sh", "-c", NEW_HOME, "sh"]
    commands = {
        "bare": bare,
        "later": inside,
        "later again": inside,
        "bare, new home": [*anew, *bare],
        "first": [*anew, *inside],
    }
    stand.run(*inside)  # the state that later runs find
    times = figures.measure_pair(stand, rounds, commands, "later")
    if stand.run(stand.path("bin", "holdback"), "ls"):
        raise Failure(f"{AGENT} --version leaves a session")
    return times
