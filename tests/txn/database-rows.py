#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace sqlite3
# timeout: 900
"""A database of --db is committed by its rows while programs outside use it.

Whatever happens, the real database has the rows of before or the rows of
after, together with the files of the same commit.  A row that a program outside
was told to be written is never lost.
"""

import functools
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from meddle import World, tell  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
USAGE, CONFLICT, BUSY, STATE = 2, 5, 8, 10

# Ends without closing the database, so that its side files stay.
WRITE = """
import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.executescript(sys.argv[2])
c.commit()
os._exit(0)
"""


def expect(found, wanted, words):
    if found != wanted:
        raise AssertionError(f"{words}: {found!r}, not {wanted!r}")


def contains(said, words):
    if words not in said:
        raise AssertionError(f"{words!r} is not in {said!r}")


class Rows(World):
    """A project with databases, and the session `s` that has them by rows."""

    def __init__(self, mode="wal", names=("app.db",), script="", strategy="overlay"):
        super().__init__(tempfile.mkdtemp(prefix="rows."), "p")
        os.makedirs(os.path.join(self.base, "sub"))
        self.names = names
        self.write("p", {"file": "old"})
        for name in names:
            connection = self.open(name)
            connection.executescript(
                f"{script}; pragma journal_mode={mode}; create table t (id integer primary key, x);"
                "create table free (x); insert into t (x) values ('old')"
            )
            connection.close()
        words = [word for name in names for word in ("--db", self.path(name))]
        self.must("create", "s", "--cow", self.base, "--strategy", strategy, *words)

    def path(self, name="app.db"):
        return os.path.join(self.base, name)

    def open(self, name="app.db"):
        return sqlite3.connect(self.path(name), timeout=0, isolation_level=None)

    def inside(self, sql="insert into t (x) values ('new')", name="app.db", session="@s"):
        self.must("exec", session, "--", "/usr/bin/python3", "-c", WRITE, name, sql)

    def change(self):
        """Everything that the session holds, pending."""
        for name in self.names:
            self.inside(name=name)
        self.must("exec", "@s", "--", "sh", "-c", "echo new >file; echo n >added")

    def rows(self, name="app.db"):
        """As the next program sees them; the files are not touched for it."""
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("", "-wal", "-journal"):
                if os.path.exists(self.path(name) + ending):
                    shutil.copy(self.path(name) + ending, os.path.join(folder, "x" + ending))
            connection = sqlite3.connect(os.path.join(folder, "x"))
            rows = sorted(row for (row,) in connection.execute("select x from t"))
            sound = connection.execute("pragma integrity_check").fetchone()[0]
            connection.close()
        return rows if sound == "ok" else sound

    def text(self, name="file"):
        with open(os.path.join(self.base, name), encoding="ascii") as file:
            return file.read().strip()

    def side(self):
        """Which side all of the base is on; a list if it is on both."""
        sides = {"new" if "new" in self.rows(name) else "old" for name in self.names}
        sides.add(self.text())
        sides.add("new" if os.path.exists(self.path("added")) else "old")
        return sides.pop() if len(sides) == 1 else sorted(sides)

    def run(self, command, *words, status=0):
        words = words if command in ("undo", "redo", "recover", "status") else ("-y", *words)
        done = subprocess.run(
            self.call(command, *words, "@s"), cwd=self.base,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = done.stdout + done.stderr
        expect(done.returncode, status, f"the status of {command}: {said.strip()}")
        return said


def scene(function):
    """Runs it over a world of its own; what failed is text."""

    @functools.wraps(function)
    def run(**options):
        world = Rows(**options)
        try:
            function(world)
        except AssertionError as error:
            return [str(error)]
        finally:
            world.remove()
        return []

    return run


@scene
def closed(world):
    world.change()
    world.run("commit")
    expect(world.side(), "new", "side")
    world.run("undo")
    expect(world.side(), "old", "side after undo")
    contains(world.run("status"), "app.db")
    world.run("redo")
    expect(world.side(), "new", "side after redo")
    expect(world.rows(), ["new", "old"], "rows")
    world.inside()
    world.run("commit")
    expect(world.rows(), ["new", "new", "old"], "rows of the second commit")


@scene
def idle(world):
    outside = world.open()
    outside.execute("select * from t").fetchall()
    world.change()
    world.run("commit")
    expect(len(outside.execute("select * from t").fetchall()), 2, "rows of the open connection")
    outside.execute("insert into t (x) values ('host')")
    world.run("undo", status=CONFLICT)
    outside.close()
    expect(world.rows(), ["host", "new", "old"], "rows")


@scene
def idle_undo(world):
    outside = world.open()
    outside.execute("select * from t").fetchall()
    world.change()
    world.run("commit")
    world.run("undo")
    expect(len(outside.execute("select * from t").fetchall()), 1, "rows after undo")
    world.run("redo")
    outside.execute("insert into t (x) values ('host')")
    outside.close()
    expect(world.rows(), ["host", "new", "old"], "rows")


@scene
def reading_wal(world):
    outside = world.open()
    outside.execute("begin")
    outside.execute("select * from t").fetchone()
    world.change()
    world.run("commit")
    expect(len(outside.execute("select * from t").fetchall()), 1, "rows of the open snapshot")
    outside.execute("commit")
    expect(len(outside.execute("select * from t").fetchall()), 2, "rows of the next one")
    outside.close()


def refused(world, statement):
    world.change()
    outside = world.open("app.db")
    outside.execute(statement)
    outside.execute("select * from t").fetchone()
    contains(world.run("commit", status=BUSY), "locked")
    if statement != "begin":
        outside.execute("insert into t (x) values ('host')")
    outside.execute("commit")
    outside.close()
    expect(world.text(), "old", "the file beside it")


@scene
def reading_journal(world):
    refused(world, "begin")
    expect(world.rows(), ["old"], "rows")
    world.run("commit")
    expect(world.side(), "new", "side")


@scene
def writing(world):
    refused(world, "begin immediate")
    expect(world.rows(), ["host", "old"], "rows")
    world.run("commit", status=CONFLICT)
    world.run("commit", "--theirs", "app.db")
    expect(world.rows(), ["new", "old"], "rows of the session")
    world.run("undo")
    expect(world.rows(), ["host", "old"], "rows after undo")


@scene
def one_of_two_is_locked(world):
    world.change()
    outside = world.open("b.db")
    outside.execute("begin immediate")
    world.run("commit", status=BUSY)
    outside.execute("rollback")
    expect(world.side(), "old", "side")
    world.run("commit")
    expect(world.side(), "new", "side")
    world.run("undo")
    expect(world.side(), "old", "side after undo")


@scene
def by_the_shell(world):
    """The sqlite3 program of the distribution, open all the time."""
    with subprocess.Popen(
        ["sqlite3", "-bail", world.path()],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as shell:  # fmt: skip

        def ask(sql):
            shell.stdin.write(sql + "; select 'end';\n")
            shell.stdin.flush()
            return [line.strip() for line in iter(shell.stdout.readline, "end\n")]

        expect(ask("select x from t"), ["old"], "rows before")
        world.change()
        world.run("commit")
        expect(ask("select x from t order by x"), ["new", "old"], "rows after")
        ask("insert into t (x) values ('host')")
        shell.stdin.close()
        expect(shell.wait(), 0, "how sqlite3 ended")
    expect(world.rows(), ["host", "new", "old"], "rows")


@scene
def leftover_log(world):
    """A program outside was killed: its rows are in the side file alone."""
    subprocess.run(
        ["/usr/bin/python3", "-c", WRITE, world.path(), "insert into t (x) values ('log')"],
        check=True,
    )  # fmt: skip
    before = {n: os.stat(world.path(n)).st_ctime_ns for n in ("app.db", "app.db-wal")}
    world.must("exec", "@s", "--", "python3", "-c", "import sqlite3 as s; s.connect('app.db')")
    now = {n: os.stat(world.path(n)).st_ctime_ns for n in ("app.db", "app.db-wal")}
    expect(now, before, "times of the real files after a box")
    world.inside()
    world.run("commit")
    expect(world.rows(), ["log", "new", "old"], "rows")
    world.run("undo")
    expect(world.rows(), ["log", "old"], "rows after undo")


@scene
def only_read(world):
    read = "import sqlite3 as s; c = s.connect('app.db'); print(c.execute('select x from t').fetchall())"
    contains(world.must("exec", "@s", "--", "/usr/bin/python3", "-c", read), "old")
    contains(world.run("status"), "no changes")
    outside = world.open()
    outside.execute("insert into t (x) values ('host')")
    contains(world.must("exec", "@s", "--", "/usr/bin/python3", "-c", read), "host")
    outside.close()


@scene
def told_by_diff(world):
    world.inside(
        "insert into t (x) values ('a'), ('b'); update t set x = 'c' where id = 1;"
        "insert into free values (1), (1); create table made (y)"
    )
    said = world.must("diff", "@s")
    contains(said, "# app.db: table t: rows added 2, removed 0, changed 1\n")
    contains(said, "# app.db: table free: rows added 2, removed 0, changed 0\n")
    contains(said, "# app.db: table made (new): rows added 0, removed 0, changed 0\n")
    contains(said, "# app.db: schema + CREATE TABLE made (y)\n")
    change = json.loads(world.must("diff", "--json", "@s"))["changes"][0]
    found = [line for line in change["database"] if line.get("table") == "t"]
    wanted = {"kind": "M", "table": "t", "added": 2, "removed": 0, "changed": 1}
    expect(found, [wanted], "the table in the document")
    world.must("exec", "@s", "--", "sh", "-c", "dd if=/dev/urandom of=app.db bs=1k count=8 seek=1")
    contains(world.must("diff", "@s"), "# app.db: rows: cannot")


@scene
def live(world):
    """A command that runs keeps its database, and a commit says nothing else."""
    write = "import sqlite3, sys; c = sqlite3.connect('app.db'); c.execute(\"insert into t (x) values ('new')\"); c.commit(); open('added', 'w').close(); print('on', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        world.call("exec", "@s", "--", "/usr/bin/python3", "-c", write), cwd=world.base,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as command:  # fmt: skip
        expect(command.stdout.readline(), "on\n", "what the command says")
        said = world.run("commit", "--live")
        contains(said, "1 file: 1 added")
        expect(world.rows(), ["old"], "rows while it runs")
        command.stdin.close()
        expect(command.wait(), 0, "how the command ended")
    world.run("commit")
    expect(world.rows(), ["new", "old"], "rows after its end")


@scene
def session_without(world):
    world.must("create", "r", "--cow", world.base)
    done = subprocess.run(
        world.call("run", "-s", "r", "--db", world.path(), "--", "true"), cwd=world.base,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    contains(done.stderr, "was made without")
    for way, words in (("--ephemeral", "in memory"), ("--direct", "held back")):
        done = subprocess.run(
            world.call("run", way, "--db", world.path(), "--", "true"), cwd=world.base,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        expect(done.returncode, 125, f"the status of run {way}")
        contains(done.stderr, words)


@scene
def attached(world):
    """One transaction of the program over two databases is one commit."""
    world.inside(
        "attach 'b.db' as b; begin; insert into main.t (x) values ('new');"
        "insert into b.t (x) values ('new'); commit"
    )
    world.must("exec", "@s", "--", "sh", "-c", "echo new >file; echo n >added")
    world.run("commit")
    expect(world.side(), "new", "side")


@scene
def written_after_our_step(world):
    """A crash after the last page, and then a row of a program outside."""
    world.change()
    log = os.path.join(world.top, "strace")
    # The second database fails to be written, by a helper that is killed there.
    subprocess.run(
        ["strace", "-f", "-qq", "-o", log, "-e", "trace=renameat", "-e", "signal=none",
         "-e", "inject=renameat:signal=KILL:when=3", *world.call("commit", "-y", "@s")],
        cwd=world.base, capture_output=True, check=False,
    )  # fmt: skip
    outside = world.open()
    outside.execute("insert into t (x) values ('host')")
    outside.close()
    done = subprocess.run(
        world.call("recover", "@s"), cwd=world.base, capture_output=True, text=True, check=False
    )
    expect("host" in world.rows(), True, f"the row from outside is there: {done.stderr}")
    if done.returncode != 0:
        expect(done.returncode, STATE, f"the status of recover: {done.stderr}")
        contains(done.stderr, "was changed from outside")
        contains(done.stderr, "the version before: /")


@scene
def two_sessions(world):
    world.must("create", "r", "--cow", world.base, "--db", world.path())
    world.inside()
    world.inside("insert into t (x) values ('other')", session="@r")
    world.run("commit")
    done = subprocess.run(
        world.call("commit", "-y", "@r"), cwd=world.base, capture_output=True, check=False
    )
    expect(done.returncode, CONFLICT, "the status of the second session")
    expect(world.rows(), ["new", "old"], "rows")


@scene
def hostile_schema(world):
    """Triggers and views with functions are carried, and not executed."""
    world.inside(
        "create trigger w after insert on t begin insert into free values (load_extension('x')); end;"
        "create view v as select load_extension('y') as z"
    )
    world.run("commit")
    outside = world.open()
    found = {row[0] for row in outside.execute("select name from sqlite_schema")}
    expect({"w", "v"} <= found, True, f"trigger and view are there: {found}")
    outside.close()


def spoil(world, script, words, status=STATE):
    world.must("exec", "@s", "--", "sh", "-ec", script)
    contains(world.run("commit", status=status), words)
    expect(world.rows(), ["old"], "rows")
    expect(world.text(), "old", "the file beside it")


@scene
def garbage(world):
    spoil(world, "dd if=/dev/urandom of=app.db bs=8k count=1 seek=1 oflag=seek_bytes seek=16 conv=notrunc;"
          "echo new >file", "app.db")  # fmt: skip


@scene
def truncated(world):
    spoil(world, "truncate -s 700 app.db; rm -f app.db-wal; echo new >file", "app.db")


@scene
def empty(world):
    spoil(world, ": >app.db; rm -f app.db-wal; echo new >file", "app.db")


@scene
def removed(world):
    spoil(world, "rm -f app.db app.db-wal; echo new >file", "removed or replaced")


@scene
def a_link(world):
    spoil(world, "mv app.db b; ln -s b app.db; echo new >file", "removed or replaced")


def with_python(sql):
    return f"""rm -f app.db*; python3 -c "import sqlite3; sqlite3.connect('app.db').executescript('''{sql}''')"; echo new >file"""


@scene
def page_size(world):
    spoil(world, with_python("pragma page_size=1024; create table t (x)"), "page size")


@scene
def encoding(world):
    spoil(world, with_python("pragma encoding='UTF-16'; create table t (x)"), "text encoding")


@scene
def vacuum_mode(world):
    spoil(world, with_python("pragma auto_vacuum=1; create table t (x)"), "auto_vacuum")


def asked_for(make, words):
    """What cannot be a database of --db is refused before anything is made."""
    world = Rows()
    try:
        subprocess.run(["sh", "-ec", make], cwd=world.base, check=True)
        done = subprocess.run(
            world.call("create", "z", "--cow", world.base, "--db", "z.db"), cwd=world.base,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        expect(done.returncode, USAGE, f"the status of create: {done.stderr}")
        contains(done.stderr, words)
    except AssertionError as error:
        return [str(error)]
    finally:
        world.remove()
    return []


ASKED = (
    (":", "does not exist"),
    (": >z.db", "no SQLite database"),
    ("head -c 4096 /dev/zero >z.db", "no SQLite database"),
    ("ln -s app.db z.db", "symbolic link"),
    ("ln app.db z.db", "several names"),
    ("mkfifo z.db", "not a regular file"),
    ("mkdir z.db", "not a regular file"),
)

# Which calls of holdback and of the program for databases are a point to die at.
CALLS = ("renameat2", "fsync", "unlinkat", "pwrite64", "fdatasync", "unlink", "renameat", "write")


def killed(command, mode, call, number):
    """One command that dies at one call, or loses its helper there: None if there is none."""
    world = Rows(mode=mode, names=("app.db", "b.db"))
    log = os.path.join(world.top, "strace")
    try:
        world.change()
        if command == "undo":
            world.run("commit")
        words = () if command == "undo" else ("-y",)
        subprocess.run(
            ["strace", "-f", "-qq", "-o", log, "-e", f"trace={call}", "-e", "signal=none",
             "-e", f"inject={call}:signal=KILL:when={number}",
             *world.call(command, *words, "@s")],
            cwd=world.base, capture_output=True, check=False,
        )  # fmt: skip
        with open(log, encoding="ascii", errors="replace") as file:
            died = "killed by SIGKILL" in file.read()
        world.run("recover")
        side = world.side()
        expect(side in ("old", "new"), True, f"{command} died at {call} {number}: {side}")
        outside = world.open()
        outside.execute("insert into t (x) values ('host')")
        outside.close()
        expect("host" in world.rows(), True, "a program outside can write")
        return "" if died else None
    except AssertionError as error:
        return f"{mode}, {command} died at {call} {number}: {error}"
    finally:
        world.remove()


def kill_all(command, mode):
    failures, deaths = [], 0
    for call in CALLS:
        number, step = (1, 1) if SOAK else (1, 4)
        while (why := killed(command, mode, call, number)) is not None:
            failures += [why] if why else []
            number += step
            deaths += 1
    return failures if deaths > 8 else [f"it died at {deaths} calls only"]


SCENES = (
    ("a database that is closed gets its rows, and loses them by undo", closed, {}),
    ("an open connection sees the rows of a commit and goes on", idle, {}),
    ("undo and redo work under an open connection", idle_undo, {}),
    ("a database that is being written to stops a commit", writing, {}),
    ("two databases and files are one commit", one_of_two_is_locked, {"names": ("app.db", "b.db")}),
    ("the sqlite3 program goes on over a commit", by_the_shell, {}),
    ("a session that only reads keeps nothing", only_read, {}),
)
MODES = ("wal", "delete")
ONCE = (
    ("a reader goes on reading its snapshot (wal)", reading_wal, {}),
    ("a reader stops a commit (delete)", reading_journal, {"mode": "delete"}),
    ("rows in a log that a dead program left are not lost", leftover_log, {}),
    ("the second of two sessions on one database is a conflict", two_sessions, {}),
    ("diff tells the rows of each table and the schema", told_by_diff, {}),
    ("a session that was made without a database does not get it", session_without, {}),
    ("a database waits while a command of the session runs", live, {}),
    ("two attached databases are one commit", attached, {"names": ("app.db", "b.db")}),
    ("a row written after a crash is not overwritten", written_after_our_step, {}),
    ("a schema with functions is carried and not executed", hostile_schema, {}),
    ("a database of a copied directory is committed by rows", closed, {"strategy": "copy_on_write"}),
    ("garbage after the header stops a commit", garbage, {"mode": "delete"}),
    ("a truncated database stops a commit", truncated, {}),
    ("an empty database stops a commit", empty, {"mode": "delete"}),
    ("a database that the session removed stops a commit", removed, {}),
    ("a link in the place of a database stops a commit", a_link, {}),
    ("another page size stops a commit", page_size, {"mode": "delete"}),
    ("another text encoding stops a commit", encoding, {"mode": "delete"}),
    ("another auto_vacuum stops a commit", vacuum_mode, {"mode": "delete"}),
)


def main():
    os.chdir(os.environ["TMPDIR"])
    number = 0
    for words, test, options in ONCE:
        number += 1
        tell(number, words, test(**options))
    for mode in MODES:
        for words, test, options in SCENES:
            number += 1
            tell(number, f"{words} ({mode})", test(mode=mode, **options))
        for command in ("commit", "undo"):
            number += 1
            words = f"a killed {command} leaves all of one side, files and databases ({mode})"
            tell(number, words, kill_all(command, mode))
    number += 1
    failures = [why for make, words in ASKED for why in asked_for(make, words)]
    tell(number, "a file that cannot be a database of --db is refused", failures)
    print(f"1..{number}")


main()
