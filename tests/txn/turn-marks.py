#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""Marks that a command asks for from inside, at the end of each turn (M6)."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Tap, same, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
ASK = "/run/holdback/holdback mark --turn"
KEPT = 20
FLOOD = """
import array, os, socket
ends = []
for number in range(40):
    end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    end.setblocking(False)
    try:
        end.connect("/run/holdback/turn")
        end.send(b"x" * 4000)
        end.sendmsg([b"y"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
    except OSError:
        pass
    ends.append(end)
print("flooded", flush=True)
os.execvp("sh", ["sh", "-c", "/run/holdback/holdback mark --turn && echo through"])
"""


class World:
    """A project, a home and a store."""

    def __init__(self):
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.project = os.path.join(self.top, "p")
        self.state = os.path.join(self.top, "state/holdback")
        self.bin = os.path.join(self.top, "home/bin")
        os.makedirs(self.project)
        os.makedirs(self.bin)
        self.write(os.path.join(self.project, "f"), "real\n")

    @staticmethod
    def write(path, text, mode=0o644):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, mode)

    def words(self, *words):
        return [HOLDBACK, *words]

    def env(self):
        path = self.bin + ":" + os.environ["PATH"]
        above = os.path.dirname(self.state)
        return dict(
            os.environ, HOME=os.path.join(self.top, "home"), PATH=path, XDG_STATE_HOME=above
        )

    def run(self, *words):
        return subprocess.run(
            self.words(*words), cwd=self.project, check=False, env=self.env(),
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip

    def must(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise Failed(f"{words}: {done.returncode}: {done.stdout} {done.stderr}")
        return done.stdout

    def turns(self, session, script):
        return self.must("run", "--mark-turns", "--session", session, "--", "sh", "-ec", script)

    def marks(self, session):
        return [mark["name"] for mark in json.loads(self.must("status", "--json", session))["marks"]]

    def layers(self):
        top = os.path.join(self.state, "layers")
        return [
            name
            for family in (os.listdir(top) if os.path.isdir(top) else [])
            for name in os.listdir(os.path.join(top, family))
            if name != "lock"
        ]

    def text(self, session):
        return self.must("exec", session, "--", "cat", "f")

    def done(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def one_turn_back(world):
    world.turns("back", f"for i in 1 2 3; do echo $i >f; {ASK}; done; echo after >f")
    same(world.marks("@back"), ["turn-1", "turn-2", "turn-3"])
    same(world.text("@back"), "after\n")
    for turn in ("3", "2", "1"):
        world.must("rollback", "-y", "--to", "turn-" + turn, "@back")
        same(world.text("@back"), turn + "\n")
    world.must("undo", "@back")
    same(world.text("@back"), "2\n")
    world.must("cleanup", "-y", "@back")


def real_file_stays(world):
    with open(os.path.join(world.project, "f"), encoding="ascii") as file:
        same(file.read(), "real\n")


def the_last_are_kept(world):
    world.turns("many", f"echo 0 >f; {ASK}; echo own >f")
    world.must("mark", "@many", "mine")
    count = f"for i in $(seq {KEPT + 4}); do echo $i >f; {ASK}; done"
    world.must("exec", "@many", "--", "sh", "-ec", count)
    first = KEPT + 5 - KEPT + 1
    wanted = ["mine"] + [f"turn-{n}" for n in range(first, first + KEPT)]
    same(sorted(world.marks("@many")), sorted(wanted))
    # One for the person's mark, and one for each turn.
    same(len(world.layers()), KEPT + 1)
    world.must("rollback", "-y", "--to", "mine", "@many")
    same(world.text("@many"), "own\n")
    world.must("cleanup", "-y", "@many")
    same(world.layers(), [])


def gone_back_to(world):
    world.turns("stack", f"echo kept >f; {ASK}; echo more >g")
    world.must("rollback", "-y", "--to", "turn-1", "@stack")
    count = f"for i in $(seq {KEPT + 2}); do echo $i >h; {ASK}; done"
    world.must("exec", "@stack", "--", "sh", "-ec", count)
    same(world.text("@stack"), "kept\n")
    world.must("exec", "@stack", "--", "sh", "-c", "[ ! -e g ]")
    world.must("cleanup", "-y", "@stack")


def flood(world):
    said = world.turns("flood", f"exec python3 -c '{FLOOD}'")
    same(said, "flooded\nthrough\n")
    if len(world.marks("@flood")) > KEPT:
        raise Failed(str(world.marks("@flood")))
    world.must("cleanup", "-y", "@flood")


def while_it_runs(world):
    script = f"echo one >f; {ASK}; touch told; while [ ! -e end ]; do :; done; echo last >f"
    # pylint: disable=consider-using-with
    box = subprocess.Popen(
        world.words("run", "--mark-turns", "--session", "live", "--", "sh", "-ec", script),
        cwd=world.project, env=world.env(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    upper = os.path.join(world.state, "sessions/live/r0/upper")
    wait_until(lambda: os.path.exists(os.path.join(upper, "told")), "the turn was marked")
    same(world.marks("@live"), ["turn-1"])
    world.must("mark", "--live", "@live", "by-hand")
    world.must("exec", "@live", "--", "sh", "-ec", f"{ASK}; touch end")
    same(box.wait(), 0)
    same(world.marks("@live"), ["turn-1", "by-hand", "turn-2"])
    same(world.text("@live"), "last\n")
    world.must("cleanup", "-y", "@live")


def only_where_asked(world):
    same(world.must("run", "--session", "none", "--", "ls", "/run").strip(), "")
    same(world.run("mark", "--turn").returncode, 10)
    for option in ("--ephemeral", "--direct"):
        done = world.run("run", option, "--mark-turns", "--", "true")
        same(done.returncode, 125)
        if "--mark-turns needs a session" not in done.stderr:
            raise Failed(done.stderr)
    same(world.run("mark", "--turn", "--live").returncode, 2)


def words_of_claude(world):
    """The real agent is in tests/agents: here are the words that it gets."""
    world.write(os.path.join(world.bin, "claude"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', 0o755)
    hook = {"type": "command", "command": ASK}
    words = world.must("run", "--mark-turns", "--", "claude", "-p", "hello").splitlines()
    same((words[0], words[2:]), ("--settings", ["-p", "hello"]))
    same(json.loads(words[1]), {"hooks": {"Stop": [{"hooks": [hook]}]}})
    done = world.run("run", "--mark-turns", "--", "claude", "--settings", "mine.json")
    same(done.stdout, "--settings\nmine.json\n")
    if ASK not in done.stderr:
        raise Failed(done.stderr)
    settings = os.path.join(world.project, ".claude")
    os.mkdir(settings)
    world.write(os.path.join(settings, "settings.json"), '{"sandbox": {"enabled": true}}')
    both = json.loads(world.must("run", "--mark-turns", "--", "claude").splitlines()[1])
    same(both, {"sandbox": {"enabled": False}, "hooks": {"Stop": [{"hooks": [hook]}]}})
    off = json.loads(world.must("run", "--", "claude").splitlines()[1])
    same(off, {"sandbox": {"enabled": False}})


def state_is_no_part(world):
    """The state of an agent is in the upper while it runs, and carried at the end."""
    work = f"mkdir -p ~/.claude; echo '{{}}' >~/.claude/settings.json; echo turn >f; {ASK}; echo more >f"
    world.write(os.path.join(world.bin, "claude"), f"#!/bin/sh -e\n{work}\n", 0o755)
    world.must("run", "--mark-turns", "--session", "agent", "--", "claude")
    world.must("rollback", "-y", "--to", "turn-1", "@agent")
    found = json.loads(world.must("status", "--json", "@agent"))
    same([change["path"] for change in found["changes"]], ["f"])
    same(world.text("@agent"), "turn\n")
    world.must("cleanup", "-y", "@agent")


def large_state_is_a_part(world):
    """What is too large to be carried is pending, as it was at the turn."""
    work = (f"mkdir -p ~/.claude/d/e ~/.claude/x; cd ~/.claude; truncate -s 17M d/e/huge; echo 1 >d/small; "
            f"echo first >>d/e/huge; cd - >/dev/null; echo turn >f; {ASK}; echo second >>~/.claude/d/e/huge; echo more >f")  # fmt: skip
    world.write(os.path.join(world.bin, "claude"), f"#!/bin/sh -e\n{work}\n", 0o755)
    world.must("run", "--mark-turns", "--session", "large", "--", "claude")
    world.must("rollback", "-y", "--to", "turn-1", "@large")
    same(world.text("@large"), "turn\n")
    tail = "cd ~/.claude; find . -type f | sort | xargs; tail -c 6 d/e/huge; test -e x; echo $?"
    same(world.must("exec", "@large", "--", "sh", "-c", tail), "./d/e/huge ./d/small\nfirst\n1\n")
    world.must("cleanup", "-y", "@large")


def cannot_be_moved(world):
    """Nothing that the command does to the place of the socket keeps its next turn from a mark."""
    tries = "; ".join(f"if {words} 2>/dev/null; then echo {words}; fi" for words in (
        "mv /run/holdback /run/away", "rm -rf /run/holdback", "mv /run/holdback/turn /tmp", "umount /run/holdback",
        "mv /run/holdback/holdback /tmp", "ln -sfn /tmp /run/holdback/turn"))  # fmt: skip
    same(world.must("run", "--mark-turns", "--session", "moved", "--", "sh", "-c", f"{tries}; echo x >f; {ASK}"), "")
    same(world.marks("@moved"), ["turn-1"])
    world.must("cleanup", "-y", "@moved")


def undo_goes_past(world):
    """A turn after a commit must not keep its owner from undo."""
    world.turns("past", f"echo bad >f; {ASK}; echo y >y")
    world.must("commit", "-y", "@past")
    world.must("exec", "@past", "--", "sh", "-ec", f"echo h >h; {ASK}; echo z >z")
    same(world.marks("@past"), ["turn-2"])
    world.must("undo", "@past")
    real_file_stays(world)
    # turn-2 lay over the committed files, and is there again with them.
    same(world.marks("@past"), ["turn-1"])
    same(world.text("@past"), "bad\n")
    world.must("rollback", "-y", "--to", "turn-1", "@past")
    same(world.must("exec", "@past", "--", "sh", "-c", "echo *; cat f"), "f\nbad\n")
    world.must("undo", "@past")
    same(world.must("exec", "@past", "--", "sh", "-c", "echo *"), "f h y z\n")
    world.must("cleanup", "-y", "@past")


def redo_brings_it_back(world):
    world.turns("again", "echo bad >f")
    world.must("commit", "-y", "@again")
    world.must("exec", "@again", "--", "sh", "-ec", f"echo h >h; {ASK}; rm h")
    world.must("undo", "@again")
    same(world.marks("@again"), [])
    world.must("redo", "@again")
    same(world.marks("@again"), ["turn-1"])
    world.must("rollback", "-y", "--to", "turn-1", "@again")
    same(world.must("exec", "@again", "--", "sh", "-c", "echo *; cat f"), "f h\nbad\n")
    for _ in range(2):
        world.must("undo", "@again")
    real_file_stays(world)
    # A commit of its own: there is no redo, and no such base any more.
    world.must("commit", "-y", "@again")
    world.must("undo", "@again")
    same(world.marks("@again"), [])
    world.must("cleanup", "-y", "@again")
    same(world.layers(), [])


def between_undo_and_redo(world):
    world.turns("between", f"touch x; echo 1 >f; {ASK}; rm x; echo after >f")
    world.must("rollback", "-y", "--to", "turn-1", "@between")
    world.must("undo", "@between")
    world.must("exec", "@between", "--", "sh", "-ec", f"echo new >g; {ASK}; echo more >>g")
    same(world.run("redo", "@between").returncode != 0, True)
    world.must("rollback", "-y", "--to", "turn-2", "@between")
    same(world.must("exec", "@between", "--", "sh", "-c", "echo *; cat f g"), "f g\nafter\nnew\n")
    world.must("cleanup", "-y", "@between")


def taken_names(world):
    world.turns("names", "echo 1 >f")
    world.must("mark", "@names", "turn-1")
    world.must("exec", "@names", "--", "sh", "-ec", f"echo 2 >f; {ASK}; {ASK}")
    same(world.marks("@names"), ["turn-1", "turn-2", "turn-3"])
    world.must("cleanup", "-y", "@names")


def state_is_not_taken(world):
    """Nor does a commit or sync of a live session take it."""
    work = "mkdir -p ~/.claude; echo '{}' >~/.claude/settings.json; echo live >f; while [ ! -e end ]; do :; done"
    world.write(os.path.join(world.bin, "claude"), f"#!/bin/sh -e\n{work}\n", 0o755)
    real = os.path.join(world.top, "home/.claude/settings.json")
    before = os.path.exists(real)
    # pylint: disable=consider-using-with
    agent = subprocess.Popen(
        world.words("run", "--session", "agent", "--", "claude"),
        cwd=world.project, env=world.env(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    file = os.path.join(world.project, "f")
    try:

        def arrived():
            world.run("commit", "--live", "-y", "@agent")
            with open(file, encoding="ascii") as text:
                return text.read() == "live\n"

        wait_until(arrived, "the agent's file is committed")
        world.must("sync", "--auto", "@agent")
        same(os.path.exists(real), before)
    finally:
        world.run("exec", "@agent", "--", "touch", "end")
        agent.wait()
    same(os.path.exists(real), before)
    world.must("cleanup", "-y", "@agent")
    world.write(file, "real\n")


POINTS = (
    (one_turn_back, "rollback goes back one turn, and undo of it forward"),
    (real_file_stays, "marks of turns change no real file"),
    (while_it_runs, "turns of a live session are marked beside marks by hand"),
    (the_last_are_kept, "the last 20 turns are kept and cost no other mark"),
    (gone_back_to, "a turn that was gone back to stays below the session"),
    (undo_goes_past, "undo goes past a turn, which ends with the commit that it was made after"),
    (redo_brings_it_back, "redo of that commit brings the turn back"),
    (between_undo_and_redo, "after a turn there is no redo of what was undone before it"),
    (taken_names, "a name that a person took is not a turn's"),
    (flood, "a flooded socket marks on, and reads nothing"),
    (only_where_asked, "a run that did not ask for it has no socket"),
    (cannot_be_moved, "no command moves its socket away"),
    (state_is_no_part, "an agent's state is no part of a mark"),
    (large_state_is_a_part, "a file of the state that is too large to be carried is a part of a mark"),
    (state_is_not_taken, "an agent's state is taken by no sync or commit of a live session"),
    (words_of_claude, "claude gets a hook for one run, and keeps its own words"),
)


def main():
    tap = Tap()
    world = World()
    try:
        for point, name in POINTS:
            tap.test(name, point, world)
    finally:
        world.done()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
