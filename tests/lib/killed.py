# SPDX-License-Identifier: Apache-2.0
"""For tests that kill `holdback run`: a project to run in, and what has to hold
after everything that ran there has ended.  A namespace is there as long as a
process or a mount is, and no longer.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time

HOLDBACK = os.environ["HB_BIN"]
# In the command line of every process that is started.
MARK = f"1000.{os.getpid()}"
# Changes something, and then either ends or has to be ended.
ENDS = f"echo more >>f; echo new >added # {MARK}"
STAYS = f"echo more >>f; exec sleep {MARK}"


class World:
    """A home with a project and the store."""

    def __init__(self):
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.project = os.path.join(self.top, "p")
        os.mkdir(self.project)
        with open(os.path.join(self.project, "f"), "w", encoding="ascii") as file:
            file.write("old\n")
        runtime = os.path.join(self.top, "run")
        os.mkdir(runtime, 0o700)
        self.env = dict(os.environ, HOME=self.top, XDG_RUNTIME_DIR=runtime)
        self.env.pop("XDG_STATE_HOME", None)
        self.sessions = os.path.join(self.top, ".local/state/holdback/sessions")
        self.projects = os.path.join(os.path.dirname(self.sessions), "projects")
        self.run(*self.words("true"))
        self.mounts = mounts(self.top)
        self.rest = self.look()

    def words(self, script):
        return [HOLDBACK, "run", "-q", "--", "sh", "-c", script]

    def run(self, *words):
        return subprocess.run(
            words, cwd=self.project, env=self.env, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip

    def names(self):
        return sorted(os.listdir(self.sessions)) if os.path.isdir(self.sessions) else []

    def look(self):
        """Everything there is but the sessions: directories of ours and of the user."""
        found = []
        for folder, folders, files in os.walk(self.top):
            found += [os.path.join(folder, name) for name in files + folders]
            if folder in (self.sessions, self.projects):
                folders.clear()
        return sorted(path for path in found
                      if os.path.dirname(path) not in (self.sessions, self.projects))  # fmt: skip

    def noted(self):
        """The sessions that a run would look at: notes of their directories."""
        found = []
        for folder, _, files in os.walk(self.projects):
            found += [os.readlink(os.path.join(folder, name)) for name in files if folder != self.projects]
        return sorted(found)

    def done(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def mounts(top):
    """Those that could be ours; what other tests mount meanwhile is in places for that."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return [
            line for line in file
            if top in line or not line.split()[4].startswith(("/tmp/", "/var/tmp/", "/mnt/"))
        ]  # fmt: skip


def has_processes(words=MARK):
    """Any of ours, that is, also those that have not executed the command."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if words.encode() in file.read():
                    return True
        except OSError:
            continue
    return False


def command_stays():
    return has_processes(f"sleep\0{MARK}\0")


def is_free(world, name):
    lock = os.path.join(world.sessions, name, "lock")
    if not os.path.exists(lock):
        return True
    return subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 0


def wait_until(what, condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"{what}: after 30 s not yet")


def settle(world):
    """What has to hold when everything has ended; returns the sessions."""
    wait_until("processes", lambda: not has_processes())
    for name in world.names():
        wait_until("the lock", lambda name=name: is_free(world, name))
    if mounts(world.top) != world.mounts:
        raise AssertionError("mounts are left")
    with open(os.path.join(world.project, "f"), encoding="ascii") as file:
        if file.read() != "old\n" or os.listdir(world.project) != ["f"]:
            raise AssertionError("the real tree has changed")
    done = world.run(HOLDBACK, "cleanup", "--stale", "-y")
    if done.returncode != 0:
        raise AssertionError(f"cleanup --stale: {done.stderr}")
    names = world.names()
    if any(name.startswith(".") for name in names):
        raise AssertionError(f"left in the store: {names}")
    if world.noted() != names:
        raise AssertionError(f"noted: {world.noted()}, there: {names}")
    if world.look() != world.rest:
        raise AssertionError(f"left: {set(world.look()) ^ set(world.rest)}")
    return names


def use(world, name):
    """The session works, and what is in it is nothing or what was written."""
    done = world.run(HOLDBACK, "exec", f"@{name}", "--", "cat", "f")
    if done.returncode != 0 or done.stdout not in ("old\n", "old\nmore\n"):
        raise AssertionError(f"{name}: {done.returncode} {done.stdout!r} {done.stderr}")
    done = world.run(HOLDBACK, "cleanup", "-y", f"@{name}")
    if done.returncode != 0:
        raise AssertionError(f"{name}: {done.stderr}")


def run_until_killed(world, words):
    """A run that ends, or is killed.  Whether it was."""
    return world.run(*words, *world.words(ENDS)).returncode != 0


def run_that_stays(world, words):
    """A run that only ends if it is killed, if need be by us.  Whether it was before.

    Who kills it says so on stderr before: the command may still come to run.
    """
    with tempfile.TemporaryFile() as told, subprocess.Popen(
        [*words, *world.words(STAYS)], cwd=world.project, env=world.env, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told,
    ) as victim:  # fmt: skip
        wait_until("an end", lambda: victim.poll() is not None or command_stays())
        was_killed = b"killed" in os.pread(told.fileno(), 1000, 0)
        if not was_killed:
            os.killpg(victim.pid, signal.SIGKILL)
    return was_killed


def at_each(world, calls, kill, run=run_until_killed):
    """Kills at calls from the first to the last, a few of each left out.

    `kill(call, number)` is what comes in front of the run.  Returns the number of
    runs that were killed, for each call.
    """
    visited = dict.fromkeys(calls, 0)
    for call, step in calls.items():
        count = 1
        is_hit = True
        while is_hit:
            is_hit = run(world, kill(call, count))
            for name in settle(world):
                use(world, name)
            visited[call] += is_hit
            count += step
    return visited


def main(*tests):
    """Each test is a function of the world that returns how often it killed."""
    world = World()
    failed = 0
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        try:
            print(f"ok {number} - {test.__name__}: {test(world)} kills leave nothing", flush=True)
        except AssertionError as error:
            failed = 1
            print(f"not ok {number} - {test.__name__}\n# {error}", flush=True)
    if not failed:
        world.done()
    return failed
