#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""Taking work from a session while its command runs.

The command makes two files longer, the second always after the first, and runs
what others put into a file.  So a copy that is not of one moment shows.
"""

import json
import os
import signal
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
import stopper  # noqa: E402
from live_world import COUNT, World  # noqa: E402
from pty_shell import Failed, Tap, below, same, state_of, wait_until  # noqa: E402

SAVE = """(i=0; while [ ! -e enough ]; do i=$((i+1)); echo 1 >n/$i.tmp; mv n/$i.tmp n/s;
echo 2 >$i.tmp; mv $i.tmp t; done; touch stopped) >/dev/null 2>&1 &"""
MAPPED = """
import mmap, os, time
with open("m", "wb") as f: f.write(b"0" * 4096)
f = open("m", "r+b"); m = mmap.mmap(f.fileno(), 4096)
def step(n):
    m[0:1] = n
    open("step" + n.decode(), "w").close()
    while not os.path.exists("go" + n.decode()): time.sleep(0.01)
for n in (b"1", b"2", b"3"): step(n)
"""


# The short run kills at some of the changes.
STEP = 1 if os.environ.get("HB_SOAK") == "1" else 13


def refused(world):
    done = world.run("commit", "-y", "@s")
    same(done.returncode, 8)
    if "fix: holdback stop @s, or this command with --live" not in done.stderr:
        raise Failed(done.stderr)
    for words in (("undo", "@s"), ("rollback", "-y", "@s"), ("sync", "--reset", "-y", "@s")):
        same(world.run(*words).returncode, 8)


def one_moment(world):
    for _ in range(5):
        world.sync()
        world.one_moment()
    before = world.one_moment()
    world.moves()
    world.must("commit", "--live", "-y", "@s")
    same(world.one_moment() > before, True)
    world.moves()
    same(world.layers(), [])


def only_read(world):
    """Nothing is written to the layer but the marks of a new directory."""
    world.inside("echo mine >f; mkdir n; echo n >n/1; ln n/1 n/2; ln -s f l; rm d/gone")
    fixed = [world.upper(name) for name in ("f", "n/1", "l", "d")]
    before = [(x.st_ino, x.st_ctime_ns) for x in map(os.lstat, fixed)]
    world.sync()
    same([(x.st_ino, x.st_ctime_ns) for x in map(os.lstat, fixed)], before)
    same((world.read("f"), world.read("n/1"), world.has("d/gone")), ("mine\n", "n\n", False))
    same(os.path.samefile(world.path("n/1"), world.path("n/2")), True)
    same(os.listxattr(world.path("n")), [])
    same("user.overlay.taken" in os.listxattr(world.upper("n")), True)


def not_through(world):
    """What is written after it does not reach the real file."""
    world.inside("echo later >>f")
    same(world.read("f"), "mine\n")
    world.sync()
    same(world.read("f"), "mine\nlater\n")


def deleted_again(world):
    world.inside("mkdir -p n/sub; echo 1 >n/gone; echo 1 >n/sub/gone; echo 1 >top")
    world.sync()
    same((world.read("n/gone"), world.read("n/sub/gone"), world.has("top")), ("1\n", "1\n", True))
    world.write("n/user", "user\n")
    world.inside("rm n/gone top; rm -r n/sub")
    world.sync()
    same([world.has(x) for x in ("n/gone", "n/sub", "top", "n/1", "n/user")],
         [False, False, False, True, True])  # fmt: skip


def moved(world):
    """The files in it have their old change times."""
    world.inside("mkdir n/d; echo 1 >n/d/f")
    world.sync()
    world.inside("mv n/d n/e")
    world.sync()
    same((world.has("n/d"), world.read("n/e/f")), (False, "1\n"))


def edited_by_the_user(world):
    world.inside("echo agent >g")
    world.sync()
    world.write("g", "user\n")
    for _ in range(3):
        world.sync()
        same(world.read("g"), "user\n")
    world.inside("echo agent again >g")
    for _ in range(3):
        done = world.run("sync", "--auto", "@s")
        same((done.returncode, world.read("g")), (5, "user\n"))
        same("conflict: g: edited in the base" in done.stderr, True)
    world.must("commit", "--live", "-y", "--theirs", "g", "@s")
    same(world.read("g"), "agent again\n")


def mapped(world):
    """A second write by a mapping comes without a new change time."""
    with open(world.path("m.py"), "w", encoding="ascii") as file:
        file.write(MAPPED)
    # pylint: disable=consider-using-with
    writer = subprocess.Popen(world.words("exec", "@s", "--", "python3", "m.py"), cwd=world.project)
    for step in "123":
        wait_until(lambda at=step: os.path.exists(world.upper("step" + at)), "the page is written")
        world.sync()
        same(world.read("m")[0], step)
        world.inside("touch go" + step)
    same(writer.wait(), 0)


def saved_at_once(world):
    """A file that is renamed between copy and commit is not left behind."""
    world.inside(SAVE)
    for _ in range(30):
        world.sync()
    world.inside("touch enough")
    wait_until(lambda: os.path.exists(world.upper("stopped")), "nothing is saved any more")
    world.sync()
    same([name for name in os.listdir(world.project) + os.listdir(world.path("n"))
          if name.endswith(".tmp")], [])  # fmt: skip
    same((world.read("n/s"), world.read("t")), ("1\n", "2\n"))


def there_and_back(world):
    """Records of a directory do not outlive it."""
    world.inside("mkdir -p tb/sub; echo 1 >tb/f; echo 2 >tb/sub/f")
    world.sync()
    world.inside("mv tb tc")
    world.sync()
    same((world.has("tb"), world.read("tc/sub/f")), (False, "2\n"))
    world.inside("mv tc tb")
    world.sync()
    same((world.has("tc"), world.read("tb/f"), world.read("tb/sub/f")), (False, "1\n", "2\n"))
    # The same one level deeper, where the directory above stays another.
    world.inside("mv tb/sub tsub; rm -r tb; echo file >tb")
    world.sync()
    world.inside("rm tb; mkdir tb; echo 3 >tb/g")
    world.sync()
    world.inside("mv tsub tb/sub")
    world.sync()
    same((world.read("tb/sub/f"), world.read("tb/g"), world.has("tsub")), ("2\n", "3\n", False))


def mark_travels(world):
    """The mark of a renamed directory says nothing at its new name."""
    world.inside("mkdir mt; echo 1 >mt/new")
    world.sync()
    world.inside("rm -r old; mv mt old")
    world.sync()
    same((world.has("old/x"), world.has("old/y"), world.has("mt"), world.read("old/new")),
         (False, False, False, "1\n"))  # fmt: skip


def replaced(world):
    """Deletions that a commit leaves out stay pending in a directory made anew."""
    world.inside("rm -r other; mkdir other; echo 1 >other/new")
    world.must("commit", "--live", "-y", "--no-gate", "--except", "other/x", "@s")
    same((world.has("other/x"), world.has("other/y"), world.read("other/new")),
         (True, False, "1\n"))  # fmt: skip
    world.sync()
    same((world.has("other/x"), world.read("other/new")), (False, "1\n"))
    world.write("other/user", "user\n")
    world.inside("echo 2 >other/new")
    world.sync()
    same((world.read("other/user"), world.read("other/new")), ("user\n", "2\n"))


def made_by_both(world):
    os.mkdir(world.path("both.new"))
    world.write("both.new/user", "user\n")
    world.inside("mkdir both; echo 1 >both/f")
    os.rename(world.path("both.new"), world.path("both"))
    world.sync()
    same((world.read("both/user"), world.read("both/f")), ("user\n", "1\n"))
    world.inside("rm both/f")
    world.sync()
    same((world.read("both/user"), world.has("both/f")), ("user\n", False))


def marked_after(world):
    """A live mark has the deletions, and nothing of the marks for a sync."""
    world.begin(COUNT)
    world.inside("mkdir lm; echo 1 >lm/1; echo 2 >lm/2")
    world.sync()
    world.inside("rm lm/1")
    world.must("mark", "--live", "@s", "m")
    top = os.path.join(world.state, "layers")
    found = [os.path.join(folder, "lm") for folder, names, _ in os.walk(top) if "lm" in names]
    same(len(found), 1)
    same([x for x in os.listxattr(found[0]) if x.startswith("user.overlay.")], [])
    same(stat.S_ISCHR(os.lstat(os.path.join(found[0], "1")).st_mode), True)


GIT_WORK = (
    ("rebase-merge/", "a rebase is under way inside"),
    ("MERGE_HEAD", "a merge is under way inside"),
    ("index.lock", "a git command is under way inside"),
    ("refs/heads/x.lock", "a git command is under way inside"),
    ("worktrees/w/CHERRY_PICK_HEAD", "a cherry-pick is under way inside"),
    ("modules/m/index.lock", "a git command is under way inside"),
)


def git_at_work(world):
    world.inside("git init -q .")
    for name, words in GIT_WORK:
        path = ".git/" + name
        make = f"mkdir {path}" if name[-1] == "/" else f"mkdir -p $(dirname {path}); touch {path}"
        if name.startswith("modules"):
            make = "git init -q --bare .git/modules/m; " + make
        world.inside(make)
        done = world.run("sync", "--auto", "@s")
        same((done.returncode, "held: " + words in done.stderr, world.has(".git")), (8, True, False))
        world.inside(f"rm -r {path}; rm -rf .git/worktrees .git/modules")
    # A branch may have such a name.
    world.inside("mkdir -p .git/refs/heads/rebase-merge; rm -r .git")
    world.sync()


def gate_refuses(world):
    world.inside("echo 'PASSWORD=hunter2hunter2' >.env; echo 1 >beside")
    done = world.run("sync", "--auto", "--json", "@s")
    same((done.returncode, world.has(".env"), world.has("beside")), (4, False, False))
    same("error" in json.loads(done.stdout or done.stderr), True)
    world.must("sync", "--auto", "--except", ".env", "@s")
    same((world.has(".env"), world.has("beside")), (False, True))
    world.must("sync", "--auto", "--no-gate", "@s")
    same(world.has(".env"), True)
    world.inside("rm .env")
    world.must("sync", "--auto", "--no-gate", "@s")
    same(world.has(".env"), False)


def killed(world):
    """Stops it before each change, and kills it there; the box goes on."""
    number = -STEP
    while True:
        number += STEP
        world.moves()
        words = world.words("sync", "--auto", "@s")
        with stopper.Stopper(words, cwd=world.project, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:  # fmt: skip
            at = child.run_to(number + 1)
            if at is None:
                same(child.status, 0)
                break
            helpers = below(child.child.pid)
            child.kill()
        wait_until(lambda: not any(state_of(pid) for pid in helpers), "the helpers are gone")
        world.moves()
        world.sync()
        world.one_moment()
    if number < 30:
        raise Failed("fewer changes than steps")


def meddled(world, kills):
    """The box goes on before a sync has ended: a command joins, or helpers are killed."""
    number = -STEP
    while True:
        number += STEP
        world.inside("rm -rf r; mkdir -p r n; echo 1 >r/a; echo 1 >n/x.tmp")
        words = world.words("sync", "--auto", "@s")
        with stopper.Stopper(words, cwd=world.project, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:  # fmt: skip
            if child.run_to(number + 1) is None:
                same(child.status, 0)
                break
            for pid in below(child.child.pid) if kills else []:
                os.kill(pid, signal.SIGKILL)
            world.inside("mv n/x.tmp n/s; rm -r r; mkdir r; echo 2 >r/a")
            child.go_on()
        world.inside("rm r/a")
        world.end()
        world.must("commit", "-y", "--no-gate", "@s")
        if (world.has("r"), world.has("r/a"), world.has("n/x.tmp"), world.read("n/s")) != (True, False, False, "1\n"):
            raise Failed(f"{number}: {os.listdir(world.path('r'))} {os.listdir(world.path('n'))}")
        world.begin(COUNT)
    if number < 30:
        raise Failed("fewer changes than steps")


def moved_in_by_the_user(world):
    """An old directory that the user renames to where the box has made one."""
    world.inside("mkdir in; echo 1 >in/f; mkdir in/sub")
    os.rename(world.path("outside"), world.path("in"))
    same(world.run("sync", "--auto", "@s").returncode, 5)
    world.must("commit", "--live", "-y", "--theirs", "in/*", "@s")
    same((world.read("in/user"), world.read("in/f")), ("real\n", "1\n"))
    world.inside("rm in/f; rmdir in/sub")
    world.sync()
    same((world.read("in/user"), world.has("in/f"), world.has("in/sub")), ("real\n", False, False))


def ends_meanwhile(world):
    """It is taken, or [8] if nothing is left that could be still."""
    for number in (1, 4, 8):
        words = world.words("sync", "--auto", "@s")
        with stopper.Stopper(words, cwd=world.project, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:  # fmt: skip
            child.run_to(number)
            world.run("exec", "@s", "--", "touch", "end")
            wait_until(lambda: not any(state_of(x) for x in below(world.box.pid)), "the box has ended")
            child.go_on()
            same((number, child.status in (0, 8)), (number, True))
        world.box.wait()
        world.one_moment()
        world.begin(COUNT)


def after_the_end(world):
    """Marks go with the box, deletions stay, and undo takes a sync back."""
    world.inside("mkdir z; echo 1 >z/1; echo 2 >z/2")
    world.sync()
    world.inside("rm z/1")
    world.end()
    world.must("gc")
    same(world.layers(), [])
    same("user.overlay.taken" in os.listxattr(world.upper("z")), False)
    same("user.overlay.opaque" in os.listxattr(world.upper("z")), False)
    same("  D z/1\n" in world.must("status", "@s"), True)
    same(world.inside("ls z"), "2\n")
    world.must("commit", "-y", "@s")
    same((world.has("z/1"), world.has("z/2")), (False, True))
    world.must("undo", "@s")
    same(world.has("z/1"), True)
    world.must("undo", "@s")
    same(world.has("z"), False)
    world.must("redo", "@s")
    same(world.read("z/2"), "2\n")
    # The undo of a sync leaves all of it pending.
    world.must("undo", "@s")
    same(world.inside("ls z"), "2\n")
    # The user has made files beside it, and so may have removed it.
    world.must("commit", "-y", "--theirs", "z", "--theirs", "z/*", "@s")
    same((world.has("z/1"), world.read("z/2")), (False, "2\n"))


def edited_before_the_end(world):
    """What was synced lies in the layer still, and never replaces the user's edit."""
    world.begin(COUNT)
    world.inside("echo 1 >ee; echo 1 >ef; ln ef eg")
    world.sync()
    world.write("ee", "user\n")
    world.write("ef", "user\n")
    world.end()
    for _ in range(2):
        world.must("commit", "-y", "@s")
        same((world.read("ee"), world.read("ef"), world.read("eg")), ("user\n",) * 3)
    world.begin(COUNT)
    world.inside("echo 2 >ee")
    same(world.run("sync", "--auto", "@s").returncode, 5)
    same(world.read("ee"), "user\n")
    world.end()
    same(world.run("commit", "-y", "@s").returncode, 5)
    world.must("commit", "-y", "--theirs", "ee", "@s")
    same(world.read("ee"), "2\n")


def supervisor_dies(world):
    world.begin(COUNT)
    world.inside("mkdir y; echo 1 >y/1")
    world.sync()
    world.inside("rm y/1")
    os.kill(world.box.pid, signal.SIGKILL)
    world.box.wait()
    wait_until(lambda: " live " not in world.must("ls"), "the box has ended")
    same("  D y/1\n" in world.must("status", "@s"), True)


def main():
    tap = Tap()
    world = World()
    try:
        tap.test("commit without --live, undo and rollback are [8]", refused, world)
        tap.test("sync and commit --live take what was there at one moment", one_moment, world)
        tap.test("the layer of the box is only read", only_read, world)
        tap.test("a later write does not reach the real file", not_through, world)
        tap.test("a file that is deleted again is gone outside too", deleted_again, world)
        tap.test("a directory that is renamed takes its files along", moved, world)
        tap.test("a directory that is renamed there and back keeps its files", there_and_back, world)
        tap.test("a directory renamed onto a deleted one deletes the old files", mark_travels, world)
        tap.test("a deletion that a commit left out stays pending", replaced, world)
        tap.test("files in a directory that both sides made can be deleted", made_by_both, world)
        tap.test("a directory that the user moves into place is merged", moved_in_by_the_user, world)
        tap.test("the user's edit of a synced file stays", edited_by_the_user, world)
        tap.test("a file that is written by a mapping arrives each time", mapped, world)
        tap.test("saving by rename leaves no other name behind", saved_at_once, world)
        tap.test("a repository is held while git is at work", git_at_work, world)
        tap.test("the gate looks at the copy", gate_refuses, world)
        if stopper.is_known_machine():
            tap.test("sync killed at every change: the box goes on, the tree is whole", killed, world)
            tap.test("a command that joins during a sync loses nothing", meddled, world, False)
            tap.test("helpers of a sync that are killed lose nothing", meddled, world, True)
            tap.test("a box that ends meanwhile waits for the sync", ends_meanwhile, world)
        tap.test("the end of the box, and undo", after_the_end, world)
        tap.test("an edit of a synced file before the end of the box stays", edited_before_the_end, world)
        tap.test("a killed supervisor leaves the deletions", supervisor_dies, world)
        tap.test("a live mark after a sync is a plain layer", marked_after, world)
    finally:
        world.done()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
