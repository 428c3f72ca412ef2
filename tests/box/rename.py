#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash git
# timeout: 300
"""A directory that the base has is renamed inside, by every program.

The notifier does it: src/box/notify.  Whatever is killed on the way, the
directory has its old name or its new one, whole, and nothing hidden is left.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, below, run_tests, same, state_of, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
PROBE = os.environ["HB_PROBE"]
KEEP, SWAP = "1", "2"
MANY = 900


def make(name, n=3, fifo=False):
    """A directory of the base; a commit asks about a fifo."""
    os.makedirs(f"{name}/sub/deep")
    os.makedirs(f"{name}/none")
    for i in range(n):
        with open(f"{name}/f{i}", "w", encoding="ascii") as file:
            file.write(f"{name} {i}\n")
    with open(f"{name}/a", "w", encoding="ascii") as file:
        file.write("a\n")
    with open(f"{name}/sub/deep/b", "w", encoding="ascii") as file:
        file.write("b\n")
    os.chmod(f"{name}/sub/deep/b", 0o640)
    os.symlink("a", f"{name}/link")
    if fifo:
        os.mkfifo(f"{name}/fifo")
    os.utime(f"{name}/sub", (1_000_000_000, 1_000_000_000))
    os.chmod(f"{name}/sub", 0o750)


def picture(name):
    """All of a tree: what `find` would print of it."""
    found = []
    for folder, folders, files in os.walk(name):
        for entry in sorted(folders + files):
            path = os.path.join(folder, entry)
            st = os.lstat(path)
            text = ""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, encoding="utf-8") as file:
                    text = file.read()
            when = st.st_mtime_ns if entry == "sub" else 0
            found.append((os.path.relpath(path, name), st.st_mode, text, when))
    return sorted(found)


def hb(*words, stdin=subprocess.DEVNULL):
    done = subprocess.run([HOLDBACK, *words], stdin=stdin, capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.stderr, done.returncode


def inside(script, *options):
    """What a shell in memory printed."""
    done = hb("run", "--ephemeral", "-q", *options, "--", "sh", "-c", script)
    return done[0] if not done[1].strip() else f"{done[0]} {done[1]}"


def fresh(function):
    """Each test has a workspace of its own."""

    def run():
        here = os.getcwd()
        os.mkdir("w")
        shutil.copy(PROBE, "w/probe")
        os.chdir("w")
        try:
            function()
        finally:
            hb("cleanup", "-y", "@s")
            os.chdir(here)
            shutil.rmtree("w")

    run.__doc__ = function.__doc__
    return run


def by_a_static_program():
    make("d", fifo=True)
    same(inside("./probe rename d e; ls -A; ls -A e e/sub/deep"),
         "allowed\ne\nprobe\ne:\na\nf0\nf1\nf2\nfifo\nlink\nnone\nsub\n\ne/sub/deep:\nb")  # fmt: skip
    same(inside("./probe rename d e; ./probe rename e d; ls -A"), "allowed\nallowed\nd\nprobe")


def by_git():
    make("d")
    for words in (["init", "-q"], ["add", "d"], ["-c", "user.name=u", "-c", "user.email=u@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], check=True)
    same(inside("git mv d e && git status --short d e | sort | head -2; ls -A e | head -2"),
         "R  d/a -> e/a\nR  d/f0 -> e/f0\na\nf0")  # fmt: skip


def by_languages(tap):
    for name, words in (("python3", ["/usr/bin/python3", "-c", "import os; os.rename('d', 'e')"]),
                        ("node", ["node", "-e", "require('fs').renameSync('d', 'e')"]),
                        ("perl", ["perl", "-e", "rename('d', 'e') or die $!"])):  # fmt: skip
        if not shutil.which(words[0], path="/usr/local/bin:/usr/bin:/bin"):
            tap.skip(f"{name} renames a directory", f"there is no {name} on this host")
            continue

        def one(words=words):
            make("d")
            done = hb("run", "--ephemeral", "-q", "--", "sh", "-c", '"$@" && ls e | head -1', "sh", *words)
            same(done[:2], ("a", ""))

        tap.test(f"{name} renames a directory", fresh(one))


def as_the_kernel_would():
    """One line for each case, with what any file system answers."""
    for name in ("d", "full"):
        make(name)
    os.mkdir("empty")
    with open("file", "w", encoding="ascii"):
        pass
    cases = [
        ("rename d e " + KEEP, "allowed"),
        ("rename d empty", "allowed"),
        ("rename d empty " + KEEP, "EEXIST"),
        ("rename d full", "ENOTEMPTY"),
        ("rename d file", "ENOTDIR"),
        ("rename d d/x", "EINVAL"),
        ("rename d d/sub/deep/x", "EINVAL"),
        ("rename d d", "allowed"),
        ("rename d missing/x", "ENOENT"),
        ("rename none e", "ENOENT"),
        ("rename d/ e/", "allowed"),
        ("rename ./d/../d ./e", "allowed"),
        ("rename d/. e", "EBUSY"),
        ("rename d full " + SWAP, "EXDEV"),
        ("rename file e", "allowed"),
        ("rename d/sub e", "allowed"),
        ("rename d full/new", "allowed"),
        ("rename d /tmp/e", "EXDEV"),
        ("rename-at d sub full other", "allowed"),
        ("rename-at d/sub deep . deep", "allowed"),
    ]
    for words, want in cases:
        same((words, inside(f"./probe {words}")), (words, want))


def with_all_that_it_has():
    make("d")
    before = picture("d")
    same(hb("run", "-q", "-s", "s", "--", "./probe", "rename", "d", "e")[0], "allowed")
    same(hb("commit", "-y", "@s")[2], 0)
    same(sorted(os.listdir(".")), ["e", "probe"])
    same(picture("e"), before)
    same([os.lstat(f"e/{name}").st_nlink for name in ("a", "f0", "sub/deep/b")], [1, 1, 1])
    same(hb("undo", "@s")[2], 0)
    same(sorted(os.listdir(".")), ["d", "probe"])
    same(picture("d"), before)


def told_as_renames():
    make("d")
    hb("run", "-q", "-s", "s", "--", "sh", "-c", "./probe rename d e; echo new >e/g; rm e/f0")
    told = json.loads(hb("diff", "--json", "@s")[0])
    text = json.dumps(told)
    same(".hb-rename" in text, False)
    same(hb("commit", "-y", "@s")[2], 0)
    same(sorted(os.listdir("e")), ["a", "f1", "f2", "g", "link", "none", "sub"])


def again_and_again():
    make("d")
    script = "for i in 1 2 3 4 5; do ./probe rename d e; ./probe rename e/sub s; ./probe rename s e/sub; ./probe rename e d; done"
    same(set(inside(script).split()), {"allowed"})
    hb("run", "-q", "-s", "s", "--", "./probe", "rename", "d", "e")
    same(hb("exec", "@s", "--", "./probe", "rename", "e", "f")[0], "allowed")
    same(hb("exec", "@s", "--", "./probe", "rename", "f", "d")[0], "allowed")
    same(hb("exec", "@s", "--", "sh", "-c", "ls -A; ls d | wc -l")[0].split(), ["d", "probe", "7"])


def over_a_mark():
    """The directory lies in a layer of the session and no more in the upper."""
    make("d")
    hb("run", "-q", "-s", "s", "--", "sh", "-c", "mkdir n; echo 1 >n/x; echo 2 >d/new")
    same(hb("mark", "@s", "m")[2], 0)
    script = "./probe rename n o; ./probe rename d e; cat o/x e/new; ls -A"
    same(hb("exec", "@s", "--", "sh", "-c", script)[0], "allowed\nallowed\n1\n2\ne\no\nprobe")


def with_open_descriptors():
    make("d")
    same(inside("./probe rename-open d e; cat e/a; ls -A"), "allowed\na\nmore\ne\nprobe")


def two_at_once():
    for i in range(4):
        make(f"d{i}", 200)
    script = "for i in 0 1 2 3; do ./probe rename d$i e$i & done; wait; ls -A; ls e0 e1 e2 e3 | grep -c f"
    same(inside(script), "allowed\n" * 4 + "e0\ne1\ne2\ne3\nprobe\n800")
    script = "for i in 1 2 3 4; do ./probe rename d0 x$i & done; wait"
    same(sorted(inside(script).split()), ["ENOENT", "ENOENT", "ENOENT", "allowed"])


def of_a_closed_directory():
    make("d")
    os.chmod("d/sub/deep", 0o500)
    try:
        same(inside("./probe rename d e; stat -c %a e/sub/deep"), "allowed\n500")
    finally:
        os.chmod("d/sub/deep", 0o700)


def only_as_far_as_the_limit():
    os.mkdir("d")
    for i in range(50_001):
        os.mknod(f"d/{i}")
    same(inside("./probe rename d e; ls -A"), "EXDEV\nd\nprobe")
    os.remove("d/0")
    os.remove("d/1")
    same(inside("./probe rename d e; ls -A; ls e | wc -l"), f"allowed\ne\nprobe\n{49_999}")


def without_room():
    os.mkdir("d")
    for i in range(8):
        with open(f"d/{i}", "wb") as file:
            file.write(os.urandom(1 << 20))
    same(inside("./probe rename d e; ls -A; ls d | wc -l", "--size", "4M"), "ENOSPC\nd\nprobe\n8")


def switched_off():
    make("d")
    same(inside("./probe rename d e", "--rename-directories", "no"), "EXDEV")
    with open(".holdback.conf", "w", encoding="ascii") as file:
        file.write("rename-directories = no\n")
    same(inside("./probe rename d e"), "EXDEV")
    os.remove(".holdback.conf")
    hb("run", "-q", "-s", "s", "--rename-directories", "no", "--", "sh", "-c", "echo >new")
    same(hb("exec", "@s", "--", "./probe", "rename", "d", "e")[0], "EXDEV")


def beside_a_live_one():
    """Commands that join a box have a listener each."""
    make("d")
    make("e", 100)
    hb("run", "-q", "-s", "s", "--", "sh", "-c", "echo >new")
    with subprocess.Popen([HOLDBACK, "keep", "@s"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as kept:  # fmt: skip
        try:
            wait_until(lambda: "kept open" in hb("status", "@s")[0], "a live session")
            same(hb("exec", "@s", "--", "./probe", "rename", "d", "x")[0], "allowed")
            same(hb("exec", "@s", "--", "./probe", "rename", "e", "y")[0], "allowed")
            same(hb("exec", "@s", "--", "sh", "-c", "./probe rename x d; ls -A")[0],
                 "allowed\nd\nnew\nprobe\ny")  # fmt: skip
        finally:
            kept.terminate()
            kept.wait()
    same(hb("commit", "-y", "@s")[2], 0)
    same(sorted(os.listdir(".")), ["d", "new", "probe", "y"])


class Live:
    """A run that renames, again and again, and whose processes can be killed."""

    def __init__(self, script, *options):
        self.run = subprocess.Popen([HOLDBACK, "run", "-q", *options, "--", "sh", "-c", script],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)  # fmt: skip
        same(self.run.stdout.readline(), "up\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.run.poll() is None:
            self.run.kill()
        self.run.communicate()

    def go(self):
        self.run.stdin.write("go\n")
        self.run.stdin.flush()

    def outsiders(self):
        """The notifier and its worker: executing holdback, and not init."""
        init = [pid for pid in below(self.run.pid) if is_init(pid)]
        return [pid for pid in below(self.run.pid)
                if pid not in init and not any(is_below(pid, i) for i in init)]  # fmt: skip

    def notifier(self):
        found = []

        def look():
            found[:] = self.outsiders()
            return bool(found)

        wait_until(look, "a notifier")
        return found[0]


def is_init(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            ids = [line.split()[1:] for line in file if line.startswith("NSpid:")]
        return bool(ids) and ids[0][-1] == "1"
    except OSError:
        return False


def is_below(pid, top):
    return pid in below(top)


def killed(which, delay):
    """Kills one of the processes after so long; what the caller heard."""
    make("d", MANY)
    script = f"echo up; read -r go; ./probe rename probe p; ./p rename d e; ls -A; ls -A e d 2>/dev/null | grep -c ^f"
    with Live(script, "--ephemeral") as live:
        live.go()
        notifier = live.notifier()
        time.sleep(delay)
        victims = below(notifier) if which == "worker" else [notifier]
        for pid in victims[:1]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        out, told = live.run.communicate(timeout=60)
    lines = out.split()
    same(told, "")
    same(lines[0], "allowed")
    if lines[1] == "allowed":
        same(lines[2:], ["e", "p", str(MANY)])
    else:
        same(lines[1:], ["EXDEV", "d", "p", str(MANY)])
    return lines[1]


def killed_half_way(which):
    def test():
        heard = []
        for delay in (0.0, 0.02, 0.08, 0.15, 0.25, 0.35, 0.5):
            os.mkdir("x")
            shutil.copy("probe", "x")
            os.chdir("x")
            try:
                heard.append(killed(which, delay))
            finally:
                os.chdir("..")
                shutil.rmtree("x")
        print(f"# {which}: {heard}")

    return test


def upper_has(start):
    """Whether the session's layer has such a name: where the rename has come to."""
    upper = os.path.join(os.environ["XDG_STATE_HOME"], "holdback/sessions/s/r0/upper")
    try:
        return any(name.startswith(start) for name in os.listdir(upper))
    except OSError:
        return False


def killed_as_a_whole():
    """The supervisor dies, and with it all: the session has the one or the other.

    The new name, once it was seen.  Before that the kill may come too late for the old one.
    """
    for until, delay, wanted in ((".hb-rename-", 0, "de"), (".hb-rename-", 0.05, "de"),
                                 ("e", 0, "e"), ("e", 0.05, "e"), ("e", 0.2, "e")):  # fmt: skip
        os.mkdir("x")
        shutil.copy("probe", "x")
        os.chdir("x")
        try:
            make("d", MANY)
            before = picture("d")
            script = "echo up; read -r go; ./probe rename d e; read -r go"
            with Live(script, "-s", "s") as live:
                live.go()
                wait_until(lambda start=until: upper_has(start), until)
                time.sleep(delay)
                everybody = below(live.run.pid)
                live.run.kill()
                live.run.wait()
                wait_until(lambda pids=everybody: not any(map(state_of, pids)), "the end of the box")
            done = hb("commit", "-y", "@s")
            there = sorted(os.listdir("."))
            print(f"# {until} and {delay} s: {there}")
            same((done[2], len(there), there[0] in wanted, there[-1]), (0, 2, True, "probe"))
            same(picture(there[0]) == before, True)
        finally:
            hb("cleanup", "-y", "@s")
            os.chdir("..")
            shutil.rmtree("x")


def when_the_caller_is_killed():
    make("d", MANY)
    script = "echo up; read -r go; ./probe rename probe p; ./p rename d e & sleep 0.1; kill -9 $!; wait $!; ls -A"
    with Live(script, "--ephemeral") as live:
        live.go()
        out, _ = live.run.communicate(timeout=60)
    lines = [line for line in out.split() if not line.startswith(".hb-rename-")]
    same(lines[-2:] in (["d", "p"], ["e", "p"]), True)


def in_a_stopped_job(sh):
    """^Z stops the job once the call is over, and fg has it go on."""
    make("d", MANY)
    script = "./probe rename probe p; echo up; exec ./p rename d e"
    sh.start(f"'{HOLDBACK}' run --ephemeral -q -- sh -c '{script}'", "^up\r")
    sh.type("\x1a")
    sh.expect("Stopped")
    sh.start("fg", "holdback")
    sh.expect("allowed")
    sh.expect("hb> ")
    shutil.rmtree("d")


def while_others_write():
    """Nothing that is written meanwhile is lost, and none of it is left behind."""
    make("d", 300)
    script = """
    ( i=0; while [ $i -lt 400 ]; do
        { echo $i >d/n$i; } 2>/dev/null || echo $i >e/n$i; i=$((i + 1)); done ) &
    sleep 0.02; ./probe rename d e; wait; ls -A; ls e | grep -c "^n[0-9]" """
    same(inside(script).split(), ["allowed", "e", "probe", "400"])


def while_others_delete():
    """A file that is deleted meanwhile, at either name, does not come back."""
    make("d", 1000)
    script = """
    ( for f in d/f*; do rm "$f" 2>/dev/null || rm "e/${f#d/}"; done ) &
    sleep 0.02; ./probe rename d e; wait; ls -A; ls e | grep -c "^f[0-9]" """
    same(inside(script).split(), ["allowed", "e", "probe", "0"])


def all_tests(tap, sh):
    tap.test("a static program renames a directory of the base, to and fro", fresh(by_a_static_program))
    tap.test("git mv renames a directory", fresh(by_git))
    by_languages(tap)
    tap.test("every case has the answer of any other file system", fresh(as_the_kernel_would))
    tap.test("modes, times, links and contents go with it, also by commit and undo", fresh(with_all_that_it_has))
    tap.test("diff and commit know nothing of a hidden directory", fresh(told_as_renames))
    tap.test("the same directory again, and in later runs", fresh(again_and_again))
    tap.test("a directory in a layer below a mark", fresh(over_a_mark))
    tap.test("a file that is open is the same file; a working directory is no obstacle", fresh(with_open_descriptors))
    tap.test("several at once", fresh(two_at_once))
    tap.test("a directory that its owner cannot write to goes as well", fresh(of_a_closed_directory))
    tap.test("above the limit the kernel's answer stays", fresh(only_as_far_as_the_limit))
    tap.test("without room it fails, and the directory is whole", fresh(without_room))
    tap.test("it can be switched off, by the workspace too, and the session keeps that", fresh(switched_off))
    tap.test("commands that join a live session", fresh(beside_a_live_one))
    tap.test("a notifier that is killed is followed by another", fresh(killed_half_way("notifier")))
    tap.test("a worker that is killed is followed by one that ends it", fresh(killed_half_way("worker")))
    tap.test("a caller that is killed leaves nothing hidden", fresh(when_the_caller_is_killed))
    tap.test("a box that is killed as a whole", fresh(killed_as_a_whole))
    tap.test("what others write meanwhile is not lost", fresh(while_others_write))
    tap.test("what others delete meanwhile does not come back", fresh(while_others_delete))
    tap.test("a job that is stopped in the middle goes on", in_a_stopped_job, sh)


def main():
    home = os.path.join(os.environ["TMPDIR"], "home")
    os.mkdir(home)
    os.environ.update(HOME=home, XDG_STATE_HOME=os.path.join(home, "state"), HOLDBACK_RENAME_DIRECTORIES="yes")
    try:
        return run_tests("", all_tests)
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    sys.exit(main())
