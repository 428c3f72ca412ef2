#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: root
# needs: mkfs.ext4 mkfs.xfs losetup
# timeout: 900
"""The power goes at each change that a command makes to the disk.

Commit, undo, redo, rollback, the recovery of a commit that was killed, a box
that still runs, and create.

The file system with the base and the store on it is shut down from outside,
with what was not synced lost, and mounted again.  Then the tree is wholly old
or wholly new, nothing of the session is lost, it was called committed only if
it is new, and created only if it is there.  What this cannot show: disks that lie about a flush.
"""

import json
import os
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import digest  # noqa: E402
import stopper  # noqa: E402
import volume  # noqa: E402

HOLDBACK = os.environ.get("HB_BIN", "holdback")
SOAK = os.environ.get("HB_SOAK") == "1"
FAILURES_SHOWN, LINES_SHOWN = 5, 12

# command: (what it says when it is done, its options, the tree it makes).
WORDS = {
    "commit": ("committed", ["-y"], "new"),
    "undo": ("undid", [], "old"),
    "redo": ("redid", [], "new"),
    "rollback": ("rolled", ["-y"], "old"),
    "recover": ("", [], "new"),
}
# These leave the tree as it is, or always go forward.
ONE_END = {"rollback", "recover"}
# In the short run: everywhere, or with few points where most is at stake.
ALWAYS = {"commit", "undo"}
FEW_POINTS = 6

# name: what makes the base, what the command does, how many points are tried
# in the short run; all of them are in the long one.
SCENES = {
    "few": (
        "echo one >f; echo two >g; mkdir d e; echo x >d/x; echo y >e/y; ln -s f l;"
        " echo m >m; chmod 640 m; mkdir o; echo o >o/o",
        "echo more >>f; rm g; mkdir -p n/o; echo z >n/o/z; ln n/o/z n/w; rm -r d;"
        " ln -sf g l; chmod 600 m; mv e/y e/v; touch -d @1000000000.5 n;"
        " rm -r o; mkdir o; echo again >o/again",
        20,
    ),
    "many": (
        "for i in $(seq 300); do echo $i >f$i; done",
        "for i in $(seq 300); do echo more >>f$i; done; rm f7; mkdir n; echo n >n/n",
        4,
    ),
}


class Session:
    """The session `s` of one scene on one volume, and the states it knows."""

    def __init__(self, disk, scene):
        self.disk = disk
        self.base = os.path.join(disk.top, "p")
        self.state = os.path.join(disk.top, "state")
        before, inside, self.points = SCENES[scene]
        os.mkdir(self.base)
        subprocess.run(["sh", "-ec", before], cwd=self.base, check=True)
        self.must("create", "s", "--cow", self.base, at=disk.top)
        self.must("exec", "@s", "--", "sh", "-ec", f"cd '{self.base}'; {inside}")
        self.old, self.hash = digest.digest(self.base), self.pending()
        disk.keep("commit")
        self.must("commit", "-y", "@s")
        self.new = digest.digest(self.base)
        disk.keep("undo")
        self.must("undo", "@s")
        disk.keep("redo")
        disk.same("commit", "rollback")
        # Killed when it is half done.
        half = count_changes(self, "commit") * 2 // 3
        disk.restore("commit")
        with stopper.Stopper(
            self.call("commit", "-y", "@s"), cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as program:  # fmt: skip
            program.run_to(half)
            program.kill()
        disk.keep("recover")

    def call(self, command, *words):
        return [HOLDBACK, command, "--state-dir", self.state, *words]

    def must(self, command, *words, at=None):
        done = subprocess.run(
            self.call(command, *words), cwd=at or self.base,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip()
            raise AssertionError(f"{command}: exit status {done.returncode}: {said}")
        return done.stdout

    def pending(self):
        """The hash of the change set."""
        return json.loads(self.must("status", "--json", "@s"))["summary"]["hash"]

    def now(self):
        """`old` or `new`; anything else is what this test is about."""
        tree = digest.digest(self.base)
        for name, known in (("old", self.old), ("new", self.new)):
            if tree == known:
                return name
        wrong = [line for line in tree if line not in self.old and line not in self.new]
        missing = [line for line in self.old if line not in tree]
        raise AssertionError(
            "a mixed tree\n" + "\n".join(wrong) + "\nnot there\n" + "\n".join(missing)
        )

    def strike(self, command, number, how, goes_on):
        """Cuts the power before that change; (its name, what it said, status)."""
        word, options, _ = WORDS[command]
        self.disk.restore(command)
        with stopper.Stopper(
            self.call(command, *options, "@s"),
            cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as program:  # fmt: skip
            name = program.run_to(number)
            self.disk.cut(how)
            if name and goes_on:
                program.go_on()
            elif name:
                program.kill()
            said = program.child.stdout.read()
            program.child.stdout.close()
            status = program.status
        self.disk.power_up()
        return name, (status == 0 or bool(word and said.startswith(word))), said

    def check(self, command, claimed):
        """What must hold when the power is back."""
        self.must("recover", "@s")
        now = self.now()
        if claimed and now != WORDS[command][2]:
            raise AssertionError(f"it was said to be done, and the tree is {now}")
        self.must("recover", "@s")
        if command == "rollback":
            self.check_rolled_back(claimed)
            return now
        if now == "old":
            if self.pending() != self.hash:
                raise AssertionError("the pending changes are others")
            self.must("commit", "-y", "@s")
            if self.now() != "new":
                raise AssertionError("a second commit did not make the new tree")
        elif self.must("diff", "--name-status", "@s"):
            raise AssertionError("something is pending after the commit")
        self.must("undo", "@s")
        if self.now() != "old" or self.pending() != self.hash:
            raise AssertionError("undo did not bring everything back")
        return now

    def check_rolled_back(self, claimed):
        """All is pending, or nothing; and then it can be brought back."""
        if self.pending() == self.hash:
            if claimed:
                raise AssertionError("it was said to be rolled back, and is pending")
            return
        if self.must("diff", "--name-status", "@s"):
            raise AssertionError("rolled back in part")
        self.must("undo", "@s")
        if self.pending() != self.hash or self.now() != "old":
            raise AssertionError("undo of the rollback brought others back")
        self.must("commit", "-y", "@s")
        if self.now() != "new":
            raise AssertionError("what came back makes another tree")

    def check_next(self):
        """The session goes on: changes of the same paths are no conflict."""
        self.must("commit", "-y", "@s")
        inside = f"cd '{self.base}'; for f in f*; do echo next >>$f; done"
        self.must("exec", "@s", "--", "sh", "-ec", inside)
        self.must("commit", "-y", "@s")


class Tap:
    """Test points, and how often the power went."""

    def __init__(self):
        self.count, self.cuts = 0, 0

    def point(self, name, failures):
        self.count += 1
        print(f"{'not ok' if failures else 'ok'} {self.count} - {name}")
        for failure in failures[:FAILURES_SHOWN]:
            for line in failure.splitlines()[:LINES_SHOWN]:
                print(f"# {line}")
        sys.stdout.flush()


def numbers(total, wanted):
    """Of the changes 1 to total, and the end, so many; the last ones always."""
    if SOAK or wanted >= total:
        return range(1, total + 2)
    tail = set(range(max(1, total - wanted // 2), total + 2))
    return sorted(tail | {1 + i * total // wanted for i in range(wanted)})


def count_changes(session, command):
    session.disk.restore(command)
    with stopper.Stopper(
        session.call(command, *WORDS[command][1], "@s"), cwd="/",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as program:  # fmt: skip
        program.run_to(-1)
        return program.passed


def try_all(tap, session, command, how):
    failures, ends = [], {"old": 0, "new": 0}
    total = count_changes(session, command)
    for number in numbers(total, session.points if command in ALWAYS else FEW_POINTS):
        goes_on = bool(number % 2)
        name, claimed, said = session.strike(command, number, how, goes_on)
        tap.cuts += 1
        try:
            ends[session.check(command, claimed)] += 1
            is_tried = SOAK or number % 8 == 0 or number > total - 8
            if is_tried and command != "rollback":
                session.check_next()
        except AssertionError as error:
            way = "goes on" if goes_on else "killed"
            failures.append(f"change {number} of {total}, {name}, {way}: {error}\n{said}")
    print(f"# {total} changes; then old {ends['old']} times, new {ends['new']} times")
    if not failures and command not in ONE_END and not all(ends.values()):
        failures.append("every cut had the same end: this shows nothing")
    return failures


def try_box(session, folder):
    """The power goes while a command runs; what a boot changes is its id."""
    session.disk.restore("commit")
    inside = f"cd '{session.base}'; echo last >>f; echo last >last; echo ready; exec sleep 1000"
    box = subprocess.Popen(
        session.call("exec", "@s", "--", "sh", "-ec", inside),
        cwd="/", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    ready = box.stdout.readline()
    session.disk.cut(volume.NO_LOG)
    box.kill()
    box.wait()
    box.stdout.close()
    session.disk.power_up_after_box()
    with volume.another_boot(folder):
        done = subprocess.run(
            session.call("status", "@s"), cwd="/", capture_output=True, text=True, check=False
        )
    said = done.stdout + done.stderr
    if ready != "ready\n":
        return [f"the box did not start: {said}"]
    if done.returncode != 0 or "may be missing" not in done.stderr:
        return [f"exit status {done.returncode}, and no word of what is lost: {said}"]
    return [] if session.now() == "old" else ["the real tree has changed"]


def try_create(tap, folder, kind, how):
    """A session that was said to be there is there, and can be used."""
    failures, number, ends = [], 1, {True: 0, False: 0}
    disk = volume.Volume(folder, kind)
    try:
        base, state = os.path.join(disk.top, "p"), os.path.join(disk.top, "a/state")
        os.mkdir(base)
        disk.keep("create")
        words = [HOLDBACK, "create", "s", "--cow", base, "--state-dir", state]
        is_over = False
        while not is_over:
            disk.restore("create")
            with stopper.Stopper(
                words, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            ) as program:
                is_over = not program.run_to(number)
                disk.cut(how)
                if not is_over:
                    program.go_on()
                said = program.child.stdout.read()
                program.child.stdout.close()
            disk.power_up()
            tap.cuts += 1
            is_said = "created session" in said
            ends[is_said] += 1
            done = subprocess.run(
                [HOLDBACK, "exec", "--state-dir", state, "@s", "--", "true"],
                cwd=base, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if is_said and done.returncode != 0:
                failures.append(f"change {number}: exit {done.returncode}: {done.stderr}")
            number += 1 if SOAK or number < 3 else 3
    finally:
        disk.remove()
    print(f"# said {ends[True]} times, not said {ends[False]} times")
    return failures if all(ends.values()) else [*failures, "one end only: this shows nothing"]


def why_not():
    """The reason why this host cannot show it, or None."""
    if not stopper.is_known_machine():
        return "the numbers of this machine's system calls are not known"
    if not os.path.exists("/dev/loop-control"):
        return "no loop devices"
    try:
        volume.leave_the_host()
    except OSError as error:
        return f"no mount namespace: {error}"
    return None


def try_disk(folder, kind):
    """What every point stands on: a disk that is still held comes back whole."""
    disk = volume.Volume(folder, kind)
    holder = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", "echo held; exec sleep 0.3"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    holder.stdout.readline()
    disk.cut(volume.NO_LOG)
    try:
        disk.power_up()
        with open(os.path.join(disk.top, "f"), "w", encoding="ascii") as file:
            file.write("f")
    except OSError as error:
        return [f"it came back as it was cut: {error}"]
    finally:
        holder.communicate()
        disk.remove()
    return []


def try_kind(tap, folder, kind):
    tap.point(f"{kind}: a disk that somebody still holds", try_disk(folder, kind))
    for how, words in ((volume.NO_LOG, "nothing"), (volume.LOG, "the log")):
        name = f"{kind}: create, {words} of the rest is written"
        tap.point(name, try_create(tap, folder, kind, how))
    for scene in SCENES:
        disk = volume.Volume(folder, kind)
        try:
            session = Session(disk, scene)
            tap.cuts += 1
            tap.point(f"{kind}: a box runs, {scene}", try_box(session, folder))
            for how, words in ((volume.NO_LOG, "nothing"), (volume.LOG, "the log")):
                for command in WORDS:
                    is_short = scene == "few" and how == volume.NO_LOG
                    if not SOAK and command not in ALWAYS and not is_short:
                        continue
                    name = f"{kind}: {command}, {scene}, {words} of the rest is written"
                    tap.point(name, try_all(tap, session, command, how))
        finally:
            disk.remove()


def main():
    reason = why_not()
    folder = os.path.join(os.environ["TMPDIR"], "disks")
    os.mkdir(folder)
    tap = Tap()
    try:
        for kind in (sys.argv[1:] or volume.KINDS) if not reason else ():
            try:
                volume.Volume(folder, kind).remove()
            except OSError as error:
                tap.count += 1
                print(f"ok {tap.count} - {kind} # SKIP {error}")
                continue
            try_kind(tap, folder, kind)
    finally:
        shutil.rmtree(folder)
    if reason:
        print(f"1..0 # SKIP {reason}")
    else:
        print(f"# the power went {tap.cuts} times\n1..{tap.count}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
