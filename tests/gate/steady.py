#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""G12: what is applied is what the gate saw.

A commit is stopped before each of its changes up to the journal's last ones, and
something that the gate would not let pass is put into the layer, in ways that
leave size and modification time as they were.  Whether the gate has been there
already or not: nothing is committed.
"""

import glob
import os
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import stopper  # noqa: E402

HOLDBACK = os.environ.get("HB_BIN", "holdback")
TOP = os.path.join(os.environ["TMPDIR"], "steady")
PROJECT, STATE = os.path.join(TOP, "p"), os.path.join(TOP, "state")
SOAK = os.environ.get("HB_SOAK") == "1"
DENIED, CONFLICT, BUSY = 4, 5, 8
STEP = 1 if SOAK else 3
# After the last look: what is left of the journal, its head, a sync, its name.
JOURNAL = 4

GOOD = '{"dependencies": {"a": "1"}}            '
EVIL = '{"scripts": {"postinstall": "evil"}}    '
assert len(GOOD) == len(EVIL)


def hb(command, *words):
    subprocess.run(
        [HOLDBACK, command, "--state-dir", STATE, *words], cwd=PROJECT, check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def with_its_time(path, act):
    before = os.stat(path)
    act()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def overwrite(upper):
    """In place, the same size, the same time."""
    path = os.path.join(upper, "package.json")

    def act():
        with open(path, "r+", encoding="ascii") as file:
            file.write(EVIL)

    with_its_time(path, act)


def replace(upper):
    path = os.path.join(upper, "package.json")

    def act():
        write(path + "~", EVIL)
        os.rename(path + "~", path)

    with_its_time(path, act)


def add(upper):
    """To a directory that arrives as a whole."""
    with_its_time(
        os.path.join(upper, "n"), lambda: write(os.path.join(upper, "n", ".envrc"), "evil")
    )


def mode(upper):
    os.chmod(os.path.join(upper, "n", "f"), 0o4755)


def picture():
    return subprocess.run(
        ["python3", os.path.join(TESTS, "lib", "digest.py"), PROJECT],
        check=True, capture_output=True,
    ).stdout  # fmt: skip


def make():
    os.makedirs(PROJECT)
    write(os.path.join(PROJECT, "package.json"), "{}")
    before = picture()
    hb("create", "s", "--cow", PROJECT)
    hb("exec", "@s", "--", "sh", "-c", f"echo '{GOOD}' >package.json; mkdir n; echo f >n/f")
    return before


def commit():
    return stopper.Stopper(
        [HOLDBACK, "commit", "--state-dir", STATE, "-y", "@s"], cwd=PROJECT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def end(program):
    program.go_on()
    said = program.child.stdout.read()
    program.child.stdout.close()
    return said


def count():
    """The changes before the last look."""
    make()
    number = 1
    with commit() as program:
        while not os.path.exists(os.path.join(STATE, "sessions", "s", "journal")):
            if not program.run_to(number):
                raise AssertionError("it never got there")
            number += 1
        end(program)
    shutil.rmtree(TOP)
    return number - 2 - JOURNAL


def meet(number, meddle):
    """One commit with one meddling; what is wrong."""
    before = make()
    upper = glob.glob(os.path.join(TOP, "**", "upper"), recursive=True, include_hidden=True)[0]
    with commit() as program:
        call = program.run_to(number)
        meddle(upper)
        said = end(program)
    wrong = ""
    if program.status not in (DENIED, CONFLICT, BUSY):
        wrong = f"status {program.status}\n{said}"
    elif picture() != before:
        wrong = "refused, and yet something changed"
    shutil.rmtree(TOP)
    return wrong and f"before change {number}, {call}: {wrong}"


def try_all(meddle, last):
    for number in [*range(1, last, STEP), last]:
        why = meet(number, meddle)
        if why:
            return why
    return None


def main():
    if not stopper.is_known_machine():
        print("1..0 # SKIP the numbers of this machine's system calls are not known")
        return 0
    ways = (overwrite, replace, add, mode)
    print(f"1..{len(ways)}")
    last = count()
    print(f"# {last} changes")
    for number, meddle in enumerate(ways, 1):
        why = try_all(meddle, last)
        print(f"{'not ok' if why else 'ok'} {number} - {meddle.__name__}")
        for line in (why or "").splitlines():
            print(f"# {line}")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
