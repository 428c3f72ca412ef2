# SPDX-License-Identifier: Apache-2.0
"""The command's own terminal: its cost at the start, and how fast output passes it."""

import contextlib
import os

import figures

# Bytes that a command shows.
SIZE = 100_000_000
LINES = {
    "plain": b"0000000 the quick brown fox jumps over the lazy dog, again and again..\n",
    "coloured": b"\033[32m+\033[0m \033[1mif\033[0m (\033[36mx\033[0m > \033[33m0\033[0m)"
    + b" return;\033[K\n",
}


def commands_of(stand, *payload):
    """The same command without a sandbox, and in one by both kinds of terminal."""
    *run, end = stand.holdback()
    return {
        "bare": list(payload),
        "own": [*run, end, *payload],
        "own again": [*run, end, *payload],
        "real": [*run, "--tty", "real", end, *payload],
    }


@contextlib.contextmanager
def real_time():
    """Before all others of the machine: a session of its own has the kernel's scheduler count it
    as a group of its own, which waits for its turn among those of others."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def measure_start(stand, rounds):
    commands = commands_of(stand, "/bin/true")
    return figures.measure_pair(stand, rounds, commands, "own", at_terminal=True)


def make_text(stand, name):
    path = stand.path("work", name + ".txt")
    line = LINES[name]
    with open(path, "wb") as file:
        file.write(line * (SIZE // len(line)))
    return path


def measure(stand, rounds, times):
    """{"start": {how: {name: Times}}, "shown": {text: {name: Times}}}, at a terminal."""
    found = {"start": {"true": measure_start(stand, rounds)}, "shown": {}}
    if os.geteuid() == 0:
        with real_time():
            found["start"]["true, with real-time priority"] = measure_start(stand, rounds)
    for text in LINES:
        cat = commands_of(stand, "/bin/cat", make_text(stand, text))
        found["shown"][text] = figures.measure_commands(stand, times, cat, at_terminal=True)
    return found
