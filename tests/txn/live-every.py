#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""Syncs of a live session that go on by themselves, and what they hold."""

import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from live_world import COUNT, World  # noqa: E402
from pty_shell import Failed, Tap, below, program_of, same, state_of, wait_until  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"


def until(name):
    """Ends by a name of its own, which nothing removes."""
    return f"; while [ ! -e {name} ]; do sleep 0.05; done"


def partial(world, *words):
    return json.loads(world.must("sync", "--partial", "--json", *words, "@s"))


def held(document):
    return sorted(one["path"] for one in document["held"])


def five_of_six(world):
    """A path that the gate asks about holds no other."""
    world.inside("for i in 1 2 3 4 5; do echo $i >p$i; done; echo 'PASSWORD=hunter2hunter2' >.env")
    done = world.run("sync", "--partial", "@s")
    same((done.returncode, done.stderr.count("held: .env: ")), (0, 1))
    same([world.read(f"p{i}") for i in range(1, 6)], [f"{i}\n" for i in range(1, 6)])
    same(world.has(".env"), False)
    document = partial(world)
    same((held(document), document["held"][0]["source"]), ([".env"], world.project))
    world.inside("rm .env")
    same(held(partial(world)), [])


def conflict_stays(world):
    """The user's edit of a synced file survives, and holds no other file."""
    world.inside("echo agent >g")
    same(held(partial(world)), [])
    world.write("g", "user\n")
    world.inside("echo agent again >g")
    for number in range(3):
        world.inside(f"echo {number} >beside")
        same(held(partial(world)), ["g"])
        same((world.read("g"), world.read("beside")), ("user\n", f"{number}\n"))
    same("agent again\n", world.inside("cat g"))
    world.must("commit", "--live", "-y", "--theirs", "g", "@s")
    same((world.read("g"), held(partial(world))), ("agent again\n", []))


def deleted_by_one(world):
    """A directory that the session deletes stays for the sake of the user's edit in it."""
    world.inside("mkdir dd; echo 1 >dd/a; echo 1 >dd/b")
    partial(world)
    world.write("dd/a", "user\n")
    world.inside("rm -r dd")
    same("dd/a" in held(partial(world)), True)
    same(world.read("dd/a"), "user\n")
    world.must("commit", "--live", "-y", "--theirs", "dd*", "@s")


def both_ends(world):
    """A rename is not taken by half."""
    world.inside("mv old/x .envrc")
    same("R old/x -> .envrc" in world.must("status", "@s"), True)
    same(held(partial(world)), [".envrc"])
    same((world.read("old/x"), world.has(".envrc")), ("real\n", False))
    world.must("sync", "--auto", "--no-gate", "@s")
    same((world.has("old/x"), world.read(".envrc")), (False, "real\n"))


def both_ends_beside(world):
    """A rename stays whole also if another path waits already."""
    world.inside("echo agent >g")
    same(held(partial(world)), [])
    world.write("g", "user\n")
    world.inside("mv old/y other/.envrc; echo agent again >g")
    same(held(partial(world)), ["g", "other/.envrc"])
    same((world.has("old/y"), world.has("other/.envrc")), (True, False))
    world.must("commit", "--live", "-y", "--no-gate", "--theirs", "g", "@s")
    same((world.has("old/y"), world.read("other/.envrc")), (False, "real\n"))


SQL = """
import sqlite3, sys
db = sqlite3.connect("db")
db.execute("pragma journal_mode=wal")
db.execute("create table if not exists t (n)")
db.execute("insert into t values (?)", (sys.argv[1],))
db.commit()
open("rows" + sys.argv[1], "w").close()
import os, time
while not os.path.exists("go" + sys.argv[1]): time.sleep(0.01)
"""


def rows(path):
    query = f"import sqlite3; print(sqlite3.connect({path!r}).execute('select n from t').fetchall())"
    return subprocess.run([sys.executable, "-c", query], check=True, capture_output=True, text=True).stdout


def database(world):
    """X arrives with its side files, or none of them does."""
    world.write("sql.py", SQL)
    writers = []
    for number in "12":
        # pylint: disable=consider-using-with
        writers.append(subprocess.Popen(
            world.words("exec", "@s", "--", "python3", "sql.py", number), cwd=world.project,
            stdin=subprocess.DEVNULL))  # fmt: skip
        wait_until(lambda at=number: os.path.exists(world.upper("rows" + at)), "a row is written")
        same(held(partial(world)), [])
    copy = os.path.join(world.top, "copy")
    os.mkdir(copy)
    for name in ("db", "db-wal"):
        with open(world.path(name), "rb") as old, open(os.path.join(copy, name), "wb") as new:
            new.write(old.read())
    same(rows(os.path.join(copy, "db")), "[('1',), ('2',)]\n")
    # One of its files stands against it: then none goes.
    world.must("sync", "--auto", "--no-gate", "@s")
    before = os.stat(world.path("db-wal")).st_ino
    with open(world.path("db"), "ab") as file:
        file.write(b"\0" * 4096)
    world.inside("touch go1 go2")
    for writer in writers:
        same(writer.wait(), 0)
    document = partial(world)
    same(any(path.startswith("db") for path in held(document)), True)
    same(os.stat(world.path("db-wal")).st_ino, before)
    world.inside("rm -f db db-wal db-shm")
    world.must("commit", "--live", "-y", "--no-gate", "--theirs", "db*", "@s")


def git_at_work(world):
    world.inside("git init -q .; mkdir .git/rebase-merge; echo 1 >beside")
    document = partial(world)
    same((held(document), document["held"][0]["reason"]), (["."], "a rebase is under way"))
    same((document["committed"], world.has(".git")), (False, False))
    world.inside("rm -r .git")
    same(held(partial(world)), [])


def found_twice(world):
    """A path that waits as a file does not hide the same path inside of git."""
    world.inside("git init -q .")
    world.must("sync", "--auto", "--no-gate", "@s")
    world.inside("echo PASSWORD=hunter2hunter2 >.env; git add -f .env; echo ok >twice")
    same(".env" in held(partial(world)), True)
    same((world.has("twice"), world.has(".env"), world.has(".git/index")), (True, False, False))
    world.inside("rm -rf .git .env")
    world.must("sync", "--auto", "--no-gate", "@s")


def usage(world):
    for words in (("--every", "1s", "--json"), ("--every", "1s", "--dry-run"), ("--first", "1s"),
                  ("--quiet",), ("--partial", "--reset"), ("--every", "1s", "--status"),
                  ("--every", "soon")):  # fmt: skip
        same((words, world.run("sync", *words, "@s").returncode), (words, 2))


def status(world):
    return json.loads(world.must("status", "--json", "@s"))["session"].get("sync")


def every(world):
    """In the foreground, until the box ends."""
    world.inside("echo 'PASSWORD=hunter2hunter2' >.env")
    # pylint: disable=consider-using-with
    loop = subprocess.Popen(
        world.words("sync", "--every", "1s", "@s"), cwd=world.project, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for number in range(3):
        world.inside(f"echo {number} >e{number}")
        wait_until(lambda at=f"e{number}": world.has(at), "a change inside is outside")
    wait_until(lambda: (status(world) or {}).get("files", 0) >= 3, "the sync is noted")
    noted = status(world)
    same((noted["interval"], noted["held"], noted["last"] > 0), (1, 1, True))
    line = [x for x in world.must("status", "@s").split("\n") if x.startswith("sync every 1s, last ")]
    same((len(line), line[0].endswith(", 1 held")), (1, True))
    same(world.has(".env"), False)
    world.inside("echo last >elast; echo 1 >end")
    world.box.wait()
    said = loop.communicate()[1]
    same((loop.returncode, world.read("elast")), (0, "last\n"))
    same((said.count("held: .env: "), "; held: 1 file needs approval" in said), (1, True))
    same(status(world)["interval"], 0)
    world.one_moment()
    world.must("rollback", "-y", "@s")
    # Without a box it is one sync.
    world.begin(COUNT)
    world.inside("echo 1 >eidle")
    world.end()
    world.must("sync", "--every", "1h", "@s")
    same(world.read("eidle"), "1\n")
    world.begin(COUNT)


def stopped_supervisor(world):
    """A sync waits for a supervisor that is stopped."""
    world.inside("echo 1 >zz")
    os.kill(world.box.pid, signal.SIGSTOP)
    wait_until(lambda: state_of(world.box.pid) == "T", "the supervisor is stopped")
    # pylint: disable=consider-using-with
    sync = subprocess.Popen(
        world.words("sync", "--partial", "@s"), cwd=world.project, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_until(lambda: state_of(sync.pid) == "S", "the sync waits")
    same((sync.poll(), world.has("zz")), (None, False))
    os.kill(world.box.pid, signal.SIGCONT)
    same((sync.wait(), world.read("zz")), (0, "1\n"))
    world.moves()


def last_of_a_run(world):
    """As a run asks for it when it has ended, with another command in the session."""
    world.inside("echo 1 >zlast")
    done = world.run("sync", "--every", "1h", "--last", "@s")
    same((done.returncode, done.stdout, world.read("zlast")), (0, "", "1\n"))
    same("committed session s: " in done.stderr, True)
    same(world.run("sync", "--last", "@s").returncode, 2)


def end_text(done):
    return [line for line in done.split("\n") if "holdback: synced " in line]


def run_with_sync(world):
    """A child of the supervisor syncs; nothing of it is at the terminal."""
    done = os.path.join(world.top, "err")
    with open(done, "w", encoding="ascii") as err:
        # pylint: disable=consider-using-with
        box = subprocess.Popen(
            [os.environ["HB_BIN"], "run", "--sync", "1s", "-s", "y", "--", "sh", "-c",
             "echo 1 >ra; echo 'PASSWORD=hunter2hunter2' >.env" + until("end-y")], cwd=world.project,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
            env={**os.environ, "XDG_STATE_HOME": os.path.join(world.top, "home-state")},
        )  # fmt: skip
        wait_until(lambda: world.has("ra"), "a change inside is outside")
        child = [pid for pid in below(box.pid) if "commands" in (program_of(pid) or "")]
        same(len(child), 1)
        same([os.readlink(f"/proc/{child[0]}/fd/{n}") for n in range(3)], ["/dev/null"] * 3)
        same((os.getsid(child[0]) == os.getsid(box.pid), world.has(".env")), (False, False))
        world.call("exec", "@y", "--", "sh", "-c", "echo 2 >rb; touch end-y")
        same(box.wait(), 0)
    wait_until(lambda: not state_of(child[0]), "it ends with the supervisor")
    # What came after the last of them is taken at the end.
    same((world.read("rb"), world.has(".env")), ("2\n", False))
    with open(done, encoding="ascii") as err:
        said = err.read()
    same(len(end_text(said)), 1)
    same(end_text(said)[0].endswith("; held: 1 file needs approval"), True)
    same("each 1 seconds the changes that the gate lets pass reach the real files" in said, True)
    same("held: .env: " in said, True)
    world.call("rollback", "-y", "@y")


def away_from_output(world):
    """The output of the command is its own."""
    done = world.call("run", "--sync", "1h", "-s", "w", "--", "sh", "-c", "echo 1 >wa; echo hello")
    same((done.stdout, world.read("wa")), ("hello\n", "1\n"))
    same(len(end_text(done.stderr)), 1)
    world.call("cleanup", "-y", "@w")


def killed_supervisor(world):
    """The child dies with it, and the next command finishes what it had begun."""
    # pylint: disable=consider-using-with
    box = subprocess.Popen(
        [os.environ["HB_BIN"], "run", "-q", "--sync", "1s", "-s", "k", "--", "sh", "-c",
         "echo 1 >ka" + until("end-k")], cwd=world.project, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "XDG_STATE_HOME": os.path.join(world.top, "home-state")},
    )  # fmt: skip
    wait_until(lambda: world.has("ka"), "a change inside is outside")
    children = below(box.pid)
    os.kill(box.pid, signal.SIGKILL)
    box.wait()
    wait_until(lambda: not any(state_of(pid) for pid in children), "its children are gone")
    world.call("status", "@k")
    world.call("cleanup", "-y", "@k")


def of_one_call(world):
    """Words that contradict each other run nothing."""
    world.write("code.sh", "#!/bin/sh\ntouch ran\n")
    os.chmod(world.path("code.sh"), 0o755)
    for words in (("--yolo", "--direct"), ("--yolo", "--ephemeral"), ("--sync", "5s", "--direct"),
                  ("--yolo", "--code", world.path("code.sh"))):  # fmt: skip
        done = subprocess.run(
            [os.environ["HB_BIN"], "run", *words, "--", "touch", "ran"], cwd=world.project, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip
        same((words, done.returncode in (2, 125), "[2]" in done.stderr, world.has("ran")),
             (words, True, True, False))  # fmt: skip


def from_a_file(world):
    """The user's file means runs with a session, and stops no other."""
    config = os.path.join(world.top, "config", "holdback")
    os.makedirs(config)
    for line in ("sync = 1h", "yolo = yes"):
        with open(os.path.join(config, "config"), "w", encoding="ascii") as file:
            file.write(line + "\n")
        for words in (("--direct",), ("--ephemeral",), ("--code", world.path("code.sh"))):
            command = ("--", "true") if words[0] != "--code" else ()
            done = subprocess.run(
                [os.environ["HB_BIN"], "run", *words, *command], cwd=world.project, check=False,
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                env={**os.environ, "XDG_CONFIG_HOME": os.path.dirname(config),
                     "XDG_STATE_HOME": os.path.join(world.top, "home-state")})  # fmt: skip
            same((line, words, done.returncode, "seconds the changes" in done.stderr), (line, words, 0, False))


def yolo(world):
    # pylint: disable=consider-using-with
    box = subprocess.Popen(
        [os.environ["HB_BIN"], "run", "-q", "--yolo", "-s", "o", "--", "sh", "-c", "echo 1 >oa" + until("end-o")],
        cwd=world.project, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "XDG_STATE_HOME": os.path.join(world.top, "home-state")},
    )  # fmt: skip

    def child():
        found = [words_of(pid) for pid in below(box.pid)]
        return [words[1:6] for words in found if words[1:2] == ["sync"]]

    wait_until(child, "a child syncs")
    same(child(), [["sync", "--every", "30s", "--first", "60s"]])
    world.call("exec", "@o", "--", "touch", "end-o")
    said = box.communicate()[1]
    same((world.read("oa"), "each 30 seconds the changes" in said, "synced" in said), ("1\n", True, False))
    world.call("cleanup", "-y", "@o")


def words_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
            return file.read().split("\0")
    except OSError:
        return []


def not_by_workspace(world):
    for line in ("sync = 1s", "yolo = yes"):
        world.write(".holdback.conf", line + "\n")
        done = subprocess.run(
            [os.environ["HB_BIN"], "run", "--", "touch", "ran"], cwd=world.project, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip
        same((line, "weakened: each" in done.stderr, world.has("ran")), (line, False, False))
    os.unlink(world.path(".holdback.conf"))


def of_a_copy(world):
    world.call("create", "c", "--strategy", "copy_on_write", "--cow", world.project)
    done = world.call("run", "-s", "c", "--sync", "1s", "--", "sh", "-c", "echo 1 >ca; rm -f .env")
    same((world.read("ca"), done.stderr.count("are synced when the command has ended")), ("1\n", 1))
    same(len(end_text(done.stderr)), 1)
    refused = subprocess.run(
        [os.environ["HB_BIN"], "run", "-s", "c", "--require", "--sync", "1s", "--", "touch", "ran"],
        cwd=world.project, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env={**os.environ, "XDG_STATE_HOME": os.path.join(world.top, "home-state")})  # fmt: skip
    same(("[6]" in refused.stderr, world.has("ran")), (True, False))
    world.call("cleanup", "-y", "@c")


def after_a_mark(world):
    world.inside("echo 1 >ma")
    world.must("mark", "--live", "@s", "m")
    world.inside("echo 2 >mb")
    same(held(partial(world)), [])
    same((world.read("ma"), world.read("mb")), ("1\n", "2\n"))


def call(world, *words):
    done = subprocess.run(
        [os.environ["HB_BIN"], *words], cwd=world.project, check=False, stdin=subprocess.DEVNULL,
        capture_output=True, text=True,
        env={**os.environ, "XDG_STATE_HOME": os.path.join(world.top, "home-state")})  # fmt: skip
    if done.returncode != 0:
        raise Failed(f"{words}: {done.returncode}: {done.stderr}")
    return done


def main():
    tap = Tap()
    world = World()
    world.call = lambda *words: call(world, *words)
    try:
        tap.test("a path that the gate asks about waits, and five others arrive", five_of_six, world)
        tap.test("a conflict waits through three syncs, and others arrive", conflict_stays, world)
        tap.test("a directory with the user's edit in it is not deleted", deleted_by_one, world)
        tap.test("both ends of a rename wait together", both_ends, world)
        tap.test("both ends of a rename wait while another path waits", both_ends_beside, world)
        tap.test("a database and its side files are one unit", database, world)
        tap.test("a directory waits while git is at work in it", git_at_work, world)
        tap.test("a path that waits is looked for inside of git too", found_twice, world)
        tap.test("words that contradict each other are [2]", usage, world)
        tap.test("M2 sync --every takes each change until the box ends", every, world)
        tap.test("a sync waits for a stopped supervisor", stopped_supervisor, world)
        tap.test("the last sync of a run waits for no other command", last_of_a_run, world)
        # At a high load a second process is seen between fork and exec.
        if SOAK:
            tap.test("M2 run --sync has a child that syncs, away from the terminal", run_with_sync, world)
        tap.test("the last sync of run --sync prints nothing to the command's output", away_from_output, world)
        tap.test("the child of a killed supervisor ends", killed_supervisor, world)
        tap.test("--yolo excludes runs without a session", of_one_call, world)
        tap.test("a sync from the user's file is off for runs without a session", from_a_file, world)
        # A joined command that ends after the run leaves no last sync.
        if SOAK:
            tap.test("M3 --yolo is a sync each 30 seconds, the first after 60", yolo, world)
        tap.test("M6 a file of the workspace cannot switch the sync on", not_by_workspace, world)
        tap.test("a copy is synced when its command has ended", of_a_copy, world)
        tap.test("a session with a live mark is synced", after_a_mark, world)
    finally:
        world.done()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
