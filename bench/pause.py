# SPDX-License-Identifier: Apache-2.0
"""How long a box is still while it is marked, by the number of its changes."""

import os
import statistics
import subprocess
import threading
import time

from live import Kept
from stand import Failure

SIZES = (10, 1000, 20000)
# A process that is never without work: each gap above a millisecond is a line.
TICKER = """
import sys, time
last = time.monotonic_ns()
print("ready", flush=True)
while True:
    now = time.monotonic_ns()
    if now - last > 1000000:
        sys.stdout.write(f"{last} {now}\\n")
        sys.stdout.flush()
    last = now
"""
FILL = """
import os, sys
for number in range(int(sys.argv[1])):
    os.makedirs(f"d{number // 100}", exist_ok=True)
    with open(f"d{number // 100}/{number}", "wb") as file:
        file.write(b"x" * 4096)
"""


class Ticker:
    """The gaps in the time of a process inside."""

    def __init__(self, stand, session):
        words = [stand.path("bin", "holdback"), "exec", "@" + session, "--"]
        self.process = subprocess.Popen(
            [*words, "/usr/bin/python3", "-c", TICKER], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True, **stand.identity(),
        )  # fmt: skip
        self.gaps = []
        if self.process.stdout.readline() != "ready\n":
            raise Failure("the command inside does not start")
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.gaps.append(tuple(int(word) for word in line.split()))

    def longest(self, begin, end):
        """In ms: the longest gap that lies between."""
        found = [new - old for old, new in self.gaps if new > begin and old < end]
        return max(found, default=0) / 1e6

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.reader.join()


def one(ticker, act):
    begin = time.monotonic_ns()
    act()
    end = time.monotonic_ns()
    # The gap is told when it is over.
    time.sleep(0.05)
    return ticker.longest(begin, end), (end - begin) / 1e6


def measure_size(stand, size, rounds):
    """{"mark": ms, "mark, in all": ms, "nothing": ms, "cp -a": ms}."""
    found = {"mark": [], "mark, in all": [], "nothing": [], "cp -a": []}
    with Kept(stand, 1, f"pause{size}-") as kept:
        name = kept.names[0]
        kept.run("exec", "@" + name, "--", "/usr/bin/python3", "-c", FILL, str(size))
        copy = stand.path("work", "copy")
        ticker = Ticker(stand, name)
        try:
            source = os.path.join(stand.path("work"), f"plain{size}")
            stand.run("mkdir", source)
            stand.run("sh", "-ec", f'cd "$1"; exec python3 -c "$2" {size}', "sh", source, FILL)
            for _ in range(rounds):
                pause, whole = one(ticker, lambda: kept.run("mark", "--live", "@" + name))
                found["mark"].append(pause)
                found["mark, in all"].append(whole)
                found["nothing"].append(one(ticker, lambda: time.sleep(whole / 1000))[0])
                found["cp -a"].append(one(ticker, lambda: stand.run("cp", "-a", source, copy))[1])
                stand.run("rm", "-r", copy)
            stand.run("rm", "-r", source)
        finally:
            ticker.end()
    return {key: statistics.median(values) for key, values in found.items()}


def measure(stand, rounds):
    return {size: measure_size(stand, size, rounds) for size in SIZES}
