#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash dash strace
"""The end of a command is the end of holdback: by the same signal, after all else."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, run_tests, same, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
SIGNALS = ("HUP", "INT", "QUIT", "ABRT", "KILL", "USR1", "SEGV", "PIPE", "TERM")
UP = "sh -c 'echo up; exec sleep 1000'"
TIMED_OUT = 124


def call(*words, script=""):
    """The end of a call, with what it wrote."""
    words = [*words, "--", "sh", "-c", script] if script else words
    return subprocess.run(
        [HOLDBACK, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def ended(script):
    """The end of exec in the session, and the document that it wrote beside the output."""
    words = [HOLDBACK, "exec", "--json", "@kept", "--", "sh", "-c", script]
    done = subprocess.run(["sh", "-c", 'exec "$@" 3>&1 >/dev/null', "sh", *words],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # fmt: skip
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def by_each_signal():
    for name in SIGNALS:
        done = call("run", "--ephemeral", "-q", script=f"kill -{name} $$")
        same((name, done.returncode), (name, -getattr(signal, "SIG" + name)))


def by_itself():
    same(call("run", "--ephemeral", "-q", script="exit 130").returncode, 130)


def by_its_time():
    done = call("run", "--ephemeral", "-q", "--timeout", "1", script="exec sleep 1000")
    same(done.returncode, TIMED_OUT)


def without_changes():
    same(call("run", "-q", script="kill -TERM $$").returncode, -signal.SIGTERM)
    same(call("ls").stdout, "")


def without_changes_twice():
    """A second signal comes when the box is gone, and the session with it."""
    words = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat",
             "-e", "inject=unlinkat:signal=INT:when=1", HOLDBACK, "run", "-q", "--"]  # fmt: skip
    done = subprocess.run([*words, "sh", "-c", "sleep 1000 & kill -INT $$"], check=False)
    same(done.returncode, -signal.SIGINT)
    # ls would remove what a killed run left, and say so.
    left = call("ls")
    same((left.stdout, left.stderr), ("", ""))


def with_changes():
    """What the session holds is said before, and is there after."""
    done = call("run", "-s", "kept", script="echo new >new; kill -TERM $$")
    same(done.returncode, -signal.SIGTERM)
    if "session kept is kept: 1 file" not in done.stderr:
        raise Failed(done.stderr)
    if "new" not in call("status", "@kept").stdout:
        raise Failed("the session has no change")


def in_a_session():
    status, document = ended("kill -INT $$")
    same(status, -signal.SIGINT)
    same((document["status"], document["signal"]), (128 + signal.SIGINT, signal.SIGINT))


def joined():
    with subprocess.Popen([HOLDBACK, "keep", "@kept"]) as keep:
        try:
            wait_until(lambda: "live" in call("ls").stdout, "the session is live")
            status, document = ended("kill -INT $$")
            same(document["joined"], True)
            same(status, -signal.SIGINT)
        finally:
            keep.terminate()
    same(keep.returncode, 0)
    same(call("cleanup", "-y", "@kept").returncode, 0)


def end_of(words):
    """The whole wait status, in a process that may leave a core file."""
    pid = os.fork()
    if pid == 0:
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))
        os.execvp(words[0], words)
    return os.waitpid(pid, 0)[1]


def without_core():
    crash = ["sh", "-c", "kill -SEGV $$"]
    status = end_of([HOLDBACK, "run", "--ephemeral", "-q", "--", *crash])
    same((os.WTERMSIG(status), os.WCOREDUMP(status)), (signal.SIGSEGV, False))


def write_loop(name, command):
    with open(name, "w", encoding="utf-8") as file:
        file.write(f"for i in 1 2 3; do $HB_BIN run --ephemeral -q -- {command}; done; echo whole\n")


def typed_in_a_loop(sh, line):
    """After one ^C the shell asks again, and nothing of the loop goes on."""
    sh.start(line, "up")
    sh.type("\x03")
    before = sh.taken
    sh.expect("hb> ")
    if "up" in sh.seen[before : sh.taken] or "whole" in sh.seen[before : sh.taken]:
        raise Failed("the loop goes on: " + sh.seen[before:])


def loops():
    """Each way to be in a loop: by terminal, kind of run, shell, and how that reads it."""
    for tty in ("", "--tty real "):
        for run in ("run --ephemeral -q " + tty + "--", "run " + tty + "--"):
            script = f"while true; do $HB_BIN {run} {UP}; done"
            with open("forever", "w", encoding="utf-8") as file:
                file.write(script + "\n")
            yield script
            for shell in ("bash", "dash"):
                yield f"{shell} forever"
                yield f'{shell} -c "$(cat forever)"'


def typed_in_every_loop(sh):
    for line in loops():
        try:
            typed_in_a_loop(sh, line)
        except Failed as why:
            with open("forever", encoding="utf-8") as file:
                raise Failed(f"{line}, of {file.read()}: {why}") from why
    same(call("ls").stdout, "")


def typed_in_dash(sh):
    """dash -i, at a terminal, as bash."""
    sh.start("PS1='da> ' dash -i", "da> ")
    for tty in ("", "--tty real "):
        sh.type(f"while true; do $HB_BIN {tty}{UP}; done\r")
        sh.expect("up\r")
        sh.type("\x03")
        before = sh.taken
        sh.expect("da> ")
        sh.type("echo after\r")
        sh.expect("after\r\nafter|\nafter\r")
        if "up" in sh.seen[before : sh.taken]:
            raise Failed("the loop goes on: " + sh.seen[before:])
    sh.type("exit\r")
    sh.expect("hb> ")


def typed_and_handled(sh):
    """A command that takes ^C for a word of its own does not end the loop."""
    write_loop("handles", "sh -c 'trap \"exit 0\" INT; echo up; while :; do sleep 1; done'")
    sh.start("sh handles", "up")
    sh.type("\x03")
    sh.expect("up")
    sh.type("\x03")
    sh.expect("up")
    sh.type("\x03")
    sh.expect("whole")
    sh.expect("hb> ")


def sent_in_a_script(sh):
    """A signal that no key made is for the command alone."""
    write_loop("sent", "sh -c 'echo up; kill -INT $$'")
    said = sh.run("bash sent").split()
    same((said.count("up"), said[-1]), (3, "whole"))


def all_tests(tap, sh):
    one = tap.test
    one("a command that a signal ended ends holdback by the same signal", by_each_signal)
    one("a status above 128 stays a status", by_itself)
    one("a command whose time is up has its own status", by_its_time)
    one("a run whose session is dropped ends by the signal", without_changes)
    one("a signal after the box does not keep an empty session", without_changes_twice)
    one("a run whose session is kept says so, and ends by the signal", with_changes)
    one("exec writes its document, and ends by the signal", in_a_session)
    one("a command that joined ends its client by the signal", joined)
    name = "a command that crashed leaves no core file of holdback"
    if os.WCOREDUMP(end_of(["sh", "-c", "kill -SEGV $$"])):
        one(name, without_core)
    else:
        tap.skip(name, "no program leaves a core file here")
    write_loop("loop", UP)
    loop = f"while :; do $HB_BIN run --ephemeral -q {{}}-- {UP}; done"
    one("^C stops a loop of an interactive shell", typed_in_a_loop, sh, loop.format(""))
    one("also at the user's own terminal", typed_in_a_loop, sh, loop.format("--tty real "))
    one("^C stops a script of bash", typed_in_a_loop, sh, "bash loop")
    one("^C stops a script of sh", typed_in_a_loop, sh, "sh loop")
    one("^C stops a loop of any shell, terminal and kind of run", typed_in_every_loop, sh)
    one("^C stops a loop of an interactive dash", typed_in_dash, sh)
    one("^C that the command handles does not stop a script", typed_and_handled, sh)
    one("a signal that the command sends itself does not stop a script", sent_in_a_script, sh)
    one("nothing is left of all this", lambda: same(sh.children(), []))


def main():
    # The runner need not want to hear these; the commands of a user do.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    os.environ["XDG_STATE_HOME"] = os.path.join(os.environ["TMPDIR"], "state")
    try:
        return run_tests("", all_tests)
    finally:
        shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
