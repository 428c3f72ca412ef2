#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: user
# needs: apt-get dpkg-source tar
# timeout: 1800
"""The gate over a source package that people wrote: hardly a false alarm.

The package is fetched with the machine's own sources; HB_SOURCE_PACKAGE names
another one.  Without a network it is skipped.
"""

import glob
import json
import os
import shutil
import subprocess
import sys

HOLDBACK = os.environ.get("HB_BIN", "holdback")
PACKAGE = os.environ.get("HB_SOURCE_PACKAGE", "binutils")
TOP = os.path.join(os.environ["TMPDIR"], "source-tree")
FILES_MIN = 10000
FINDINGS_MAX = 5
SECRETS = ("secret", "secret-guess", "secret-name")


def write_sources(folder):
    """What the machine has for packages, for their sources."""
    os.makedirs(folder)
    for path in glob.glob("/etc/apt/sources.list.d/*.sources"):
        with open(path, encoding="utf-8") as file:
            text = file.read().replace("Types: deb\n", "Types: deb-src\n")
        with open(os.path.join(folder, os.path.basename(path)), "w", encoding="utf-8") as file:
            file.write(text)
    lines = []
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.list")]:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines += [line.replace("deb ", "deb-src ", 1) for line in file if line.startswith("deb ")]
    with open(os.path.join(folder, "all.list"), "w", encoding="utf-8") as file:
        file.writelines(lines)


def apt(*words):
    folders = {"Etc::sourceparts": "sources", "State::lists": "lists", "Cache": "cache"}
    options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Debug::NoLocking=1"]
    for key, name in folders.items():
        options += ["-o", f"Dir::{key}={TOP}/{name}"]
    return subprocess.run(["apt-get", "-qq", *options, *words], cwd=TOP, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip


def fetch():
    """Unpacks the package; what went wrong, or None."""
    write_sources(f"{TOP}/sources")
    for name in ("lists/partial", "cache/archives/partial"):
        os.makedirs(f"{TOP}/{name}")
    for words in (("update",), ("source", "--download-only", PACKAGE)):
        done = apt(*words)
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or ["it fails"])[-1]
    names = glob.glob(f"{TOP}/*.dsc")
    if not names:
        return "there is no source of " + PACKAGE
    subprocess.run(["dpkg-source", "--no-check", "-x", names[0], f"{TOP}/tree"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    return None


def hb(command, *words, **more):
    return subprocess.run([HOLDBACK, command, "--state-dir", f"{TOP}/state", *words],
                          cwd=f"{TOP}/p", check=False, stdout=subprocess.PIPE, **more)  # fmt: skip


def look():
    """The number of files that the gate saw, and what it found."""
    os.mkdir(f"{TOP}/p")
    hb("create", "s", "--cow", f"{TOP}/p")
    with subprocess.Popen(["tar", "-C", f"{TOP}/tree", "-cf", "-", "."],
                          stdout=subprocess.PIPE) as tar:  # fmt: skip
        hb("exec", "@s", "--", "tar", "-xf", "-", stdin=tar.stdout)
    status = json.loads(hb("status", "--json", "--ignored", "@s").stdout)
    found = json.loads(hb("gate", "--json", "--ignored", "@s").stdout)["findings"]
    hb("cleanup", "-y", "@s")
    return status["summary"]["added"], [f for f in found if f["rule"] in SECRETS]


def main():
    os.makedirs(TOP)
    try:
        why = fetch()
        if why:
            print(f"1..0 # SKIP no source package: {why}")
            return 0
        files, found = look()
    finally:
        shutil.rmtree(TOP)
    print(f"# {PACKAGE}: {files} files, {len(found)} findings")
    for f in found:
        print(f"# {f['path']}:{f.get('line')}: {f['rule']}: {f.get('detail')}")
    print(f"{'ok' if files >= FILES_MIN else 'not ok'} 1 - at least {FILES_MIN} files")
    print(f"{'ok' if len(found) <= FINDINGS_MAX else 'not ok'} 2 - at most {FINDINGS_MAX} findings")
    print("1..2")
    return 0 if files >= FILES_MIN and len(found) <= FINDINGS_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
