#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: user
# needs: node
# timeout: 120
"""The agents are fetched whole or not at all, within a limit, and a miss is a skip.

A program of ours stands in for npm.
"""

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time

sys.dont_write_bytecode = True
TESTS = os.environ["HB_TESTS"]
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.path.insert(0, os.path.join(TESTS, "agents", "bed"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Tap, same  # noqa: E402
import install  # noqa: E402

HOME = os.environ["HOME"]
BIN = os.path.join(HOME, "bin")
ARCHIVE = os.path.join(HOME, "claude.tgz")
CACHE = os.path.join(HOME, "cache")

# What the stand-in does; $place is the directory that it is to fill.
BRINGS = 'cp "$ARCHIVE" "$place/claude.tgz"'
CUTS = 'head -c $(($(wc -c <"$ARCHIVE") / 2)) "$ARCHIVE" >"$place/claude.tgz"'
FAILS = 'echo "npm error code ENOTFOUND" >&2; echo "npm error more" >&2; exit 1'
HANGS = "sleep 1000 & sleep 1000"
PARTLY = f"{CUTS}; {FAILS}"
SILENT = ":"


def write_npm(script):
    path = os.path.join(BIN, "npm")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n"
                   'while [ $# -gt 1 ]; do [ "$1" != --pack-destination ] || place=$2; shift; done\n'
                   f"ARCHIVE={ARCHIVE}\n{script}\n")  # fmt: skip
    os.chmod(path, 0o755)


def write_archive():
    """A package as npm has it; large enough that half of it is cut in a file."""
    with tarfile.open(ARCHIVE, "w:gz") as tar:
        for name, data in (
            ("package.json", json.dumps({"bin": {"claude": "cli.js"}}).encode()),
            ("cli.js", b"#!/bin/sh\necho I am whole\n"),
            ("rest", os.urandom(100000)),
        ):
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            member.mode = 0o644
            tar.addfile(member, io.BytesIO(data))


def fetch(script, integrity=True, seconds=60):
    """What install.py says of the agent, with npm doing as the script says."""
    write_npm(script)
    wanted = install.integrity_of(ARCHIVE) if integrity else None
    install.read_pins = lambda: [install.Row("claude", "any", "c", "c", "1", wanted)]
    options = argparse.Namespace(newest=False, into=CACHE)
    install.SECONDS = seconds
    return install.try_install("claude", options, time.monotonic() + seconds)


def missed(words, *call):
    """There is a reason, and nothing in the cache that could be taken for the agent."""
    found = fetch(*call)
    if words not in found.get("reason", ""):
        raise Failed(f"{found}")
    same(os.listdir(CACHE), ["claude.lock"])


def no_npm():
    path = os.environ["PATH"]
    os.environ["PATH"] = os.path.join(HOME, "empty")
    try:
        found = install.try_install("claude", argparse.Namespace(newest=False, into=CACHE),
                                    time.monotonic() + 60)  # fmt: skip
    finally:
        os.environ["PATH"] = path
    same(found, {"reason": "npm: No such file or directory"})


def whole():
    found = fetch(BRINGS)
    program = os.path.join(found.get("directory", str(found)), "bin", "claude")
    done = subprocess.run([program], check=False, capture_output=True, text=True)
    same(done.stdout, "I am whole\n")


def again():
    """What is there is not fetched again."""
    same(fetch(FAILS), {"directory": os.path.join(CACHE, "claude-1")})


def leftovers():
    """What a killed installer left is removed, and is no agent."""
    os.makedirs(os.path.join(CACHE, "claude.killed", "top", "bin"))
    whole()
    same(sorted(os.listdir(CACHE)), ["claude-1", "claude.lock"])


def ended():
    """A run of the tests that ends early ends the installer, and npm with it."""
    fifo = os.path.join(HOME, "fifo")
    write_npm(f"echo $$ >{fifo}; {HANGS}")
    words = [os.path.join(TESTS, "agents", "bed", "install.py"), "--into", CACHE, "codex"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as child:
        with open(fifo, encoding="utf-8") as started:
            number = int(started.readline())
        child.terminate()
    for _ in range(600):
        if has_ended(number):
            return
        time.sleep(0.1)
    raise Failed("npm still runs")


def has_ended(number):
    """Also if nothing has waited for it yet."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:
            return file.read().rpartition(") ")[2].startswith("Z")
    except FileNotFoundError:
        return True


def skipped():
    env = dict(os.environ, HB_AGENT=json.dumps({"reason": "npm pack: npm error code ENOTFOUND"}))
    for name in ("claude", "codex", "opencode", "gemini", "claude-sandbox", "codex-sandbox"):
        words = [sys.executable, os.path.join(TESTS, "agents", f"{name}.py")]
        done = subprocess.run(words, env=env, check=False, capture_output=True, text=True)
        agent = name.partition("-")[0]
        want = f"1..0 # SKIP {agent} is not to be had: npm pack: npm error code ENOTFOUND\n"
        same((done.returncode, done.stdout), (0, want))


def all_tests(tap):
    tap.test("agents are fetched for three minutes at most", same, install.SECONDS, 180)
    write_npm(SILENT)
    tap.test("without npm an agent is missing, with the reason", no_npm)
    tap.test("a download that fails is a reason", missed, "ENOTFOUND", FAILS)
    tap.test("a download that fails half-way is a reason", missed, "ENOTFOUND", PARTLY)
    tap.test("a download that brings nothing is a reason", missed, "no archive", SILENT)
    tap.test("a download with other bytes is a reason", missed, "other bytes", CUTS)
    tap.test("a download that is cut is a reason without a pin as well", missed, "", CUTS, False)
    tap.test("a download that does not end is ended, with what it started", missed,
             "did not end within 1 s", HANGS, True, 1)  # fmt: skip
    tap.test("after all of that the agent is fetched, and is whole", whole)
    tap.test("an agent that is there is not fetched again", again)
    tap.test("what a killed installer left is removed", leftovers)
    tap.test("an installer that is told to end ends npm as well", ended)
    tap.test("the test of an agent that is missing is a skip with the reason", skipped)


def main():
    os.makedirs(BIN)
    os.makedirs(CACHE)
    os.mkfifo(os.path.join(HOME, "fifo"))
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    write_archive()
    tap = Tap()
    try:
        all_tests(tap)
    finally:
        for path in (BIN, CACHE):
            shutil.rmtree(path)
        os.remove(ARCHIVE)
        os.remove(os.path.join(HOME, "fifo"))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
