#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feeds the runner test files that misbehave and looks at its counts."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

RUN = os.path.join(os.environ["HB_TESTS"], "run")
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from runner import discover, host  # noqa: E402

LEAVES = 'trap "" HUP; sleep 1000 & echo $! >&2; echo ok 1; echo 1..1'

# What a file prints, what the runner must count, and words it must say.
CASES = (
    ("a_good_file_passes", "echo ok 1 - a; echo ok 2; echo 1..2", "2 passed, 0 failed, 0 skipped", ""),
    ("the_plan_may_come_first", "echo 1..1; echo ok 1", "1 passed, 0 failed, 0 skipped", ""),
    ("a_failed_test_counts_once", "echo 1..2; echo ok 1; echo not ok 2 - x; exit 1", "1 passed, 1 failed, 0 skipped", "not ok 2 - x"),
    ("silence_is_failure", "true", "0 passed, 1 failed, 0 skipped", "no plan"),
    ("no_plan_is_failure", "echo ok 1", "1 passed, 1 failed, 0 skipped", "no plan"),
    ("an_empty_plan_is_failure", "echo 1..0", "0 passed, 1 failed, 0 skipped", "tests nothing"),
    ("too_few_tests_are_failure", "echo 1..3; echo ok 1", "1 passed, 1 failed, 0 skipped", "planned 3 tests and ran 1"),
    ("too_many_tests_are_failure", "echo 1..1; echo ok 1; echo ok 2", "2 passed, 1 failed, 0 skipped", "planned 1 tests and ran 2"),
    ("two_plans_are_failure", "echo 1..1; echo ok 1; echo 1..1", "1 passed, 1 failed, 0 skipped", "a second plan"),
    ("a_test_out_of_order_is_failure", "echo 1..2; echo ok 2; echo ok 2", "1 passed, 1 failed, 0 skipped", "calls itself 2"),
    ("bail_out_is_failure", "echo 1..9; echo ok 1; echo Bail out! no power; exit 1", "1 passed, 1 failed, 0 skipped", "Bail out! no power"),
    ("a_bad_exit_status_is_failure", "echo 1..1; echo ok 1; exit 3", "1 passed, 1 failed, 0 skipped", "exit status 3"),
    ("death_by_signal_is_failure", "echo 1..1; echo ok 1; kill -9 $$", "1 passed, 1 failed, 0 skipped", "exit status -9"),
    ("a_skip_is_counted", "echo 1..2; echo ok 1; echo 'ok 2 - x # SKIP no y'", "1 passed, 0 failed, 1 skipped", "skipped x: no y"),
    ("a_skipped_file_counts_as_one", "echo '1..0 # SKIP no z'", "0 passed, 0 failed, 1 skipped", "skipped all: no z"),
    ("a_left_process_is_failure", LEAVES, "1 passed, 1 failed, 0 skipped", "left behind: process"),
    ("a_left_daemon_is_failure", "setsid -f sleep 1000; echo ok 1; echo 1..1", "1 passed, 1 failed, 0 skipped", "sleep 1000"),
    ("a_left_directory_is_failure", "mkdir $TMPDIR/x; echo ok 1; echo 1..1", "1 passed, 1 failed, 0 skipped", "left behind: tmp/x"),
    ("a_left_file_at_home_is_failure", "echo >$HOME/y; echo ok 1; echo 1..1", "1 passed, 1 failed, 0 skipped", "left behind: home/y"),
    ("a_file_in_the_way_is_removed", "mkdir -p $TMPDIR/x/y; chmod 0 $TMPDIR/x; echo ok 1; echo 1..1", "1 passed, 1 failed, 0 skipped", "left behind: tmp/x"),
    ("a_hang_is_failure", "echo 1..1; echo ok 1; sleep 1000", "1 passed, 1 failed, 0 skipped", "no end after 5 s"),
    ("what_it_needs_and_lacks_is_a_skip", "# needs: no-such-command\n", "0 passed, 0 failed, 1 skipped", "needs no-such-command"),
    ("an_unknown_mode_is_failure", "# modes: user rooot\n", "0 passed, 1 failed, 0 skipped", "unknown mode: rooot"),
)


class Tap:
    def __init__(self):
        self.count = 0
        self.bad = 0

    def check(self, good, name, detail=""):
        self.count += 1
        if not good:
            self.bad += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for line in detail.splitlines():
                print("# " + line)

    def close(self):
        print(f"1..{self.count}")
        return 1 if self.bad else 0


class Tree:
    """A source tree with nothing in it but one test file, or several."""

    def __init__(self):
        self.top = tempfile.mkdtemp()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top)

    def write(self, name, text, mode=0o755):
        path = os.path.join(self.top, "tests", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def command(self, *arguments):
        return [sys.executable, RUN, "--source", self.top, *arguments]

    def run(self, *arguments, must_work=False, soak=False):
        env = dict(os.environ)
        env.pop("HB_MUST_WORK", None)
        env.pop("HB_SOAK", None)
        if soak:
            env["HB_SOAK"] = "1"
        if must_work:
            env["HB_MUST_WORK"] = "1"
        return subprocess.run(self.command(*arguments), env=env, capture_output=True, text=True)


def check_run(tap, name, done, closing, words="", status=None):
    lines = done.stdout.splitlines() or [""]
    if status is None:
        status = 0 if ", 0 failed," in closing else 1
    good = lines[-1] == closing and words in done.stdout and done.returncode == status
    tap.check(good, name, f"expected: {closing} and '{words}'\n{done.stdout}{done.stderr}")


def check_cases(tap):
    for name, body, closing, words in CASES:
        with Tree() as tree:
            tree.write("box/t.sh", f"#!/bin/sh\n{body}\n")
            # Only what hangs is to meet its time: a loaded machine is slow.
            limit = "5" if "no end" in words else "300"
            done = tree.run("--mode", "user", "--timeout", limit)
            check_run(tap, name, done, closing, words)


def check_must_work(tap):
    skip = "#!/bin/sh\necho 1..2; echo ok 1; echo 'ok 2 - needs y # SKIP no y'\n"
    with Tree() as tree:
        tree.write("box/t.sh", skip)
        done = tree.run("--mode", "user", must_work=True)
        check_run(tap, "a_skip_where_all_must_work_is_failure", done,
                  "1 passed, 1 failed, 0 skipped", "skipped where it must work: needs y")
        tree.write("must-work-exceptions", "# a comment\nbox/t.sh | needs * | no y here\n", 0o644)
        done = tree.run("--mode", "user", must_work=True)
        check_run(tap, "a_listed_skip_is_let_pass", done, "1 passed, 0 failed, 1 skipped")
        tree.write("must-work-exceptions", "box/u.sh | needs * | no y here\n", 0o644)
        done = tree.run("--mode", "user", must_work=True)
        check_run(tap, "an_exception_is_for_its_file_alone", done, "1 passed, 1 failed, 0 skipped")


def check_discovery(tap):
    good = "#!/bin/sh\n# modes: user userns\necho ok 1; echo 1..1\n"
    with Tree() as tree:
        done = tree.run()
        check_run(tap, "no_test_at_all_is_failure", done, "0 passed, 1 failed, 0 skipped", "no test was found")
        tree.write("box/a.sh", good)
        tree.write("cli/b.py", good)
        check_run(tap, "a_file_runs_in_each_of_its_modes", tree.run(), "4 passed, 0 failed, 0 skipped")
        done = tree.run("--filter", "cli/*")
        check_run(tap, "a_filter_chooses_files", done, "2 passed, 0 failed, 0 skipped")
        done = tree.run("--filter", "cli/*", "--filter", "a.sh", "--filter", "nothing")
        check_run(tap, "filters_add_up", done, "4 passed, 0 failed, 0 skipped")
        tree.write("box/c.sh", good, 0o644)
        done = tree.run("--mode", "user")
        check_run(tap, "a_file_that_is_not_executable_is_failure", done,
                  "2 passed, 1 failed, 0 skipped", "not executable")
    with Tree() as tree:
        tree.write("unit/t_x.c", "int main(void);\n", 0o644)
        done = tree.run("--mode", "user")
        check_run(tap, "a_unit_test_that_is_not_built_is_failure", done,
                  "0 passed, 2 failed, 0 skipped", "not built")


def check_fail_fast(tap):
    with Tree() as tree:
        tree.write("box/a.sh", "#!/bin/sh\necho ok 1; echo 1..1\n")
        tree.write("box/b.sh", "#!/bin/sh\necho not ok 1 --word; echo 1..1\n")
        arguments = ("--mode", "user", "--jobs", "1", "--fail-fast")
        done = tree.run(*arguments)
        check_run(tap, "fail_fast_runs_up_to_the_failure", done, "1 passed, 1 failed, 0 skipped")
        done = tree.run(*arguments, "--first=--word")
        check_run(tap, "first_is_what_mentions_the_word", done, "0 passed, 1 failed, 0 skipped")


def check_order(tap):
    """tests/times says what begins, in a run of one at a time."""
    body = "#!/bin/sh\necho {name} >>{top}/order; echo ok 1; echo 1..1\n"
    with Tree() as tree:
        os.chmod(tree.top, 0o777)
        for name in ("a", "b", "c"):
            tree.write(f"box/{name}.sh", body.format(name=name, top=tree.top))
        tree.write("times", "# seconds, mode, name\n2 user box/b.sh\n30 user box/c.sh\n9 root box/a.sh\n")
        done = tree.run("--mode", "user", "--jobs", "1", "--times")
        with open(os.path.join(tree.top, "order"), encoding="utf-8") as file:
            order = file.read().split()
    tap.check(order == ["c", "b", "a"], "the_longest_file_begins", str(order))
    table = [line.split()[2:] for line in done.stdout.splitlines()[-4:-1]]
    tap.check(sorted(table) == [["user", f"box/{n}.sh"] for n in "abc"], "times_are_told", done.stdout)
    source = os.environ["HB_SOURCE"]
    found = discover.find(source, os.environ["HB_BUILD"], ["*"], True)
    known = {(mode, test.name) for test in found for mode in test.modes}
    unknown = set(discover.read_times(source)) - known
    tap.check(not unknown, "each_file_of_the_table_of_times_is_there", str(unknown))


def check_soak_modes(tap):
    with Tree() as tree:
        tree.write("box/t.sh", "#!/bin/sh\n# soak-modes: userns\necho ok 1; echo 1..1\n")
        modes = ("--mode", "user", "--mode", "userns")
        check_run(tap, "a_mode_for_soak_is_left_out", tree.run(*modes), "1 passed, 0 failed, 0 skipped")
        done = tree.run(*modes, soak=True)
        check_run(tap, "soak_runs_all_modes", done, "2 passed, 0 failed, 0 skipped", "userns box/t.sh")
        tree.write("box/t.sh", "#!/bin/sh\n# soak-modes: usernz\necho ok 1; echo 1..1\n")
        check_run(tap, "an_unknown_mode_for_soak_is_failure", tree.run("--mode", "user"),
                  "0 passed, 1 failed, 0 skipped", "unknown mode: usernz")


def check_serial(tap):
    """Each holds a lock while it runs; two serial ones never meet."""
    body = (
        "#!/bin/sh\n{head}\n"
        "if mkdir {top}/lock; then echo ok 1; sleep 0.2; rmdir {top}/lock;"
        " else echo not ok 1; fi; echo 1..1\n"
    )
    with Tree() as tree:
        os.chmod(tree.top, 0o777)
        for name in ("a", "b", "c"):
            tree.write(f"box/{name}.sh", body.format(head="# serial", top=tree.top))
        done = tree.run("--mode", "user", "--jobs", "3")
        check_run(tap, "serial_files_never_meet", done, "3 passed, 0 failed, 0 skipped")


def check_others(tap):
    """What another run does, or leaves when it is killed, is none of ours."""
    own, other = f"hbtest{os.getpid()}:x:", f"hbtest{os.getpid() + 1}:x:"
    tap.check(host.belongs_to_another_run(other) and not host.belongs_to_another_run(own)
              and not host.belongs_to_another_run("hbtester:x:"), "another_run_has_its_own_user")
    stage = "/var/tmp/holdback-test.a"
    lines = [f"left behind: mount 7 on {place}" for place in (f"{stage}b/x", f"{stage}/x", "/mnt")]
    tap.check([host.is_in_another_stage(line, stage) for line in lines] == [True, False, False],
              "another_run_has_its_own_mounts")
    tries = []

    def busy(*command):
        tries.append(command)
        if len(tries) < 3:
            raise RuntimeError("useradd: cannot lock /etc/passwd; try again later.")

    real, host.run_quietly = host.run_quietly, busy
    host.change_accounts("useradd", "x")
    host.run_quietly = real
    tap.check(tries == [("useradd", "x")] * 3, "accounts_are_waited_for", str(tries))
    try:
        host.change_accounts("false")
        tap.check(False, "what_fails_otherwise_fails_at_once")
    except RuntimeError:
        tap.check(True, "what_fails_otherwise_fails_at_once")


def check_modes(tap):
    body = (
        "#!/bin/sh\n"
        "id=$(id -u) inside=$(awk '{ print $3 }' /proc/self/uid_map)\n"
        "echo \"# $HB_MODE id=$id map=$inside\"; echo ok 1; echo 1..1\n"
    )
    with Tree() as tree:
        tree.write("box/t.sh", body)
        lines = [line for line in tree.run("-v").stdout.splitlines() if "| #" in line]
    seen = {line.split()[2]: line.split()[3:] for line in lines}
    whole = "map=4294967295"
    if os.geteuid() == 0:
        tap.check(seen.get("root") == ["id=0", whole], "root_is_root", str(seen))
        tap.check(seen.get("user", ["id=0"])[0] != "id=0", "user_is_not_root", str(seen))
    else:
        tap.check("root" not in seen, "root_is_left_out", str(seen))
    tap.check(
        seen.get("userns", [""])[0] == seen["user"][0] and seen["userns"][1] == "map=1",
        "userns_is_the_same_user_in_a_namespace", str(seen),
    )


def check_interrupt(tap):
    """A runner that is told to stop takes its user, files and tests along."""
    with Tree() as tree:
        os.chmod(tree.top, 0o777)
        tree.write("box/t.sh", f"#!/bin/sh\nid -un >{tree.top}/n; mv {tree.top}/n {tree.top}/name; sleep 1000\n")
        child = subprocess.Popen(tree.command("--mode", "user"), stdout=subprocess.PIPE, text=True)
        name = os.path.join(tree.top, "name")
        deadline = time.monotonic() + 60
        while not os.path.exists(name) and time.monotonic() < deadline:
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        output = child.communicate()[0]
        with open(name, encoding="utf-8") as file:
            user = file.read().strip()
    tap.check("interrupted" in output and child.returncode == 1, "an_interrupted_run_fails", output)
    if os.geteuid() == 0:
        gone = subprocess.run(["id", user], capture_output=True).returncode != 0
        tap.check(user.startswith("hbtest") and gone, "an_interrupted_run_removes_its_user", user)
    tap.check("left behind" not in output, "an_interrupted_run_leaves_nothing", output)


def main():
    tap = Tap()
    own = stat.S_IMODE(os.stat(os.environ["TMPDIR"]).st_mode)
    tap.check(own & 0o022 == 0, "the_directory_of_a_test_is_its_own", oct(own))
    check_cases(tap)
    check_must_work(tap)
    check_discovery(tap)
    check_fail_fast(tap)
    check_order(tap)
    check_soak_modes(tap)
    check_serial(tap)
    check_others(tap)
    check_modes(tap)
    check_interrupt(tap)
    return tap.close()


if __name__ == "__main__":
    sys.exit(main())
