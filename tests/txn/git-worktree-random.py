#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 900
"""Random work of a user and of a session on a branch of its own, killed at random.

After each command the user has every edit that is in no commit, every entry of the
index for it, and every commit of their own.  The session has each file that it made,
or the user's branch has it.  The repository is whole.  A commit brings the session's
bytes where the user has those of the common commit, and leaves the user's where the
session has them.  A seed that fails is printed; HB_SEED repeats it, or several: 20-29.
"""

import base64
import os
import random
import shutil
import signal
import subprocess
import sys
import time

SOAK = os.environ.get("HB_SOAK") == "1"
SEEDS = 400 if SOAK else 10
STEPS = 12
ENV = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
       "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n",
       "GIT_COMMITTER_EMAIL": "e"}  # fmt: skip
TRACKED = ["f", "g", "d/a", "d/b", "e/x", "h", "n.nb"]
ME = "-c user.name=n -c user.email=e"
INSIDE = [
    "sed -i '1s/$/ S{n}/' {t} 2>/dev/null || :", "rm -f {t}", f"git {ME} commit -qam S{{n}} || :",
    f"git {ME} add -A; git {ME} commit -qm S{{n}} || :", "git checkout -q -b b{n} || :",
    "git gc -q", "chmod +x {t} 2>/dev/null || :", "rm -rf e; echo file >e", "git reset -q || :",
    f"git {ME} stash -q || :; git {ME} stash pop -q || :", "git rm -q --cached {t} || :",
    "git checkout -q HEAD^ -- {t} || :", "git reset -q --soft HEAD^ || :", "echo out >>n.nb",
    f"git {ME} commit -qam S{{n}}; rm -f {{t}}", f"git {ME} rm -q --cached {{t}}; git {ME} commit -qm S{{n}}",
    "git add -A; git checkout -q HEAD -- {t} || :", "git show HEAD:{t} >{t} 2>/dev/null || :",
]  # fmt: skip


class World:
    """A repository, its user and a session."""

    def __init__(self, top, seed):
        self.random = random.Random(seed)
        self.top, self.base = top, os.path.join(top, "p")
        self.edits, self.index, self.commits, self.made = {}, {}, [], set()
        self.log, self.number = [], 0
        for path in TRACKED:
            self.write(path, f"{path}\n" + "line\n" * 20)
        self.write(".gitignore", "*.log\n")
        self.write(".gitattributes", "*.nb filter=nb\n")
        for words in (["init", "-qb", "master", "."], ["add", "."], ["commit", "-qm", "one"]):
            self.git(*words)
        self.git("config", "filter.nb.clean", "grep -v ^out")

    def write(self, path, text):
        full = os.path.join(self.base, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="ascii") as file:
            file.write(text)

    def read(self, path):
        try:
            with open(os.path.join(self.base, path), encoding="ascii") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def git(self, *words, check=True):
        done = subprocess.run(["git", "-c", "core.fsync=none", *words], cwd=self.base, text=True,
                              env={**os.environ, **ENV}, capture_output=True, check=False)  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"git {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def hb(self, *words, known=(0,), may_die=False):
        """A command, which may be killed at any time; its status and output."""
        call = [os.environ["HB_BIN"], words[0], "--state-dir", os.path.join(self.top, "state")]
        delay = self.random.random() ** 2 * 0.2 if may_die and self.random.random() < 0.5 else None
        with subprocess.Popen(call + list(words[1:]), cwd=self.base, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as program:  # fmt: skip
            if delay is not None:
                time.sleep(delay)
                program.kill()
            out = program.communicate()[0]
        self.log.append((words, program.returncode, out[-300:] if program.returncode else ""))
        if program.returncode == -signal.SIGKILL and may_die:
            self.settle()
        elif program.returncode not in known:
            raise AssertionError(f"{words}: {program.returncode}: {out}")
        return program.returncode, out

    def settle(self):
        """A command that was killed leaves a box for a moment."""
        for _ in range(400):
            code, _ = self.hb("recover", "@s", known=(0, 8, 9, 10))
            if code != 8:
                return
            time.sleep(0.02)
        raise AssertionError("still live")

    def ensure(self):
        """The session, which may have been killed in its making."""
        for dies in (True, False):
            code, _ = self.hb("status", "@s", known=(0, 9))
            if code == 9:
                self.hb("create", "s", "--cow", self.base, "--strategy", "git_worktree",
                        known=(0, 10), may_die=dies)  # fmt: skip

    def user(self):
        """One edit or commit of the user."""
        self.number += 1
        path, text = self.random.choice(TRACKED), f"U{self.number}\n"
        kind = self.random.randrange(9)
        if kind == 0:
            path = f"untracked{self.number}"
        elif kind == 1:
            path = f"user{self.number}.log"
        elif kind == 2:
            path = f"staged{self.number}"
        if kind == 8:
            self.git("rm", "-q", "--cached", path, check=False)
            self.index.pop(path, None)
            # Its filter hides an edit of the session from git, which then goes as that of a file.
            if self.read(path) is not None and path not in self.edits and path != "n.nb":
                self.edits[path] = self.read(path)
            self.log.append(("user", kind, path))
            return
        if kind == 3:
            self.git("commit", "-qam", f"U{self.number}", check=False)
            self.commits.append(self.git("rev-parse", "HEAD").strip())
            changed = set(self.git("diff", "HEAD", "--name-only").split())
            others = self.git("ls-files", "-o").split()
            self.edits = {p: t for p, t in self.edits.items() if p in changed or p in others}
            self.index = {}
        elif kind == 4 and not any(p.startswith("d/") or p == "d" for p in self.edits):
            self.made = {n for n in self.made if not n.startswith("d/") or self.read(n) is None}
            shutil.rmtree(os.path.join(self.base, "d"), ignore_errors=True)
            self.write("d", text)
            self.edits.update({"d": text, "d/a": None, "d/b": None})
        elif kind == 5 and self.read(path) is not None and path not in self.edits:
            os.unlink(os.path.join(self.base, path))
            self.edits[path] = None
        elif (self.read(path) is not None or kind < 3) and path not in self.edits:
            text = (self.read(path) or "") + text
            self.write(path, text)
            self.edits[path] = text
        if (kind == 2 or self.random.random() < 0.2) and self.edits.get(path):
            self.git("add", path, check=False)
            self.index[path] = self.git("ls-files", "-s", path)
        self.log.append(("user", kind, path))

    def work(self):
        """A command in the session, with files that nothing else has."""
        words, made = [], []
        for _ in range(self.random.randrange(1, 4)):
            self.number += 1
            name = self.random.choice(["t{n}", "t{n}", "d/t{n}", "new{n}/t{n}", "t{n}.log"])
            name = name.format(n=self.number)
            words.append(f"mkdir -p $(dirname {name})\necho {name} >{name}")
            made.append(name)
            words.append(self.random.choice(INSIDE).format(
                n=self.number, t=self.random.choice(TRACKED)))  # fmt: skip
        code, _ = self.hb("exec", "@s", "--", "sh", "-ec", "\n".join(words), may_die=True,
                          known=range(256))  # fmt: skip
        if code == 0:
            self.made.update(made)

    def view(self):
        """What the session has at each path, and the commit that both sides come from."""
        words = ("git merge-base HEAD $1; shift; for p; do [ -f $p ] && [ ! -L $p ] && "
                 "printf '%s %s\\n' $p $(base64 -w0 $p); done; :")  # fmt: skip
        paths = TRACKED + sorted(self.made)
        code, out = self.hb("exec", "@s", "--", "sh", "-c", words, "sh",
                            self.git("rev-parse", "HEAD").strip(), *paths, known=(0, 125))  # fmt: skip
        lines = out.splitlines()
        if code or not lines or len(lines[0]) != 40:
            return None, None, None
        have = dict(line.partition(" ")[::2] for line in lines[1:])
        view = {p: base64.b64decode(have[p]).decode() if p in have else None for p in paths}
        return view, {p: self.blob(lines[0], p) for p in paths}, {p: self.read(p) for p in paths}

    def blob(self, commit, path):
        done = subprocess.run(["git", "cat-file", "blob", f"{commit}:{path}"], cwd=self.base,
                              text=True, capture_output=True, check=False)  # fmt: skip
        return None if done.returncode else done.stdout

    def commit(self):
        """A commit that is not killed: each path by the three sides."""
        view, common, before = self.view()
        words = ["commit", "-y", "--no-gate", "@s"] + ["--ignored"] * (self.random.random() < 0.3)
        code, _ = self.hb(*words, known=(0, 5, 10))
        if view is None or code:
            return
        for path, mine in view.items():
            if path.endswith(".log") and "--ignored" not in words:
                continue
            now = self.read(path)
            if path in self.edits or mine == common[path] or mine == before[path]:
                wanted = before[path]
            elif before[path] == common[path]:
                wanted = mine
            else:
                continue
            if now != wanted:
                raise AssertionError(f"after a commit {path} is {now!r}, not {wanted!r}: "
                                     f"{mine!r} {common[path]!r} {before[path]!r}")  # fmt: skip

    def discard(self, *words):
        """A rollback, or the redo of one: work goes that is not the user's by now."""
        self.hb(*words, known=(0, 5, 10), may_die=True)
        self.made = {name for name in self.made if self.read(name) is not None}

    def judge(self):
        """What must be there at any time."""
        for path, text in self.edits.items():
            if self.read(path) != text:
                raise AssertionError(f"{path}: {self.read(path)!r}, not {text!r}")
        for path, entry in self.index.items():
            if self.git("ls-files", "-s", path) != entry:
                raise AssertionError(f"the index has another {path}")
        for commit in self.commits:
            self.git("merge-base", "--is-ancestor", commit, "HEAD")
        self.git("fsck", "--strict")
        if "holdback" in self.git("for-each-ref"):
            raise AssertionError("a branch is left")
        locks = [n for _, _, names in os.walk(os.path.join(self.base, ".git")) for n in names
                 if n.endswith(".lock")]  # fmt: skip
        if locks:
            raise AssertionError(f"locks: {locks}")

    def judge_session(self):
        """The view has all that was made inside."""
        code, out = self.hb("exec", "@s", "--", "find", ".", "-name", "t[0-9]*", known=(0, 125))
        have = {line[2:] for line in out.splitlines()}
        if code or not self.made <= have:
            raise AssertionError(f"lost in the session ({code}): {self.made - have}: {out[-200:]}")

    def step(self):
        self.ensure()
        kind = self.random.choice(["user", "user", "work", "work", "work", "commit", "commit",
                                   "undo", "undo", "redo", "rollback", "gc"])  # fmt: skip
        if kind in ("user", "work") or (kind == "commit" and self.random.random() < 0.6):
            getattr(self, kind)()
        elif kind in ("rollback", "redo"):
            self.discard(*((kind, "-y", "@s") if kind == "rollback" else (kind, "@s")))
        elif kind == "gc":
            self.hb("gc", "--older-than", "0s", known=(0,), may_die=True)
        else:
            words = (kind, "-y", "--no-gate", "@s") if kind == "commit" else (kind, "@s")
            self.hb(*words, known=(0, 5, 10), may_die=True)
        self.judge()

    def run(self):
        for _ in range(self.random.randrange(4)):
            self.user()
        for _ in range(STEPS):
            self.step()
        self.ensure()
        self.judge_session()
        self.judge()


def main():
    seeds = range(1, SEEDS + 1)
    if os.environ.get("HB_SEED"):
        first, _, last = os.environ["HB_SEED"].partition("-")
        seeds = range(int(first), int(last or first) + 1)
    print(f"1..{len(seeds)}")
    for number, seed in enumerate(seeds, 1):
        top = os.path.join(os.environ["TMPDIR"], f"random{seed}")
        world = World(top, seed)
        error = None
        try:
            world.run()
        except AssertionError as found:
            error = found
        print(f"{'not ok' if error else 'ok'} {number} - random work, seed {seed}")
        if error:
            for line in world.log if len(seeds) == 1 else []:
                if line[0] != ("status", "@s"):
                    print(f"# {line!r}")
            print("\n".join(f"# {line}" for line in str(error).splitlines()))
        subprocess.run(["chmod", "-R", "u+rwx", top], check=False)
        shutil.rmtree(top, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
