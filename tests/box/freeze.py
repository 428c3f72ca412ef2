#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash sleep stty vim
"""A live box is frozen and goes on, and nothing inside or outside can tell.

One terminal has the first command of the box, the other a command that joined.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Shell, Tap, below, same, state_of, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
FREEZER = os.environ["HB_FREEZER"]
INNER = "env -u PS1 bash --norc --noprofile -i"
PROMPT = r"bash-[\d.]+[$#] "
TIMES = 200
COUNT = "i=0; while :; do i=$((i+1)); echo $i >count; done"


def door(state):
    """The socket at which commands join."""
    session = os.path.join(state, "sessions", "s")
    link = os.path.join(session, "door")
    return os.readlink(link) if os.path.islink(link) else os.path.join(session, "socket")


def freeze(state, times):
    done = subprocess.run(
        [FREEZER, door(state), str(times)], capture_output=True, text=True, check=False
    )
    same((done.returncode, done.stdout.count("still 1")), (0, times))
    return done.stdout


def begin_freeze(state):
    """A freeze that lasts until its process is dealt with."""
    # pylint: disable=consider-using-with
    freezer = subprocess.Popen(
        [FREEZER, door(state), "1", "wait"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    line = freezer.stdout.readline()
    if not line.startswith("frozen "):
        raise Failed(f"not frozen: {line!r}")
    return freezer


def end_freeze(freezer):
    freezer.stdin.close()
    freezer.wait()
    freezer.stdout.close()


def upper(state, name):
    return os.path.join(state, "sessions", "s", "r0", "upper", name)


def number(state):
    try:
        with open(upper(state, "count"), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def moves(state):
    before = number(state)
    wait_until(lambda: number(state) not in ("", before), "the box goes on")


def vim_in_front(one, state):
    one.start("vim -u NONE -i NONE -N text", "All|~")
    frozen = freeze(state, TIMES)
    if "held 0" in frozen:
        raise Failed("nothing was held")
    one.type("iwords\x1b:wq\r")
    one.expect("one> ")
    one.start("cat text", "^words")
    one.expect("one> ")
    if "Stopped" in one.seen:
        raise Failed("the shell saw its job stop")


def same_front(one, state):
    """The group in front of the terminal is the one that was."""
    one.start("sh -c 'echo up; read -r x; echo got=$x'", "^up")
    front = os.tcgetpgrp(one.fd)
    freeze(state, 20)
    same(os.tcgetpgrp(one.fd), front)
    one.type("words\r")
    one.expect("^got=words")
    one.expect("one> ")


def stopped_job(one, state):
    # A key that comes before the job is in front is for the shell.
    one.start("sh -c 'echo up; exec sleep 1000'", "^up")
    one.type("\x1a")
    one.expect("Stopped")
    one.expect("one> ")
    freeze(state, 20)
    one.start("jobs -s", r"Stopped +sh -c")
    one.expect("one> ")
    one.start("kill %1; fg 2>&1; echo end", "^end")
    one.expect("one> ")


def joined_command(one, two, state):
    del one
    two.start("hb " + INNER, PROMPT)
    two.start("PS1='two''> '", "^two> ")
    two.start("sh -c 'echo up; read -r x; echo got=$x'", "^up")
    freeze(state, TIMES)
    two.type("words\r")
    two.expect("^got=words")
    two.expect("two> ")
    two.start("exit 4", "hb> ")
    same(two.status(), 4)
    if "Stopped" in two.seen:
        raise Failed("a stop was seen")


def still(one, state):
    """A loop that writes writes nothing while it is frozen."""
    one.start(f"({COUNT}) & echo on", "^on")
    moves(state)
    freezer = begin_freeze(state)
    before = number(state)
    same(all(number(state) == before for _ in range(200)), True)
    end_freeze(freezer)
    moves(state)


def guide_and_holder(freezer):
    wait_until(lambda: len(below(freezer.pid)) == 2, "a guide and a holder")
    return below(freezer.pid)


def helper_dies(one, state, which, sig):
    """Whichever of them goes, by a signal that it cannot handle: the box goes on."""
    del one
    freezer = begin_freeze(state)
    pids = [freezer.pid, *guide_and_holder(freezer)]
    os.kill(pids[which], sig)
    moves(state)
    # Who lives on reaps the holder, on a host whose init reaps nobody too.
    end_freeze(freezer)
    wait_until(lambda: not any(state_of(pid) for pid in pids), "none of them is left")


def not_in_our_session(one, state):
    """A key at the terminal of the process that froze it is not for the others."""
    del one
    freezer = begin_freeze(state)
    for pid in guide_and_holder(freezer):
        if os.getsid(pid) == os.getsid(0):
            raise Failed("a helper would hear ^Z")
    end_freeze(freezer)
    moves(state)


def box_ends(one, two, state):
    """What asked a frozen box to end waits no longer than the freeze lasts."""
    freezer = begin_freeze(state)
    two.type("holdback_stop\r")
    end_freeze(freezer)
    two.expect("stopped")
    one.expect("hb> ")


def all_tests(tap, one, two, state):
    one.start("hb " + INNER, PROMPT)
    one.start("PS1='one''> '", "^one> ")
    tap.test("bash with vim in front: 200 freezes, and no job stops", vim_in_front, one, state)
    tap.test("the group in front is the same", same_front, one, state)
    tap.test("a stopped job stays stopped", stopped_job, one, state)
    tap.test("who joined sees no stop either", joined_command, one, two, state)
    tap.test("nothing is written while it is frozen", still, one, state)
    for which, name in enumerate(("process that froze it", "guide", "holder")):
        for sig in (signal.SIGKILL, signal.SIGTERM):
            tap.test(
                f"the box goes on when the {name} dies by {sig.name}",
                helper_dies, one, state, which, sig,
            )  # fmt: skip
    tap.test("the box goes on when the holder is stopped",
             helper_dies, one, state, 2, signal.SIGSTOP)  # fmt: skip
    tap.test("keys of a terminal do not reach the helpers", not_in_our_session, one, state)
    tap.test("a box that is told to end while it is frozen ends after it", box_ends, one, two, state)


def main():
    top = tempfile.mkdtemp()
    folder, state = os.path.join(top, "p"), os.path.join(top, "state")
    os.mkdir(folder)
    os.chdir(folder)
    subprocess.run(
        [HOLDBACK, "create", "s", "--cow", ".", "--state-dir", state],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    tap = Tap()
    words = (
        "alias hb='$HB_BIN exec --state-dir ../state @s --' "
        "holdback_stop='$HB_BIN stop --state-dir ../state @s'"
    )
    one, two = Shell(words), Shell(words)
    try:
        all_tests(tap, one, two, state)
    finally:
        for sh in (one, two):
            if sh.fd >= 0:
                sh.close()
        os.chdir("/")
        subprocess.run(["chmod", "-R", "u+rwx", top], check=False)
        shutil.rmtree(top)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
