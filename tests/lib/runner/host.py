# SPDX-License-Identifier: Apache-2.0
"""What the runner changes on the host, and whether all of it is undone."""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ACCOUNT_FILES = ("/etc/passwd", "/etc/group", "/etc/subuid", "/etc/subgid")
USER_PREFIX = "hbtest"
STAGES = "/var/tmp"
STAGE_PREFIX = "holdback-test."

# The accounts' lock is anybody's; so long one waits for it.
ACCOUNTS_WAIT = 120


class User:
    """The ordinary user of a run: a new one if we are root, else ourselves."""

    def __init__(self, home):
        self.made = os.geteuid() == 0
        if not self.made:
            entry = pwd.getpwuid(os.geteuid())
            self.name, self.uid, self.gid = entry.pw_name, entry.pw_uid, entry.pw_gid
            return
        self.name = f"{USER_PREFIX}{os.getpid()}"
        change_accounts(
            "useradd", "--no-create-home", "--user-group", "--home-dir", home,
            "--shell", "/bin/sh", "-K", "MAIL_DIR=/dev/null", self.name,
        )  # fmt: skip
        entry = pwd.getpwnam(self.name)
        self.uid, self.gid = entry.pw_uid, entry.pw_gid

    def end_processes(self):
        """Kills what the user still runs, and returns what that was."""
        found = {}
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            alive = [p for p in processes() if p[2] == self.uid]
            if not alive:
                break
            for pid, _, _, _, command in alive:
                found[pid] = f"left behind: process {pid} {command}"
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.01)
        return list(found.values())

    def remove(self):
        if self.made:
            change_accounts("userdel", self.name)


def change_accounts(*command):
    """Again, as long as somebody else is at it: both tell that by words alone."""
    deadline = time.monotonic() + ACCOUNTS_WAIT
    while True:
        try:
            return run_quietly(*command)
        except RuntimeError as why:
            if "lock" not in str(why) or time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def run_quietly(*command):
    env = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")


def make_stage(source, build):
    """A copy of what the tests use, in a place that every user can read.

    A checkout may lie where the test user may not look, and a test that runs
    must not see a file change under it.
    """
    stage = tempfile.mkdtemp(prefix=STAGE_PREFIX, dir=STAGES)
    os.chmod(stage, 0o755)
    for name in ("tests", "src", "include", "docs", "data", "tools"):
        copy(os.path.join(source, name), os.path.join(stage, name))
    for name in ("bin", "libexec", "man"):
        copy(os.path.join(build, name), os.path.join(stage, name))
    for name in ("probe", "listen", "freezer"):
        built = os.path.join(build, "musl", "tests", "probe", name)
        if os.path.isfile(built):
            shutil.copy(built, os.path.join(stage, name))
    for name in ("LICENSE", "README.md"):
        if os.path.isfile(os.path.join(source, name)):
            shutil.copy(os.path.join(source, name), stage)
    for name in ("unit", "unit-clang", "work", "results", "home"):
        os.makedirs(os.path.join(stage, name))
    make_readable(stage)
    return stage


def copy(source, target):
    if os.path.isdir(source):
        shutil.copytree(
            source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )


def make_readable(top):
    for folder, _, files in os.walk(top):
        os.chmod(folder, 0o755)
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                executable = os.stat(path).st_mode & stat.S_IXUSR
                os.chmod(path, 0o755 if executable else 0o644)


def remove_tree(path):
    """Removes a tree that may contain directories without permissions."""
    for folder, folders, _ in os.walk(path):
        for name in folders:
            inner = os.path.join(folder, name)
            if not os.path.islink(inner):
                try:
                    os.chmod(inner, 0o700)
                except OSError:
                    pass
    shutil.rmtree(path, ignore_errors=True)


class Snapshot:
    """What must be the same before and after a run.

    Runs may overlap, and one that is killed leaves its user and its mounts:
    that is nothing which another one has done.
    """

    def __init__(self):
        self.facts = set(mounts()) | set(accounts())

    def difference(self, stage):
        now = Snapshot().facts
        lines = [f"left behind: {fact}" for fact in sorted(now - self.facts)]
        lines += [f"gone: {fact}" for fact in sorted(self.facts - now)]
        return [line for line in lines if not is_in_another_stage(line, stage)]


def is_in_another_stage(line, stage):
    top = os.path.join(STAGES, STAGE_PREFIX)
    return f" on {top}" in line and not (stage and f" on {stage}/" in line)


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = line.split()
            yield f"mount {fields[0]} on {fields[4]}"


def accounts():
    for path in ACCOUNT_FILES:
        if not os.access(path, os.R_OK):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if not belongs_to_another_run(line):
                    yield f"line in {path}: {line.split(':')[0]}"


def belongs_to_another_run(line):
    name = line.split(":")[0]
    number = name[len(USER_PREFIX) :]
    return name.startswith(USER_PREFIX) and number.isdigit() and int(number) != os.getpid()


def processes():
    """Yields (pid, parent, uid, state, command) of everything alive."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            uid = os.stat(f"/proc/{entry}").st_uid
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
            with open(f"/proc/{entry}/status", encoding="utf-8", errors="replace") as file:
                for line in file:
                    if line.startswith("Uid:"):
                        uid = int(line.split()[1])
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        name, rest = text[text.index("(") + 1 :].rsplit(")", 1)
        state, parent = rest.split()[:2]
        yield int(entry), int(parent), uid, state, words.strip() or f"[{name}]"
