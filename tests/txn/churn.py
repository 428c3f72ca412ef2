#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A command that changes names under whoever looks at its session.

Files, links, directories and whiteouts change places as fast as they can in a
live session.  Each look succeeds, or says that the session is live and in
motion: never that something inside of us, or the session, is broken.
"""

import os
import shutil
import signal
import subprocess
import sys
import time

HOLDBACK = os.environ["HB_BIN"]
SOAK = os.environ.get("HB_SOAK") == "1"
ROUNDS = 200 if SOAK else 15
PATIENCE = 30.0
MOVING = 8
LOOKS = {
    "status": ["status", "@s"],
    "diff": ["diff", "@s"],
    "names": ["diff", "--name-status", "@s"],
    "gate": ["gate", "@s"],
}
FINE = {0, 1, 4, 5, MOVING}  # `gate` says by its status what it found

CHURN = """
import ctypes, os, shutil, sys
libc = ctypes.CDLL(None)
def swap(a, b):
    libc.renameat2(-100, a.encode(), -100, b.encode(), 2)
os.chdir(sys.argv[1])
for i in range(6):
    os.makedirs(f"n{i}/x/y", exist_ok=True)
    for k in range(20):
        open(f"n{i}/x/y/{k}", "w").write("text %d" % k)
    os.path.lexists(f"l{i}") or os.symlink("/etc", f"l{i}")
    open(f"f{i}", "w").write("x" * 5000)
open("ready", "w").close()
number = 0
while True:
    number += 1
    i = number % 6
    swap(f"n{i}", f"l{i}")
    swap(f"l{i}", f"f{i}")
    swap(f"n{i}", f"n{(i + 1) % 6}")
    for name in ("d", "e"):
        shutil.rmtree(name, ignore_errors=True)
        try:
            os.mkdir(name)
            open(name + "/again", "w").close()
            os.rename(name + "/again", name + "/twice")
        except OSError:
            pass
"""


def main():
    top = os.path.join(os.environ["TMPDIR"], "churn")
    base, state = os.path.join(top, "p"), os.path.join(top, "s")
    for name in ("d", "e"):
        os.makedirs(os.path.join(base, name))
        for number in range(20):
            with open(os.path.join(base, name, str(number)), "w", encoding="ascii") as file:
                file.write("old\n")

    def run(*words):
        return subprocess.run(
            [HOLDBACK, words[0], "--state-dir", state, *words[1:]], cwd=base,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, errors="replace",
        )  # fmt: skip

    run("create", "s", "--cow", base)
    with subprocess.Popen(
        [HOLDBACK, "exec", "--state-dir", state, "@s", "--", sys.executable, "-c", CHURN, base],
        cwd=base, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as box:  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while "ready" not in run("diff", "--name-status", "@s").stdout:
            if time.monotonic() > deadline or box.poll() is not None:
                break
        number = 0
        seen = {}
        for name, words in LOOKS.items():
            wrong = []
            for _ in range(ROUNDS):
                done = run(*words)
                seen[done.returncode] = seen.get(done.returncode, 0) + 1
                if done.returncode not in FINE or (
                    done.returncode == MOVING and "fix: " not in done.stderr
                ):
                    wrong.append(f"{done.returncode}: {done.stderr.strip()}")
            number += 1
            print(f"{'not ok' if wrong else 'ok'} {number} - {name} of a session in motion")
            for line in sorted(set(wrong))[:5]:
                print("# " + line.replace("\n", "\n# "))
        run("stop", "@s")
        if box.poll() is None:
            box.send_signal(signal.SIGTERM)
    print(f"# by exit status: {seen}")
    number += 1
    done = run("status", "@s")
    print(f"{'ok' if done.returncode == 0 else 'not ok'} {number} - and at rest it can be seen")
    run("cleanup", "-y", "@s")
    shutil.rmtree(top, ignore_errors=True)
    print(f"1..{number}")


if __name__ == "__main__":
    main()
