#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash
# timeout: 300
"""`audit = calls`: each call that changes a file is in the log.

The notifier hears of it and the recorder writes it: src/box/notify.  Whatever
of the two is killed, the command goes on, no call is missing, and the log says
that it happened.
"""

import json
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, below, run_tests, same, state_of, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
PROBE = os.environ["HB_PROBE"]
WRITERS, FILES = (8, 20_000) if os.environ.get("HB_SOAK") == "1" else (8, 60)


def hb(*words, **more):
    return subprocess.run([HOLDBACK, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)


def run(script, *options):
    done = hb("run", "-q", "-s", "s", "--audit", "calls", *options, "--", "sh", "-c", script)
    same((done.returncode, done.stderr), (0, ""))
    return done.stdout


def records(*options):
    return [json.loads(line) for line in hb("log", "@s", "-n", "1000000", "--json", *options).stdout.splitlines()]


def calls(program=None):
    """Verb, path and new path of each call in the workspace, in their order."""
    return [" ".join(filter(None, (r["verb"], r.get("path"), r.get("to")))) for r in records("--kind", "called")
            if r["verb"] != "EXEC" and not r["path"].startswith("/") and program in (None, r["program"])]  # fmt: skip


def fresh(function):
    """Each test has a workspace and a state directory of its own."""

    def test():
        here = os.getcwd()
        os.mkdir("w")
        os.chdir("w")
        with open("base", "w", encoding="ascii") as file:
            file.write("base\n")
        try:
            function()
            same(hb("log", "--verify").returncode, 0)
        finally:
            hb("cleanup", "-y", "@s")
            os.chdir(here)
            shutil.rmtree("w")
            shutil.rmtree(os.path.join(os.environ["XDG_STATE_HOME"], "holdback"))

    return test


def each_verb():
    run("mkdir -p a/b/c; cd a/b/c; echo 1 >f; echo 2 >>f; mv f g; chmod 600 g; ln -s g l; ln g h; touch -d @5 g;"
        " rm h; cd ../../..; rmdir -p no/such 2>/dev/null; : >base; mkfifo p; rm -r a")  # fmt: skip
    found = calls()
    wanted = ["CREATE a", "CREATE a/b", "CREATE a/b/c", "CREATE a/b/c/f", "MODIFY a/b/c/f", "MOVE a/b/c/f a/b/c/g",
              "ATTRIB a/b/c/g", "CREATE a/b/c/l", "CREATE a/b/c/h", "MODIFY a/b/c/g", "DELETE a/b/c/h",
              "MODIFY base", "CREATE p", "DELETE a/b/c/g", "DELETE a/b/c", "DELETE a/b", "DELETE a"]  # fmt: skip
    at = 0
    for line in wanted:
        if line not in found[at:] and not (line.startswith("DELETE") and line in found):
            raise Failed(f"no '{line}' behind {found[:at]} in {found}")
        at = found.index(line, 0 if line.startswith("DELETE") else at)
    programs = {r["verb"] + " " + r["path"].rsplit("/", 1)[-1] for r in records("--kind", "called") if r["verb"] == "EXEC"}
    if not {"EXEC mkdir", "EXEC chmod", "EXEC mkfifo"} <= programs:
        raise Failed(f"programs: {programs}")


def through_links_and_descriptors():
    """A path is that of the file, by whatever words it was reached."""
    run("mkdir d; ln -s d s; echo 1 >s/f; ln -s ../base d/b; echo 2 >d/b; cd s; echo 3 >./../d/../d/g;"
        " exec 3>/dev/null; echo 4 >/dev/null; echo 5 >$PWD/h")  # fmt: skip
    same(calls("sh"), ["CREATE d/f", "MODIFY base", "CREATE d/g", "CREATE d/h"])


def names_of_any_bytes():
    run("printf x >\"$(printf 'a\\nb\"\\033[31m')\"")
    same(calls("sh"), ['CREATE a\nb"\x1b[31m'])
    same([line.split(" ", 3)[3] for line in hb("log", "@s", "--kind", "called").stdout.splitlines()
          if " CREATE " in line][0].split("  ")[0], '"a\\012b\\"\\033[31m"')  # fmt: skip


def every_path_of_many_writers():
    """Each path of the change set has a record."""
    run(f"for w in $(seq {WRITERS}); do (mkdir -p t/$w/x; cd t/$w/x; i=0; while [ $i -lt {FILES} ]; do"
        " echo $i >f$i; i=$((i + 1)); done) & done; wait")  # fmt: skip
    changed = {c["path"] for c in json.loads(hb("diff", "@s", "--json").stdout)["changes"]}
    told = {line.split(" ", 1)[1] for line in calls()}
    same(len([path for path in changed if "/f" in path]), WRITERS * FILES)
    same(sorted(changed - told), [])


class Live:
    """A run that makes files until it is told to stop."""

    def __init__(self, *options):
        script = "echo up; i=0; while [ ! -e end ]; do i=$((i + 1)); echo >f$i; done; echo $i"
        self.run = subprocess.Popen([HOLDBACK, "run", "-q", "-s", "s", "--audit", "calls", *options, "--", "sh", "-c", script],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip

    def __enter__(self):
        same(self.run.stdout.readline(), "up\n")
        return self

    def __exit__(self, *_):
        if self.run.poll() is None:
            self.run.kill()
        self.run.communicate()

    def helpers(self):
        """Notifier and recorder: children of the supervisor in sessions of their own, outside of the box."""
        found = []
        for pid in below(self.run.pid):
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                    fields = file.read().rsplit(") ", 1)[1].split()
                with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                    levels = [line.split()[1:] for line in file if line.startswith("NSpid:")][0]
                with open(f"/proc/{self.run.pid}/status", encoding="ascii", errors="replace") as file:
                    ours = [line.split()[1:] for line in file if line.startswith("NSpid:")][0]
            except (OSError, IndexError):
                continue
            if int(fields[1]) == self.run.pid and len(levels) == len(ours):
                found.append(pid)
        return sorted(found)

    def end(self):
        """The number of files that it made."""
        done = hb("exec", "@s", "--", "touch", "end")
        same((done.returncode, done.stderr), (0, ""))
        out, err = self.run.communicate(timeout=120)
        same(err, "")
        return int(out)


def killed(which):
    def test():
        with Live() as live:
            wait_until(lambda: len(live.helpers()) == 2, "a notifier and a recorder")
            for _ in range(3):
                before = live.helpers()
                os.kill(before[which], signal.SIGKILL)
                wait_until(lambda old=before[which]: len(live.helpers()) == 2 and old not in live.helpers(), "another one")
            made = live.end()
        told = set(calls())
        same([i for i in range(1, made + 1) if f"CREATE f{i}" not in told], [])
        gaps = [r["text"] for r in records("--kind", "gap")]
        if not gaps or "killed" not in gaps[0]:
            raise Failed(f"gaps: {gaps}")

    return test


def killed_as_a_whole():
    """Notes of a box that is killed with its supervisor are written all the same."""
    with Live() as live:
        helpers = live.helpers()
        wait_until(lambda: len(records("--kind", "called")) > 20, "records")
        live.run.kill()
        live.run.communicate()
        wait_until(lambda: not any(state_of(pid) for pid in helpers), "the end of all")
    hb("exec", "@s", "--", "true")
    changed = {c["path"] for c in json.loads(hb("diff", "@s", "--json").stdout)["changes"]}
    told = {line.split(" ", 1)[1] for line in calls()}
    same(sorted(changed - told), [])


def beside_a_stopped_supervisor():
    """^Z of the supervisor is for its own command: others go on, and are told."""
    def last():
        numbers = [int(line[len("CREATE f"):]) for line in calls() if line.startswith("CREATE f")]
        return max(numbers, default=0)

    with Live() as live:
        wait_until(lambda: last() > 0, "records")
        os.kill(live.run.pid, signal.SIGSTOP)
        wait_until(lambda: state_of(live.run.pid) == "T", "a stopped supervisor")
        before = last()
        # Above what may have been on its way.
        wait_until(lambda: last() > before + 1000, "records while it is stopped")
        os.kill(live.run.pid, signal.SIGCONT)
        live.end()


def without_room_for_the_log():
    """A log that cannot grow stops no command; one line says so, and the next record how many are lost."""
    words = f"ulimit -f 128; exec {HOLDBACK} run -q --ephemeral --audit calls -- sh -c 'i=0; while [ $i -lt 900 ]; do i=$((i + 1)); echo >f$i; done; ls | grep -c f'"
    done = subprocess.run(["sh", "-c", words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    same((done.returncode, done.stdout), (0, "900\n"))
    if "the log cannot be written" not in done.stderr:
        raise Failed(f"said: {done.stderr}")
    run("echo >more")
    everything = [json.loads(line) for line in hb("log", "-n", "1000000", "--json").stdout.splitlines()]
    same([r["text"].split(" ", 1)[1] for r in everything if r["kind"] == "lost"][:1], ["records could not be written"])


def of_commands_that_join():
    with Live() as live:
        same(hb("exec", "@s", "--", "sh", "-c", "echo >joined; exec sh -c 'echo >again'").returncode, 0)
        live.end()
    told = calls()
    same([line in told for line in ("CREATE joined", "CREATE again", "CREATE end")], [True] * 3)


def denied_calls():
    """A connect without a network, a user namespace and, by `all`, a path that the view has not."""
    home = os.environ["HOME"]
    with open(f"{home}/.netrc", "w", encoding="ascii") as file:
        file.write("secret\n")
    script = f"cat {home}/.netrc 2>/dev/null; cat none 2>/dev/null; rm base; cat base 2>/dev/null; ./probe nested 1 >/dev/null;"
    script += " bash -c 'echo >/dev/tcp/192.0.2.1/80' 2>/dev/null; true"
    shutil.copy(PROBE, "probe")
    done = hb("run", "-q", "-s", "s", "--audit", "all", "--", "sh", "-c", script)
    same(done.returncode, 0)
    found = [(r["text"], r.get("fix")) for r in records("--denied") if "pid" in r]
    if (f"open '{home}/.netrc': it is not in the view", f"--ro {home}/.netrc") not in found:
        raise Failed(f"no path in {found}")
    same([text for text, _ in found if "none" in text or "base" in text], [])
    same([fix for text, fix in found if text.startswith("connect to 192.0.2.1 port 80")], ["--net host"])
    same([fix for text, fix in found if text == "a user namespace"], ["--allow-nested"])
    if "  fix: --net host\n" not in hb("log", "--denied", "@s").stdout:
        raise Failed("no fix")


def without_renames():
    """A rename is told, and a directory of the base stays where it is."""
    os.mkdir("old")
    shutil.copy(PROBE, "probe")
    same(run("./probe rename old new; ls -d old"), "EXDEV\nold\n")
    same(calls("probe"), ["MOVE old new"])


def out_of_reach():
    """What the filter refuses is refused, and nothing inside gets at the log."""
    shutil.copy(PROBE, "probe")
    state = os.path.join(os.environ["XDG_STATE_HOME"], "holdback")
    same(run(f"ls {state} 2>&1 | grep -c cannot").split(), ["1"])
    plain = hb("run", "-q", "--ephemeral", "--", "./probe", "calls", "all").stdout
    heard = hb("run", "-q", "--ephemeral", "--audit", "all", "--", "./probe", "calls", "all").stdout
    same(len(plain.splitlines()) > 50, True)
    same(heard, plain)


def an_audited_box_in_an_audited_box():
    """There is one listener: the box inside says that it records no calls."""
    own = os.path.dirname(os.path.dirname(HOLDBACK))
    words = ["run", "-q", "--ephemeral", "--audit", "calls", "--allow-nested", "--ro", own, "--"]
    done = hb(*words, HOLDBACK, "run", "-q", "--ephemeral", "--audit", "calls", "--", "true")
    if "calls of the command cannot be heard here" not in done.stderr:
        raise Failed(f"{done.returncode} {done.stderr}")
    same(done.returncode, 0)
    done = hb(*words, HOLDBACK, "run", "-q", "--ephemeral", "--audit", "calls", "--require", "--", "true")
    if done.returncode == 0 or "does not hear" not in done.stderr:
        raise Failed(f"{done.returncode} {done.stderr}")


def in_a_file_of_choice():
    logs = os.path.join(os.environ["HOME"], "logs")
    os.mkdir(logs, 0o700)
    run("echo 1 >f", "--log", f"{logs}/a")
    with open(f"{logs}/a", encoding="utf-8") as file:
        kinds = [json.loads(line) for line in file]
    same([r["path"] for r in kinds if r["kind"] == "called" and r["verb"] == "CREATE"], ["f"])
    same("ended" in [r["kind"] for r in kinds], True)


def after_cleanup():
    run("echo 1 >f")
    same(hb("cleanup", "-y", "@s").returncode, 0)
    same([line for line in calls() if "f" in line], ["CREATE f"])


def all_tests(tap, _):
    tap.test("each verb has its line, in directories made a moment before", fresh(each_verb))
    tap.test("a file has one path, by links, by dots and by descriptors", fresh(through_links_and_descriptors))
    tap.test("a name of any bytes comes back as it was", fresh(names_of_any_bytes))
    tap.test("every path of the change set has a record, with many writers", fresh(every_path_of_many_writers))
    tap.test("a notifier or recorder that is killed first is followed by another, and no call is missing", fresh(killed(0)))
    tap.test("a notifier or recorder that is killed last is followed by another, and no call is missing", fresh(killed(-1)))
    tap.test("calls of a box that is killed as a whole are in the log", fresh(killed_as_a_whole))
    tap.test("calls are told while the supervisor is stopped", fresh(beside_a_stopped_supervisor))
    tap.test("a log that cannot grow stops no command, and says what is lost", fresh(without_room_for_the_log))
    tap.test("calls of commands that join are in the log", fresh(of_commands_that_join))
    tap.test("single refused calls are told with the option that allows them", fresh(denied_calls))
    tap.test("a directory is not renamed because its rename is heard", fresh(without_renames))
    tap.test("calls that are heard are refused as without it, and the log is out of reach", fresh(out_of_reach))
    # Root has no capabilities inside, and makes no box there.
    if os.environ["HB_MODE"] != "root":
        tap.test("a box inside an audited one says that it records no calls", fresh(an_audited_box_in_an_audited_box))
    tap.test("the file of --log has the calls", fresh(in_a_file_of_choice))
    tap.test("calls outlive their session", fresh(after_cleanup))


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
