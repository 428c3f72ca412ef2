#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
"""What a directory that is shown read-only passes: contents, and nothing else.

A socket of the host that lies there, a lock and a lease: from inside none of
them is the host's, wherever the directory is and however it got into the view.
"""

import ctypes
import fcntl
import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Tap, same  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
BWRAP = os.environ["HB_BWRAP"]
MODE = os.environ["HB_MODE"]

# Inside: what of the host can be reached at each place, one line for each.
REACH = r"""
import array, errno, fcntl, os, socket, sys
def connect(place):
    with socket.socket(socket.AF_UNIX) as s:
        os.chdir(place)
        s.settimeout(10)
        s.connect("socket")
        s.sendmsg([b"x"])
        data, rights, _, _ = s.recvmsg(1, socket.CMSG_SPACE(4))
        return "connected" + (" with rights" if rights else "")
def datagram(place):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        os.chdir(place)
        s.sendto(b"x", "datagram")
        return "sent"
def lock(place):
    with open(place + "/file") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "held by the host"
        return "own"
def lease(place):
    with open(place + "/leased") as f:
        fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        print("leased", flush=True)
        sys.stdin.readline()
        return "given back"
def content(place):
    with open(place + "/file") as f:
        return f.read()
def attempt(act, place):
    try:
        return act(place)
    except OSError as e:
        return errno.errorcode[e.errno]
if sys.argv[1] == "lease":
    print(attempt(lease, sys.argv[2]), flush=True)
else:
    for place in sys.argv[1:]:
        print(*(attempt(act, place) for act in (content, connect, datagram, lock)))
"""


class Place:
    """A directory with a socket that answers, and a file that is locked."""

    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)
        here = os.getcwd()
        os.chdir(path)
        self.sockets = [socket.socket(socket.AF_UNIX),
                        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)]
        for one, name in zip(self.sockets, ("socket", "datagram")):
            one.bind(name)
        os.chdir(here)
        self.sockets[0].listen()
        self.server = os.fork()
        if self.server == 0:
            self.serve()
        with open(path + "/leased", "w", encoding="ascii"):
            pass
        self.file = open(path + "/file", "w+", encoding="ascii")
        self.file.write("content")
        self.file.flush()
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def serve(self):
        while True:
            one, _ = self.sockets[0].accept()
            one.recv(1)
            one.sendmsg([b"y"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                  bytes(ctypes.c_int(one.fileno())))])
            one.close()

    def end(self):
        os.kill(self.server, 9)
        os.waitpid(self.server, 0)
        for one in self.sockets:
            one.close()
        self.file.close()


def inside(options, words, before=(), **keywords):
    done = subprocess.run([*before, HOLDBACK, "run", "--ephemeral", "-q", *options,
                           "--", "python3", "-c", REACH, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", check=False, **keywords)
    return done.stdout.splitlines(), done.stderr


REFUSED = "content ECONNREFUSED ECONNREFUSED own"
REACHED = "content connected with rights sent held by the host"


def lease_holds_nobody_up(tap, options, place):
    """A writer outside goes on at once while a command holds its lease."""
    with subprocess.Popen([HOLDBACK, "run", "--ephemeral", "-q", *options, "--",
                           "python3", "-c", REACH, "lease", place],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          encoding="utf-8") as box:
        said = box.stdout.readline().strip()
        try:
            os.close(os.open(place + "/leased", os.O_WRONLY | os.O_NONBLOCK))
            wrote = "at once"
        except BlockingIOError:
            wrote = "not before the lease is broken"
        try:
            box.stdin.write("\n")
            box.stdin.flush()
        except BrokenPipeError:
            pass
        box.wait()
    check(tap, "a lease that is taken inside holds no writer of the host up",
              wrote == "at once" and said in ("leased", "EINVAL", "EACCES", "EAGAIN"),
              f"{said}, {wrote}")


def holds(is_true, why):
    if not is_true:
        raise Failed(why)


def check(tap, name, is_true, why):
    tap.test(name, holds, is_true, why)


def compare(tap, name, got, want):
    tap.test(name, same, got, want)


def places_of_every_kind(tap, top, home):
    kinds = {
        "a toolchain of the home directory": (home + "/.volta/tools", []),
        "a toolchain that a link leads to": (top + "/rust", []),
        "--ro of a directory": (top + "/ro", ["--ro", top + "/ro"]),
        "--ro in the home directory": (home + "/ro", ["--ro", home + "/ro"]),
        "a directory that is shown on request":
            (top + "/show", ["--show", top + "/show"]),
        "a directory below one that is shown": (top + "/deep/a/b", ["--ro", top + "/deep"]),
    }
    os.symlink(top + "/rust", home + "/.rustup")
    if MODE == "root":
        kinds["/opt"] = ("/opt/hb-test-%d" % os.getpid(), [])
    made = [Place(path) for path, _ in kinds.values()]
    try:
        options = [word for _, words in kinds.values() for word in words]
        paths = [path for path, _ in kinds.values()]
        paths[1] = home + "/.rustup"
        lines, said = inside(options, paths)
        for kind, line in zip(kinds, lines or [said] * len(kinds)):
            compare(tap, kind + " passes no socket, right or lock", line, REFUSED)
        check(tap, "all of them were looked at, and nothing was said",
                  len(lines) == len(kinds) and said == "", f"{lines} {said}")
        compare(tap, "control: a directory that is real passes all",
                inside(["--rw", top + "/ro"], [top + "/ro"])[0], [REACHED])
        lease_holds_nobody_up(tap, [], home + "/.volta/tools")
        lease_holds_nobody_up(tap, ["--ro", top + "/ro"], top + "/ro")
        name = top + "/ro/file"
        compare(tap, "a single file has its own locks",
                inside(["--ro", name], [top + "/ro"])[0],
                ["content ENOENT ENOENT own"])
    finally:
        for one in made:
            one.end()
        if MODE == "root":
            shutil.rmtree(paths[-1])


def package_of_a_command(tap, top, home):
    made = Place(home + "/app/lib")
    os.makedirs(home + "/app/bin")
    shutil.copy(os.path.realpath(shutil.which("sh")), home + "/app/bin/tool")
    with open(top + "/reach.py", "w", encoding="ascii") as f:
        f.write(REACH)
    done = subprocess.run([HOLDBACK, "run", "--ephemeral", "-q", "--ro", top + "/reach.py",
                           "--", home + "/app/bin/tool", "-c",
                           f"python3 {top}/reach.py {home}/app/lib"],
                          stdout=subprocess.PIPE, encoding="utf-8", check=False)
    compare(tap, "the package of a command passes no socket, right or lock",
            done.stdout.strip(), REFUSED)
    made.end()


def hidden_things(tap, top, home):
    place = Place(home + "/.volta/tools")
    os.makedirs(home + "/.volta/tools/keys")
    with open(home + "/.volta/tools/keys/key", "w", encoding="ascii") as f:
        f.write("secret")
    hide = ["--hide", home + "/.volta/tools/keys"]
    compare(tap, "with something hidden in it neither",
            inside(hide, [home + "/.volta/tools"])[0], [REFUSED])
    done = subprocess.run([HOLDBACK, "run", "--ephemeral", "-q", *hide, "--", "cat",
                           home + "/.volta/tools/keys/key"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    compare(tap, "and what is hidden stays hidden", done.stdout, b"")
    place.end()


def mounts_below(tap, top, home):
    """With a tmpfs in it the kernel makes no overlay of a directory."""
    made = [Place(top + "/mounted"), Place(home + "/.volta/tools"), Place(top + "/plain")]
    os.makedirs(top + "/mounted/sub")
    before = [BWRAP, "--dev-bind", "/", "/", "--tmpfs", top + "/mounted/sub"]
    options = ["--ro", top + "/mounted", "--ro", top + "/plain"]
    paths = [one.path for one in made]
    lines, said = inside(options, paths, before)
    compare(tap, "a directory with a mount in it is the host's, the others are not",
            lines, [REACHED, REFUSED, REFUSED])
    check(tap, "which is said once", said.count("weakened: ") == 1 and
              "something is mounted in a directory that is shown" in said, said)
    lines, said = inside(["--require", *options], paths, before)
    check(tap, "--require refuses", lines == [] and "--ro" not in said and
              "without its sockets and locks" in said, said)
    before = [BWRAP, "--dev-bind", "/", "/", "--tmpfs", home + "/.mounted"]
    os.makedirs(home + "/.mounted")
    lines, said = inside([], [home + "/.volta/tools"], before)
    compare(tap, "a mount elsewhere in the home directory changes nothing",
            (lines, said), ([REFUSED], ""))
    for one in made:
        one.end()


def main():
    tap = Tap()
    for scene in (places_of_every_kind, package_of_a_command, hidden_things,
                  mounts_below):
        top = os.path.realpath(tempfile.mkdtemp())
        home = top + "/home"
        os.makedirs(home)
        os.makedirs(top + "/project")
        os.chdir(top + "/project")
        os.environ["HOME"] = home
        try:
            scene(tap, top, home)
        finally:
            os.chdir("/")
            shutil.rmtree(top)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
