#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""The same random operations natively and in a session that is committed.

The two trees are then equal in every attribute, and after an undo the real one
is what it was.  A seed that fails is printed; HB_SEED repeats it.
"""

import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import digest  # noqa: E402
import volume  # noqa: E402

HOLDBACK = os.environ.get("HB_BIN", "holdback")

# What the gate would ask about these trees.
ALLOW = ("--setid", "--allow", "link-out", "--allow", "mass-delete")
SEEDS = 20000 if os.environ.get("HB_SOAK") == "1" else 200
BATCH = 20
NAMES = ["a", "b", "c", "dd", "e f", "g\n", "ü", "-h"]
BASE_TIME = 1_000_000_000_000_000_000


def paths(top):
    """Everything below, with what it is; None for a directory."""
    found = []
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            found.append(os.path.join(folder, name))
    return sorted(found)


class Operations:
    """One random history, the same for the same seed and the same tree."""

    def __init__(self, top, seed, with_links=True):
        self.top = top
        self.with_links = with_links
        self.random = random.Random(seed)
        self.clock = BASE_TIME + seed
        self.seed = seed
        self.made = set()
        # Several names of one file: over a base, writing to one parts them.
        names = {}
        for path in paths(top):
            if not os.path.isdir(path) or os.path.islink(path):
                names.setdefault(os.lstat(path).st_ino, []).append(path)
        self.frozen = {p for group in names.values() if len(group) > 1 for p in group}

    def some_dir(self):
        dirs = [p for p in paths(self.top) if os.path.isdir(p) and not os.path.islink(p)]
        return self.random.choice([self.top] + dirs)

    def some_path(self, only_files=False, to_remove=False):
        found = [
            p
            for p in paths(self.top)
            if (to_remove or p not in self.frozen)
            and (not only_files or (os.path.isfile(p) and not os.path.islink(p)))
        ]
        return self.random.choice(found) if found else None

    def new_path(self):
        return os.path.join(self.some_dir(), self.random.choice(NAMES))

    @staticmethod
    def may_write(path):
        """By the mode: root outside may do more than root inside."""
        return bool(os.stat(path).st_mode & stat.S_IWUSR)

    def thaw(self, top):
        """What is made anew at or below a path is as free as anything."""
        self.frozen = {
            p for p in self.frozen if p != top and not p.startswith(top + "/")
        }

    def write(self):
        path = self.new_path()
        if not os.path.isdir(path) and path not in self.frozen:
            if os.path.islink(path):
                os.unlink(path)
            if os.path.lexists(path) and not self.may_write(path):
                return
            with open(path, "wb") as file:
                file.write(self.random.randbytes(self.random.choice([0, 1, 100, 9000])))

    def append(self):
        path = self.some_path(True)
        if path and self.may_write(path):
            with open(path, "ab") as file:
                file.write(self.random.randbytes(10))

    def replace(self):
        path = self.some_path(True)
        if path:
            with open(path + ".tmp", "wb") as file:
                file.write(self.random.randbytes(50))
            os.rename(path + ".tmp", path)

    def make_dir(self):
        path = self.new_path()
        if not os.path.lexists(path):
            os.mkdir(path)

    def link(self):
        path = self.new_path()
        if not os.path.lexists(path):
            os.symlink(self.random.choice(["a", "../b", "/nowhere", "e f"]), path)

    def hard_link(self):
        source, path = self.some_path(True), self.new_path()
        if not self.with_links or not source or os.path.lexists(path):
            return
        if source in self.made:
            os.link(source, path)
            self.made.add(path)

    def remove(self):
        path = self.some_path(to_remove=True)
        if not path:
            return
        self.thaw(path)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def move(self):
        source, path = self.some_path(), self.new_path()
        if not source or os.path.lexists(path) or (path + "/").startswith(source + "/"):
            return
        self.thaw(source)
        # A directory of the base cannot be renamed inside: as mv, copy it.
        if os.path.isdir(source) and not os.path.islink(source):
            shutil.copytree(source, path, symlinks=True)
            shutil.rmtree(source)
        else:
            os.rename(source, path)

    def mode(self):
        path = self.some_path()
        if path and not os.path.islink(path):
            is_dir = os.path.isdir(path)
            modes = [0o700, 0o755, 0o775] if is_dir else [0o600, 0o644, 0o755, 0o400]
            os.chmod(path, self.random.choice(modes))

    def attribute(self):
        path = self.some_path()
        if path and not os.path.islink(path) and self.may_write(path):
            os.setxattr(path, "user.test", self.random.randbytes(4))

    def hole(self):
        path = self.some_path(True)
        if path and self.may_write(path):
            with open(path, "r+b") as file:
                file.truncate(self.random.choice([0, 5, 1 << 20]))

    def opaque(self):
        """A directory that is removed and made again."""
        path = self.some_dir()
        if path == self.top:
            return
        self.thaw(path)
        shutil.rmtree(path)
        os.mkdir(path)
        with open(os.path.join(path, "again"), "wb") as file:
            file.write(b"again")

    def change_type(self):
        path = self.some_path()
        if not path:
            return
        self.thaw(path)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
            os.symlink("typed", path)
        else:
            os.unlink(path)
            os.mkdir(path)

    def run(self, count):
        steps = [
            self.write, self.append, self.replace, self.make_dir, self.link,
            self.hard_link, self.remove, self.move, self.mode, self.attribute,
            self.hole, self.opaque, self.change_type,
        ]  # fmt: skip
        for _ in range(count):
            step = self.random.choice(steps)
            before = set(paths(self.top))
            try:
                step()
            except PermissionError:
                pass
            self.made |= set(paths(self.top)) - before
        # A directory's time alone is no change: there is always another one.
        with open(os.path.join(self.top, f"always-{self.seed}"), "wb") as file:
            file.write(b"made\n")
        self.set_times()

    def set_times(self):
        """Times that do not depend on when this runs, of every path."""
        for path in list(reversed(paths(self.top))) + [self.top]:
            self.clock += 1_000_000_007
            if path in self.frozen:
                continue
            os.utime(path, ns=(self.clock, self.clock), follow_symlinks=False)


def fill(top, seed, with_links=True):
    """What both trees begin with."""
    operations = Operations(top, seed, with_links)
    operations.run(12)
    for path in paths(top):
        if not os.path.islink(path):
            os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) | stat.S_IRUSR | stat.S_IWUSR)


def holdback(state, *words, cwd):
    done = subprocess.run(
        [HOLDBACK, words[0], "--state-dir", state, *words[1:]],
        cwd=cwd, capture_output=True, text=True, errors="surrogateescape", check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def differences(got, want):
    lines = [f"  - {line}" for line in want if line not in got]
    lines += [f"  + {line}" for line in got if line not in want]
    return "\n".join(lines[:20])


HOLES = re.compile(r" data:\S+")


def without_holes(lines):
    """The kernel may fill holes when it copies a file up."""
    return [HOLES.sub("", line) for line in lines]


def compare_to_native(what, got, want):
    compare(what, without_holes(got), without_holes(want))


def holes(lines):
    return [f"{line.split()[0]} {HOLES.findall(line)}" for line in lines]


def compare(what, got, want):
    if got != want:
        raise AssertionError(f"{what}\n{differences(got, want)}")


def try_seed(work, seed):
    native, real = os.path.join(work, "native"), os.path.join(work, "real")
    state = os.path.join(work, "state")
    rounds = random.Random(seed).choice([1, 1, 2])
    os.mkdir(native)
    fill(native, seed)
    subprocess.run(["cp", "-a", native, real], check=True)
    holdback(state, "create", "s", "--cow", real, "--ro", TESTS, cwd=work)
    history = []
    for number in range(rounds):
        history.append(digest.digest(real))
        part = str(seed + 1000003 * (number + 1))
        operate(native, part)
        inside = [sys.executable, __file__, "--inside", part]
        view = holdback(state, "exec", "@s", "--", *inside, cwd=real).splitlines()
        compare("the tree before the commit", digest.digest(real), history[-1])
        # What is frozen is copied, and what is not is moved.
        if seed % 4 == 0:
            holdback(state, "mark", "@s", "m", cwd=work)
        if seed % 4 == 0 and seed % 3 != 0:
            inside[3] = str(int(part) + 500009)
            operate(native, inside[3])
            view = holdback(state, "exec", "@s", "--", *inside, cwd=real).splitlines()
        # A fork has the same, and is none the less when its origin is gone.
        if seed % 4 == 0 and rounds == 1:
            holdback(state, "fork", "@s", "fork", cwd=work)
            holdback(state, "cleanup", "-y", "@s", cwd=work)
            holdback(state, "fork", "@fork", "s", cwd=work)
            holdback(state, "cleanup", "-y", "@fork", cwd=work)
        holdback(state, "commit", "-y", *ALLOW, "@s", cwd=work)
        compare_to_native("the committed tree", digest.digest(real), digest.digest(native))
        compare("the committed holes", holes(digest.digest(real)), holes(view))
    holdback(state, "undo", "@s", cwd=work)
    compare("the tree after undo", digest.digest(real), history[-1])
    holdback(state, "redo", "@s", cwd=work)
    compare_to_native("the tree after redo", digest.digest(real), digest.digest(native))
    undo_all(state, work, real, history)
    holdback(state, "cleanup", "-y", "@s", cwd=work)


def undo_all(state, work, real, history):
    """One commit after the other; where the same paths forbid it, nothing."""
    for number, want in enumerate(reversed(history)):
        before = digest.digest(real)
        done = subprocess.run(
            [HOLDBACK, "undo", "--state-dir", state, "@s"],
            cwd=work, capture_output=True, text=True, errors="surrogateescape", check=False,
        )  # fmt: skip
        if done.returncode == 5 and number > 0:
            compare("the tree after an undo that was refused", digest.digest(real), before)
            return
        if done.returncode != 0:
            raise AssertionError(f"undo: {done.returncode}: {done.stderr.strip()}")
        compare(f"the tree after undo {number + 1}", digest.digest(real), want)


def operate(top, seed):
    Operations(top, int(seed)).run(15)


def remove(work):
    for folder, folders, _ in os.walk(work):
        for name in folders:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(work)


def try_batch(trial, number, place, seeds, words=""):
    """One test point: trial(WORK, SEED) of each."""
    failures = []
    for seed in seeds:
        work = tempfile.mkdtemp(dir=place)
        try:
            trial(work, seed)
        except (AssertionError, OSError) as error:
            failures.append(f"seed {seed}: {error}")
        finally:
            remove(work)
    print(f"{'not ok' if failures else 'ok'} {number} - seeds {seeds[0]} and on{words}")
    for failure in failures:
        for line in failure.splitlines():
            print(f"# {line}")
    sys.stdout.flush()


def why_no_disk():
    """Why there can be no other file system here, or None."""
    if os.environ.get("HB_MODE") != "root":
        return "only root mounts one"
    if not shutil.which("mkfs.xfs") or not os.path.exists("/dev/loop-control"):
        return "no mkfs.xfs, or no loop devices"
    try:
        volume.leave_the_host()
    except OSError as error:
        return f"no mount namespace: {error}"
    return None


def try_disk(number, seeds):
    """xfs, which has other ideas about the times of what is moved."""
    folder = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
    try:
        disk = volume.Volume(folder, "xfs")
        try:
            try_batch(try_seed, number, disk.top, seeds, ", on xfs")
        finally:
            disk.remove()
    finally:
        shutil.rmtree(folder)


def batches_of(count, size):
    """The seeds in ranges; HB_SEED is one alone."""
    first = int(os.environ.get("HB_SEED", "1"))
    count = 1 if "HB_SEED" in os.environ else count
    return [range(first + at, first + min(at + size, count)) for at in range(0, count, size)]


def try_batches(trial, batches):
    for number, seeds in enumerate(batches, 1):
        try_batch(trial, number, os.environ["TMPDIR"], seeds)


def main():
    batches = batches_of(SEEDS, BATCH)
    has_disk = why_no_disk() is None
    print(f"1..{len(batches) + has_disk}")
    try_batches(try_seed, batches)
    if has_disk:
        try_disk(len(batches) + 1, batches[0])
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        operate(os.getcwd(), sys.argv[2])
        print("\n".join(digest.digest(os.getcwd())))
        sys.exit(0)
    sys.exit(main())
