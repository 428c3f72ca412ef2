# SPDX-License-Identifier: Apache-2.0
"""An interactive bash on a terminal of its own, and TAP for Python tests.

Nothing here waits for a time and hopes: every wait is for output or for a state
of a process, and gives up after PATIENCE seconds.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

PATIENCE = 60.0
PROMPT = "hb> "
COLUMNS, LINES = 80, 24


class Failed(Exception):
    """A check that did not hold; the text says what was seen."""


class Shell:
    """bash -i, with what it prints and a keyboard to type on."""

    def __init__(self, prepare=""):
        self.prepare = prepare
        self.pid, self.fd = 0, -1
        self.seen, self.taken = "", 0
        self.restart()

    def restart(self):
        """A new one: after a failure nobody knows what the old one is at."""
        if self.fd >= 0:
            self.close()
        self.seen, self.taken = "", 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            env = dict(os.environ, TERM="dumb", INPUTRC="/dev/null", PS1=PROMPT)
            env["HISTFILE"] = ""
            env["LESSHISTFILE"] = "-"
            # Whoever started us may not want to hear ^C; a shell's jobs do.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            # Python ignores it, and what a shell finds ignored stays so.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.signal(signal.SIGQUIT, signal.SIG_DFL)
            os.execvpe("bash", ["bash", "--noprofile", "--norc", "-i"], env)
        # Another shell that has it would keep this one's terminal there.
        os.set_inheritable(self.fd, False)
        self.resize(COLUMNS, LINES)
        self.expect(re.escape(PROMPT))
        self.run(self.prepare)

    def resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def pump(self, deadline):
        """Takes in what has been printed; False when it is too late."""
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.fd], [], [], left)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.seen += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern):
        """Waits for PATTERN in what is new since the last time."""
        deadline = time.monotonic() + PATIENCE
        regex = re.compile(pattern, re.M)
        while True:
            match = regex.search(self.seen, self.taken)
            if match:
                self.taken = match.end()
                return match
            if not self.pump(deadline):
                raise Failed(f"no {pattern!r} in {self.seen[self.taken:]!r}")

    def run(self, line):
        """Types a line; what was printed until the next prompt."""
        self.type(line + "\r")
        self.expect(r"\r?\n")
        start = self.taken
        match = self.expect(r"(?:^|\n|\r)" + re.escape(PROMPT))
        return self.seen[start : match.start()].replace("\r", "")

    def start(self, line, sign):
        """Types a line and waits for SIGN in what comes after its echo."""
        self.type(line + "\r")
        self.expect(r"\r?\n")
        return self.expect(sign)

    def status(self):
        return int(self.run("echo $?").strip())

    def children(self):
        """The shell's own children, by pid."""
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="utf-8") as file:
            return [int(word) for word in file.read().split()]

    def close(self):
        """The terminal goes away, and with it the shell."""
        os.close(self.fd)
        self.fd = -1
        deadline = time.monotonic() + PATIENCE
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise Failed("the shell outlives its terminal")
            time.sleep(0.01)


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise Failed("never: " + what)
        time.sleep(0.01)


def state_of(pid):
    """The letter that ps shows; empty if it is dead."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0].strip("ZX")
    except OSError:
        return ""


def program_of(pid):
    """The name of what it executes; empty if that is hidden."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def below(pid):
    """All descendants of a process."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="utf-8") as file:
                for child in map(int, file.read().split()):
                    found += [child] + below(child)
    except OSError:
        pass
    return found


class Tap:
    """Runs tests, which are functions that raise Failed."""

    def __init__(self):
        self.count = 0
        self.failed = 0
        self.after_failure = lambda: None

    def test(self, name, function, *arguments):
        self.count += 1
        try:
            function(*arguments)
            print(f"ok {self.count} - {name}")
        except Failed as why:
            self.failed += 1
            print(f"not ok {self.count} - {name}")
            for line in str(why).splitlines():
                print("# " + line)
            self.after_failure()
        sys.stdout.flush()

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}")

    def done(self):
        print(f"1..{self.count}")
        sys.stdout.flush()
        return 1 if self.failed else 0


def same(got, want):
    if got != want:
        raise Failed(f"got {got!r}, expected {want!r}")


def run_tests(prepare, all_tests):
    """Runs all_tests(tap, shell) in an empty directory with the probe in it."""
    folder = tempfile.mkdtemp()
    os.mkdir(os.path.join(folder, "p"))
    os.chdir(os.path.join(folder, "p"))
    shutil.copy(os.environ["HB_PROBE"], "probe")
    tap = Tap()
    sh = Shell(prepare)
    tap.after_failure = sh.restart
    try:
        all_tests(tap, sh)
    finally:
        if sh.fd >= 0:
            sh.close()
        os.chdir("/")
        shutil.rmtree(folder)
    return tap.done()
