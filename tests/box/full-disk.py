#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash mount python3 stty unshare
"""H17: a box that fills the disk is stopped before it is full, and loses nothing.

Base and store lie on a disk of 64 MiB, of which `ballast` takes 16.
"""

import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
import overlay  # noqa: E402
from pty_shell import Failed, Shell, below, run_tests, same, state_of, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
DISK = os.path.join(os.environ["TMPDIR"], "disk")
BALLAST = os.path.join(DISK, "ballast")
# A terminal shows it in several lines.
FULL = r"the disk is almost full \((?:.|\n)*?nothing is lost(?:.|\n)*?holdback resume @s"
ROOM = "there is room again: the command goes on"
PREPARE = f"cd {DISK}/p; alias hb='$HB_BIN run -q -s s --min-free 24M'"
# It fills the disk, and then reads words.
FILL = "head -c 30M /dev/zero >big; stty -echo; echo up; while read -r x; do echo got=$x; done"


def put_ballast():
    with open(BALLAST, "wb") as file:
        file.write(bytes(16 << 20))


def holdback(*words):
    return subprocess.run(
        [HOLDBACK, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def status():
    return holdback("status", "@s").stdout


def is_stopped():
    return "stopped: the disk is full\n" in status()


def in_box():
    """The processes of the box but its first."""
    live = json.loads(holdback("status", "--json", "@s").stdout)["live"]
    return [pid for pid in below(live["pid"]) if pid != live["init"]]


def begin(sh, line):
    put_ballast()
    sh.start(line, FULL)
    wait_until(is_stopped, "status says that it is stopped")
    live = json.loads(holdback("status", "--json", "@s").stdout)["live"]
    same(live["disk_full"], True)
    if state_of(live["pid"]) == "T":
        raise Failed("the supervisor is stopped")
    wait_until(lambda: {state_of(pid) for pid in in_box()} == {"T"}, "all of the box is stopped")


def talks(sh):
    """The keys are the command's again."""
    sh.type("words\r")
    sh.expect("^got=words")


def finish(sh):
    sh.type("\x04")
    sh.expect("hb> ")
    same(sh.status(), 0)
    same(holdback("cleanup", "-y", "@s").returncode, 0)


def room_again(sh):
    begin(sh, f"hb sh -c '{FILL}'")
    os.unlink(BALLAST)
    sh.expect(ROOM)
    same(is_stopped(), False)
    talks(sh)
    finish(sh)


def resumed(sh):
    begin(sh, f"hb sh -c '{FILL}; sleep 2.5; echo late'")
    done = holdback("resume", "@s")
    same((done.returncode, done.stdout), (0, "goes on\n"))
    same(holdback("resume", "@s").stdout, "it is not stopped\n")
    talks(sh)
    # More than one look later it is not stopped again.
    sh.type("\x04")
    sh.expect("^late")
    sh.expect("hb> ")
    same(holdback("cleanup", "-y", "@s").returncode, 0)


def suspended(sh):
    """The user has the shell, and then the command."""
    begin(sh, f"hb sh -c '{FILL}'")
    sh.type("\x1a")
    sh.expect("Stopped.*\n(.*\n)*hb> ")
    same(sh.run("echo typed").strip(), "typed")
    sh.start("fg", FULL)
    sh.type("\x1a")
    sh.expect("hb> ")
    os.unlink(BALLAST)
    sh.start("fg", ROOM)
    talks(sh)
    finish(sh)


def interrupted(sh):
    begin(sh, f"hb sh -c '{FILL}'")
    sh.type("\x03")
    sh.expect("hb> ")
    same(sh.status(), 130)
    same(holdback("cleanup", "-y", "@s").returncode, 0)


def stopped_by_word(sh):
    begin(sh, f"hb sh -c 'trap \"echo asked; exit 3\" TERM; {FILL}'")
    same(holdback("stop", "@s").returncode, 0)
    sh.expect("^asked")
    sh.expect("hb> ")
    same(holdback("cleanup", "-y", "@s").returncode, 0)


def timed_out(sh):
    put_ballast()
    sh.start(f"hb --timeout 4s sh -c '{FILL}'", FULL)
    sh.expect("hb> ")
    same(sh.status(), 124)
    same(holdback("cleanup", "-y", "@s").returncode, 0)


def stopped_before(sh):
    """A job that its own shell had stopped stays so."""
    job = "sleep 100 & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; "
    begin(sh, f"hb sh -c '{job}{FILL}'")
    job = next(pid for pid in in_box() if "sleep" in command_of(pid))
    os.unlink(BALLAST)
    sh.expect(ROOM)
    talks(sh)
    same(state_of(job), "T")
    finish(sh)


def command_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        return file.read()


def begin_joined(sh):
    """A first command that fills the disk when it is told to."""
    put_ballast()
    sh.start("hb sh -c 'echo up; while read -r x; do eval \"$x\"; done'", "up")


def end_joined(sh):
    """Not before it has its keys again: an end of file is none in another mode."""
    sh.type("echo there\r")
    sh.expect("^there")
    finish(sh)


def fill(sh):
    sh.type("head -c 30M /dev/zero >big\r")
    sh.expect(FULL)


def joined(sh):
    """A command that joined stops as well, its user is told, and it goes on."""
    begin_joined(sh)
    with tempfile.TemporaryFile() as said, subprocess.Popen(
        [HOLDBACK, "exec", "@s", "--", "sh", "-c", "echo in; read -r x; echo out=$x"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True,
        start_new_session=True,
    ) as guest:  # fmt: skip
        same(guest.stdout.readline(), "in\n")
        fill(sh)
        wait_until(lambda: re.search(FULL, text_of(said)), "its user is told")
        wait_until(lambda: {state_of(pid) for pid in below(guest.pid)} == {"T"}, "it is stopped")
        guest.stdin.write("words\n")
        guest.stdin.flush()
        same(holdback("resume", "@s").returncode, 0)
        same(guest.stdout.readline(), "out=words\n")
        same(guest.wait(), 0)
        same(len(text_of(said).splitlines()), 1)
    end_joined(sh)


def text_of(file):
    return os.pread(file.fileno(), 4096, 0).decode()


READ = "sh -c 'stty -echo; echo in; while read -r x; do echo got=$x; done'"


def with_guest(test):
    """A second shell, at a terminal of its own, in the same place."""

    def inner(sh):
        guest = Shell(PREPARE)
        try:
            test(sh, guest)
        finally:
            guest.close()

    return inner


@with_guest
def joined_terminal(sh, guest):
    """As at the first terminal: told, ^Z and fg, and the keys once it goes on."""
    begin_joined(sh)
    guest.start(f"$HB_BIN exec @s -- {READ}", "in")
    fill(sh)
    guest.expect(FULL)
    guest.type("\x1a")
    guest.expect("Stopped.*\n(.*\n)*hb> ")
    same(guest.run("echo typed").strip(), "typed")
    guest.start("fg", FULL)
    os.unlink(BALLAST)
    guest.expect(ROOM)
    sh.expect(ROOM)
    talks(guest)
    guest.type("\x04")
    guest.expect("hb> ")
    same(guest.status(), 0)
    end_joined(sh)


@with_guest
def joined_interrupted(sh, guest):
    """^C is for the command that joined alone."""
    begin_joined(sh)
    modes = guest.run("stty -g")
    guest.start(f"$HB_BIN exec @s -- {READ}", "in")
    fill(sh)
    guest.expect(FULL)
    guest.type("\x03")
    guest.expect("hb> ")
    same(guest.status(), 130)
    same(guest.run("stty -g"), modes)
    same(is_stopped(), True)
    os.unlink(BALLAST)
    sh.expect(ROOM)
    end_joined(sh)


@with_guest
def joined_slow_end(sh, guest):
    """^C is heard by a command that is stopped again while it handles it."""
    begin_joined(sh)
    tidy = 'trap "kill -STOP \\$\\$; exit 7" INT; echo in; while :; do read -r x; done'
    guest.start(f"$HB_BIN exec @s -- sh -c '{tidy}'", "^in")
    fill(sh)
    guest.expect(FULL)
    guest.type("\x03")
    guest.expect("hb> ")
    same(guest.status(), 7)
    same(is_stopped(), True)
    os.unlink(BALLAST)
    sh.expect(ROOM)
    end_joined(sh)


@with_guest
def joined_late(sh, guest):
    """A command that joins a box that is stopped is told at once."""
    begin_joined(sh)
    fill(sh)
    guest.start(f"$HB_BIN exec @s -- {READ}", FULL)
    os.unlink(BALLAST)
    guest.expect(ROOM)
    talks(guest)
    guest.type("\x04")
    guest.expect("hb> ")
    end_joined(sh)


@with_guest
def joined_unborn(sh, guest):
    """A command that the box stops before it executes: its user is told, and may leave."""
    begin_joined(sh)
    with leased("slow") as asked:
        guest.start("$HB_BIN exec @s -- ./slow", "")
        wait_until(lambda: asked, "somebody executes the file")
        fill(sh)
        guest.expect(FULL)
        guest.type("\x03")
        guest.expect("hb> ")
        same(guest.status(), 130)
    same(is_stopped(), True)
    os.unlink(BALLAST)
    sh.expect(ROOM)
    same(guest.run("$HB_BIN exec @s -- ./slow").strip(), "ran")
    end_joined(sh)


@contextlib.contextmanager
def leased(name):
    """Whoever executes the file waits for the end of this; the list tells of it."""
    asked = []
    fd = os.open(os.path.join(DISK, "p", name), os.O_RDWR)
    signal.signal(signal.SIGIO, lambda *_: asked.append(True))
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    try:
        yield asked
    finally:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        os.close(fd)


@with_guest
def joined_waking(sh, guest):
    """A stop that the client sees after the word to go on is not its command's own."""
    begin_joined(sh)
    guest.start(f"$HB_BIN exec @s -- {READ}", "^in")
    fill(sh)
    guest.expect(FULL)
    live = json.loads(holdback("status", "--json", "@s").stdout)["live"]
    client = guest.children()[0]
    command = next(pid for pid in below(client) if command_of(pid) == "sh\n")
    wait_until(lambda: state_of(command) == "T", "the command is stopped")
    os.kill(live["init"], signal.SIGSTOP)
    try:
        same(holdback("resume", "@s").returncode, 0)
        os.kill(command, signal.SIGCONT)
        wait_until(lambda: state_of(command) != "T", "it goes on")
        os.kill(command, signal.SIGSTOP)
        wait_until(lambda: state_of(command) == "T", "it is stopped again")
        guest.type("words\r")
        wait_until(lambda: state_of(client) == "S", "the client waits")
    finally:
        os.kill(live["init"], signal.SIGCONT)
    guest.expect("^got=words")
    guest.type("\x04")
    guest.expect("hb> ")
    same(guest.status(), 0)
    end_joined(sh)


@with_guest
def joined_real(sh, guest):
    """With the user's own terminal it gets that back as well."""
    begin_joined(sh)
    guest.start(f"$HB_BIN exec --tty real @s -- {READ}", "in")
    fill(sh)
    guest.expect(FULL)
    same(holdback("resume", "@s").returncode, 0)
    talks(guest)
    guest.type("\x04")
    guest.expect("hb> ")
    end_joined(sh)


@with_guest
def joined_shell(sh, guest):
    """A shell that joined does not see its own job as stopped."""
    begin_joined(sh)
    guest.start("$HB_BIN exec @s -- env PS1='in> ' bash --norc", "in> ")
    guest.start("cat", "")
    fill(sh)
    guest.expect(FULL)
    os.unlink(BALLAST)
    guest.expect(ROOM)
    guest.type("words\r")
    guest.expect("words\r\nwords")
    guest.type("\x04")
    said = guest.expect("in> ")
    if "Stopped" in guest.seen[: said.end()]:
        raise Failed("the shell took its job for stopped: " + repr(guest.seen))
    guest.type("exit\r")
    guest.expect("hb> ")
    end_joined(sh)


@with_guest
def joined_before(sh, guest):
    """What its user had stopped before stays stopped, and is told by fg."""
    begin_joined(sh)
    guest.start(f"$HB_BIN exec @s -- {READ}", "in")
    guest.type("\x1a")
    guest.expect("Stopped.*\n(.*\n)*hb> ")
    client = guest.children()[0]
    fill(sh)
    wait_until(is_stopped, "status says that it is stopped")
    same(state_of(client), "T")
    guest.start("fg", FULL)
    os.unlink(BALLAST)
    guest.expect(ROOM)
    talks(guest)
    guest.type("\x04")
    guest.expect("hb> ")
    end_joined(sh)


def never(sh):
    """Without a limit, and on a disk that has little room from the start."""
    put_ballast()
    same(sh.run("hb --min-free 0 sh -c 'head -c 30M /dev/zero >big; sleep 2; echo done'").strip()
         .splitlines()[-1], "done")  # fmt: skip
    same(holdback("cleanup", "-y", "@s").returncode, 0)
    said = sh.run("$HB_BIN run -q -s t sh -c 'sleep 2; echo done'").strip()
    same(said.splitlines()[0], "done")


def all_tests(tap, sh):
    before = sh.run("stty -g")
    one = tap.test
    one("H17 a box that fills the disk is stopped, and goes on when there is room", room_again, sh)
    one("H17 holdback resume has it go on at once, and for good", resumed, sh)
    one("H17 ^Z gives the shell back meanwhile, and fg tells again", suspended, sh)
    one("H17 ^C ends a command that a full disk has stopped", interrupted, sh)
    one("H17 holdback stop ends such a command, which is asked first", stopped_by_word, sh)
    one("H17 the end of its time ends such a command", timed_out, sh)
    one("H17 what was stopped before stays stopped", stopped_before, sh)
    one("H17 a command that joined stops and goes on with the box, and says so", joined, sh)
    one("H17 at a terminal that joined: told, ^Z and fg, the keys again", joined_terminal, sh)
    one("H17 ^C ends a command that joined, and it alone", joined_interrupted, sh)
    one("H17 ^C reaches a command that is stopped while it ends", joined_slow_end, sh)
    one("H17 a command that joins a stopped box is told at once", joined_late, sh)
    one("H17 a command that is stopped before it executes: told, and ^C", joined_unborn, sh)
    one("H17 a stop between the word to go on and the wake is the box's", joined_waking, sh)
    one("H17 a command that joined with --tty real has the terminal again", joined_real, sh)
    one("H17 a shell that joined does not take its job for stopped", joined_shell, sh)
    one("H17 a command that joined and was stopped before stays so", joined_before, sh)
    one("H17 --min-free 0, and a disk that was as full before, stop nothing", never, sh)
    one("terminal modes are as before", lambda: same(sh.run("stty -g"), before))
    one("nothing is left of all this", lambda: same(sh.children(), []))


def main():
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.mkdir(DISK)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", DISK], check=True)
    os.mkdir(os.path.join(DISK, "p"))
    with open(os.path.join(DISK, "p", "slow"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho ran\n")
        os.fchmod(file.fileno(), 0o755)
    os.environ["XDG_STATE_HOME"] = os.path.join(DISK, "state")
    status_of_tests = run_tests(PREPARE, all_tests)
    subprocess.run(["umount", "-l", DISK], check=True)
    os.rmdir(DISK)
    return status_of_tests


if __name__ == "__main__":
    sys.exit(overlay.run_inside(main))
