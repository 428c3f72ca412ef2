#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
"""A process outside renames directories for the box: nobody inside gains by it.

The four rules of src/box/notify/rename_call.c: who gave up rights does not get
them back, another view has no say, the worker has the box's rights and no more,
and neither it nor the notifier can be reached.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Tap, below, same, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
PROBE = os.environ["HB_PROBE"]
SECRET = "plugh-xyzzy"
CAP_SYS_PTRACE = 1 << 19


def inside(script, *options):
    words = [HOLDBACK, "run", "--ephemeral", "-q", "--rename-directories", "yes", *options, "--", "sh", "-c", script]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout.split()


def who_gave_up_rights():
    same(inside("./probe rename d e; ls"), ["allowed", "e", "probe"])
    same(inside("./probe rename-landlocked d e; ls"), ["EACCES", "d", "probe"])
    # Nor has anybody else in that box a hand that could be lent.
    same(inside("./probe rename-landlocked none e; ./probe rename d e; ls"), ["ENOENT", "EXDEV", "d", "probe"])


def another_view():
    """A box that may make namespaces has no listener, and nobody acts for it."""
    same(inside("./probe rename d e; ls", "--allow-nested"), ["EXDEV", "d", "probe"])


def what_is_hidden():
    """Neither the directory nor its twin shows what the view hides."""
    script = "./probe rename d e >/dev/null; cat d/key e/key 2>/dev/null; ls e 2>/dev/null"
    same(SECRET in inside(script, "--hide", "d/key"), False)
    script = "./probe rename d e >/dev/null; cat d/sub/x e/sub/x 2>/dev/null"
    same(SECRET in inside(script, "--hide", "d/sub"), False)


def what_is_read_only():
    """A place that the box cannot write to, as source and as target."""
    os.mkdir("ro")
    os.mkdir("ro/d")
    try:
        script = "./probe rename d ro/e; ./probe rename ro/d e; ls ro"
        got = inside(script, "--ro", os.path.abspath("ro"))
        same(got[:2] in (["EXDEV", "EROFS"], ["EROFS", "EROFS"], ["EXDEV", "EXDEV"], ["EROFS", "EXDEV"]), True)
        same(got[2:], ["d"])
    finally:
        shutil.rmtree("ro")
    same(os.listdir("d") == [], False)


def out_of_the_workspace():
    """Links and magic links lead to nothing but what the caller has."""
    for path in ("/tmp/e", "/proc/self/root/tmp/e", "/proc/1/root/e", "/proc/self/cwd/../e", "l/e"):
        got = inside(f"ln -s / l; ./probe rename d {path}; ls -d d")
        same((path, got[0] != "allowed", got[1:]), (path, True, ["d"]))


def status_of(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return {"NSpid": ""}


def outside_of(top):
    """Those below that are not in the box's pid namespace."""
    depth = len(status_of(top)["NSpid"].split())
    return [pid for pid in below(top) if len(status_of(pid)["NSpid"].split()) == depth]


def out_of_reach():
    """The notifier: no number inside, no way to it, and one capability."""
    words = [HOLDBACK, "run", "--ephemeral", "-q", "--rename-directories", "yes", "--", "sh", "-c",
             "./probe rename d e; echo up; read -r pid; ./probe ptrace $pid; ./probe kill $pid 0;"
             "./probe open path /proc/$pid/root; ./probe fds; ls /proc | grep -c '^[0-9]'"]  # fmt: skip
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        same([run.stdout.readline(), run.stdout.readline()], ["allowed\n", "up\n"])
        # The worker ends right after its answer; then the notifier is alone.
        wait_until(lambda: len(outside_of(run.pid)) == 1, "a notifier without a worker")
        outside = outside_of(run.pid)
        status = status_of(outside[0])
        same(int(status["CapEff"], 16) & ~CAP_SYS_PTRACE, 0)
        same(int(status["CapPrm"], 16) & ~CAP_SYS_PTRACE, 0)
        same((int(status["CapBnd"], 16), status["NoNewPrivs"]), (0, "1"))
        run.stdin.write(f"{outside[0]}\n")
        run.stdin.close()
        got = run.stdout.read().split()
        run.wait()
    # Three processes: init, the shell, and ls or grep beside it.
    same(got[:3], ["ESRCH", "ESRCH", "ENOENT"])
    same(got[3:6], ["0", "1", "2"])
    same(int(got[6]) <= 4, True)
    wait_until(lambda: not os.path.exists(f"/proc/{outside[0]}"), "the end of the notifier")


def main():
    folder = tempfile.mkdtemp()
    home = os.path.join(folder, "home")
    os.makedirs(os.path.join(folder, "w/d/sub"))
    os.mkdir(home)
    os.environ.update(HOME=home, XDG_STATE_HOME=os.path.join(home, "state"))
    os.chdir(os.path.join(folder, "w"))
    shutil.copy(PROBE, "probe")
    for name in ("d/key", "d/sub/x"):
        with open(name, "w", encoding="ascii") as file:
            file.write(SECRET + "\n")
    tap = Tap()
    try:
        tap.test("V12 a process that gave up rights by landlock gains none by it", who_gave_up_rights)
        tap.test("V12 a box with views of its own has nobody to act for it", another_view)
        tap.test("V4 what the view hides stays hidden", what_is_hidden)
        tap.test("V3 what the view shows read-only stays as it is", what_is_read_only)
        tap.test("V4 no path leads the worker out of the workspace", out_of_the_workspace)
        tap.test("V6 the notifier cannot be reached from inside", out_of_reach)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
