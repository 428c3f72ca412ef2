#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: systemd-analyze systemd-escape
"""A session as a service: keep tells the manager, exec --join makes no box (X6 X7 L8)."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Tap, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
SOURCE = os.environ["HB_SOURCE"]
STARTS = 200 if os.environ.get("HB_SOAK") == "1" else 12
NAMES = ("plain", "with-dash", "a.b_c", "two words", "größe")


class World:
    """A project, a store, and a manager's socket."""

    def __init__(self):
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.project = os.path.join(self.top, "p")
        self.state = os.path.join(self.top, "state")
        os.makedirs(self.project)
        with open(os.path.join(self.project, "f"), "w", encoding="ascii") as file:
            file.write("real\n")
        self.kept = None

    def call(self, *words, env=None, **options):
        return subprocess.run(
            [HOLDBACK, words[0], "--state-dir", self.state, *words[1:]],
            cwd=self.project, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options,
        )  # fmt: skip

    def keep(self, name, address):
        self.kept = subprocess.Popen(
            [HOLDBACK, "keep", "--state-dir", self.state, "@" + name],
            cwd=self.project, env={**os.environ, "NOTIFY_SOCKET": address},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        return self.kept

    def end(self):
        if self.kept and self.kept.poll() is None:
            self.kept.send_signal(signal.SIGTERM)
            self.kept.wait()
        shutil.rmtree(self.top)


def check(label, got, want):
    if got != want:
        raise Failed(f"{label}: got {got!r}, expected {want!r}")


def manager(address):
    """The socket of a service manager; a name with @ is abstract."""
    end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    end.bind("\0" + address[1:] if address[0] == "@" else address)
    end.settimeout(60)
    return end


def check_told(world, address):
    """READY when a command can join, STOPPING at the end."""
    check("create", world.call("create", "s", "--cow", world.project).returncode, 0)
    with manager(address) as end:
        kept = world.keep("s", address)
        check("the first message", end.recv(4096), b"READY=1\nSTATUS=session s is live\n")
        joined = world.call("exec", "--join", "@s", "--", "cat", "f")
        check("the command", (joined.returncode, joined.stdout), (0, "real\n"))
        check("stop", world.call("stop", "@s").returncode, 0)
        check("the last message", end.recv(4096), b"STOPPING=1\nSTATUS=the box has ended\n")
        check("keep", kept.wait(), 0)
    check("cleanup", world.call("cleanup", "-y", "@s").returncode, 0)


def by_path(world):
    check_told(world, os.path.join(world.top, "notify"))


def by_abstract_name(world):
    check_told(world, f"@holdback-test-{os.getpid()}")


def started_again(world):
    """A service that starts behind READY never sees a project without its files."""
    address = os.path.join(world.top, "notify")
    check("create", world.call("create", "s", "--cow", world.project).returncode, 0)
    with manager(address) as end:
        for number in range(STARTS):
            kept = world.keep("s", address)
            check("ready", end.recv(4096).startswith(b"READY=1"), True)
            joined = world.call("exec", "--join", "@s", "--", "sh", "-c", "ls; cat f")
            check(f"start {number}", (joined.returncode, joined.stdout), (0, "f\nreal\n"))
            kept.send_signal(signal.SIGTERM)
            check("keep", kept.wait(), 0)
            check("stopping", end.recv(4096).startswith(b"STOPPING=1"), True)
    check("cleanup", world.call("cleanup", "-y", "@s").returncode, 0)


def not_live(world):
    check("create", world.call("create", "s", "--cow", world.project).returncode, 0)
    refused = world.call("exec", "--join", "@s", "--", "touch", "made")
    check("status", refused.returncode, 125)
    check("words", "[10] the session is not live, and --join makes no box" in refused.stdout, True)
    check("fix", "fix: holdback keep @s" in refused.stdout, True)
    check("changes", "made" in world.call("status", "@s").stdout, False)
    check("without a session", world.call("exec", "--join", "@none", "--", "true").returncode, 125)
    check("cleanup", world.call("cleanup", "-y", "@s").returncode, 0)


def manager_that_is_gone(world):
    """The box is there all the same, and a line says that no manager heard it."""
    check("create", world.call("create", "s", "--cow", world.project).returncode, 0)
    for address in (os.path.join(world.top, "absent"), "relative", "@" + "x" * 200):
        kept = world.keep("s", address)
        wait_until(lambda: world.call("exec", "--join", "@s", "--", "true").returncode == 0,
                   "a live session")
        check("stop", world.call("stop", "@s").returncode, 0)
        said = kept.communicate()[0]
        check("keep", kept.returncode, 0)
        check("words", "cannot tell the service manager" in said, True)
    check("cleanup", world.call("cleanup", "-y", "@s").returncode, 0)


def manager_that_does_not_read(world):
    """Messages that do not fit are dropped, and keep does not wait."""
    address = os.path.join(world.top, "notify")
    check("create", world.call("create", "s", "--cow", world.project).returncode, 0)
    with manager(address), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as flood:
        flood.setblocking(False)
        try:
            while True:
                flood.sendto(b"x" * 4096, address)
        except BlockingIOError:
            pass
        kept = world.keep("s", address)
        wait_until(lambda: world.call("exec", "--join", "@s", "--", "true").returncode == 0,
                   "a live session")
        check("stop", world.call("stop", "@s").returncode, 0)
        check("words", "cannot tell the service manager" in kept.communicate()[0], True)
        check("keep", kept.returncode, 0)
    check("cleanup", world.call("cleanup", "-y", "@s").returncode, 0)


def socket_is_not_inside(world):
    check("create", world.call("create", "s", "--cow", world.project).returncode, 0)
    got = world.call("exec", "@s", "--", "sh", "-c", 'echo "${NOTIFY_SOCKET-unset}"',
                     env={"NOTIFY_SOCKET": "/run/x"})  # fmt: skip
    check("the variable", got.stdout, "unset\n")
    check("cleanup", world.call("cleanup", "-y", "@s").returncode, 0)


def units(world):
    """The units as they are installed, with a prefix that has a blank."""
    place = os.path.join(world.top, "a place")
    where = os.path.join(place, "lib/systemd/user")
    os.makedirs(where)
    os.makedirs(os.path.join(place, "bin"))
    shutil.copy(HOLDBACK, os.path.join(place, "bin/holdback"))
    paths = []
    for name in ("holdback-keep@.service", "holdback-sync@.service", "holdback-sync@.timer",
                 "gateway.service"):  # fmt: skip
        with open(os.path.join(SOURCE, "data/systemd", name), encoding="ascii") as file:
            text = file.read().replace("@bin@", os.path.join(place, "bin"))
        with open(os.path.join(where, name), "w", encoding="ascii") as file:
            file.write(text)
        paths.append(os.path.join(where, name.replace("@.", "@with\\x2ddash.")))
    got = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", *paths],
        env={**os.environ, "XDG_RUNTIME_DIR": world.top, "SYSTEMD_UNIT_PATH": where + ":"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    check("systemd-analyze", (got.returncode, got.stdout), (0, ""))


def names_of_instances(world):
    """The instance of a unit is the name of a session, there and back."""
    for name in NAMES:
        check("create", world.call("create", name, "--cow", world.project).returncode, 0)
        escaped = subprocess.run(
            ["systemd-escape", "--template=holdback-keep@.service", name],
            stdout=subprocess.PIPE, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        back = subprocess.run(
            ["systemd-escape", "--unescape", "--instance", escaped],
            stdout=subprocess.PIPE, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        check("the session", world.call("status", "@" + back).returncode, 0)
        check("cleanup", world.call("cleanup", "-y", "@" + back).returncode, 0)


POINTS = (
    ("X6 keep tells a service manager when a command can join, and when it ends", by_path),
    ("X6 the socket of the manager may have an abstract name", by_abstract_name),
    ("X7 L8 a service behind the box never sees an empty directory", started_again),
    ("X7 exec --join makes no box of its own", not_live),
    ("a manager that is not there is a line, and the box is there", manager_that_is_gone),
    ("a manager that does not read does not hold the box up", manager_that_does_not_read),
    ("the socket of the manager is not known inside", socket_is_not_inside),
    ("X6 systemd takes the units without a word", units),
    ("X6 names of sessions survive as instances of units", names_of_instances),
)


def told(point):
    world = World()
    try:
        point(world)
    except socket.timeout as why:
        raise Failed("the manager was not told") from why
    finally:
        world.end()


def main():
    tap = Tap()
    for name, point in POINTS:
        tap.test(name, told, point)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
