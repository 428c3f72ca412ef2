# SPDX-License-Identifier: Apache-2.0
"""The measurements.  Each returns plain numbers; table.py judges them."""

import json
import os
import re
import select
import statistics
import subprocess
import time

import scan
from stand import SOURCE, Failure, host

TRIES = 3
NOISE = 0.05
READY_SECONDS = 60
SETTLE_SECONDS = 30
LOOK_SECONDS = 0.25
STEADY_LOOKS = 4
STEADY_KB = 256
KERNEL_FIELDS = ("Slab", "KernelStack", "PageTables", "Percpu")

# Growth over a whole series that would be noise: a leak in each run is more.
TOLERATED_FILES = 500


class Times:
    """Of one command, in microseconds."""

    def __init__(self, fields):
        self.median, self.p25, self.minimum, self.gone = map(float, fields)


def measure_commands(stand, rounds, commands, at_terminal=False):
    """{name: Times} of {name: argv}, run side by side by the user."""
    words = [stand.path("spawn"), *(["-t"] if at_terminal else []), str(rounds)]
    for name, argv in commands.items():
        words += ["---", name, *argv]
    times = {}
    for line in stand.run(*words).splitlines():
        name, *fields = line.split("\t")
        times[name] = Times(fields)
    return times


def start_commands(stand, payload):
    work = stand.path("work")
    commands = {
        "bare": [payload],
        "ours": [*stand.ours(), "--", payload],
        "ours again": [*stand.ours(), "--", payload],
        "bwrap": [*stand.theirs(), "--", payload],
        "floor": [*stand.floor("-e"), payload],
        "floor, filter, slow end": [*stand.floor("-s"), payload],
        "ours, overlay": [*stand.ours_with_overlay(), "--", payload],
        "floor, overlay": [*stand.floor("-e", "-o", work), payload],
        "floor, overlay, filter, slow end": [*stand.floor("-s", "-o", work), payload],
    }
    if stand.holdback():
        commands["holdback run"] = [*stand.holdback(), payload]
    return commands


def measure_start(stand, rounds, payload):
    return measure_pair(stand, rounds, start_commands(stand, payload), "ours")


def measure_pair(stand, rounds, commands, name, at_terminal=False):
    """The times, of the try whose two equal commands, `name` and `name again`,
    differ least."""
    best, least = None, None
    for _ in range(TRIES):
        times = measure_commands(stand, rounds, commands, at_terminal)
        noise = abs(times[name + " again"].median / times[name].median - 1)
        if least is None or noise < least:
            best, least = times, noise
        if least <= NOISE:
            break
    return best


def count_calls(stand, command):
    """System calls of a command and all its children, the median of three."""
    report = stand.path("results", "calls")
    counts = []
    for _ in range(3):
        stand.run("/usr/bin/strace", "-f", "-c", "-o", report, *command)
        with open(report, encoding="utf-8") as file:
            total = re.search(r"^100\.00\s+\S+\s+\S+\s+(\d+).*total$", file.read(), re.M)
        if not total:
            raise Failure("strace printed no total")
        counts.append(int(total[1]))
    return statistics.median_low(counts)


def measure_calls(stand, payload):
    return {
        "bare": count_calls(stand, [payload]),
        "ours": count_calls(stand, [*stand.ours(), "--", payload]),
        "bwrap": count_calls(stand, [*stand.theirs(), "--", payload]),
        "floor": count_calls(stand, [*stand.floor("-e"), payload]),
    }


def read_field(path, name):
    """A number of kilobytes from a file of `Name: number kB` lines."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    raise Failure(f"no {name} in {path}")


class Crowd:
    """Many sandboxes at rest, until the end of the `with`."""

    def __init__(self, stand, command, size):
        self.stand, self.command, self.size = stand, command, size
        self.members, self.hold = [], -1

    def __enter__(self):
        ready, told = os.pipe()
        wait_on, self.hold = os.pipe()
        try:
            for _ in range(self.size):
                self.members.append(
                    subprocess.Popen(
                        [*self.command, self.stand.payload(), "rest"],
                        stdin=wait_on, stdout=told, **self.stand.identity(),
                    )  # fmt: skip
                )
            self.await_all(ready)
        except BaseException:
            self.__exit__()
            raise
        finally:
            for fd in (ready, told, wait_on):
                os.close(fd)
        return self

    def check(self, count, seconds_left=1):
        if seconds_left < 0 or any(member.poll() is not None for member in self.members):
            raise Failure(f"{count} of {self.size} sandboxes are there")

    def await_all(self, ready):
        deadline = time.monotonic() + READY_SECONDS
        count = 0
        while count < self.size:
            left = deadline - time.monotonic()
            self.check(count, left)
            if select.select([ready], [], [], min(left, 1))[0]:
                count += len(os.read(ready, self.size))

    def __exit__(self, *_):
        os.close(self.hold)
        bad = [member for member in self.members if member.wait() != 0]
        if bad:
            raise Failure(f"{len(bad)} of {self.size} sandboxes failed")

    def family(self):
        """The pids of the supervisors, and of everything they started."""
        known = {member.pid for member in self.members}
        rows = list(host.processes())
        grown = True
        while grown:
            new = {row[0] for row in rows if row[1] in known} - known
            grown = bool(new)
            known |= new
        return known


def kernel_memory():
    """What the kernel has taken for itself, in kB.

    Not MemAvailable: what everybody else on the machine maps and caches in the
    meantime is many times as much as the sandboxes take.
    """
    return sum(read_field("/proc/meminfo", name) for name in KERNEL_FIELDS)


def await_rest(pids=()):
    """The kernel's memory once `pids` are gone and it shrinks no more.

    Both take a while: a box dies after its command, and network namespaces are
    taken apart later, all of one moment together.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    least, steady = kernel_memory(), 0
    while steady < STEADY_LOOKS and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
        now = kernel_memory()
        alive = any(os.path.exists(f"/proc/{pid}") for pid in pids)
        steady = 0 if alive or now < least - STEADY_KB else steady + 1
        least = min(least, now)
    return least


def rest(crowd):
    """One crowd: kB of the supervisor's RSS, and for each sandbox PSS, kernel."""
    before, size = await_rest(), crowd.size
    with crowd:
        during = kernel_memory()
        family = crowd.family()
        rss = [read_field(f"/proc/{m.pid}/status", "VmRSS") for m in crowd.members]
        pss = sum(read_field(f"/proc/{pid}/smaps_rollup", "Pss") for pid in family)
    # The mean of both ends: what others make the kernel take is in it once.
    kernel = during - (before + await_rest(family)) / 2
    return statistics.median(rss), pss / size, kernel / size, len(family) / size


class Memory:
    """Of one tool: medians over its crowds, in kB for one sandbox."""

    def __init__(self, crowds):
        columns = [statistics.median(column) for column in zip(*crowds)]
        self.supervisor, self.pss, self.kernel, self.processes = columns
        self.total = self.pss + self.kernel


def measure_memory(stand, size, times):
    """{who: Memory} of sandboxes with a command at rest."""
    commands = {
        "ours": [*stand.ours(), "--"],
        "bwrap": [*stand.theirs(), "--"],
        "floor": stand.floor("-e"),
    }
    return measure_crowds(
        {who: lambda words=words: Crowd(stand, words, size) for who, words in commands.items()},
        times,
    )


def measure_crowds(makers, times):
    """{who: Memory} of {who: what makes a crowd}, `bwrap` among them; the crowds
    take turns, each first in its time."""
    names = list(makers)
    seen = {who: [] for who in names}
    # What the first crowd makes the kernel set aside serves the others as well.
    rest(makers["bwrap"]())
    for turn in range(times):
        first = turn % len(names)
        for who in names[first:] + names[:first]:
            seen[who].append(rest(makers[who]()))
    return {who: Memory(crowds) for who, crowds in seen.items()}


class Traces:
    """What a run could leave on the host."""

    def __init__(self, stand):
        uid = stand.user.uid
        pids = [row[0] for row in host.processes() if row[2] == uid]
        self.facts = {
            "processes": {str(pid) for pid in pids},
            "mounts": set(host.mounts()),
            "namespaces": set().union(*map(namespaces_of, pids)),
            "files": set(files_of(uid, ("/tmp", "/var/tmp", "/dev/shm", stand.top))),
        }
        with open("/proc/sys/fs/file-nr", encoding="utf-8") as file:
            self.open_files = int(file.read().split()[0])

    def since(self, before):
        """{kind: what is new}."""
        new = {kind: sorted(now - before.facts[kind]) for kind, now in self.facts.items()}
        grown = self.open_files - before.open_files
        new["descriptors"] = [f"{grown} more in use"] if grown > TOLERATED_FILES else []
        return new


def namespaces_of(pid):
    found = set()
    try:
        for name in os.listdir(f"/proc/{pid}/ns"):
            found.add(os.readlink(f"/proc/{pid}/ns/{name}"))
    except OSError:
        pass
    return found


def files_of(uid, folders):
    for top in folders:
        for folder, inner, files in os.walk(top):
            for name in inner + files:
                path = os.path.join(folder, name)
                try:
                    if os.lstat(path).st_uid == uid:
                        yield path
                except OSError:
                    pass


def left_since(stand, before):
    """What stays for longer than the kernel's lazy teardown takes."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        new = Traces(stand).since(before)
        if not any(new.values()) or time.monotonic() > deadline:
            return new
        time.sleep(0.1)


def measure_traces(stand, runs):
    """{command: {kind: what is left after so many runs}}; empty lists hoped for."""
    commands = {"ours": stand.ours(), "ours, overlay": stand.ours_with_overlay()}
    if stand.holdback():
        commands["holdback run"] = stand.holdback()[:-1]
    left = {}
    for name, command in commands.items():
        before = Traces(stand)
        measure_commands(stand, runs, {name: [*command, "--", stand.payload()]})
        left[name] = left_since(stand, before)
    return left


def measure_sessions(stand, rounds, *part):
    """{name: seconds}, as bench/txn.py explains them."""
    words = ["/usr/bin/python3", stand.path("txn.py"), stand.path("bin", "holdback")]
    words += [stand.path("volume"), str(rounds), *part]
    # What syncs waits for the writes of everybody on the same file system.
    return json.loads(stand.run_on_volume(*words))


def measure_run(stand, rounds, starts):
    """{name: seconds}, as bench/inside.py explains them."""
    words = ["/usr/bin/python3", stand.path("inside.py"), stand.path("bin", "holdback")]
    words += [stand.theirs()[0], stand.path("volume"), str(rounds), str(starts)]
    return json.loads(stand.run_on_volume(*words))


def measure_heard(stand, rounds):
    """As bench/heard.py explains it."""
    words = ["/usr/bin/python3", stand.path("heard.py"), stand.path("bin", "holdback")]
    return json.loads(stand.run_on_volume(*words, stand.path("volume"), str(rounds)))


def measure_scan(stand, rounds):
    """{name: seconds}, as bench/scan.py explains them."""
    rules = os.path.join(SOURCE, "data", "secrets.rules")
    program = stand.compile_with(("gate", "txn", "sys", "base"), "scan")
    return scan.measure(program, rules, stand.path("results"), rounds, stand.identity())
