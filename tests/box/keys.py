#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash less python3 stty
"""K1: keys that are meant for the user's shell, or for a pager, stay there.

The thief is what a hostile command can be: it ignores the signals of the
terminal, takes the foreground, leaves the session, and reads every terminal that
it can open.  What it gets is in the file `stolen` of its view.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "box"))

# pylint: disable=wrong-import-position
import terminal  # noqa: E402
from pty_shell import below, run_tests, same, state_of, wait_until  # noqa: E402

THIEF = """
import os, select, signal, sys
for sig in (signal.SIGTTIN, signal.SIGTTOU, signal.SIGHUP):
    signal.signal(sig, signal.SIG_IGN)
loot = os.open("stolen", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def steal():
    fds = [0]
    try:
        fds.append(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        pass
    for fd in fds:
        os.set_blocking(fd, False)
    while True:
        select.select(fds, [], [], 0.01)
        for fd in fds:
            try:
                os.tcsetpgrp(fd, os.getpgrp())
            except OSError:
                pass
            try:
                os.write(loot, os.read(fd, 100))
            except OSError:
                pass
if "setsid" in sys.argv and os.fork() == 0:
    os.setsid()
    os.write(1, b"thief up\\n")
    steal()
if "setsid" in sys.argv:
    signal.pause()
os.write(1, b"thief up\\n")
steal()
"""

PAGER = """
import os, sys, termios, tty
fd = os.open("/dev/tty", os.O_RDWR)
modes = termios.tcgetattr(fd)
tty.setraw(fd)
os.write(fd, b"pager up\\r\\n")
got = b""
while not got.endswith(b"q"):
    got += os.read(fd, 1)
termios.tcsetattr(fd, termios.TCSADRAIN, modes)
print("got", got.decode(), len(sys.stdin.buffer.read()))
"""

SESSION = ["--state-dir", "../state", "@s", "--"]


def stolen():
    words = [os.environ["HB_BIN"], "exec", *SESSION, "cat", "stolen"]
    done = subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.decode(errors="replace")


def forget():
    words = [os.environ["HB_BIN"], "exec", *SESSION, "rm", "-f", "stolen"]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


def nothing_is_taken(sh):
    for _ in range(5):
        sh.start("echo hunter''2", "^hunter2")
        sh.expect("hb> ")


def end_job(sh):
    sh.run("kill -9 $(jobs -p); wait")
    same(stolen(), "")
    forget()


def while_stopped(sh, how):
    sh.start(f"hbx python3 thief.py {how}", "thief up")
    job = terminal.supervisor(sh)
    os.kill(job, 20)
    if how != "setsid":
        # It is told to stop by a signal that it does not ignore.
        sh.expect("Stopped")
        sh.expect("hb> ")
        nothing_is_taken(sh)
    end_job(sh)


def whole_box_stops(sh):
    """Also what has left the session, and another group."""
    sh.start("hbx sh -c 'setsid ./probe signals & exec ./probe signals'", terminal.READY)
    sh.expect(terminal.READY)
    terminal.stop(sh)
    boxed = below(terminal.supervisor(sh))
    # All but init, which is the first.
    wait_until(
        lambda: all(state_of(pid) in ("T", "") for pid in boxed[1:]), "all of the box stops"
    )
    sh.start("fg", "<cont>")
    wait_until(
        lambda: not any(state_of(pid) == "T" for pid in boxed), "all of the box goes on"
    )
    terminal.end(sh)


def stopped_jobs_inside_stay_stopped(sh):
    with open("inner", "w", encoding="ascii") as file:
        file.write(
            "setsid ./probe signals &\n"
            'until [ "$(cut -d" " -f5 /proc/$!/stat)" = $! ]; do :; done\n'
            "kill -STOP $!\n"
            "until grep -q 'State:.T' /proc/$!/status; do :; done\n"
            "echo up; kill -STOP $$; exec sleep 1000\n"
        )
    sh.start("hbx sh inner", "^up")
    sh.expect("Stopped")
    sh.expect("hb> ")
    boxed = below(terminal.supervisor(sh))
    sh.start("fg", "inner")
    wait_until(
        lambda: [state_of(pid) for pid in boxed if state_of(pid)].count("T") == 1,
        "one of them is still stopped",
    )
    sh.type("\x03")
    sh.expect("hb> ")


def in_background(sh, how):
    sh.start(f"hbx python3 thief.py {how} &", "thief up")
    nothing_is_taken(sh)
    end_job(sh)


def joined(sh, how):
    sh.run(
        "$HB_BIN keep --state-dir ../state @s &"
        " until $HB_BIN status --state-dir ../state @s | grep -q live; do :; done"
    )
    sh.start(f"hbx python3 thief.py {how} &", "thief up")
    nothing_is_taken(sh)
    sh.run("kill -9 $!; wait $!")
    same(stolen(), "")
    forget()
    sh.run("$HB_BIN stop --state-dir ../state @s; wait")


def control(sh):
    """At the user's own terminal the same thief gets keys."""
    sh.start("hbreal python3 thief.py setsid &", "thief up")

    def has_loot():
        sh.type("x")
        return "x" in stolen()

    wait_until(has_loot, "the thief gets a key")
    subprocess.run([os.environ["HB_BIN"], "stop", *SESSION[:3]], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    sh.restart()
    forget()


def pager_gets_all(sh, line):
    keys = "abcdefghijklmnoprstu"
    sh.start(line, "pager up")
    for key in keys:
        sh.type(key)
    sh.type("q")
    sh.expect(f"^got {keys}q")
    sh.expect("hb> ")


def piped(sh):
    pager_gets_all(sh, "hb seq 1000000 | python3 pager.py")


def with_log(sh):
    """0 and 1 are the terminal, 2 is not: it asks, and gets it."""
    sh.start("hb env TERM=vt100 less pager.py 2>log", "import os")
    sh.type("G")
    sh.expect("print")
    sh.type("q")
    sh.expect("hb> ")
    sh.start("hb sh -c 'echo up; read -r x; echo got=$x' 2>log", "^up")
    sh.type("words\r")
    sh.expect("^got=words")
    sh.expect("hb> ")
    same(sh.run("echo typed").strip(), "typed")


def all_tests(tap, sh):
    with open("thief.py", "w", encoding="ascii") as file:
        file.write(THIEF)
    with open("pager.py", "w", encoding="ascii") as file:
        file.write(PAGER)
    before = sh.run("stty -g")
    one = tap.test
    one("K1 control: at the user's own terminal the thief gets keys", control, sh)
    one("K1 a suspended command gets no key", while_stopped, sh, "")
    one("K1 a command in the background gets no key", in_background, sh, "")
    one("K1 a command that left its session gets no key", in_background, sh, "setsid")
    one("K1 a command that joined a box, in the background, gets no key", joined, sh, "")
    one("K1 a command that joined and left its session gets no key", joined, sh, "setsid")
    one("K1 the whole box is stopped when its command is", whole_box_stops, sh)
    one("what was stopped before inside stays stopped", stopped_jobs_inside_stay_stopped, sh)
    one("K1 every key reaches the pager behind a pipe", piped, sh)
    one("K1 every key reaches the pager, with 2 elsewhere the command asks", with_log, sh)
    one("terminal modes are as before", lambda: same(sh.run("stty -g"), before))
    one("nothing is left of all this", lambda: same(sh.children(), []))


def main():
    return run_tests(
        "alias hb='$HB_BIN run --ephemeral -q --';"
        " alias hbx='$HB_BIN exec --state-dir ../state @s --';"
        " alias hbreal='$HB_BIN exec --tty real --state-dir ../state @s --';"
        " $HB_BIN create --state-dir ../state s --cow . >/dev/null",
        all_tests,
    )


if __name__ == "__main__":
    sys.exit(main())
