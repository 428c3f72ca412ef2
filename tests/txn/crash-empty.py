#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace
# timeout: 900
"""A rollback on a full disk that is killed, or told of an error, at each of its
system calls that change something.

It has thrown away nothing or all that it was asked to, or a look says that it
was interrupted; the real directories and a fork are as they were, and the same
command ends it, while the disk is still full.
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import crash  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
CALLS = ["renameat", "renameat2", "fsync", "unlinkat", "mkdirat"]
INTERRUPTED = 10
FAULTS = ("signal=KILL", "error=EIO", "error=ENOSPC")
STEP = 1 if SOAK else 2
LIMIT = 400


class Small(crash.Session):
    """On a disk of its own: two directories, a mark, a fork, and no room."""

    def __init__(self, strategy):  # pylint: disable=super-init-not-called
        self.work = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=300", "tmpfs", self.work]
        subprocess.run(mount, check=True)
        self.real = os.path.join(self.work, "p")
        self.other = os.path.join(self.work, "q")
        self.state = os.path.join(self.work, "state")
        self.make_base()
        os.mkdir(self.other)
        self.must("create", "s", "--cow", self.real, "--cow", self.other, "--strategy", strategy)
        self.inside("echo marked >m; echo marked >../q/m; chmod 750 .")
        self.must("mark", "@s", "m")
        self.at_mark = self.names()
        self.must("fork", "@s", "t")
        self.old = self.trees()
        self.inside("echo b >b; rm g; mkdir ../q/n; echo n >../q/n/n; echo more >>m; chmod 700 .")
        self.pending = self.names()

    def inside(self, script):
        self.must("exec", "@s", "--", "sh", "-c", f"cd '{self.real}'; {script}")

    def kill_inside(self):
        """What it wrote is in the copy, and nothing is in the layer."""
        script = f"cd '{self.real}'; head -c 8M /dev/zero >zeroes; echo ready; exec sleep 600"
        with subprocess.Popen(
            self.words("exec", "@s", "--", "sh", "-c", script), cwd=self.work,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as child:  # fmt: skip
            child.stdout.readline()
            child.kill()
        while "live" in self.must("ls"):
            pass

    def fill(self):
        os.mkdir(os.path.join(self.work, "filler"))
        try:
            with open(os.path.join(self.work, "filler", "bytes"), "wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
        except OSError:
            pass
        try:
            for number in range(1000):
                os.mknod(os.path.join(self.work, "filler", str(number)))
        except OSError:
            pass

    def trees(self):
        return [crash.digest.digest(x) for x in (self.real, self.other)]

    def remove(self):
        subprocess.run(["umount", self.work], check=True)
        os.rmdir(self.work)


def faulty(session, call, number, fault, words):
    """Runs a command with a fault at the number-th such call: whether it met one."""
    log = os.path.join(os.environ["TMPDIR"], "trace")
    inject = f"inject={call}:{fault}:when={number}"
    strace = ["strace", "-f", "-qq", "-o", log, "-e", f"trace={call}", "-e", inject]
    done = session.run(*words, under=strace)
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    os.unlink(log)
    return "INJECTED" in text or "killed by SIGKILL" in text, done


def expect(is_true, words):
    if not is_true:
        raise AssertionError(words)


def check(strategy, words, target, call, number, fault):
    """`target` tells what is pending at the end from the session as it was."""
    session = Small(strategy)
    try:
        if strategy != "overlay":
            session.kill_inside()
        session.fill()
        met, _ = faulty(session, call, number, fault, words)
        wanted = target(session)
        look = session.run("diff", "--name-status", "@s")
        if look.returncode == INTERRUPTED:
            expect("rollback interrupted" in look.stderr, f"it says: {look.stderr}")
        else:
            expect(look.returncode == 0, f"diff: {look.returncode}: {look.stderr}")
            expect(look.stdout in (session.pending, wanted), f"a part is left: {look.stdout}")
        if look.stdout != wanted or look.returncode:
            session.must(*words)
        # On a copy what the command left is settled now, or thrown away.
        expect(session.names() == wanted, f"pending is {session.names()}")
        expect(session.trees() == session.old, "a real directory is another one")
        expect(session.must("diff", "--name-status", "@t") == session.at_mark, "the fork is")
        return met
    finally:
        session.remove()


WAYS = {
    "of all": ("overlay", ("rollback", "-y", "@s"), lambda s: ""),
    "to a mark": ("overlay", ("rollback", "-y", "--to", "m", "@s"), lambda s: s.at_mark),
    "of a copy": ("copy_on_write", ("rollback", "-y", "@s"), lambda s: ""),
}


def main():
    if "HB_ALONE" not in os.environ:
        how = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
        os.environ["HB_ALONE"] = "1"
        os.execvp("unshare", ["unshare", *how, "--", sys.executable, __file__])
    probe = subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], check=False)
    if probe.returncode != 0:
        print("1..0 # SKIP strace cannot trace here")
        return 0
    number = faults = 0
    for way, words in WAYS.items():
        for call in CALLS:
            number += 1
            name = f"a rollback {way} on a full disk, with faults at {call}"
            count = 0
            try:
                for at in range(1, LIMIT, STEP):
                    met = check(*words, call, at, FAULTS[at // STEP % len(FAULTS)])
                    if not met:
                        break
                    count += 1
                print(f"ok {number} - {name}")
            except (AssertionError, OSError, subprocess.CalledProcessError) as error:
                print(f"not ok {number} - {name}")
                print(f"# at {at}, {FAULTS[at // STEP % len(FAULTS)]}")
                print("\n".join(f"# {line}" for line in str(error).splitlines()))
            print(f"# {count} faults")
            faults += count
            sys.stdout.flush()
    print(f"1..{number}")
    print(f"# {faults} faults injected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
