#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: curl
"""A terminal where `holdback net watch` runs is asked about hosts without a rule."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Shell, Tap, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]


class Place:
    """A project with a session that runs."""

    def __init__(self, folder):
        self.folder = folder
        self.project = os.path.join(folder, "p")
        os.makedirs(self.project)
        self.env = dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "state"))
        self.box = None

    def call(self, *words):
        done = subprocess.run([HOLDBACK, *words], cwd=self.project, env=self.env, capture_output=True, text=True,
                              timeout=90, check=False)
        return done.stdout + done.stderr

    def start(self):
        self.box = subprocess.Popen(
            [HOLDBACK, "run", "-q", "-s", "one", "--net-ask", "--", "sh", "-c", "while [ ! -e stop ]; do sleep 0.1; done"],
            cwd=self.project, env=self.env)
        wait_until(lambda: "no session" not in self.call("net", "list", "-s", "one") and
                   "nothing runs" not in self.call("net", "list", "-s", "one"), "the session lives")

    def begin(self, host):
        """A command inside that asks for this host."""
        return subprocess.Popen([HOLDBACK, "exec", "@one", "--", "curl", "-sS", "-m", "60", f"http://{host}/"], cwd=self.project, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def hold(self, host):
        """A command inside whose connection there has been seen by the relay."""
        script = (f"import socket; s=socket.create_connection(('{host}',80)); socket.gethostbyname('after.example'); "
                  "print('up', flush=True); s.recv(1)")
        command = subprocess.Popen([HOLDBACK, "exec", "@one", "--", "python3", "-c", script], cwd=self.project, env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        has(command.stdout.readline(), "up")
        return command

    def relay(self):
        """The child of the supervisor that has a filter, and no pid namespace of the box."""
        def status(pid):
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        depth = len(status(self.box.pid)["NSpid"].split())
        with open(f"/proc/{self.box.pid}/task/{self.box.pid}/children", encoding="utf-8") as file:
            for pid in file.read().split():
                try:
                    found = status(pid)
                except OSError:
                    continue
                if found["Seccomp"] == "2" and len(found["NSpid"].split()) == depth:
                    return int(pid)
        return None

    def renew_relay(self):
        old = self.relay()
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: self.relay() not in (None, old), "there is another relay")

    def end(self):
        self.call("exec", "@one", "--", "touch", "stop")
        self.box.wait(60)
        self.call("cleanup", "-y", "@one")


def has(text, word):
    if word not in text:
        raise Failed(f"no {word!r} in: {text}")


def main():
    folder = tempfile.mkdtemp()
    place, tap = Place(folder), Tap()
    place.start()
    tap.test("a host is refused at once while no terminal watches", lambda: has(
        place.begin("other.example").communicate(timeout=90)[0], "no rule allows it"))

    def deny_many():
        old, last = place.relay(), 499
        os.kill(old, signal.SIGSTOP)
        place.call("net", "deny", "-s", "one", *[f"d{i}.example" for i in range(last + 1)])
        try:
            os.kill(old, signal.SIGCONT)
        except ProcessLookupError:
            pass  # another has taken its place
        has(place.begin(f"d{last}.example").communicate(timeout=90)[0], "a rule denies it")

    tap.test("a rule that denies counts, also if the relay did not listen", deny_many)
    shell = Shell(f"cd {place.project}; export XDG_STATE_HOME={folder}/state")

    def answer(host, key):
        command = place.begin(host)
        shell.expect(f"the command wants to reach {host}:80; allow it")
        shell.type(key)
        has(command.communicate(timeout=90)[0], host)

    shell.type(f"{HOLDBACK} net watch -s one\n")
    shell.expect("hosts without a rule are asked about here")
    tap.test("a terminal that watches is asked, and no refuses the host", lambda: answer("no.example", "n\n"))
    tap.test("yes lets the connection go on", lambda: answer("yes.example", "y\n"))
    tap.test("yes is a rule from then on", lambda: has(
        place.call("net", "list", "-s", "one"), "allow = yes.example:80"))

    def other_question():
        place.renew_relay()
        first = place.hold("first.example")
        shell.expect("the command wants to reach first.example:80; allow it")
        place.renew_relay()
        second = place.hold("second.example")
        shell.type("y\n")
        shell.expect("the command wants to reach second.example:80; allow it")
        rules = place.call("net", "list", "-s", "one")
        shell.type("n\n")
        first.communicate(timeout=90)
        second.communicate(timeout=90)
        if "allow = second.example" in rules:
            raise Failed(rules)

    tap.test("an answer counts for the host of its question, and for no other", other_question)
    place.end()
    tap.test("the watch ends with the box", lambda: shell.expect(r"hb> "))
    shell.close()
    shutil.rmtree(folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
