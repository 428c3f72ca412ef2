#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 900
# soak-modes: userns
"""Programs that look at a repository all the time, as editors and prompts do, while a session is
committed again and again: git, and libgit2, which both write the index anew.

None of them makes a conflict.  Then the user stages files meanwhile: each that git took is there at
the end.  No commit is missing, and no lock is left.
"""

import collections
import ctypes
import ctypes.util
import os
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOLDBACK = os.environ.get("HB_BIN", "holdback")
COMMITS = 200 if os.environ.get("HB_SOAK") == "1" else 15
CONFLICT, BUSY = 5, 8
TRIES = 20
FILES = 30
PERSON = {
    f"GIT_{who}_{key}": value
    for who in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "n"), ("EMAIL", "e"))
}
GIT = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", **PERSON)
# A process that is killed may leave a lock: it ends by itself.
LOOP = 'n=0; while test ! -e ../stop; do {}; n=$((n + 1)); done; echo $n >../{}'
STATUS = LOOP.format("git status >/dev/null 2>&1", "polled-git")
SLOWLY = LOOP.format("git status >/dev/null 2>&1; sleep 0.5", "polled-git")
STAGE = LOOP.format(
    "echo $n >user$n; if git add user$n 2>/dev/null; then echo user$n >>../staged; fi; sleep 0.4",
    "polled-user",
)
UPDATE_INDEX, INCLUDE_UNTRACKED = 1 << 13, 1 << 0


class StatusOptions(ctypes.Structure):
    """git_status_options of libgit2."""

    _fields_ = [
        ("version", ctypes.c_uint),
        ("show", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("pathspec", ctypes.c_void_p),
        ("pathspec_count", ctypes.c_size_t),
        ("baseline", ctypes.c_void_p),
        ("rename_threshold", ctypes.c_uint16),
        ("space", ctypes.c_uint64 * 8),
    ]


def poll_by_libgit2(library):
    """Of a process of its own: status, with the index refreshed, until the end."""
    lib = ctypes.CDLL(library)
    lib.git_libgit2_init()
    # Else a repository of another user, which a user namespace makes of its own, is refused.
    lib.git_libgit2_opts(36, 0)
    options = StatusOptions(version=1, flags=UPDATE_INDEX | INCLUDE_UNTRACKED)
    count = 0
    while not os.path.exists("../stop"):
        repository, found = ctypes.c_void_p(), ctypes.c_void_p()
        if lib.git_repository_open(ctypes.byref(repository), b".") == 0:
            if lib.git_status_list_new(ctypes.byref(found), repository, ctypes.byref(options)) == 0:
                lib.git_status_list_free(found)
                count += 1
            lib.git_repository_free(repository)
    with open("../polled-libgit2", "w", encoding="ascii") as file:
        file.write(str(count))
    return 0


class Project:
    """A repository, the session `s` over it, and programs beside."""

    def __init__(self, top):
        self.top, self.base = top, os.path.join(top, "p")
        os.makedirs(self.base)
        self.git("init", "-q", "-b", "main", ".")
        for number in range(FILES):
            with open(os.path.join(self.base, f"f{number}"), "w", encoding="ascii") as file:
                file.write("0\n")
        self.git("add", ".")
        self.git("commit", "-qm", "begin")
        self.must("create", "s", "--cow", self.base)
        self.programs = []

    def git(self, *words):
        done = subprocess.run(
            ["git", *words], cwd=self.base, env=GIT, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise AssertionError(f"git {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def call(self, command, *words):
        return subprocess.run(
            [HOLDBACK, command, "--state-dir", os.path.join(self.top, "state"), *words],
            cwd=self.base, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def must(self, command, *words):
        done = self.call(command, *words)
        if done.returncode:
            raise AssertionError(f"{command}: {done.returncode}: {done.stdout}{done.stderr}")

    def commit_inside(self, script):
        """A lock of the user's git is seen inside, and as long as the box is there."""
        for _ in range(TRIES):
            done = self.call("exec", "@s", "--", "sh", "-ec", script)
            if "index.lock" not in done.stderr:
                break
        if done.returncode:
            raise AssertionError(f"git commit inside: {done.stdout}{done.stderr}")

    def beside(self, *words):
        self.programs.append(subprocess.Popen(words, cwd=self.base, env=GIT))

    def stop(self):
        with open(os.path.join(self.top, "stop"), "w", encoding="ascii"):
            pass
        for program in self.programs:
            program.wait()
        self.programs = []
        os.unlink(os.path.join(self.top, "stop"))

    def read(self, name):
        path = os.path.join(self.top, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="ascii") as file:
            return file.read()


def commit(project, may_conflict):
    """Until it is done; how it ended each time."""
    seen = collections.Counter()
    for _ in range(TRIES):
        done = project.call("commit", "-y", "@s")
        seen[done.returncode] += 1
        if done.returncode == 0:
            return seen
        if done.returncode != BUSY and not (may_conflict and done.returncode == CONFLICT):
            raise AssertionError(f"commit: {done.returncode}: {done.stdout}{done.stderr}")
    raise AssertionError(f"commit: never done: {done.stdout}{done.stderr}")


def commit_often(project, first, may_conflict):
    seen = collections.Counter()
    person = "".join(f"export {name}={value};" for name, value in PERSON.items())
    for number in range(first, first + COMMITS):
        file = f"f{number % FILES}"
        project.must("exec", "@s", "--", "sh", "-c", f"echo {number} >>{file}")
        project.commit_inside(f"{person} git commit -qm s{number} {file}")
        seen += commit(project, may_conflict)
    print(f"# {COMMITS} commits: " + ", ".join(f"{n} times {status}" for status, n in seen.items()))


def judge(project, count):
    """Everything of both sides is there, and nothing else."""
    project.git("fsck", "--strict")
    subjects = project.git("log", "--format=%s", "main").split()
    if subjects != [f"s{n}" for n in reversed(range(count))] + ["begin"]:
        raise AssertionError(f"commits are missing: {subjects}")
    staged = set(project.read("staged").split())
    entries = {line.split("\t")[1] for line in project.git("ls-files", "-s").splitlines()}
    if lost := staged - entries:
        raise AssertionError(f"staged by the user, and lost: {sorted(lost)}")
    told = {line[3:] for line in project.git("status", "--porcelain", "-uno").splitlines()}
    if told != staged:
        raise AssertionError(f"git tells changes that nobody made: {told ^ staged}")
    for folder, _, files in os.walk(os.path.join(project.base, ".git")):
        if left := [name for name in files if name.endswith(".lock")]:
            raise AssertionError(f"locks are left: {folder} {left}")


def tell(number, words, trial):
    try:
        trial()
        print(f"ok {number} - {words}", flush=True)
    except AssertionError as error:
        print(f"not ok {number} - {words}")
        print("\n".join(f"# {line}" for line in str(error).splitlines()), flush=True)


def main():
    library = ctypes.util.find_library("git2")
    project = Project(os.path.join(os.environ["TMPDIR"], "poller"))

    def watched():
        project.beside("sh", "-c", STATUS)
        if library:
            project.beside(sys.executable, __file__, "--libgit2", library)
        try:
            commit_often(project, 0, False)
        finally:
            project.stop()
        for name in ("git", *(["libgit2"] if library else [])):
            print(f"# {name} looked {project.read('polled-' + name).strip()} times")
            if not int(project.read("polled-" + name) or 0):
                raise AssertionError(f"{name} never looked: this shows nothing")
        judge(project, COMMITS)

    def staged():
        project.beside("sh", "-c", SLOWLY)
        project.beside("sh", "-c", STAGE)
        try:
            commit_often(project, COMMITS, True)
        finally:
            project.stop()
        print(f"# the user staged {len(project.read('staged').split())} files")
        judge(project, 2 * COMMITS)

    print("1..2")
    tell(1, "programs that look all the time make no conflict and lose nothing", watched)
    tell(2, "what the user stages meanwhile is there, and no commit is missing", staged)
    subprocess.run(["chmod", "-R", "u+rwx", project.top], check=False)
    shutil.rmtree(project.top)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--libgit2"]:
        sys.exit(poll_by_libgit2(sys.argv[2]))
    sys.exit(main())
