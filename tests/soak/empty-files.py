#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 1800
"""H17: ten million empty files in memory do not take the host's.

Each costs the kernel a kilobyte that no limit of bytes counts.  The command is
told that there is no more room, long before, and everything else goes on.
"""

import os
import subprocess
import sys

HOLDBACK = os.environ["HB_BIN"]
WANTED = 10_000_000
MAKE = """
import os, sys
n = 0
try:
    while n < int(sys.argv[1]):
        folder = f"{sys.argv[2]}/d{n // 10000}"
        if n % 10000 == 0:
            os.mkdir(folder)
        os.close(os.open(f"{folder}/{n}", os.O_CREAT | os.O_WRONLY))
        n += 1
    print(n, "all of them")
except OSError as e:
    print(n, e.strerror)
"""


def run(place):
    words = [HOLDBACK, "run", "--ephemeral", "-q", "--", "python3", "-c", MAKE, str(WANTED), place]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def kernel_memory():
    with open("/proc/meminfo", encoding="utf-8") as file:
        rows = dict(line.split(":") for line in file)
    return int(rows["MemTotal"].split()[0])


def judge(place):
    """What is wrong, or None."""
    done = run(place)
    count, _, why = done.stdout.strip().partition(" ")
    print(f"# {place}: {done.stdout.strip()} {done.stderr.strip()}")
    if done.returncode != 0 or why != "No space left on device":
        return f"the command was not told: {done.stdout!r} {done.stderr!r}"
    # 1 KiB for each is at most an eighth of the machine's memory.
    if int(count) > kernel_memory() / 8:
        return f"{count} empty files are too many"
    after = subprocess.run([HOLDBACK, "run", "--ephemeral", "-q", "--", "true"], check=False)
    return None if after.returncode == 0 else "the next run fails"


def main():
    work = os.path.join(os.environ["TMPDIR"], "empty-files")
    os.mkdir(work)
    os.chdir(work)
    places = {
        "empty files in the project's layer in memory end at a bound": ".",
        "empty files in /tmp of the sandbox end at a bound": "/tmp",
    }
    print(f"1..{len(places)}")
    failed = 0
    for number, (name, place) in enumerate(places.items(), 1):
        why = judge(place)
        failed += why is not None
        print(f"{'not ok' if why else 'ok'} {number} - {name}")
        if why:
            print("# " + why)
    os.rmdir(work)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
