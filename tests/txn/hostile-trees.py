#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 1800
"""Trees that were made to hurt, with the real commands.

Each is written in a session, or into its layer by hand, and goes through
status, diff, commit, undo, redo and cleanup.  What commit takes arrives as it
was seen inside; what it refuses leaves project and session as they were, with a
message that says where; nothing outside of the project is touched; and no
process of ours takes more than 64 MiB, whatever the tree.  100000 entries in
one mode, a million in the long run.  SCENES has the number of each tree.
"""

import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
import zlib

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import trees  # noqa: E402

HOLDBACK = os.environ.get("HB_BIN", "holdback")
MODE = os.environ.get("HB_MODE", "user")
STRATEGY = ["--strategy", os.environ["HB_STRATEGY"]] if "HB_STRATEGY" in os.environ else []
MEMORY_MAX = 64 << 10  # kB
LINES_SHOWN = 12
USAGE, DENIED, CONFLICT, LACKS, STATE = 2, 4, 5, 6, 10

# What the gate asks about many of these trees is told by tests/gate.
ALLOW = [w for rule in ("link-out", "huge", "mass-delete") for w in ("--allow", rule)]

# What trees.py looks at.
# With it, what was done lies in a frozen layer, from which a commit copies.
MARKS = "HB_MARKS" in os.environ
SIZES = ("HB_SOAK", "HB_MODE", "HB_STRATEGY")

# Every view has this one.
PYTHON = "/usr/bin/python3"


class Fault(Exception):
    """What a scene found."""


class World:
    """A project, what lies outside of it, and the session `s`."""

    def __init__(self, top, scene):
        self.top = top
        self.scene = scene
        # What an option or a mount could take for something else.
        self.disk = os.path.join(top, "a:b,c\\d e\nf")
        self.base = scene.place or os.path.join(self.disk, "p")
        self.outside = os.path.join(top, "outside")
        self.state = os.path.join(top, "state")
        self.most, self.who = 0, ""
        os.makedirs(self.disk)
        os.makedirs(self.outside)
        with open(os.path.join(self.outside, "file"), "w", encoding="ascii") as file:
            file.write("precious")

    def make(self):
        """The disk, and the project on it."""
        if self.scene.disk:
            mount("-t", "tmpfs", "-o", self.scene.disk, "tmpfs", self.disk)
        if not self.scene.place:
            os.mkdir(self.base)
        self.play("base", self.base)

    def upper(self):
        for folder, folders, _ in os.walk(self.top):
            if "upper" in folders:
                return os.path.join(folder, "upper")
            if folder == self.base:
                folders[:] = [n for n in folders if n == ".holdback"]
            if os.path.basename(folder) == ".holdback":
                os.chmod(os.path.join(folder, "store"), 0o700)
        raise Fault("the session has no layer")

    def word(self, what, where):
        """The command that does one part of the scene."""
        # A view has an environment of its own, and the sizes are in ours.
        sizes = [f"{k}={os.environ[k]}" for k in SIZES if k in os.environ]
        play = [PYTHON, __file__, "--play", self.scene.name, what, where, self.outside]
        return ["/usr/bin/env", *sizes, *play]

    def play(self, what, where):
        if getattr(self.scene, what):
            apart(act, self.scene.name, what, where, self.outside)

    def call(self, command, *words, known=(0,), is_ours=True):
        """What it said, the end of it; remembers its memory."""
        said = os.path.join(self.top, "said")
        with open(said, "wb") as out:
            child = subprocess.Popen(
                [HOLDBACK, command, "--state-dir", self.state, *words],
                cwd=self.base, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        with open(said, "rb") as file:
            file.seek(max(0, os.path.getsize(said) - 20000))
            tail = file.read().decode(errors="replace").strip()
        if is_ours and usage.ru_maxrss > self.most:
            self.most, self.who = usage.ru_maxrss, command
        if child.returncode not in known:
            raise Fault(f"{command}: exit status {child.returncode}: {tail[-600:]}")
        return tail

    def picture(self, top=None):
        """What is there."""
        return apart(Picture.of, top or self.base)

    def remove(self):
        if "chattr" in self.scene.alter:
            subprocess.run(["chattr", "-R", "-ia", self.top], check=False)
        # Not by path: some of it is deeper than a path can say.
        subprocess.run(["chmod", "-R", "u+rwx", self.top], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", self.top], check=True)


def apart(function, *words):
    """In a process of its own, because what a parent takes before an exec counts
    for the child; what it printed."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as out:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.dup2(out.fileno(), 1)
                function(*words)
                sys.stdout.flush()
                status = 0
            except Exception as error:  # pylint: disable=broad-except
                print(f"{function.__name__} {words}: {error}", file=sys.stderr)
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise Fault(f"{function.__name__} {words}")
        out.seek(0)
        return out.read().strip()


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def content(folder, name, status):
    """Of a file all that is no hole, of a link its target."""
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(name, dir_fd=folder)
    if not stat.S_ISREG(status.st_mode) or not status.st_mode & stat.S_IRUSR:
        return "-"
    if status.st_size == 0:
        return 0
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    total, at = 0, 0
    try:
        while at < status.st_size:
            try:
                at = os.lseek(file, at, os.SEEK_DATA)
            except OSError:
                break
            block = os.pread(file, 1 << 20, at)
            # Where holes begin and end is the file system's own business.
            if block.strip(b"\0"):
                total = zlib.crc32(block.rstrip(b"\0"), total)
            at += len(block)
    finally:
        os.close(file)
    return total


def attributes(folder, name):
    path = f"/proc/self/fd/{folder}/{name}"
    for attribute in sorted(os.listxattr(path, follow_symlinks=False)):
        yield attribute, zlib.crc32(os.getxattr(path, attribute, follow_symlinks=False))


class Picture:
    """One line for each object, as long as these are not too many, and a sum."""

    def __init__(self):
        self.lines, self.total, self.count = [], 0, 0
        self.first = {}

    def list_folder(self, folder, above):
        """Takes in what is in it; its folders, with what stands for their paths."""
        folders = []
        for name in sorted(os.listdir(folder)):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            here = zlib.crc32(os.fsencode(name), above)
            fact = [f"{above:08x}", name[:300], oct(status.st_mode), status.st_uid]
            is_closed = stat.S_ISDIR(status.st_mode) and status.st_mode & 0o500 != 0o500
            if status.st_mode & stat.S_IRUSR and not stat.S_ISSOCK(status.st_mode):
                fact += attributes(folder, name)
            if stat.S_ISDIR(status.st_mode):
                if not is_closed and not name == ".holdback":
                    folders.append((name, here))
            else:
                if status.st_nlink > 1:
                    fact.append(self.first.setdefault(status.st_ino, here))
                fact += [status.st_size, content(folder, name, status)]
            if name == ".holdback":
                continue
            fact.append(status.st_mtime_ns)
            self.count += 1
            self.total += zlib.crc32(repr(fact).encode(errors="surrogateescape"))
            if len(self.lines) < 200:
                self.lines.append(ascii(fact))
        return folders

    def take(self, top):
        """Of any depth: one descriptor, down by name and up by `..`."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        folder = os.open(top, flags)
        stack = [self.list_folder(folder, 0)]
        while stack:
            name, here = stack[-1].pop() if stack[-1] else ("..", 0)
            if name == "..":
                stack.pop()
                if not stack:
                    break
            below = os.open(name, flags, dir_fd=folder)
            os.close(folder)
            folder = below
            if name != "..":
                stack.append(self.list_folder(folder, here))
        os.close(folder)
        return self

    @classmethod
    def of(cls, top):
        cls().take(top).show()

    def show(self):
        if self.count < 200:
            print("\n".join(sorted(self.lines)))
        print(self.count, self.total)


def same(what, got, want):
    if got == want:
        return
    got, want = got.decode().splitlines(), want.decode().splitlines()
    lines = [f"- {line[:300]}" for line in want if line not in got]
    lines += [f"+ {line[:300]}" for line in got if line not in want]
    raise Fault(f"{what}\n" + "\n".join(lines))


def commit(world, before, inside):
    scene = world.scene
    if "committed " not in world.call("commit", "-y", *ALLOW, *scene.words, "@s"):
        raise Fault("it does not say that it is committed")
    after = world.picture()
    if scene.is_same:
        same("the tree is not what was seen inside", after, inside)
    if after == before:
        raise Fault("committed, and nothing has changed")
    world.play("check", world.base)
    if not scene.is_partial:
        world.call("diff", "--name-status", "--exit-code", "@s")
    world.call("undo", "@s")
    same("undo did not bring the tree back", world.picture(), before)
    if scene.is_large:
        return
    world.call("redo", "@s")
    same("redo is not the commit", world.picture(), after)


def refuse(world, before, pending):
    """The commit, or all that look at the layer."""
    scene = world.scene
    known = {DENIED, CONFLICT, STATE}
    if scene.outcome == trees.UNREADABLE:
        for command in (["status"], ["diff", "--name-status"]):
            if scene.says not in world.call(*command, "@s", known=known):
                raise Fault(f"{command[0]} does not say '{scene.says}'")
    said = world.call("commit", "-y", *scene.words, "@s", known=known)
    if scene.says not in said:
        raise Fault(f"it does not say '{scene.says}': {said}")
    same("refused, and yet the tree is another one", world.picture(), before)
    world.play("restore", world.base)
    if scene.outcome == trees.REFUSED and pending != world.call(
        "diff", "--name-status", "@s"
    ):
        raise Fault("refused, and the changes are others")


def run_session(world):
    scene = world.scene
    before = world.picture()
    around = world.picture(world.outside)
    world.call("create", "s", "--cow", world.base, "--ro", TESTS, *STRATEGY)
    inside = world.call(
        "exec", "@s", "--", *world.word("inside", world.base), is_ours=False
    ).encode()
    # The payload of the one before would count as ours.
    if scene.is_large:
        world.call("exec", "@s", "--", "true")
    if MARKS:
        world.call("mark", "@s", "m", known={0, LACKS})
    world.play("forge", world.upper())
    pending = ""
    if scene.outcome != trees.UNREADABLE:
        world.call("status", "@s")
        known = {0} if scene.outcome == trees.NOTHING else {1}
        pending = world.call("diff", "--name-status", "--exit-code", "@s", known=known)
    same("the real tree has changed before the commit", world.picture(), before)
    if scene.alter:
        world.play("alter", world.base)
        before = world.picture()
    if scene.outcome == trees.COMMITTED:
        commit(world, before, inside)
    elif scene.outcome == trees.NOTHING:
        if not world.call("commit", "-y", "@s").startswith("nothing"):
            raise Fault("a commit of nothing")
        same("the tree of a commit of nothing is another one", world.picture(), before)
    else:
        refuse(world, before, pending)
    world.call("cleanup", "-y", "@s")
    same("something outside was touched", world.picture(world.outside), around)


def play(world):
    scene = world.scene
    world.make()
    if scene.outcome == trees.NO_SESSION:
        said = world.call(
            "create", "s", "--cow", world.base, "--no-fallback", known={USAGE, LACKS, STATE}
        )
        if scene.says not in said:
            raise Fault(f"it does not say '{scene.says}': {said}")
    else:
        run_session(world)
    if os.listdir(os.path.join(world.state, "sessions")):
        raise Fault("cleanup left something")
    left = [n for n in os.listdir(world.base) if n == ".holdback"]
    if left:
        raise Fault(f"cleanup left {left}")
    if world.most > MEMORY_MAX:
        raise Fault(f"{world.who} took {world.most} kB")


def stage(scene, top):
    """One scene; its fault, or None."""
    world = World(top, scene)
    try:
        play(world)
        return None
    except (Fault, OSError, subprocess.CalledProcessError) as error:
        return str(error)[-1500:]
    finally:
        print(f"# at most {world.most} kB, in {world.who}")
        sys.stdout.flush()
        if not scene.is_alone:
            world.remove()


def stage_alone(scene, top):
    """In a mount namespace of its own, whose mounts go with it."""
    words = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    done = subprocess.run(
        ["unshare", *words, "--", PYTHON, __file__, "--alone", scene.name, top],
        check=False, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    said = done.stdout.splitlines()
    print("\n".join(line for line in said if line.startswith("#")))
    subprocess.run(["rm", "-rf", top], check=True)
    if done.returncode == 0:
        return None
    return "\n".join(line for line in said if not line.startswith("#")) or "it died"


def main():
    chosen = [
        s
        for s in trees.SCENES
        if MODE in s.modes.split() and (not sys.argv[1:] or s.name in sys.argv[1:])
        # What is forged in a layer, or takes long, is the same for all of these.
        and not ((STRATEGY or MARKS) and not trees.SOAK and (s.forge or s.is_large))
    ]
    print(f"1..{len(chosen)}")
    for number, scene in enumerate(chosen, 1):
        began = time.monotonic()
        top = os.path.join(os.environ["TMPDIR"], str(number))
        why = (stage_alone if scene.is_alone else stage)(scene, top)
        print(f"# {time.monotonic() - began:.1f} s")
        print(f"{'not ok' if why else 'ok'} {number} - {scene.ids}: {scene.name}")
        for line in (why or "").splitlines()[:LINES_SHOWN]:
            print(f"# {line}")
        sys.stdout.flush()
    return 0


def find(name):
    return next(s for s in trees.SCENES if s.name == name)


def act(name, what, where, outside):
    """One part of a scene, in the place that it is about."""
    os.chdir(where)
    words = dict(vars(trees), outside=outside, socket=socket)
    exec(getattr(find(name), what), words)  # pylint: disable=exec-used
    if what == "inside":
        Picture.of(where)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--play"]:
        act(*sys.argv[2:])
    elif sys.argv[1:2] == ["--alone"]:
        fault = stage(find(sys.argv[2]), sys.argv[3])
        print(fault or "")
        sys.exit(1 if fault else 0)
    else:
        sys.exit(main())
