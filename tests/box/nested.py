#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash unshare
# timeout: 240
"""A sandbox that a command makes inside is refused, counted, and told at the end.

The supervisor answers these calls.  Whatever happens to it, to the caller or to
the listener between them, no call gets a user namespace, and none is left waiting.
"""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, below, run_tests, same, state_of, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
PROBE = os.environ["HB_PROBE"]
MODE = os.environ["HB_MODE"]
LINE = "wanted a user namespace, as for a sandbox of its own, which was refused (--allow-nested"
UNSHARE = {"x86_64": "272", "aarch64": "97"}[platform.machine()]
FLOOD = 25_000
PROCESSES = 4
# The kernel's number for the look at a call that waits.
RECV = "0xc0502100"


def call(*words, before=(), stdin=subprocess.DEVNULL):
    """A run with its documents: what it printed, what it said, its last document."""
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as documents:
        done = subprocess.run([*before, HOLDBACK, words[0], "--json-fd", str(writing), *words[1:]],
                              stdin=stdin, capture_output=True, text=True, check=False,
                              pass_fds=[writing])  # fmt: skip
        os.close(writing)
        lines = documents.read().splitlines()
    if not lines:
        raise Failed(done.stderr)
    return done.stdout.strip(), done.stderr, json.loads(lines[-1])


def expect(done, printed, told, number):
    """`number` None: the document has none."""
    same((done[0], LINE in done[1], done[2].get("nested_refused")), (printed, told, number))


def inside(*words, before=()):
    return call("run", "--ephemeral", "--", *words, before=before)


def by_direct_calls():
    expect(inside("./probe", "nested", "1"), "EPERM", True, 1)
    expect(inside("./probe", "nested", "7"), "EPERM", True, 7)
    expect(inside("./probe", "clone", "0x10000000"), "EPERM", True, 1)


def by_a_tool():
    done = inside("sh", "-c", "unshare -U true 2>&1 | grep -o 'not permitted'")
    expect(done, "not permitted", True, 1)


def not_without_need():
    expect(inside("true"), "", False, 0)
    expect(inside("./probe", "clone", "0x20000"), "EPERM", False, 0)
    expect(inside("./probe", "clone3"), "ENOSYS", False, 0)
    expect(inside("sh", "-c", "unshare -n true 2>/dev/null; echo $?"), "1", False, 0)


def not_when_quiet():
    done = call("run", "--ephemeral", "-q", "--", "./probe", "nested", "1")
    expect(done, "EPERM", False, 1)


def in_a_flood():
    done = inside("./probe", "nested", str(FLOOD), str(PROCESSES))
    expect(done, "EPERM", True, FLOOD * PROCESSES)


def in_a_session():
    done = call("run", "-s", "s", "--", "sh", "-c", "./probe nested 3; echo >new")
    expect(done, "EPERM", True, 3)
    same(done[2]["kept"], True)
    expect(call("exec", "@s", "--", "./probe", "nested", "2"), "EPERM", True, 2)


def beside_a_live_one():
    """A command that joins has a filter without a listener."""
    with subprocess.Popen([HOLDBACK, "keep", "@s"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as kept:  # fmt: skip
        try:
            wait_until(lambda: "kept open" in status("@s"), "a live session")
            expect(call("exec", "@s", "--", "./probe", "nested", "2"), "EPERM", False, None)
            expect(call("exec", "@s", "--", "./probe", "nested", "500", "4"), "EPERM", False, None)
        finally:
            kept.terminate()
            kept.wait()
    subprocess.run([HOLDBACK, "cleanup", "-y", "@s"], check=True, capture_output=True)


def status(session):
    return subprocess.run([HOLDBACK, "status", session], check=False, capture_output=True, text=True).stdout


class Live:
    """A run whose command begins with a call when it is told to."""

    def __init__(self, script):
        self.run = subprocess.Popen([HOLDBACK, "run", "--ephemeral", "--", "sh", "-c", script],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)  # fmt: skip
        same(self.run.stdout.readline(), "up\n")
        self.all = below(self.run.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run.send_signal(signal.SIGCONT)
        if self.run.poll() is None:
            self.run.kill()
        self.run.communicate()

    def stop(self):
        self.run.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(self.run.pid) == "T", "a stopped supervisor")

    def go(self):
        self.run.stdin.write("go\n")
        self.run.stdin.flush()

    def waiting(self):
        """The process whose call waits for the supervisor."""
        found = []

        def look():
            found[:] = [pid for pid in below(self.run.pid) if is_in_call(pid)]
            return bool(found)

        wait_until(look, "a call that waits")
        return found[0]


def is_in_call(pid):
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] == UNSHARE
    except (OSError, IndexError):
        return False


# The shell outlives its child, which is the caller.
SCRIPT = "echo up; read -r go; ./probe nested 1; echo $?; ./probe nested 1"


def while_the_supervisor_is_busy():
    with Live(SCRIPT) as live:
        live.stop()
        live.go()
        live.waiting()
        live.run.send_signal(signal.SIGCONT)
        out, told = live.run.communicate()
        same((out, LINE in told), ("EPERM\n1\nEPERM\n", True))


def when_the_caller_is_killed():
    """The supervisor is stopped all the while: nobody has answered."""
    with Live(SCRIPT) as live:
        live.stop()
        live.go()
        caller = live.waiting()
        os.kill(caller, signal.SIGKILL)
        wait_until(lambda: not state_of(caller), "the end of the caller")
        live.run.send_signal(signal.SIGCONT)
        out, told = live.run.communicate()
        # The first is what probe says of a child that was killed.
        same((out, LINE in told), ("255\n1\nEPERM\n", True))


def when_the_supervisor_is_killed():
    with Live(SCRIPT) as live:
        live.stop()
        live.go()
        live.waiting()
        everybody = below(live.run.pid)
        live.run.kill()
        live.run.wait()
        wait_until(lambda: not any(map(state_of, everybody)), "the end of the box")
        out, _ = live.run.communicate()
        same(out in ("", "ENOSYS\n", "ENOSYS\n1\n", "ENOSYS\n1\nENOSYS\n"), True)


def with_a_listener_inside():
    expect(inside("./probe", "overrule"), "EBUSY", False, 0)
    expect(inside("sh", "-c", "./probe overrule; ./probe nested 1"), "EBUSY\nEPERM", True, 1)


def below_a_listener():
    """A rule about a text takes a listener, around all of holdback."""
    before = [PROBE, "deny", "symlinkat:0~/none", "EPERM", "--"]
    expect(inside("./probe", "nested", "2", before=before), "EPERM", False, None)


def on_an_older_kernel():
    before = [PROBE, "deny", "seccomp:1&8", "EINVAL", "--"]
    expect(inside("./probe", "nested", "2", before=before), "EPERM", False, None)


def with_a_supervisor_that_cannot_listen():
    before = [PROBE, "deny", f"ioctl:1={RECV}", "ENOTTY", "--"]
    expect(inside("./probe", "nested", "2", before=before), "EPERM", False, None)


def with_a_supervisor_that_gets_no_descriptor():
    """The socket of the command takes no message: it goes on by itself."""
    before = [PROBE, "deny", "sendmsg:2&0x40", "EPERM", "--"]
    expect(inside("./probe", "nested", "2", before=before), "EPERM", False, None)


def with_namespaces_allowed():
    done = call("run", "--ephemeral", "--allow-nested", "--", "./probe", "nested", "1")
    expect(done, "allowed", False, None)


def without_namespaces():
    before = [PROBE, "deny", "clone:0&0x10000000", "EPERM", "--"]
    done = call("run", "--allow-degraded", "--", "./probe", "nested", "2", before=before)
    expect(done, "EPERM", False, None)


def in_a_stopped_job(sh):
    """Calls without an end; ^Z stops all of it, and fg has it go on."""
    script = "echo up; exec ./probe nested 4000000000 2"
    sh.start(f"'{HOLDBACK}' run --ephemeral -- sh -c '{script}'", "^up\r")
    job = sh.children()[0]
    wait_until(lambda: len(below(job)) == 4, "two callers")
    sh.type("\x1a")
    sh.expect("Stopped")
    box = below(job)[1:]
    wait_until(lambda: all(state_of(pid) in ("t", "T") for pid in [job, *box]), "a stopped box")
    sh.start("fg", "holdback")
    # They go on after the terminal is the command's again.
    wait_until(lambda: not any(state_of(pid) in ("t", "T") for pid in box), "a box that goes on")
    sh.type("\x03")
    sh.expect("hb> ")
    same(sh.status(), 128 + signal.SIGINT)
    wait_until(lambda: not state_of(job), "the end")


def at_a_terminal(sh):
    """Output and refusals take turns: neither waits for the end of the other."""
    script = "./probe nested 5000 & seq 1 5000; wait; echo over"
    sh.start(f"'{HOLDBACK}' run --ephemeral -- sh -c '{script}'", r"\b5000\r?\n")
    sh.expect("over")
    # The terminal breaks lines between words.
    sh.expect(r"which\s+was\s+refused")
    sh.expect("hb> ")


def all_tests(tap, sh):
    tap.test("a static program that asks by itself is refused, and the end says so", by_direct_calls)
    tap.test("a tool that makes namespaces is refused, and the end says so", by_a_tool)
    tap.test("the end says nothing where no user namespace was wanted", not_without_need)
    tap.test("a quiet run has the number in its document alone", not_when_quiet)
    tap.test("each of 100 000 calls of four processes is refused and counted", in_a_flood)
    tap.test("a run that keeps a session and exec tell it as well", in_a_session)
    tap.test("a command that joins is refused without a word", beside_a_live_one)
    tap.test("a call waits for a supervisor that is busy", while_the_supervisor_is_busy)
    tap.test("a caller can be killed while its call waits", when_the_caller_is_killed)
    tap.test("a supervisor that is killed takes callers that wait with it", when_the_supervisor_is_killed)
    tap.test("V12 no process inside can answer in the supervisor's place", with_a_listener_inside)
    tap.test("below the listener of another sandbox the filter refuses by itself", below_a_listener)
    tap.test("without the notifier the filter refuses by itself", on_an_older_kernel)
    tap.test("a supervisor that cannot listen leaves it to the filter", with_a_supervisor_that_cannot_listen)
    tap.test("a listener that does not arrive leaves it to the filter", with_a_supervisor_that_gets_no_descriptor)
    tap.test("with --allow-nested there is nothing to refuse or count", with_namespaces_allowed)
    # Without namespaces nothing runs as root: cli/bare.sh.
    if MODE != "root":
        tap.test("without namespaces the filter refuses by itself", without_namespaces)
    tap.test("a job that makes such calls stops by ^Z and ends by ^C", in_a_stopped_job, sh)
    tap.test("output of a terminal goes on between refusals", at_a_terminal, sh)


def main():
    home = os.path.join(os.environ["TMPDIR"], "home")
    os.mkdir(home)
    os.environ.update(HOME=home, XDG_STATE_HOME=os.path.join(home, "state"))
    try:
        return run_tests("", all_tests)
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    sys.exit(main())
