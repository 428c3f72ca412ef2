#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git unshare
# timeout: 600
"""An SQLite database and its side files are one unit, and an open one stays.

A row that a program outside has written, and was told that it was, is in the
real database afterwards, whatever holdback did meanwhile.
"""

import functools
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from meddle import World, meet, sweep, tell  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
CONFLICT = 5
STEP = 1 if SOAK else 4
NAME = "app.db"

# Ends without closing the database, so that its side files stay.
WRITE = """
import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("insert into t values (?)", (sys.argv[2],))
c.commit()
if len(sys.argv) > 3:
    os._exit(0)
c.close()
"""


class Database(World):
    """A project with a database, and the session `s` over it."""

    def __init__(self, mode="wal", strategy="overlay", begin=True):
        super().__init__(tempfile.mkdtemp(prefix="db."), "p")
        os.mkdir(self.base)
        self.path = os.path.join(self.base, NAME)
        with self.open() as connection:
            connection.execute(f"pragma journal_mode={mode}")
            connection.execute("create table t (x)")
            connection.execute("insert into t values ('old')")
        connection.close()
        if begin:
            self.must("create", "s", "--cow", self.base, "--strategy", strategy)

    def open(self):
        return sqlite3.connect(self.path, timeout=0)

    def inside(self, row, *words, name=NAME):
        self.must("exec", "@s", "--", "/usr/bin/python3", "-c", WRITE, name, row, *words)

    def outside(self, row, *words):
        subprocess.run(["/usr/bin/python3", "-c", WRITE, self.path, row, *words], check=True)

    def rows(self):
        """As the next program sees them; the files are not touched for it."""
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("", "-wal", "-journal"):
                if os.path.exists(self.path + ending):
                    shutil.copy(self.path + ending, os.path.join(folder, "x" + ending))
            connection = sqlite3.connect(os.path.join(folder, "x"))
            rows = {row for (row,) in connection.execute("select x from t")}
            sound = connection.execute("pragma integrity_check").fetchone()[0]
            connection.close()
        return rows if sound == "ok" else sound

    def files(self):
        return sorted(n for n in os.listdir(self.base) if n.startswith(NAME))

    def commit(self, *words, status=0, command="commit"):
        """What it said."""
        words = words if command in ("undo", "redo") else ("-y", *words)
        done = subprocess.run(
            self.call(command, *words, "@s"), cwd=self.base,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = done.stdout + done.stderr
        expect(done.returncode, status, f"the status of {command}: {said.strip()}")
        return said


def expect(found, wanted, words):
    if found != wanted:
        raise AssertionError(f"{words}: {found!r}, not {wanted!r}")


def contains(said, words):
    if words not in said:
        raise AssertionError(f"{words!r} is not in {said!r}")


def scene(function):
    """Runs it over a world of its own; what failed is text."""

    @functools.wraps(function)
    def run(**options):
        world = Database(**options)
        try:
            function(world)
        except AssertionError as error:
            return [str(error)]
        finally:
            world.remove()
        return []

    return run


@scene
def ignored_wal(world):
    git = ["git", "-C", world.base, "-c", "user.name=n", "-c", "user.email=e"]
    world.write("p", {".gitignore": "*-wal\n*-shm\n"})
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    world.inside("new", "stays")
    contains(world.must("diff", "--name-status", "@s"), f"A\t{NAME}-wal\n")
    world.commit()
    expect(world.rows(), {"old", "new"}, "rows")
    expect(world.files(), [NAME, NAME + "-wal"], "files")


@scene
def ignored_database(world):
    subprocess.run(["git", "init", "-q", world.base], check=True)
    world.write("p", {".gitignore": "*.db\n"})
    world.inside("new", "stays")
    contains(world.commit(), "nothing to commit")
    expect(world.rows(), {"old"}, "rows")


@scene
def filters(world):
    world.inside("new", "stays")
    world.must("exec", "@s", "--", "sh", "-c", "echo n >other")
    world.commit("--except", NAME + "-wal")
    expect(world.rows(), {"old"}, "rows with the side file left out")
    expect(world.files(), [NAME], "files with the side file left out")
    world.commit("--only", NAME)
    expect(world.rows(), {"old", "new"}, "rows with the database wanted")
    world.commit(command="undo")
    expect(world.rows(), {"old"}, "rows after undo")
    world.commit("--only", NAME + "-wal")
    expect(world.rows(), {"old", "new"}, "rows with the side file wanted")


@scene
def shared_memory(world):
    world.must("exec", "@s", "--", "sh", "-c", f"mkdir d; cp {NAME} d/{NAME}")
    world.inside("new", "stays", name=f"d/{NAME}")
    expect(world.must("exec", "@s", "--", "ls", f"d/{NAME}-shm"), f"d/{NAME}-shm\n", "inside")
    world.commit()
    found = sorted(os.listdir(os.path.join(world.base, "d")))
    expect(found, [NAME, NAME + "-wal"], "files in the new directory")
    world.must("exec", "@s", "--", "rm", "-r", "d")
    world.commit("--ignored")
    expect(os.path.exists(os.path.join(world.base, "d")), False, "the directory is there")


def refused_while_open(world, connection, command="commit", *words):
    said = world.commit(*words, status=CONFLICT, command=command)
    contains(said, f"process {os.getpid()}")
    contains(said, "database open")
    connection.rollback()
    connection.execute("insert into t values ('host')")
    connection.commit()
    connection.close()


@scene
def open_outside(world):
    world.inside("new")
    connection = world.open()
    connection.execute("select * from t").fetchall()
    contains(world.must("status", "@s"), "a program has the database open")
    refused_while_open(world, connection, "commit", "--theirs", NAME)
    expect(world.rows(), {"old", "host"}, "rows")
    world.commit(status=CONFLICT)
    world.commit("--theirs", NAME)
    expect(world.rows(), {"old", "new"}, "rows of the session")
    world.commit(command="undo")
    expect(world.rows(), {"old", "host"}, "rows after undo")


@scene
def elsewhere(world):
    """The process has no number where holdback runs."""
    world.inside("new")
    connection = world.open()
    connection.execute("select * from t").fetchall()
    done = subprocess.run(
        ["unshare", "-U", "--map-current-user", "-p", "-f", *world.call("commit", "-y", "@s")],
        cwd=world.base, capture_output=True, text=True, check=False,
    )  # fmt: skip
    expect(done.returncode, CONFLICT, f"the status of commit: {done.stderr}")
    contains(done.stderr, "another namespace")
    connection.execute("insert into t values ('host')")
    connection.commit()
    connection.close()
    expect(world.rows(), {"old", "host"}, "rows")


@scene
def read_outside(world):
    world.inside("new")
    connection = world.open()
    connection.execute("begin")
    connection.execute("select * from t").fetchone()
    refused_while_open(world, connection)
    expect(world.rows(), {"old", "host"}, "rows")


@scene
def deleted_inside(world):
    os.mkdir(os.path.join(world.base, "d"))
    shutil.copy(world.path, os.path.join(world.base, "d", NAME))
    world.must("create", "s", "--cow", world.base)
    world.must("exec", "@s", "--", "rm", "-r", "d")
    connection = sqlite3.connect(os.path.join(world.base, "d", NAME))
    connection.execute("select * from t").fetchall()
    refused_while_open(world, connection)
    world.commit(status=CONFLICT)


@scene
def open_at_undo(world):
    world.inside("new")
    world.commit()
    connection = world.open()
    connection.execute("select * from t").fetchall()
    contains(world.commit(status=CONFLICT, command="undo"), f"process {os.getpid()}")
    connection.close()
    world.commit(command="undo")
    expect(world.rows(), {"old"}, "rows after undo")
    connection = world.open()
    connection.execute("select * from t").fetchall()
    contains(world.commit(status=CONFLICT, command="redo"), f"process {os.getpid()}")
    connection.close()
    world.commit(command="redo")
    expect(world.rows(), {"old", "new"}, "rows after redo")


@scene
def wal_outside(world):
    """The real database has rows in a side file that the session knows not."""
    world.inside("new")
    world.outside("host", "stays")
    contains(world.commit(status=CONFLICT), "another file of the database")
    world.commit("--theirs", NAME, status=CONFLICT)
    expect(world.rows(), {"old", "host"}, "rows")
    world.commit("--ours", NAME)
    expect(world.rows(), {"old", "host"}, "rows that were chosen")


@scene
def wal_inside(world):
    """The session's side file belongs to a database that is another one now."""
    world.inside("new", "stays")
    world.outside("host")
    world.commit(status=CONFLICT)
    expect(world.rows(), {"old", "host"}, "rows")
    # Where the session has a copy of the database the two belong together.
    has_copy = f"M\t{NAME}\n" in world.must("diff", "--name-status", "@s")
    world.commit("--theirs", NAME, status=0 if has_copy else CONFLICT)
    wanted = {"old", "new" if has_copy else "host"}
    expect(world.rows(), wanted, "rows with the session's version chosen")


@scene
def wal_on_both_sides(world):
    world.inside("new", "stays")
    world.outside("host", "stays")
    world.commit(status=CONFLICT)
    expect(world.rows(), {"old", "host"}, "rows")


@scene
def no_database(world):
    """Names and sizes alone make no unit."""
    world.write("p", {"x": "y" * 512, ".gitignore": "*-wal\n"})
    subprocess.run(["git", "init", "-q", world.base], check=True)
    world.must("create", "s", "--cow", world.base)
    world.must("exec", "@s", "--", "sh", "-c", "echo n >>x; echo w >x-wal; echo j >x-journal")
    expect(
        world.must("diff", "--name-status", "--only", "x", "@s"), "M\tx\n", "what `x` stands for"
    )
    world.commit("--except", "x-journal")
    expect(sorted(n for n in os.listdir(world.base) if n[0] == "x"), ["x"], "files")


def opened_meanwhile(mode, number):
    """A program opens the database before one change of the commit."""
    world = Database(mode)
    world.inside("new")
    held = []

    def act():
        connection = world.open()
        try:
            connection.execute("begin" if mode == "delete" else "select 1")
            connection.execute("select * from t").fetchall()
        except sqlite3.Error:
            return False
        held.append(connection)
        return True

    def judge(status, said, happened):
        expect(status in (0, CONFLICT), True, f"the exit status {status}")
        wanted = {"old", "new"} if status == 0 else {"old"}
        for connection in held:
            try:
                connection.rollback()
                connection.execute("insert into t values ('host')")
                connection.commit()
                wanted.add("host")
            except sqlite3.Error:
                pass
            connection.close()
        expect(world.rows(), wanted, f"rows, and it was {happened} that it was opened ({said})")

    return meet(world, number, act, judge)


TESTS_HERE = (
    ("a side file that git ignores comes along with the database", ignored_wal),
    ("a database that git ignores stays with its side files", ignored_database),
    ("a filter takes or leaves all files of a database", filters),
    ("the file that programs share is not delivered", shared_memory),
    ("a database that a program has open is not exchanged", open_outside),
    ("a database that is open in another namespace is not exchanged", elsewhere),
    ("a database that is deleted inside and open outside stays", deleted_inside),
    ("undo and redo leave a database alone that is open", open_at_undo),
    ("rows in a side file outside are not lost", wal_outside),
    ("a side file inside does not go to another database", wal_inside),
    ("side files of both sides are a conflict", wal_on_both_sides),
    ("a name that ends like a side file makes no database", no_database),
)


def main():
    os.chdir(os.environ["TMPDIR"])
    number = 0
    began = time.monotonic()
    for strategy in ("overlay", "copy_on_write"):
        for words, test in TESTS_HERE:
            number += 1
            begins = {"begin": test not in (deleted_inside, no_database)}
            tell(number, f"{words} ({strategy})", test(strategy=strategy, **begins))
    number += 1
    words = "a database that a program reads is not exchanged (rollback journal)"
    tell(number, words, read_outside(mode="delete"))
    for mode in ("wal", "delete"):
        number += 1
        failures = sweep(1 + int(began) % STEP, STEP, functools.partial(opened_meanwhile, mode))
        tell(number, f"no row is lost that a program writes during a commit ({mode})", failures)
    print(f"1..{number}")


main()
