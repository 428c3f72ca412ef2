#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash less stty
"""Two terminals: the first command of a box on one, commands that join on the other.

For who joins all of tests/box/terminal.py holds but what is about making a box.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "box"))

# pylint: disable=wrong-import-position
import terminal  # noqa: E402
from pty_shell import Shell, Tap, below, same, state_of, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
INNER = "env -u PS1 bash --norc --noprofile -i"
PROMPT = r"bash-[\d.]+[$#] "


def first_shell(one):
    """An interactive shell is the first command."""
    one.start("hb " + INNER, PROMPT)
    one.start("PS1='one''> '", "^one> ")


def end_first(one):
    one.start("exit 3", "hb> ")
    same(one.status(), 3)


def see_each_other(one, two):
    two.run("hb sh -c 'echo from two >two'")
    one.start("cat two", "^from two")
    one.expect("one> ")
    one.start("echo from one >one", "one> ")
    same(two.run("hb cat one").strip(), "from one")
    same(os.path.exists("one") or os.path.exists("two"), False)


def keys_stay_apart(one, two):
    """^C and ^Z on one terminal are nothing to who is on the other."""
    one.start("./probe signals", terminal.READY)
    two.start("hb ./probe signals", terminal.READY)
    two.type("\x03")
    two.expect("<int 1>")
    terminal.stop(two)
    one.type("\x03")
    one.expect("<int 1>")
    two.start("fg", "<cont>")
    two.type("\x03")
    two.expect("<int 2>")
    terminal.end(two)
    same(two.status(), 42)
    one.type("\x1a")
    one.expect("Stopped")
    one.expect("one> ")
    one.start("fg", "<cont>")
    one.type("\x1c")
    one.expect("one> ")


def own_terminal(two):
    same(two.run("hb sh -c 'echo yes >/dev/tty'").strip(), "yes")
    same(two.run("hb sh -c 'echo yes >/dev/stderr'").strip(), "yes")
    two.start("hb sh -c 'echo up; read -r x </dev/tty; echo got=$x'", "^up")
    two.type("words\r")
    two.expect("^got=words")
    two.expect("hb> ")
    two.start("hb sh -c 'echo up; read -r x </dev/stdin; echo got=$x'", "^up")
    two.type("words\r")
    two.expect("^got=words")
    two.expect("hb> ")


def shell_command(two):
    two.start("SHELL=/bin/bash $HB_BIN shell --state-dir ../state @s", r"[$#] ")
    two.start("PS1='two''> '", "^two> ")
    two.start("echo in''side $HOLDBACK", "^inside 1")
    two.expect("two> ")
    two.start("exit 9", "hb> ")
    same(two.status(), 9)


def terminal_goes(two):
    """With the terminal of who joined goes its command, and the box stays."""
    two.start("hb sh -c './probe linger 2; exec ./probe signals'", terminal.READY)
    client = terminal.supervisor(two)
    joined = below(client) + [client]
    two.close()
    wait_until(lambda: not any(map(state_of, joined)), "who joined ends with the terminal")
    two.restart()
    same(two.run("hb echo there").strip(), "there")


STOP = "$HB_BIN stop --state-dir ../state @s"


def first_ends(one, two):
    """Who joined goes on, and hears SIGHUP of stop; also one that is stopped meanwhile.

    Not an interactive bash: a signal between its prompt and its look at the
    keyboard is lost on it.
    """
    two.start("hb sh -c 'trap \"exit 9\" HUP; echo up; while :; do sleep 0.02; done'", "^up")
    end_first(one)
    same(one.run("hb echo there").strip(), "there")
    one.run(STOP)
    two.expect("box has ended")
    two.expect("hb> ")
    same(two.status(), 9)
    first_shell(one)
    two.start("hb ./probe signals", terminal.READY)
    terminal.stop(two)
    end_first(one)
    one.run(STOP)
    two.run("fg; wait")
    same(two.children(), [])


def all_tests(tap, one, two):
    before = two.run("stty -g")
    first_shell(one)
    tap.test("what one writes the other sees, and the host does not", see_each_other, one, two)
    tap.test("^C and ^Z stay on their terminal", keys_stay_apart, one, two)
    tap.test("/dev/tty and /dev/stdin are the own terminal", own_terminal, two)
    tap.test("holdback shell is an interactive shell", shell_command, two)
    terminal.signals_and_jobs(tap.test, two)
    tap.test("a new window size arrives", terminal.window_size, two)
    tap.test("a shell that joined has jobs, suspends itself, exits", terminal.inner_shell, two)
    tap.test("a pager behind the command gets the keyboard", terminal.pipe_to_less, two)
    tap.test("V7 kill -9 0 inside spares the shell", terminal.kill_own_group, two)
    name = "V7 kill -9 0 inside spares the pipeline"
    if terminal.landlock_version() >= terminal.HAS_SIGNAL_SCOPE:
        tap.test(name, terminal.kill_pipeline, two)
    else:
        tap.skip(name, "this kernel's landlock has no signal scope")
    tap.test("a stopped command finds its modes again", terminal.modes_of_a_stopped_command, two)
    tap.test("V1 nothing types into the terminal", terminal.forbidden_requests, two)
    tap.test("terminal modes are as before", lambda: same(two.run("stty -g"), before))
    tap.test("nothing is left of all this", lambda: same(two.children(), []))
    tap.test("who joined ends with its terminal, the box does not", terminal_goes, two)
    tap.test("the box outlives its first command, and ends by stop", first_ends, one, two)


def main():
    top = tempfile.mkdtemp()
    folder, state = os.path.join(top, "p"), os.path.join(top, "state")
    os.mkdir(folder)
    os.chdir(folder)
    shutil.copy(os.environ["HB_PROBE"], "probe")
    subprocess.run(
        [HOLDBACK, "create", "s", "--cow", ".", "--state-dir", state],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    tap = Tap()
    alias = "alias hb='$HB_BIN exec --state-dir ../state @s --'"
    one, two = Shell(alias), Shell(alias)

    def again():
        one.restart()
        first_shell(one)
        two.restart()

    tap.after_failure = again
    try:
        all_tests(tap, one, two)
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
