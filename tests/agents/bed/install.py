#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches the agents of the table `pins` with npm, into a cache of their own.

    install.py [--newest] [--into DIR] AGENT...

The newest versions have a cache of their own, which keeps one of each.

Each is unpacked as `npm install -g` would lay it out, and no script of a package
runs.  What lies in the cache is complete: it gets its name last.  Prints one
line for each, its directory or the reason why there is none, as JSON.
"""

import argparse
import base64
import concurrent.futures
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 180

# Where a platform's package has the program that stands in for the other's.
NATIVE = {"claude": "claude", "opencode": "bin/opencode"}


# What runs of npm; each has a group of its own.  None starts while all are ended.
RUNNING = set()
STARTING = threading.Lock()


class Missing(Exception):
    """An agent that is not to be had now; the text says why."""


class Row:
    """One package: where it goes, and which bytes it has."""

    def __init__(self, agent, machine, folder, package, version, integrity):
        self.agent, self.machine, self.folder = agent, machine, folder
        self.package, self.version, self.integrity = package, version, integrity


def read_pins():
    with open(os.path.join(HERE, "pins"), encoding="utf-8") as file:
        return [Row(*line.split()) for line in file if line.strip() and line[0] != "#"]


def rows_of(agent):
    rows = [row for row in read_pins() if row.agent == agent]
    if not rows:
        raise Missing("no such agent in the table")
    machine = platform.machine()
    chosen = [row for row in rows if row.machine in ("any", machine)]
    if len(rows) > 1 and len(chosen) == 1:
        raise Missing(f"the table has no package for {machine}")
    return chosen


def newest_of(agent, work, deadline):
    """The same packages in the versions that npm has now, without integrity."""
    rows = rows_of(agent)
    found = json.loads(npm(["view", "--json", rows[0].package], work, deadline))
    if isinstance(found, list):
        found = found[-1]
    result = [Row(agent, "any", rows[0].folder, rows[0].package, found["version"], None)]
    for row in rows[1:]:
        wanted = found["optionalDependencies"][row.folder].removeprefix("npm:")
        name, _, version = wanted.rpartition("@")
        result.append(Row(agent, row.machine, row.folder, name or row.folder, version, None))
    return result


def npm(words, work, deadline):
    """What npm prints.  Its cache and its logs go with the directory `work`."""
    env = dict(os.environ, npm_config_cache=os.path.join(work, "npm"))
    with contextlib.ExitStack() as stack:
        try:
            with STARTING:
                child = stack.enter_context(subprocess.Popen(
                    ["npm", *words], cwd=work, env=env, text=True, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True))  # fmt: skip
                RUNNING.add(child)
        except OSError as why:
            raise Missing(f"npm: {why.strerror}") from why
        stack.callback(end_group, child)
        try:
            printed, errors = child.communicate(timeout=max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as slow:
            raise Missing(f"npm {words[0]} did not end within {SECONDS} s") from slow
    if child.returncode != 0:
        lines = [line for line in errors.splitlines() if " error " in line]
        raise Missing(f"npm {words[0]}: {(lines or ['it fails'])[0]}")
    return printed


def end_group(child):
    """Ends npm with what it started, which may hold the pipes open."""
    RUNNING.discard(child)
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended, and all that it started


def end_when_told():
    """Waits in a thread of its own: the main thread may wait where no handler would run."""
    signal.sigwait({signal.SIGTERM})
    with STARTING:
        for child in list(RUNNING):
            end_group(child)
        os._exit(1)


def fetch(row, work, deadline):
    """The package's archive, whose bytes are the table's."""
    place = tempfile.mkdtemp(dir=work)
    npm(["pack", "--ignore-scripts", "--pack-destination", place,
         f"{row.package}@{row.version}"], work, deadline)  # fmt: skip
    names = os.listdir(place)
    if len(names) != 1:
        raise Missing(f"npm brought no archive of {row.package}")
    path = os.path.join(place, names[0])
    if row.integrity is not None and integrity_of(path) != row.integrity:
        raise Missing(f"{row.package}@{row.version} has other bytes than the table says")
    return path


def integrity_of(path):
    digest = hashlib.sha512()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return "sha512-" + base64.b64encode(digest.digest()).decode()


def unpack(archive, target):
    """The files of an archive below its first folder, for everybody to read."""
    os.makedirs(target)
    with tarfile.open(archive) as tar:
        for member in tar:
            name = os.path.normpath(member.name.partition("/")[2])
            if not member.isfile() or name.startswith(("..", "/")):
                continue
            path = os.path.join(target, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                shutil.copyfileobj(tar.extractfile(member), file, 1 << 20)
            os.chmod(path, 0o755 if member.mode & 0o100 else 0o644)


def assemble(agent, rows, archives, top):
    """lib/node_modules and bin, as npm makes them for a global package."""
    package = os.path.join(top, "lib/node_modules", rows[0].folder)
    unpack(archives[0], package)
    for row, archive in zip(rows[1:], archives[1:]):
        folder = os.path.join(package, "node_modules", row.folder)
        unpack(archive, folder)
        if agent in NATIVE:
            link_native(os.path.join(folder, NATIVE[agent]), package)
    os.mkdir(os.path.join(top, "bin"))
    program = os.path.join(package, bin_of(package))
    os.chmod(program, 0o755)
    name = os.path.join(top, "bin", agent)
    os.symlink(os.path.relpath(program, os.path.dirname(name)), name)


def bin_of(package):
    with open(os.path.join(package, "package.json"), encoding="utf-8") as file:
        return next(iter(json.load(file)["bin"].values()))


def link_native(native, package):
    """What the script of such a package does after an installation."""
    program = os.path.join(package, bin_of(package))
    os.remove(program)
    os.chmod(native, 0o755)
    os.link(native, program)


def install(agent, newest, into, deadline):
    """The directory of an agent, which is made if there is none."""
    os.makedirs(into, exist_ok=True)
    with open(os.path.join(into, f"{agent}.lock"), "w", encoding="utf-8") as lock:
        wait_for(lock, deadline)
        remove_leftovers(agent, into)
        with tempfile.TemporaryDirectory(prefix=f"{agent}.", dir=into) as work:
            rows = newest_of(agent, work, deadline) if newest else rows_of(agent)
            target = os.path.join(into, f"{agent}-{rows[0].version}")
            if not os.path.isdir(target):
                with concurrent.futures.ThreadPoolExecutor() as pool:
                    archives = list(pool.map(lambda row: fetch(row, work, deadline), rows))
                top = os.path.join(work, "top")
                assemble(agent, rows, archives, top)
                os.rename(top, target)
            if newest:
                remove_others(agent, into, target)
    return target


def remove_leftovers(agent, into):
    """What a run left that was ended: the lock is ours, so nothing uses it."""
    for name in os.listdir(into):
        path = os.path.join(into, name)
        if name.startswith(f"{agent}.") and os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)


def remove_others(agent, into, target):
    for name in os.listdir(into):
        path = os.path.join(into, name)
        if name.startswith(f"{agent}-") and path != target:
            shutil.rmtree(path, ignore_errors=True)


def wait_for(lock, deadline):
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as busy:
            if time.monotonic() > deadline:
                raise Missing(f"another run held the cache for {SECONDS} s") from busy
        time.sleep(0.1)


def try_install(agent, options, deadline):
    try:
        return {"directory": install(agent, options.newest, options.into, deadline)}
    except Missing as why:
        return {"reason": str(why)}
    except (OSError, tarfile.TarError, zlib.error, EOFError, ValueError, KeyError) as why:
        return {"reason": f"{type(why).__name__}: {why}"}


def default_cache():
    """The cache of this user; root's home is closed to the user of the tests."""
    if os.geteuid() == 0:
        base = "/var/cache"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("HB_AGENTS_CACHE") or os.path.join(base, "holdback-tests/agents")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--newest", action="store_true", help="not the versions of the table")
    parser.add_argument("--into", metavar="DIR", default=default_cache(), help="the cache")
    parser.add_argument("agents", nargs="+", metavar="AGENT")
    options = parser.parse_args()
    if options.newest:
        options.into = os.path.join(options.into, "newest")
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=end_when_told, daemon=True).start()
    deadline = time.monotonic() + SECONDS
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda a: try_install(a, options, deadline), options.agents))
    print(json.dumps(dict(zip(options.agents, found)), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
