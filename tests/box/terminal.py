#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash less stty
"""The terminal: what a user at a shell sees of a box in the foreground.

src/box/terminal.c lists the rules that these tests hold.
"""

import ctypes
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, below, program_of, run_tests, same, state_of  # noqa: E402
from pty_shell import wait_until  # noqa: E402

READY = r"<ready \d+>"
SLEEP = "sh -c 'echo up; exec sleep 1000'"
LANDLOCK_CREATE_RULESET = 444
HAS_SIGNAL_SCOPE = 6


def supervisor(sh, program="holdback"):
    """The one child of the shell that is ours, once it is no shell any more."""

    found = []

    def is_alone():
        # Asked once: between two looks it may execute something else.
        found[:] = [pid for pid in sh.children() if program_of(pid) == program]
        return len(found) == 1

    wait_until(is_alone, f"there is one {program}")
    return found[0]


def stop(sh):
    sh.type("\x1a")
    sh.expect("Stopped")
    sh.expect("hb> ")


def end(sh, program="holdback"):
    """Ends `probe signals` in the foreground by way of the supervisor."""
    os.kill(supervisor(sh, program), signal.SIGTERM)
    sh.expect("<term>")
    sh.expect("hb> ")


def bring_to_front(sh):
    """bash tells of the job first, and puts it in front after that."""
    front = os.tcgetpgrp(sh.fd)
    sh.start("fg", "probe signals|sleep")
    wait_until(lambda: os.tcgetpgrp(sh.fd) != front, "fg gives the terminal away")


def exit_status(sh):
    for status in (0, 7, 255):
        sh.run(f"hb sh -c 'exit {status}'")
        same(sh.status(), status)


def death_by_signal(sh):
    sh.run("hb sh -c 'kill -9 $$'")
    same(sh.status(), 137)


def interrupt(sh):
    sh.start("hb " + SLEEP, "up")
    sh.type("\x03")
    sh.expect("hb> ")
    same(sh.status(), 130)


def quit_key(sh):
    sh.start("hb " + SLEEP, "up")
    sh.type("\x1c")
    sh.expect("hb> ")
    same(sh.status(), 131)


def one_interrupt(sh, line):
    """The count is asked for by way of the supervisor, behind any duplicate."""
    sh.start(line, READY)
    sh.type("\x03")
    sh.expect("<int 1>")
    os.kill(supervisor(sh), signal.SIGUSR1)
    sh.expect("<total 1>")
    end(sh)


def term_to_supervisor(sh):
    sh.start("hb ./probe signals", READY)
    end(sh)
    same(sh.status(), 42)


def stop_and_resume(sh, line):
    sh.start(line, READY)
    stop(sh)
    if not any(state_of(pid) == "T" for pid in below(supervisor(sh))):
        raise Failed("nothing in the box is stopped")
    if "Stopped" not in sh.run("jobs"):
        raise Failed("the shell has no stopped job")
    sh.start("fg", "<cont>")
    stop(sh)
    sh.start("fg", "<cont>")
    end(sh)


def stop_and_resume_quickly(sh, line):
    """Nobody may be left behind, however close ^Z follows on fg."""
    sh.start(line, READY)
    for _ in range(60):
        stop(sh)
        sh.start("fg", "<cont>")
    end(sh)


def interrupt_after_resume(sh):
    sh.start("hb ./probe signals", READY)
    stop(sh)
    sh.start("fg", "<cont>")
    sh.type("\x03")
    sh.expect("<int 1>")
    end(sh)
    same(sh.status(), 42)


def background(sh):
    sh.start("hb ./probe signals", READY)
    stop(sh)
    sh.start("bg", "<cont>")
    sh.start("echo still''here", "^stillhere")
    # The job runs and is not told: bash sends SIGCONT to stopped jobs only.
    bring_to_front(sh)
    sh.type("\x03")
    sh.expect("<int 1>")
    end(sh)


def started_in_background(sh):
    sh.start("hb ./probe signals &", READY)
    sh.start("echo still''here", "^stillhere")
    bring_to_front(sh)
    sh.type("\x03")
    sh.expect("<int 1>")
    stop(sh)
    sh.start("fg", "<cont>")
    end(sh)


def background_read(sh):
    sh.start("hb sh -c 'read x; echo got=$x' &", "hb> ")
    job = supervisor(sh)
    wait_until(lambda: state_of(job) == "T", "the job stops for want of input")
    sh.start("fg", "read x")
    sh.type("words\r")
    sh.expect("^got=words")
    sh.expect("hb> ")
    same(sh.status(), 0)


def late_read(sh):
    """It runs when it comes to the front, and wants the terminal only then."""
    sh.start("hb sh -c './probe signals; read x; echo got=$x' &", READY)
    bring_to_front(sh)
    inner = [pid for pid in below(supervisor(sh)) if program_of(pid) == "probe"]
    os.kill(inner[0], signal.SIGTERM)
    sh.expect("<term>")
    sh.type("words\r")
    sh.expect("^got=words")
    sh.expect("hb> ")


def killed_while_stopped(sh):
    sh.start("hb ./probe signals", READY)
    stop(sh)
    job = supervisor(sh)
    sh.start("kill %1", "<term>")
    wait_until(lambda: not state_of(job), "the job ends")
    sh.run("wait")


def window_size(sh):
    sh.start("hb ./probe signals", READY)
    sh.resize(101, 33)
    sh.expect("<size 101x33>")
    end(sh)
    sh.resize(80, 24)
    same(sh.run("hb stty size").strip(), "24 80")


def inner_shell(sh):
    """One with jobs of its own, which has no idea that it is in a box."""
    before = len(sh.seen)
    sh.start("hb env -u PS1 bash --norc --noprofile -i", r"bash-[\d.]+[$#] ")
    sh.start("PS1='in''> '", "^in> ")
    if "no job control" in sh.seen[before:]:
        raise Failed("the inner shell has no job control")
    sh.start("./probe signals", READY)
    sh.type("\x1a")
    sh.expect("Stopped")
    sh.expect("in> ")
    sh.start("fg", "<cont>")
    sh.type("\x03")
    sh.expect("<int 1>")
    sh.type("\x1c")
    sh.expect("in> ")
    sh.start("echo $?", "^131")
    sh.expect("in> ")
    inner_suspend(sh)
    sh.start("exit 5", "hb> ")
    same(sh.status(), 5)


def inner_suspend(sh):
    sh.start("suspend -f", "Stopped")
    sh.expect("hb> ")
    same(sh.run("echo outside").strip(), "outside")
    sh.start("fg", "bash")
    sh.type("\r")
    sh.expect("in> ")
    sh.start("echo in''side", "^inside")
    sh.expect("in> ")


def pipe_to_less(sh):
    sh.start("hb seq 1 500 | TERM=vt100 less", r"20\r")
    sh.type("G")
    sh.expect("500")
    sh.type("q")
    sh.expect("hb> ")
    same(sh.status(), 0)


def kill_own_group(sh):
    sh.run("hb sh -c 'kill -9 0'")
    same(sh.status(), 137)


def kill_pipeline(sh):
    sh.run("hb sh -c 'echo out; kill -9 0' | cat >kept; got=${PIPESTATUS[*]}")
    same(sh.run("echo $got; cat kept").split(), ["137", "0", "out"])


def terminal_inside(sh):
    same(sh.run("hb tty").strip(), "/dev/console")
    same(sh.run("hb sh -c 'echo yes >/dev/tty'").strip(), "yes")
    sh.start("hb sh -c 'echo up; read -r x </dev/tty; echo got=$x'", "^up")
    sh.type("words\r")
    sh.expect("^got=words")
    sh.expect("hb> ")


def new_terminals_inside(sh):
    same(sh.run("hb script -qc tty /dev/null").strip(), "/dev/pts/0")


def modes_of_a_stopped_command(sh):
    """It gets back what it had set, and the shell is not left with it."""
    inner = 'stty -echo; kill -STOP $$; stty -a | grep -o "[-]*echo "; stty echo'
    sh.start(f"hb sh -c '{inner}'", "Stopped")
    sh.expect("hb> ")
    same(sh.run("stty -a | grep -o '[-]*echo '").strip(), "echo")
    sh.start("fg", "^-echo ")
    sh.expect("hb> ")


def forbidden_requests(sh):
    """V1; the kernel looks at 32 bits of a request, so the filter must too."""
    requests = ("0x5412", "0x541c", "0x5423", "0x540c", "0x100005412", "0xffffffff0000541c")
    for request in requests:
        same(sh.run(f"hb ./probe ioctl 0 {request}").strip(), "EPERM")
        if "EPERM" in sh.run(f"./probe ioctl 0 {request} </dev/null"):
            raise Failed(f"{request} is EPERM outside as well")
    same(sh.run("hb ./probe ioctl 0 0x5413").strip(), "allowed")


def terminal_stays_open(sh):
    """H19: an exclusive terminal, TIOCEXCL, opens for nobody but root."""
    sh.run("hb ./probe ioctl 0 0x540c")
    same(sh.run(": </dev/tty && echo opens").strip(), "opens")


def group_that_is_not_made(sh):
    """setpgid() that lies would leave the command in the shell's job."""
    got = sh.run("./probe deny setpgid OK -- $HB_BIN run --ephemeral -q -- echo ran")
    if "ran" in got.split():
        raise Failed(f"the command ran: {got}")
    same(sh.status(), 125)


def hang_up(sh, program="holdback"):
    sh.start("hb sh -c './probe linger 2; exec ./probe signals'", READY)
    boxed = below(supervisor(sh, program)) + [supervisor(sh, program)]
    sh.close()
    wait_until(lambda: not any(map(state_of, boxed)), "the box ends with the terminal")


def landlock_version():
    return ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, 0, 1)


def signals_and_jobs(one, sh):
    piped = "hb ./probe signals | (trap '' INT; cat)"
    one("the exit status is the command's", exit_status, sh)
    one("death by a signal is 128 + n", death_by_signal, sh)
    one("^C ends the command with 130", interrupt, sh)
    one("^\\ ends the command with 131", quit_key, sh)
    one("^C is exactly one SIGINT inside", one_interrupt, sh, "hb ./probe signals")
    one("^C is exactly one SIGINT inside, in a pipeline", one_interrupt, sh, piped)
    one("SIGTERM for the supervisor is the command's to handle", term_to_supervisor, sh)
    one("^Z stops, fg resumes", stop_and_resume, sh, "hb ./probe signals")
    one("^Z stops, fg resumes, in a pipeline", stop_and_resume, sh, piped)
    one("^Z close behind fg", stop_and_resume_quickly, sh, "hb ./probe signals")
    one("^Z close behind fg, in a pipeline", stop_and_resume_quickly, sh, piped)
    one("^C reaches a resumed command", interrupt_after_resume, sh)
    one("bg lets it run, fg brings it to the front", background, sh)
    one("started with &, then fg while it runs", started_in_background, sh)
    one("a read in the background stops the job", background_read, sh)
    one("a read after fg gets the keyboard", late_read, sh)
    one("kill of a stopped job is heard", killed_while_stopped, sh)


def all_tests(tap, sh):
    before = sh.run("stty -g")
    one = tap.test
    signals_and_jobs(one, sh)
    one("a new window size arrives", window_size, sh)
    one("a shell inside has jobs, suspends itself, exits", inner_shell, sh)
    one("a pager behind the command gets the keyboard", pipe_to_less, sh)
    one("V7 kill -9 0 inside spares the shell", kill_own_group, sh)
    name = "V7 kill -9 0 inside spares the pipeline"
    if landlock_version() >= HAS_SIGNAL_SCOPE:
        one(name, kill_pipeline, sh)
    else:
        tap.skip(name, "this kernel's landlock has no signal scope")
    one("tty and /dev/tty work inside", terminal_inside, sh)
    one("new terminals can be made inside", new_terminals_inside, sh)
    one("a stopped command finds its terminal modes again", modes_of_a_stopped_command, sh)
    one("V1 nothing types into the terminal", forbidden_requests, sh)
    one("H19 the user's terminal still opens after the command", terminal_stays_open, sh)
    one("a process group that was not made stops the run", group_that_is_not_made, sh)
    one("terminal modes are as before", lambda: same(sh.run("stty -g"), before))
    one("nothing is left of all this", lambda: same(sh.children(), []))
    one("the box ends when the terminal hangs up", hang_up, sh)


def main():
    return run_tests("alias hb='$HB_BIN run --ephemeral -q --'", all_tests)


if __name__ == "__main__":
    sys.exit(main())
