#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash stty
"""A terminal between the user's and the command's, which is the default.

tests/box/terminal.py holds what is the same with --tty real.
"""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "box"))

# pylint: disable=wrong-import-position
import terminal  # noqa: E402
from pty_shell import Failed, below, run_tests, same, state_of, wait_until  # noqa: E402

NUMBER = "stat -Lc %t:%T /proc/self/fd/0"


def another_one(sh):
    outside = sh.run(NUMBER)
    for words in ("hb", "hbx @s"):
        if sh.run(f"{words} {NUMBER}") == outside:
            raise Failed("it is the terminal of the user")
    for words in ("hb --tty real --", "hbx --tty real @s"):
        same(sh.run(f"{words} {NUMBER}"), outside)
    same(sh.run("hb tty").strip(), "/dev/console")


def modes(sh):
    before = sh.run("stty -g")
    sh.run("hb stty -echo -icanon")
    same(sh.run("stty -g"), before)
    if sh.run("hb --tty real -- stty -echo; stty -g; stty echo") == before:
        raise Failed("control: a command can change those of the user's")


def modes_of_the_killed(sh):
    before = sh.run("stty -g")
    sh.run("hb sh -c 'stty raw -echo; kill -9 $$'")
    same(sh.status(), 137)
    same(sh.run("stty -g"), before)


def window_size(sh):
    sh.start("hb ./probe signals", terminal.READY)
    sh.resize(101, 33)
    sh.expect("<size 101x33>")
    sh.type("\x1c")
    sh.expect("hb> ")
    sh.resize(80, 24)
    same(sh.run("hb stty size").strip(), "24 80")


def typed(sh):
    sh.start("hb sh -c 'echo up; read -r x </dev/tty; echo got=$x'", "^up")
    sh.type("words\r")
    sh.expect("^got=words")
    sh.expect("hb> ")


def redirected(sh):
    """Who has none of the three could still open it by its name."""
    number = "sh -c 'cut -d\" \" -f7 /proc/self/stat >out; cat out' </dev/null 2>/dev/null | cat"
    outside = sh.run(number).strip()
    if sh.run("hb " + number).strip() in ("", outside):
        raise Failed("it is the terminal of the user")
    same(sh.run("hb --tty real -- " + number).strip(), outside)


def left_behind(sh):
    """Who stays in a box that was joined does not keep the terminal."""
    sh.run(
        "$HB_BIN keep --state-dir ../state @s &"
        " until $HB_BIN status --state-dir ../state @s | grep -q live; do :; done"
    )
    loop = "trap : HUP; while :; do echo x; : >/tmp/told; sleep 0.05; done"
    inner = f"setsid sh -c '{loop}' & until [ -e /tmp/told ]; do :; done"
    with open("leave", "w", encoding="ascii") as file:
        file.write(inner)
    sh.start("hbx @s sh leave", "^x")
    sh.expect("hb> ")
    sh.run("$HB_BIN stop --state-dir ../state @s; wait")


def all_bytes(sh):
    same(sh.run("hb seq 20000").split(), [str(i) for i in range(1, 20001)])


def typed_at_nobody(sh):
    """More than fits, at a command that writes and does not read."""
    sh.start("hb sh -c 'stty -echo; echo up; seq 20000; cat >/dev/null'", "^up")
    for _ in range(200):
        sh.type("x" * 50 + "\r")
    sh.expect("^20000")
    sh.type("\x04")
    sh.expect("hb> ")
    same(sh.status(), 0)


def pipes(sh):
    same(sh.run("echo in | hb cat").strip(), "in")
    sh.run("hb sh -c 'echo out; exit 4' | cat >kept; got=${PIPESTATUS[*]}")
    same(sh.run("echo $got; cat kept").split(), ["4", "0", "out"])


def background(sh):
    sh.run("hb sh -c 'exit 6' & wait $!")
    same(sh.status(), 6)


def stops(sh):
    before = sh.run("stty -g")
    sh.start("hb sh -c 'stty -echo; echo up; kill -STOP $$; stty -a; exit 9'", "^up")
    sh.expect("Stopped")
    sh.expect("hb> ")
    same(sh.run("stty -g"), before)
    sh.start("fg", "-echo ")
    sh.expect("hb> ")
    same(sh.status(), 9)
    same(sh.run("stty -g"), before)


def stop_key(sh):
    sh.start("hb ./probe signals", terminal.READY)
    for _ in range(5):
        terminal.stop(sh)
        sh.start("fg", "<cont>")
    terminal.end(sh)


def end_while_stopped(sh):
    sh.start("hb ./probe signals", terminal.READY)
    terminal.stop(sh)
    job = terminal.supervisor(sh)
    sh.start("kill %1; kill -CONT %1", "<term>")
    wait_until(lambda: not state_of(job), "the job ends")
    sh.run("wait")


def signals(sh):
    sh.start("hb ./probe signals", terminal.READY)
    terminal.end(sh)
    same(sh.status(), 42)


def killed(sh):
    before = sh.run("stty -g")
    sh.start("hb sh -c './probe linger 2; exec ./probe signals'", terminal.READY)
    boxed = below(terminal.supervisor(sh))
    if not boxed:
        raise Failed("there is nothing to end")
    os.kill(terminal.supervisor(sh), signal.SIGKILL)
    wait_until(lambda: not any(map(state_of, boxed)), "the box ends with the supervisor")
    sh.expect("hb> ")
    same(sh.run("stty -g"), before)


def all_tests(tap, sh):
    one = tap.test
    one("Q20 the command has another terminal", another_one, sh)
    one("Q20 what it does to it ends there", modes, sh)
    one("also if it is killed", modes_of_the_killed, sh)
    one("the status", terminal.exit_status, sh)
    one("death by a signal", terminal.death_by_signal, sh)
    one("^C", terminal.interrupt, sh)
    one("^\\", terminal.quit_key, sh)
    one("V1 nothing types into the terminal", terminal.forbidden_requests, sh)
    one("a new window size arrives", window_size, sh)
    one("what is typed arrives", typed, sh)
    one("Q20 also where it is none of the three", redirected, sh)
    one("who stays behind does not keep it", left_behind, sh)
    one("what is shown arrives, to the last byte", all_bytes, sh)
    one("neither waits for the other", typed_at_nobody, sh)
    one("what is no terminal stays what it is", pipes, sh)
    one("in the background", background, sh)
    one("a command that stops, and goes on with its modes", stops, sh)
    one("^Z", stop_key, sh)
    one("a signal while it is stopped", end_while_stopped, sh)
    one("signals are passed on", signals, sh)
    one("L7 the box ends with the supervisor, and the shell has its terminal", killed, sh)
    one("nothing is left of all this", lambda: same(sh.children(), []))
    one("the box ends when the terminal hangs up", terminal.hang_up, sh)


def main():
    return run_tests(
        "alias hb='$HB_BIN run --ephemeral -q';"
        " alias hbx='$HB_BIN exec --state-dir ../state';"
        " $HB_BIN create --state-dir ../state s --cow . >/dev/null",
        all_tests,
    )


if __name__ == "__main__":
    sys.exit(main())
