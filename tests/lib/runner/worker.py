# SPDX-License-Identifier: Apache-2.0
"""Runs one test file in one mode, in a process of its own.

That process is the reaper of everything the test starts: what is orphaned
comes to it, so whatever is still its child when the test has ended was left
behind, no matter which session, group or namespace it went to.
"""

import ctypes
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time

from . import host, tap

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# The kernel may still be taking a sandbox down when its front end has told the
# exit status; longer than this is not teardown.
GRACE = 3.0

OUTPUT_LIMIT = 1 << 20
MODE_COMMAND = {
    "user": [],
    "root": [],
    "tree": [],
    "userns": ["unshare", "--user", "--map-current-user", "--"],
}


class Job:
    """One test file in one mode, and where it happens."""

    def __init__(self, number, test, mode, run):
        self.number = number
        self.test = test
        self.mode = mode
        self.run = run  # what all jobs share, a tests/run Run
        self.work = os.path.join(run.stage, "work", str(number))
        self.result_path = os.path.join(run.stage, "results", str(number))
        self.output = ""
        self.seconds = 0.0
        self.processors = 0.0  # seconds of them

    def environment(self):
        stage = self.run.stage
        source = self.run.source if self.test.in_tree else stage
        env = {
            "PATH": host.PATH,
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/sh",
            "USER": self.run.user.name if self.as_user() else "root",
            "HOME": os.path.join(self.work, "home"),
            "TMPDIR": os.path.join(self.work, "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HB_BIN": os.path.join(stage, "bin/holdback"),
            "HB_LIBEXEC": os.path.join(stage, "libexec/holdback"),
            "HB_BWRAP": os.path.join(stage, "libexec/holdback/bwrap"),
            "HB_PROBE": os.path.join(stage, "probe"),
            "HB_LISTEN": os.path.join(stage, "listen"),
            "HB_FREEZER": os.path.join(stage, "freezer"),
            "HB_TESTS": os.path.join(source, "tests"),
            "HB_SOURCE": source,
            "HB_BUILD": self.run.build,
            "HB_MODE": self.mode,
            "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        }
        env["LOGNAME"] = env["USER"]
        if self.test.agent:
            env["HB_AGENT"] = self.run.agents.of(self.test.agent)
        for name in ("HB_MUST_WORK", "HB_SOAK", "HB_SEED", "HB_SEEDS", "HB_CELL", "HB_CGROUP"):
            if name in os.environ:
                env[name] = os.environ[name]
        return env

    def as_user(self):
        return self.mode in ("user", "userns") or os.geteuid() != 0

    def executable(self):
        """The staged copy of the test."""
        test = self.test
        if test.in_tree:
            return test.path
        staged = os.path.join(self.run.stage, "tests", test.name)
        if os.path.exists(staged):
            return staged
        return os.path.join(self.run.stage, test.name)


def start(job):
    """Forks the worker of a job; returns its pid."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid != 0:
        return pid
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, stop)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        result = perform(job)
        with open(job.result_path, "wb") as file:
            pickle.dump((result, job.output, job.seconds), file)
        status = 0
    finally:
        kill_children()
        sys.stderr.flush()
        os._exit(status)


def stop(*_):
    kill_children()
    os._exit(1)


def perform(job):
    test = job.test
    result = tap.Result()
    if test.broken:
        result.fail(test.broken)
        return result
    lacking = [n for n in test.needs if not shutil.which(n, path=host.PATH)]
    if lacking:
        result.skips.append(("", "needs " + " ".join(lacking)))
        return result
    for name in ("tmp", "home"):
        folder = os.path.join(job.work, name)
        os.makedirs(folder)
        if os.geteuid() == 0 and job.as_user():
            os.chown(folder, job.run.user.uid, job.run.user.gid)
    began = time.monotonic()
    status = execute(job)
    job.seconds = time.monotonic() - began
    with open(os.path.join(job.work, "stdout"), encoding="utf-8", errors="replace") as file:
        stdout = file.read(OUTPUT_LIMIT)
    with open(os.path.join(job.work, "stderr"), encoding="utf-8", errors="replace") as file:
        stderr = file.read(OUTPUT_LIMIT)
    job.output = stdout + stderr
    result = tap.parse(stdout)
    if status is None:
        result.fail(f"no end after {job.run.timeout_of(test)} s")
    elif status != 0 and not result.failures:
        result.fail(f"exit status {status} without a failed test")
    for line in left_behind(job):
        result.fail("left behind: " + line)
    host.remove_tree(job.work)
    return result


def execute(job):
    """Runs the test; its exit status, or None if its time was up."""
    command = MODE_COMMAND[job.mode] + [job.executable()]
    options = {}
    if os.geteuid() == 0 and job.as_user():
        user = job.run.user
        options = {"user": user.uid, "group": user.gid, "extra_groups": []}
    cwd = job.run.source if job.test.in_tree else os.path.join(job.work, "tmp")
    with open(os.path.join(job.work, "stdout"), "wb") as out, open(
        os.path.join(job.work, "stderr"), "wb"
    ) as err:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=cwd,
            env=job.environment(),
            start_new_session=True,
            umask=0o022,
            **options,
        )
        try:
            return child.wait(job.run.timeout_of(job.test))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return None


def left_behind(job):
    """Processes and files of the test that are still there; ends the former."""
    lines = []
    deadline = time.monotonic() + GRACE
    while children() and time.monotonic() < deadline:
        reap()
        time.sleep(0.01)
    for pid, command in children():
        lines.append(f"process {pid} {command}")
    kill_children()
    for name in ("tmp", "home"):
        top = os.path.join(job.work, name)
        for entry in sorted(os.listdir(top)) if os.path.isdir(top) else [""]:
            lines.append(f"{name}/{entry}")
    return lines


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def children():
    own = os.getpid()
    return [
        (pid, command)
        for pid, parent, _, state, command in host.processes()
        if parent == own and state != "Z"
    ]


def kill_children():
    """Ends everything below us: what loses its parent becomes our child."""
    while True:
        alive = children()
        for pid, _ in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        reap()
        if not alive:
            return
        time.sleep(0.005)
