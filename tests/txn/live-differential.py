#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""Random work in a live session, and the same work beside it.

A worker in the box does random operations, and here they are done again in a
shadow tree.  Between them the session is synced, killed while it is synced, and
synced while the worker goes on.  The user makes and edits files of his own.
After each sync with a quiet worker, and after the end of the box, the real tree
is the shadow with the user's files.  A seed that fails is printed; HB_SEED
repeats it.
"""

import inspect
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from caller import Caller  # noqa: E402
from pty_shell import Failed, Tap  # noqa: E402

FIRST = int(os.environ.get("HB_SEED", "0"))
SEEDS = int(os.environ.get("HB_SEEDS", "1")) if FIRST else 400 if os.environ.get("HB_SOAK") == "1" else 12
STEPS = 40
NAMES = ["a", "b", "c", "d"]
USER = "user"


def do(top, words):
    """One operation; False if it cannot be done."""
    name, path, *rest = words
    path = os.path.join(top, path)
    other = os.path.join(top, str(rest[0])) if rest else ""
    try:
        if name == "mkdir":
            os.mkdir(path)
        elif name == "write":
            with open(path, "w", encoding="ascii") as file:
                file.write(rest[0])
        elif name == "append":
            with open(path, "r+", encoding="ascii") as file:
                file.seek(0, 2)
                file.write(rest[0])
        elif name == "link":
            os.symlink(rest[0], path)
        elif name == "unlink":
            os.unlink(path)
        elif name == "rename":
            os.rename(path, other)
        elif name == "there":
            os.rename(path, other)
            os.rename(other, path)
        elif name == "save":
            with open(path + ".tmp", "w", encoding="ascii") as file:
                file.write(rest[0])
            try:
                os.rename(path + ".tmp", path)
            except OSError:
                os.unlink(path + ".tmp")
                return False
        elif name == "rmtree":
            if not os.path.isdir(path) or os.path.islink(path):
                return False
            shutil.rmtree(path)
        elif name == "anew":
            if not os.path.isdir(path) or os.path.islink(path):
                return False
            shutil.rmtree(path)
            os.mkdir(path)
        elif name == "chmod":
            os.chmod(path, rest[0], follow_symlinks=True)
    except OSError:
        return False
    return True


def work():
    """Inside of the box."""
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(do(".", json.loads(line))), flush=True)


def tree(top):
    found = {}
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            if stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(info.st_mode):
                with open(path, encoding="ascii") as file:
                    content = file.read()
            else:
                content = None
            mode = 0 if stat.S_ISLNK(info.st_mode) else info.st_mode
            found[os.path.relpath(path, top)] = (oct(mode), content)
    return found


class World(Caller):
    """A session with a worker, the shadow, and the files of the user."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.top = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        self.project = os.path.join(self.top, "p")
        self.shadow = os.path.join(self.top, "shadow")
        self.state = os.path.join(self.top, "state")
        self.log, self.user, self.number = [], {}, 0
        self.has_user = seed % 2 == 1
        os.mkdir(self.project)
        for _ in range(12):
            do(self.project, self.operation(self.project, first=True))
        shutil.copytree(self.project, self.shadow, symlinks=True)
        # What the session finds is older than it, whatever ticks the clock has.
        time.sleep(0.03)
        self.must("create", "s", "--cow", self.project)
        self.box = None
        self.begin()

    def begin(self):
        source = "import json, os, shutil, sys\n" + inspect.getsource(do) + inspect.getsource(work)
        # pylint: disable=consider-using-with
        self.box = subprocess.Popen(
            self.words("exec", "@s", "--", "python3", "-c", source + "work()"),
            cwd=self.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        if self.box.stdout.readline() != "ready\n":
            raise Failed("the worker does not begin")

    def path(self, top, is_there):
        found = sorted(p for p in tree(top) if USER not in p)
        if found and self.random.random() < is_there:
            return self.random.choice(found)
        folders = [p for p in found if os.path.isdir(os.path.join(top, p))
                   and not os.path.islink(os.path.join(top, p))]  # fmt: skip
        folder = self.random.choice([""] + folders)
        if folder.count("/") > 2:
            folder = ""
        return os.path.join(folder, self.random.choice(NAMES))

    def operation(self, top, first=False):
        self.number += 1
        text = f"{self.number}\n"
        kinds = ["mkdir", "mkdir", "write", "write"]
        if not first:
            kinds += ["mkdir", "write", "append", "save", "unlink", "rename", "rename", "rename",
                      "there", "rmtree", "anew", "link", "chmod"]  # fmt: skip
        kind = self.random.choice(kinds)
        if kind in ("rename", "there"):
            return (kind, self.path(top, 1), self.path(top, 0.3 if kind == "rename" else 0))
        if kind == "chmod":
            return (kind, self.path(top, 1), self.random.choice([0o700, 0o755, 0o750]) |
                    (0 if self.random.random() < 0.5 else 0o040))  # fmt: skip
        is_there = {"mkdir": 0, "write": 0.3, "link": 0, "save": 0.5}.get(kind, 1)
        return (kind, self.path(top, is_there), text)[: 2 if kind in ("mkdir", "unlink", "rmtree", "anew") else 3]

    def agent(self, n, meanwhile=None):
        other = threading.Thread(target=meanwhile) if meanwhile else None
        if other:
            other.start()
        try:
            for _ in range(n):
                self.one(self.operation(self.shadow))
        finally:
            if other:
                other.join()

    def one(self, words):
        self.log.append(words)
        self.box.stdin.write(json.dumps(words) + "\n")
        self.box.stdin.flush()
        # A directory that lies in the base cannot be renamed inside.
        if not json.loads(self.box.stdout.readline()):
            self.log.append("not done")
        elif not do(self.shadow, words):
            raise Failed(f"{words}: only inside")

    def sync(self, *options):
        self.log.append("sync")
        # The helpers of a command that was killed may be there still.
        for _ in range(5):
            done = self.run("commit", "--live", "-y", "--no-gate", "--ignored", *options, "@s")
            if done.returncode != 8:
                break
            time.sleep(0.1)
        return done

    def killed(self):
        self.log.append("killed")
        # pylint: disable=consider-using-with
        child = subprocess.Popen(
            self.words("commit", "--live", "-y", "--no-gate", "--ignored", "@s"),
            cwd=self.project, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        time.sleep(self.random.random() * 0.08)
        os.kill(child.pid, 9)
        child.wait()

    def edit(self):
        folders = [""] + sorted(p for p, (_, content) in tree(self.project).items()
                                if content is None)  # fmt: skip
        self.number += 1
        path = os.path.join(self.random.choice(folders), f"{USER}{self.number % 5}")
        self.log.append(("edit", path))
        try:
            with open(os.path.join(self.project, path), "w", encoding="ascii") as file:
                file.write(f"user {self.number}\n")
        except OSError:
            return
        self.user[path] = f"user {self.number}\n"

    def keeps_user(self):
        for path, text in self.user.items():
            try:
                with open(os.path.join(self.project, path), encoding="ascii") as file:
                    found = file.read()
            except OSError as error:
                raise Failed(f"the user's {path} is lost: {error}") from error
            if found != text:
                raise Failed(f"the user's {path} is {found!r}")

    def compare(self, when):
        real = tree(self.project)
        for path in self.user:
            real.pop(path, None)
        wanted = tree(self.shadow)
        if real != wanted:
            lines = [f"{p}: real {real.get(p)}, wanted {wanted.get(p)}"
                     for p in sorted(set(real) | set(wanted)) if real.get(p) != wanted.get(p)]  # fmt: skip
            raise Failed(when + ": " + "; ".join(lines))

    def committed(self, again, when):
        """Where the user's files are in the way he takes them back."""
        done = again()
        self.keeps_user()
        if done.returncode == 5 and self.has_user:
            for path in self.user:
                os.unlink(os.path.join(self.project, path))
            self.log.append(("user takes back", sorted(self.user)))
            self.user = {}
            done = again()
            # His directories have another time than the session gave them.
            if done.returncode == 5:
                done = again("--theirs", "**", "--theirs", "*")
        if done.returncode != 0:
            raise Failed(f"{when}: {done.returncode}: {done.stderr}")
        self.compare(when)

    def quiet(self):
        self.committed(self.sync, "after a sync")

    def end(self):
        self.box.stdin.close()
        self.box.wait()
        self.box = None

    def last(self):
        self.end()
        self.log.append("end")
        self.committed(
            lambda *options: self.run("commit", "-y", "--no-gate", "--ignored", *options, "@s"),
            "at the end",
        )

    def step(self):
        kind = self.random.random()
        count = self.random.randint(1, 6)
        if kind < 0.45:
            self.agent(count)
        elif kind < 0.6:
            self.quiet()
        elif kind < 0.75:
            self.agent(count, self.sync)
            self.keeps_user()
        elif kind < 0.9:
            self.agent(count, self.killed if self.random.random() < 0.5 else None)
            self.killed()
            self.keeps_user()
        elif self.has_user:
            self.edit()
        elif kind > 0.97:
            self.last()
            self.begin()

    def done(self):
        if self.box:
            self.run("stop", "@s")
            self.box.stdin.close()
            self.box.wait()
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False)
        shutil.rmtree(self.top)


def history(seed):
    world = World(seed)
    try:
        for _ in range(STEPS):
            world.step()
        world.last()
    except Failed as failed:
        raise Failed(f"HB_SEED={seed}: {failed}; {world.log}") from failed
    finally:
        world.done()


def main():
    tap = Tap()
    for seed in range(FIRST or 1, (FIRST or 1) + SEEDS):
        tap.test(f"random work in a live session arrives, seed {seed}", history, seed)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
