# SPDX-License-Identifier: Apache-2.0
"""The test stand: programs, an ordinary user, and a place that both can reach."""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(SOURCE, "tests", "lib"))

# pylint: disable=wrong-import-position
from runner import host  # noqa: E402

PROGRAMS = ("spawn", "floor", "payload")
ENVIRONMENT = {"PATH": host.PATH, "LC_ALL": "C.UTF-8"}
# A new file system, on which nobody else works, where root may mount one: $1 is
# the directory, $2 the user and $3 the group, and the rest is what they run.
VOLUME = """mkfs.ext4 -q -F -i 4096 "$1.image"; mount -o loop "$1.image" "$1"
mkdir "$1/home"; chown "$2:$3" "$1" "$1/home"; cd "$1"; export HOME="$1/home"
u=$2 g=$3; shift 3; exec setpriv --reuid "$u" --regid "$g" --clear-groups -- "$@"
"""
VOLUME_SIZE = 4 << 30
OPTIONS = (
    "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp "
    "--unshare-all --die-with-parent --new-session"
).split()


class Failure(Exception):
    """Something did not do what is measured, so there is no figure."""


class Stand:
    """What all measurements share.  Made by root it has a user of its own."""

    def __init__(self, build):
        self.user = None
        self.before = host.Snapshot()
        self.top = tempfile.mkdtemp(prefix="holdback-bench.", dir="/var/tmp")
        try:
            self.set_up(os.path.abspath(build))
        except BaseException:
            self.take_down()
            raise

    def set_up(self, build):
        os.chmod(self.top, 0o755)
        self.user = host.User(self.path("home"))
        for name in ("home", "work", "results"):
            os.mkdir(self.path(name), 0o755)
            if self.user.made:
                os.chown(self.path(name), self.user.uid, self.user.gid)
        self.build = build
        self.compile(build)
        for folder in ("bin", "libexec"):
            host.copy(os.path.join(build, folder), self.path(folder))
        for name in ("txn.py", "inside.py", "heard.py"):
            shutil.copy(os.path.join(HERE, name), self.path(name))
        for folder, _, files in os.walk(self.top):
            for name in files:
                os.chmod(os.path.join(folder, name), 0o755)

    def take_down(self):
        """Returns what is still there and should not be."""
        left = []
        if self.user and self.user.made:
            left += self.user.end_processes()
            self.user.remove()
        host.remove_tree(self.top)
        if os.path.exists(self.top):
            left.append("left behind: " + self.top)
        return left + self.before.difference(self.top)

    def path(self, *names):
        return os.path.join(self.top, *names)

    def compile(self, build):
        """As the run path is built: static, with musl if it is there."""
        for tree in ("musl", "main"):
            table = os.path.join(build, tree, "src", "box", "filter")
            if os.path.exists(os.path.join(table, "filter_table.h")):
                break
        else:
            raise Failure(f"no filter_table.h below '{build}': make it first")
        for name in PROGRAMS:
            command = [
                shutil.which("musl-gcc") or "gcc", "-std=gnu17", "-D_GNU_SOURCE",
                "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread",
                "-iquote", os.path.join(SOURCE, "src"), "-I", table,
                "-o", self.path(name), os.path.join(HERE, name + ".c"),
            ]  # fmt: skip
            self.run_compiler(command, name)
        # Every sandbox shows the working directory, and nothing else for sure.
        os.rename(self.path("payload"), self.payload())

    def compile_with(self, libraries, name):
        """A program with libraries of the build: its path."""
        command = [
            "gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror",
            "-iquote", os.path.join(SOURCE, "src"), "-I", os.path.join(SOURCE, "include"),
            "-I", os.path.join(SOURCE, "tests", "lib"),
            "-o", self.path(name), os.path.join(HERE, name + ".c"),
            *(os.path.join(self.build, "main", "src", n, f"lib{n}.a") for n in libraries),
        ]  # fmt: skip
        self.run_compiler(command, name)
        return self.path(name)

    def run_compiler(self, command, name):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"cannot compile {name}.c\n{done.stderr}")

    def payload(self):
        return self.path("work", "payload")

    def identity(self):
        """Arguments that make subprocess run something as the user."""
        options = {"cwd": self.path("work"), "env": dict(ENVIRONMENT, HOME=self.path("home"))}
        if self.user.made:
            options.update(user=self.user.uid, group=self.user.gid, extra_groups=[])
        return options

    def run(self, *command):
        """The output of a command that has to succeed, run by the user."""
        done = subprocess.run(command, capture_output=True, text=True, **self.identity())
        if done.returncode != 0:
            raise Failure(f"{os.path.basename(command[0])}: {done.stderr.strip()}")
        return done.stdout

    def run_on_volume(self, *command):
        """The same in path("volume"), which is a file system of its own if that can be had."""
        top = self.path("volume")
        os.makedirs(top, 0o755, exist_ok=True)
        if not self.user.made:
            return self.run(*command)
        with open(top + ".image", "wb") as image:
            image.truncate(VOLUME_SIZE)
        alone = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", VOLUME, "sh"]
        alone += [top, str(self.user.uid), str(self.user.gid), *command]
        done = subprocess.run(alone, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        os.unlink(top + ".image")
        if done.returncode != 0:
            raise Failure(f"{os.path.basename(command[0])}: {done.stderr.strip()}")
        return done.stdout

    def ours(self):
        return [self.path("libexec", "holdback", "bwrap"), *OPTIONS]

    def ours_with_overlay(self):
        work = self.path("work")
        return [*self.ours(), "--overlay-src", work, "--tmp-overlay", work]

    def theirs(self):
        found = shutil.which("bwrap", path=host.PATH)
        if not found:
            raise Failure("no bwrap to compare with: apt-get install bubblewrap")
        return [found, *OPTIONS]

    def floor(self, *options):
        return [self.path("floor"), *options]

    def holdback(self):
        """The product's own sandbox, or None before there is one."""
        program = self.path("bin", "holdback")
        if not os.path.exists(program):
            return None
        return [program, "run", "--ephemeral", "-q", "--"]
