#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: user
# timeout: 900
"""Somebody stamps numbers into the real files while a session is committed.

Half of the rounds append, as a log does; the others replace the file, as an
editor does.  Afterwards each stamp is in the base, or in what undo keeps; if
the commit was refused it is in the base, and its path is listed.  Two stamps
can leave a commit that can go neither way: then nothing is lost either.  1000
rounds, 10000 in the long run.  race-steps.py meets each window on purpose.
"""

import collections
import os
import random
import shutil
import stat
import subprocess
import sys
import time

HOLDBACK = os.environ.get("HB_BIN", "holdback")
ROUNDS = 10000 if os.environ.get("HB_SOAK") == "1" else 1000
BATCH = 100
FILES = ["f0", "f1", "f2", "f3"]
CONFLICT, STATE = 5, 10
NAMED = ("changed in 1 place:", "places, first in", "meanwhile changed:")
OUTCOMES = {0: "committed", CONFLICT: "refused", STATE: "stuck"}

# Inside: one file grows, one is replaced, one is removed, one is untouched.
INSIDE = "echo session >>f0; echo session >f1.new; mv f1.new f1; rm -f f2; echo >new"


def append(base, name, stamp):
    """An open file may be exchanged before it is written to."""
    file = os.open(os.path.join(base, name), os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, stamp)
    finally:
        os.close(file)


def replace(base, name, stamp):
    """Never the one that an earlier stamp made: that would be our own loss."""
    path = os.path.join(base, name)
    fresh = os.path.join(os.path.dirname(base), f"save.{name}")
    with open(fresh, "wb") as file:
        file.write(stamp)
    os.rename(fresh, path)


def write_stamps(base, go, told):
    """For each line `number delay count` read: stamps, and says what it wrote."""
    with os.fdopen(go, encoding="ascii") as orders, os.fdopen(told, "w") as answers:
        for line in orders:
            number, delay, count = map(int, line.split())
            dice = random.Random(number)
            # Spins: a sleep would end when the machine likes.
            end = time.perf_counter_ns() + delay
            while time.perf_counter_ns() < end:
                pass
            write = replace if number % 2 else append
            names = dice.sample(FILES, min(count, len(FILES)))
            done = []
            for i, name in enumerate(names):
                stamp = f"<{number}.{i}>"
                try:
                    write(base, name, (stamp + "\n").encode())
                    done.append(f"{name}={stamp}")
                except FileNotFoundError:
                    pass
            answers.write(" ".join(done) + "\n")
            answers.flush()


class Writer:
    """The other process."""

    def __init__(self, base):
        orders, self.go = os.pipe()
        self.told, answers = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.go)
            os.close(self.told)
            status = 1
            try:
                write_stamps(base, orders, answers)
                status = 0
            finally:
                os._exit(status)
        os.close(orders)
        os.close(answers)
        self.answers = os.fdopen(self.told, encoding="ascii")

    def start(self, number, delay, count):
        os.write(self.go, f"{number} {delay} {count}\n".encode())

    def stamps(self):
        """[(name, stamp)] of the order that was given last."""
        line = self.answers.readline()
        if not line.endswith("\n"):
            raise AssertionError("the writer died")
        return [tuple(word.split("=")) for word in line.split()]

    def end(self):
        os.close(self.go)
        self.answers.close()
        os.waitpid(self.pid, 0)


class Session:
    """The session `s`, which is made anew for each batch."""

    def __init__(self, work):
        self.base, self.state = os.path.join(work, "p"), os.path.join(work, "state")

    def call(self, command, *words):
        return subprocess.run(
            [HOLDBACK, command, "--state-dir", self.state, *words],
            cwd=self.base, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def must(self, command, *words):
        done = self.call(command, *words)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip()
            raise AssertionError(f"{command}: exit status {done.returncode}: {said}")

    def kept(self):
        """What undo keeps, as one text."""
        found = []
        for folder, _, files in os.walk(self.state):
            for name in files if "/undo" in folder else ():
                path = os.path.join(folder, name)
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        found.append(file.read())
        return b"".join(found).decode()

    def real(self):
        found = []
        for name in sorted(os.listdir(self.base)):
            with open(os.path.join(self.base, name), encoding="ascii") as file:
                found.append(file.read())
        return "".join(found)


def fill(session):
    for name in FILES:
        path = os.path.join(session.base, name)
        if not os.path.exists(path):
            with open(path, "w", encoding="ascii") as file:
                file.write("base\n")


def judge(session, status, said, stamps):
    """Raises AssertionError if a stamp is nowhere."""
    real = session.real()
    kept = session.kept() if status != CONFLICT else ""
    for name, stamp in stamps:
        if stamp in real or stamp in kept:
            continue
        raise AssertionError(
            f"{stamp} in {name} is lost; exit status {status}: {said}\n{real}\n--\n{kept}"
        )
    # A file that the session has no more than a copy of is no conflict by the time
    # that all are listed; what stopped the commit is in what is said first.
    names = {name for name, _ in stamps}
    is_settled = "fix: look at the changes again" in said
    named = {n for n in FILES for words in NAMED if f"{words} {n}\n" in said} & names
    listed = {n for n in FILES if f"conflict: {n}:" in said}
    if status == CONFLICT and not (named if is_settled else listed):
        raise AssertionError(f"no path is listed: {said}")


def play(session, writer, number, dice, outcomes):
    """One round; the time its commit took."""
    session.must("exec", "@s", "--", "sh", "-ec", f"cd '{session.base}'; {INSIDE}")
    writer.start(number, dice.randrange(outcomes["span"]), dice.randint(1, 3))
    began = time.perf_counter_ns()
    done = session.call("commit", "-y", "@s")
    took = time.perf_counter_ns() - began
    stamps = writer.stamps()
    said = done.stdout + done.stderr
    if done.returncode not in OUTCOMES or (
        (done.returncode == 0) != done.stdout.startswith("committed")
    ):
        raise AssertionError(f"commit: exit status {done.returncode}: {said}")
    judge(session, done.returncode, said, stamps)
    kept = session.kept() if done.returncode == 0 else ""
    outcomes[OUTCOMES[done.returncode]] += 1
    outcomes["in undo"] += any(stamp in kept for _, stamp in stamps)
    outcomes["span"] = max(1_000_000, (outcomes["span"] * 7 + took) // 8)
    # What the user has now is what the next round begins with.
    if done.returncode == CONFLICT:
        session.must("rollback", "-y", "@s")
    elif done.returncode == STATE:
        session.must("cleanup", "-y", "@s")
        session.must("create", "s", "--cow", session.base)


def play_batch(session, writer, first, outcomes):
    dice = random.Random(first)
    fill(session)
    session.must("create", "s", "--cow", session.base)
    failures = []
    for number in range(first, first + BATCH):
        fill(session)
        try:
            play(session, writer, number, dice, outcomes)
        except AssertionError as error:
            failures.append(f"round {number}: {error}")
            break
    session.must("cleanup", "-y", "@s")
    return failures


def main():
    work = os.path.join(os.environ["TMPDIR"], "race")
    os.makedirs(os.path.join(work, "p"))
    session = Session(work)
    writer = Writer(session.base)
    outcomes = collections.Counter(span=10_000_000)
    batches = ROUNDS // BATCH
    print(f"1..{batches + 1}")
    try:
        for batch in range(batches):
            first = batch * BATCH + 1
            failures = play_batch(session, writer, first, outcomes)
            print(f"{'not ok' if failures else 'ok'} {batch + 1} - rounds {first} and on")
            for line in "\n".join(failures).splitlines()[:40]:
                print(f"# {line}")
            sys.stdout.flush()
    finally:
        writer.end()
        shutil.rmtree(work)
    counts = ", ".join(f"{outcomes[k]} {k}" for k in [*OUTCOMES.values(), "in undo"])
    met = outcomes["committed"] and outcomes["refused"]
    print(f"# {counts}")
    print(f"{'ok' if met else 'not ok'} {batches + 1} - the writer came before, between and after")
    return 0


if __name__ == "__main__":
    sys.exit(main())
