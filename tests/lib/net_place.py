# SPDX-License-Identifier: Apache-2.0
"""A project in the world of net_world.py, boxes in it, and their relays."""

import os
import shlex
import subprocess

from net_world import HOLDBACK, World, as_user
from pty_shell import Failed, state_of, wait_until

USUAL = ("--allow", "example.com", "--allow", "*.example.com:*", "--allow", "github.com:22")

# Rules of tests/probe/deny.c: a kernel without nf_tables, without the first way of
# these, and without IPv6.
NO_TABLES = ("socket:2=12", "EPROTONOSUPPORT")
NO_TPROXY = ("setsockopt:2=19", "EPERM")
NO_V6 = ("socket:0=10", "EAFNOSUPPORT")


class Place:
    """A project, and the world around it."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(os.path.join(folder, "p"))
        os.makedirs(os.path.join(folder, "home"))
        os.makedirs(os.path.join(folder, "run"), mode=0o700)
        self.world = World(folder)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)

    def words(self, *options, without=(), session=""):
        """A session has a log; without one nothing is left."""
        denied = [os.environ["HB_PROBE"], "deny", *without, "--"] if without else []
        kept = ["-s", session] if session else ["--ephemeral"]
        return [*as_user(), *denied, HOLDBACK, "run", *kept, "--ro", self.folder, *options, "--"]

    def env(self, **more):
        return dict(os.environ, HOME=os.path.join(self.folder, "home"), XDG_RUNTIME_DIR=os.path.join(self.folder, "run"),
                    XDG_STATE_HOME=os.path.join(self.folder, "state"), **more)

    def run(self, command, *options, rules=USUAL, timeout=200, without=(), env=None, session=""):
        """What it prints; the status is in front if it is not 0."""
        done = subprocess.run([*self.words("-q", *rules, *options, without=without, session=session), "sh", "-c", command], cwd=self.folder + "/p",
                              env=self.env(**(env or {})), capture_output=True, text=True, timeout=timeout, check=False)
        out = "\n".join(line for line in (done.stdout + done.stderr).splitlines() if "weakened:" not in line).strip()
        return out if done.returncode == 0 else f"{done.returncode}: {out}"

    def told(self, command, rules=USUAL, without=()):
        """What a run says about itself, with its lines for a terminal."""
        words = [*self.words(*rules, without=without), "sh", "-c", command]
        done = subprocess.run(["script", "-qec", shlex.join(words), "/dev/null"], cwd=self.folder + "/p", env=self.env(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False)
        return done.stdout

    def log(self):
        """The whole audit log, as text."""
        done = subprocess.run([*as_user(), HOLDBACK, "log", "--json"], cwd=self.folder + "/p", env=self.env(),
                              capture_output=True, text=True, timeout=200, check=False)
        return done.stdout + done.stderr

    def curl(self, url, *options, rules=USUAL, flags="", env=None):
        return self.run(f"curl -sS -m 60 {flags} --cacert {self.folder}/ca.pem {url}", *options, rules=rules, env=env)


def has(text, *words):
    for word in words:
        if word not in text:
            raise Failed(f"no {word!r} in: {text}")


def lacks(text, *words):
    for word in words:
        if word in text:
            raise Failed(f"{word!r} in: {text}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def relay_of(supervisor):
    """The child of the supervisor that has a filter, and no pid namespace of the box."""
    try:
        depth = len(status_of(supervisor)["NSpid"].split())
        for pid in children(supervisor):
            status = status_of(pid)
            if status["Seccomp"] == "2" and len(status["NSpid"].split()) == depth:
                return pid
    except OSError:
        pass
    return None


def gone(pid):
    return state_of(pid) == ""


def begin(p, command, *options, session=""):
    """A box whose command has printed "up", and its relay."""
    box = subprocess.Popen([*p.words(*USUAL, *options, session=session), "sh", "-c", command], cwd=p.folder + "/p", env=p.env(),
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = box.stdout.readline()
    while line and "up" not in line:
        line = box.stdout.readline()
    wait_until(lambda: relay_of(box.pid), "there is a relay")
    return box, relay_of(box.pid)
