#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git tar
# timeout: 1800
# soak-modes: userns
"""Random commands of git on both sides at once, then commit, undo and redo.

After the commit the repository is whole, no commit of either side is lost, the index is that of
git's own merge, no file of the user is touched without need, and git tells edits from clean files.
Undo is exact.  A merge that is advised succeeds if it does in a clone.

Each seed has a repository of its own; many of them are resources of one session, so that a start
of it is paid once.  A seed that fails is printed; HB_SEED repeats it alone.
"""

import collections
import hashlib
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "lib"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import gitsnap  # noqa: E402

HOLDBACK = os.environ.get("HB_BIN", "holdback")
SOAK = os.environ.get("HB_SOAK") == "1"
# Of `make test` each of two modes has a half.
HALF = 1000
SECOND_HALF = os.environ.get("HB_MODE") == "root" and not SOAK
FIRST = int(os.environ.get("HB_SEED", str(HALF + 1 if SECOND_HALF else 1)))
SEEDS = int(os.environ.get("HB_SEEDS", "1" if "HB_SEED" in os.environ else "50000" if SOAK else str(HALF)))
BATCH = 20
CONFLICT = 5
# Of a delivery whose HEAD and index stay.
STAYS = ("stay pending", "stays pending", "under way", "commit is on", "commits are on")
TRIES = 4  # to settle conflicts
OPERATIONS = 6  # at most, of one side

GIT = dict(
    os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
    GIT_EDITOR="true", GIT_MERGE_AUTOEDIT="no", GIT_OPTIONAL_LOCKS="1",
)  # fmt: skip
CONFIG = {
    "core.fsync": "none", "gc.auto": "0", "maintenance.auto": "false", "user.name": "n",
    "user.email": "e", "advice.detachedHead": "false", "core.commitGraph": "true",
}  # fmt: skip
TEMPLATE = """
for i in 0 1 2 3; do echo $i >f$i; done; mkdir d; echo d >d/f; echo u >mine-u; echo s >mine-s
git add .; git commit -qm one; for i in 0 1 2; do git branch b$i; echo b$i >>f1; git commit -qam b$i; done
git branch -f b2; git tag t0
"""
# $w is the side, $n a number, $f a file that both have, $m a file of this side alone.
COMMANDS = (
    (4, "echo $w$n >>$f; git add $f"),
    (8, "echo $w$n >>$f; git add $f; git commit -qm $w$n"),
    (4, "echo $w$n >$w$n; git add $w$n; git commit -qm new-$w$n"),
    (2, "echo $w >>$m; git commit -qm own-$w$n $m"),
    (2, "git rm -qf $f && git commit -qm gone-$w$n"),
    (1, "git mv $f moved-$w$n && git commit -qm moved-$w$n"),
    (1, "git rm -q --cached $f"),
    (1, "chmod +x $f; git add $f"),
    (1, "rm -f $f; ln -s target $f; git add $f"),
    (1, "rm -rf $f; mkdir $f; echo $w$n >$f/in; git add $f; git commit -qm folder-$w$n"),
    (3, "git commit -q --amend -m amended-$w$n"),
    (2, "git branch b$n"),
    (2, "git branch -D b$n"),
    (2, "git branch -f b$n HEAD~1"),
    (1, "git branch $w/b$n"),
    (1, "git branch -m b$n renamed-$w$n"),
    (3, "git checkout -q -b $w-b$n"),
    (3, "git checkout -q b$n"),
    (3, "git checkout -q main"),
    (1, "git checkout -q --detach"),
    (1, "git checkout -q --orphan new-$w$n; git commit -qm orphan-$w$n"),
    (4, "git merge -q -m merged-$w b$n || git merge --abort"),
    (1, "git merge -q -m merged-$w b$n"),
    (3, "git rebase -q b$n || git rebase --abort"),
    (1, "git rebase -q b$n"),
    (2, "git cherry-pick b$n || git cherry-pick --abort"),
    (1, "git revert --no-edit HEAD || git revert --abort"),
    (2, "git tag t$n"),
    (2, "git tag -a -m x-$w a$n"),
    (1, "git tag -d t$n"),
    (3, "echo x$n >>$m; git stash -q"),
    (2, "git stash pop -q || git reset -q --hard"),
    (1, "git stash drop -q"),
    (2, "git reset -q --hard HEAD~1"),
    (1, "git reset -q --soft HEAD~1"),
    (1, "git reset -q HEAD~1"),
    (2, "git pack-refs --all"),
    (1, "git gc -q"),
    (1, "git repack -qad; git prune-packed"),
    (2, "git worktree add -q wt-$w$n b$n && { echo $w >>wt-$w$n/f0; git -C wt-$w$n commit -qam tree-$w$n; }"),
    (1, "git worktree remove -f wt-$w$n; git worktree prune"),
    (1, "git reflog expire --expire=now --all"),
    (4, "git status"),
    (3, "echo edit-$w >>$m"),
    (1, "echo edit-$w >>$f"),
    (1, "echo $w >loose-$w$n"),
)  # fmt: skip


class Failure(Exception):
    """What is wrong with one seed."""


def run(*words, cwd=None, env=None, data=None):
    return subprocess.run(
        words, cwd=cwd, env=env or GIT, input=data, capture_output=True, check=False, close_fds=False
    )


def git(top, *words, may_fail=False, data=None, **more):
    done = run("git", *words, cwd=top, env=dict(GIT, **more), data=data)
    if done.returncode and not may_fail:
        raise Failure(f"git {' '.join(words)}: {(done.stdout + done.stderr).decode('latin1')}")
    return None if done.returncode else done.stdout.decode("latin1")


class Script:
    """What one side does next, the same for the same seed."""

    def __init__(self, seed, side):
        self.random = random.Random(f"{seed} {side}")
        self.side = side
        self.clock = 1_700_000_000 + (500 if side == "s" else 0)
        self.said = []

    def play(self, most=OPERATIONS, least=0):
        lines = []
        for _ in range(self.random.randint(least, most)):
            command = self.random.choices([c for _, c in COMMANDS], [w for w, _ in COMMANDS])[0]
            self.clock += 1
            n, f = self.random.randrange(3), self.random.choice(["f0", "f1", "f2", "f3", "d/f"])
            self.said.append(
                command.replace("$w", self.side).replace("$n", str(n)).replace("$f", f)
                .replace("$m", "mine-" + self.side)
            )  # fmt: skip
            stamp = f"GIT_AUTHOR_DATE='@{self.clock} +0000' GIT_COMMITTER_DATE='@{self.clock} +0000'"
            lines.append(f"export {stamp}; {self.said[-1]}")
        self.said.append("--")
        return "\n".join(lines)


def whole_script(top, parts):
    """Of each repository its part; no command of one ends the others."""
    lines = ["exec 3>&1 >/dev/null 2>&1 </dev/null"]
    lines += [f"export {name}='{GIT[name]}'" for name in GIT if name.startswith("GIT_")]
    for name, part in parts.items():
        # No command may ever meet another repository.
        lines += [f"cd {top}/{name} || exit", part]
    return "\n".join(lines) + "\n"


class Case:
    """One seed: a repository, and what was seen of it."""

    def __init__(self, seed, top):
        self.seed, self.name = seed, f"r{seed}"
        self.top = os.path.join(top, self.name)
        self.user, self.session = Script(seed, "u"), Script(seed, "s")
        self.graph = gitsnap.Graph(top)
        self.layer, self.theirs = None, []
        self.verdict, self.branch, self.said = None, None, ""
        # Of the user at T0, before and after the commit; of the session when it began and when it ended.
        self.then = self.before = self.after = self.entered = self.left = None
        self.dropped = {"u": set(), "s": set()}

    def look(self):
        found = gitsnap.of_directory(self.top)
        self.graph.add(found)
        return found

    def note_dropped(self, side, old, new):
        """What that side itself made unreachable, in any of its steps."""
        self.dropped[side] |= self.graph.reached(old.tips()) - self.graph.reached(new.tips())
        self.dropped[side] -= self.graph.reached(new.tips())

    def history(self):
        return (
            f"user: {'; '.join(self.user.said)}\n    session: {'; '.join(self.session.said)}\n"
            f"    verdict {self.verdict}: {self.said}"
        )


def check_whole(case):
    # A user who drops a stash and repacks has a commit-graph with commits that are gone.
    git(case.top, "-c", "core.commitGraph=false", "fsck", "--strict", "--no-dangling", "--no-progress")
    if left := [p for p in case.after.files if p.startswith(gitsnap.GIT) and p.endswith(".lock")]:
        raise Failure(f"locks are left: {left}")
    head = case.after.refs()["HEAD"]
    if head.startswith("ref: ") and head[5:] not in case.after.refs():
        if case.before.refs()["HEAD"] != head and case.left.refs()["HEAD"] != head:
            raise Failure(f"HEAD leads nowhere: {head}")


def check_commits(case):
    reached = case.graph.reached(case.after.tips())
    lost = case.graph.reached(case.before.tips()) - reached - case.dropped["s"]
    if lost:
        raise Failure(f"commits of the user are lost: {sorted(lost)}")
    missing = case.graph.reached(case.left.tips()) - reached - case.dropped["u"]
    if missing and "pending" not in case.said and case.verdict not in ("waits", "refused"):
        raise Failure(f"commits of the session are lost: {sorted(missing)}")


def info(index):
    return "".join(f"{mode:o} {name} {stage}\t{path}\n" for (path, stage), (mode, name) in index.items())


def merged_by_git(case, then, user, session):
    """The index of git's own merge of three; None: it has no trees to merge."""
    scratch = tempfile.mkdtemp(dir=os.path.dirname(case.top))
    try:
        more = {
            "GIT_OBJECT_DIRECTORY": scratch, "GIT_INDEX_FILE": os.path.join(scratch, "i"),
        }  # fmt: skip
        trees = []
        for index in (then, user, session):
            if any(stage for _, stage in index):
                return None
            git(case.top, "read-tree", "--empty", **more)
            git(case.top, "update-index", "--index-info", data=info(index).encode("latin1"), **more)
            tree = git(case.top, "write-tree", "--missing-ok", may_fail=True, **more)
            if tree is None:
                return None
            trees.append(tree.strip())
        git(case.top, "read-tree", "--empty", **more)
        git(case.top, "read-tree", "-m", "--aggressive", *trees, **more)
        return git(case.top, "ls-files", "-s", **more)
    finally:
        shutil.rmtree(scratch)


def committed(case, snapshot):
    """The entries of the commit below HEAD."""
    commit = head_of(snapshot)[1]
    lines = git(case.top, "ls-tree", "-rz", commit, may_fail=True) if commit[:5] != "ref: " else None
    found = {}
    for line in (lines or "").split("\0")[:-1]:
        what, path = line.split("\t", 1)
        mode, _, name = what.split()
        found[path, 0] = int(mode, 8), name
    return found


def goes_on(case):
    """The session's commits follow on those that the user made since T0."""
    mine, theirs = head_of(case.before)[1], head_of(case.left)[1]
    return (
        not theirs.startswith("ref: ") and mine != head_of(case.then)[1]
        and mine in case.graph.reached({theirs})
    )  # fmt: skip


def merged_by_entry(case):
    """What git leaves unmerged where a file becomes a directory; None: a real conflict.

    The view is live: the session may have gone on from a commit that the user made since.  Then an
    entry that neither side staged moves with the commits.
    """
    then, user, session = case.then.index(), case.before.index(), case.left.index()
    mine_below, theirs_below = {}, {}
    if goes_on(case):
        mine_below, theirs_below = committed(case, case.before), committed(case, case.left)
    found = {}
    for key in {*then, *user, *session}:
        old, mine, theirs = then.get(key), user.get(key), session.get(key)
        if mine_below and (mine, theirs) == (mine_below.get(key), theirs_below.get(key)):
            old = mine
        if theirs not in (old, mine) and mine != old:
            return None
        if value := mine if theirs == old else theirs:
            found[key] = value
    return gitsnap.listing(found)


def head_of(snapshot):
    """HEAD and the commit below it."""
    refs = snapshot.refs()
    return refs["HEAD"], refs.get(refs["HEAD"][5:], refs["HEAD"])


def mine_is_clean(case):
    return case.before.index() == committed(case, case.before)


def is_history(case, index):
    """It has nothing that is not in a commit which the user has now, too."""
    for tip in case.left.tips() & case.graph.reached(case.after.tips()):
        tree = git(case.top, "ls-tree", "-r", "--format=%(objectmode) %(objectname) 0%x09%(path)", tip)
        if tree == gitsnap.listing(index):
            return True
    return False


def is_pending(case):
    """The user is elsewhere by now, and the session still has its index."""
    return head_of(case.before) != head_of(case.then) and os.path.exists(case.layer + "/.git/index")


def check_index(case):
    then, user, session = case.then.index(), case.before.index(), case.left.index()
    got = git(case.top, "ls-files", "-s")
    stays = any(word in case.said for word in STAYS) or head_of(case.after) != head_of(case.left)
    if got == gitsnap.listing(user) and (stays or session in (case.entered.index(), user)):
        return
    want = gitsnap.listing(session) if user == then else merged_by_git(case, then, user, session)
    if goes_on(case) and mine_is_clean(case):
        want = merged_by_entry(case)
    if want is None or got == want or got == merged_by_entry(case):
        return
    if got == gitsnap.listing(user) and (is_history(case, session) or is_pending(case)):
        return
    raise Failure(f"the index is\n{got}instead of\n{want}or, by entry,\n{merged_by_entry(case)}")


def check_tree(case):
    """The user's version, or the session's where it changed the file."""
    entered, user, session = case.entered.tree(), case.before.tree(), case.left.tree()
    for path in {*user, *session, *case.after.tree()}:
        now, mine = case.after.files.get(path), user.get(path)
        theirs = session.get(path)
        # The test asked for the session's version, with all that is below.
        if any(path == p or path.startswith(p + "/") for p in case.theirs):
            continue
        if now == mine or (now == theirs and theirs != entered.get(path)):
            continue
        raise Failure(f"{path} is {now}; before {mine}, inside {entered.get(path)}, then {theirs}")


def check_clean(case):
    """What git takes for clean is clean."""
    edited = set()
    for (path, stage), (mode, name) in case.after.index().items():
        found = case.after.files.get(path)
        if stage or mode == 0o160000:
            continue
        if not found or stat.S_IFMT(found[0]) != stat.S_IFMT(mode):
            edited.add(path)
        elif hashlib.sha1(b"blob %d\0" % len(found[1]) + found[1]).hexdigest() != name:
            edited.add(path)
        elif stat.S_ISREG(mode) and bool(mode & 0o100) != bool(found[0] & 0o100):
            edited.add(path)
    if not edited:
        return
    told = git(case.top, "-c", "core.quotePath=false", "diff-files", "--name-only", "--ignore-submodules").splitlines()
    if hidden := edited - set(told):
        raise Failure(f"git takes edited files for clean: {hidden}")


def is_same(what, got, want):
    if got == want:
        return
    lines = []
    for path in sorted({*got, *want}):
        if got.get(path) != want.get(path):
            lines.append(f"{path}: {got.get(path)} instead of {want.get(path)}")
    raise Failure(f"{what}: " + "\n".join(lines))


def is_dirty(case):
    return bool(git(case.top, "status", "--porcelain", "-uno"))


def check_merge(case):
    """The command that was printed succeeds if the same merge does in a clone."""
    branch = case.branch
    if not branch or is_dirty(case) or any(p.startswith((".git/MERGE", ".git/rebase", ".git/CHERRY", ".git/REVERT")) for p in case.after.files):
        return
    clone = case.top + ".clone"
    try:
        git(case.top, "clone", "-q", "--shared", ".", clone)
        git(clone, "config", "user.name", "n")
        git(clone, "config", "user.email", "e")
        there = git(clone, "merge", "-q", "--no-edit", f"origin/{branch}", may_fail=True)
        here = run("git", "merge", "-q", "--no-edit", branch, cwd=case.top)
        if there is not None and here.returncode:
            why = (here.stdout + here.stderr).decode("latin1")
            if "untracked working tree files" not in why or not (set(case.before.tree()) - {p for p, _ in case.before.index()}):
                raise Failure(f"git merge {branch} fails here and not in a clone: {why}")
        if here.returncode:
            git(case.top, "merge", "--abort", may_fail=True)
    finally:
        if os.path.exists(clone):
            shutil.rmtree(clone)


class Batch:
    """Cases that share a session."""

    def __init__(self, top, seeds, template):
        self.top, self.state = top, os.path.join(top, "state")
        self.cases = [Case(seed, top) for seed in seeds]
        for number, case in enumerate(self.cases):
            case.layer = os.path.join(self.state, f"sessions/s/r{number}/upper")
        self.by_name = {case.name: case for case in self.cases}
        self.failures = {}
        self.counts = collections.Counter()
        self.is_committed, self.answers = False, []
        self.broken = ""
        for case in self.cases:
            shutil.copytree(template, case.top, symlinks=True)

    def alive(self):
        return [case for case in self.cases if case.seed not in self.failures]

    def fail(self, case, why):
        self.failures.setdefault(case.seed, f"{why}\n    {case.history()}")

    def each(self, check, *words):
        for case in self.alive():
            try:
                check(case, *words)
            except (Failure, KeyError, OSError) as why:
                self.fail(case, f"{check.__name__}: {type(why).__name__} {why}")

    def holdback(self, command, *words):
        return run(HOLDBACK, command, "--state-dir", self.state, *words, cwd=self.cases[0].top)

    def must(self, command, *words):
        done = self.holdback(command, *words)
        if done.returncode:
            said = (done.stdout if command != "exec" else b"") + done.stderr
            raise Failure(f"{command}: exit status {done.returncode}: {said.decode('latin1')}")
        return done.stdout

    def outside(self, **options):
        parts = {case.name: case.user.play(**options) for case in self.cases}
        run("sh", data=whole_script(self.top, parts).encode("ascii"))

    def inside(self, script="exec 3>&1"):
        """Runs it and returns what the session then has.

        An overlay may change a directory while it is read, and tar then ends with 1.
        """
        names = [case.name for case in self.cases]
        words = f"{script}\ncd {self.top}; tar cf - {' '.join(names)} >&3 2>/dev/null; test $? -le 1"
        return gitsnap.of_tar(self.must("exec", "@s", "--", "sh", "-c", words), names)

    def begin(self):
        self.outside(most=3)
        for case in self.cases:
            case.then = case.look()
        self.must("create", "s", *(word for case in self.cases for word in ("--cow", case.top)))

    def play(self):
        """Both sides, in turns; the session sees what its user did before."""
        self.outside(most=3)
        for case in self.cases:
            case.entered = case.look()
            case.note_dropped("u", case.then, case.entered)
        found = self.inside(whole_script(self.top, {c.name: c.session.play() for c in self.cases}))
        for case in self.cases:
            case.graph.add(found[case.name])
            case.note_dropped("s", case.entered, found[case.name])
        self.outside()
        found = self.inside()
        for case in self.cases:
            case.before, case.left = case.look(), found[case.name]
            case.note_dropped("u", case.entered, case.before)
            case.graph.add(case.left)

    def settle(self, document, choices):
        """Answers for conflicts; each has to be one."""
        words = []
        for change in document["conflicts"]:
            case, path = self.by_name[os.path.basename(change["source"])], change["path"]
            is_known = is_conflict(case, path) or (change["kind"] == "A" and is_renamed(case, path))
            # Its times or mode alone are the session's: the snapshot has files.
            if not is_known and not change["directory"]:
                self.fail(case, f"a conflict that nobody made: {change}")
            # The answer is one for all resources.
            is_file = all(is_plain(x, path) for x in self.cases)
            words += [choices.choice(["--ours", "--theirs"]) if is_file else "--theirs", path]
        return words

    def commit(self):
        choices, words = random.Random(self.cases[0].seed), []
        for _ in range(TRIES):
            done = self.holdback("commit", "-y", "--no-gate", "--json", *words, "@s")
            document = json.loads(done.stdout)
            if done.returncode != CONFLICT or "conflicts" not in document:
                break
            self.each(check_same, "a refused commit changes nothing")
            words += self.settle(document, choices)
            for case in self.cases:
                case.theirs = [p for answer, p in zip(words[::2], words[1::2]) if answer == "--theirs"]
            self.counts["conflicts"] += 1
        if done.returncode:
            raise Failure(f"commit {words}: exit status {done.returncode}: {done.stdout.decode()}")
        self.is_committed, self.answers = document["committed"], words
        for told in document["deliveries"]:
            case = self.cases[told["resource"]]
            if told["path"] in (".git", ""):
                case.verdict, case.branch = told["verdict"], told.get("branch")
            case.said += told.get("text", "") + " "
        for case in self.cases:
            self.counts[case.verdict] += 1
            case.after = case.look()

    def commit_again(self):
        """After undo, a directory that went with a file of a conflict is in conflict, too."""
        done = self.holdback("commit", "-y", "--no-gate", *self.answers, "@s")
        if done.returncode == CONFLICT:
            above = {os.path.dirname(path) for path in self.answers[1::2]} - {""}
            self.answers += [word for path in above for word in ("--theirs", path)]
        if done.returncode:
            self.must("commit", "-y", "--no-gate", *self.answers, "@s")

    def check(self):
        for check in (check_whole, check_commits, check_index, check_tree, check_clean):
            self.each(check)

    def undo(self):
        if not self.is_committed:
            return
        self.must("undo", "@s")
        self.each(check_same, "undo")
        found = self.inside()
        for case in self.alive():
            try:
                is_same("the session after undo", found[case.name].plain(), case.left.plain())
            except Failure as why:
                self.fail(case, why)
        # By chance again as it was, or decided anew.
        if self.cases[0].seed // BATCH % 2:
            self.must("redo", "@s")
            self.each(check_redone)
        else:
            self.commit_again()
            self.each(check_again)
        self.each(check_merge)

    def all(self):
        try:
            self.begin()
            self.play()
            self.commit()
            self.check()
            self.undo()
        except (Failure, KeyError, ValueError) as why:
            self.broken = f"{type(why).__name__} {why}"


def has_changed(path, old, new):
    """It, or a directory above or below."""
    return any(
        new.get(p) != old.get(p) for p in {*new, *old}
        if p == path or p.startswith(path + "/") or path.startswith(p + "/")
    )  # fmt: skip


def in_layer(case, path):
    """Or a directory above that the session removed: the snapshot has files alone."""
    if os.path.lexists(os.path.join(case.layer, path)):
        return True
    while path := os.path.dirname(path):
        if os.path.lexists(os.path.join(case.layer, path)):
            return not os.path.isdir(os.path.join(case.layer, path))
    return False


def is_conflict(case, path):
    """Both sides changed it.  Either may have changed it back: then a change time or the layer tells."""
    then, entered, left = case.then.tree(), case.entered.tree(), case.left.tree()
    is_written = has_changed(path, entered, left) or in_layer(case, path)
    return is_written and (
        has_changed(path, then, case.before.tree()) or has_changed(path, then, entered)
        or case.before.times.get(path) != case.then.times.get(path)
    )  # fmt: skip


def is_renamed(case, path):
    """By its mark it is a file of the base, and only its content tells of which name."""
    then, entered, left, before = (x.tree() for x in (case.then, case.entered, case.left, case.before))
    if any(p not in left and before.get(p) != then.get(p) for p in entered):
        return True
    return any(found == left.get(path) for p, found in entered.items() if p != path)


def is_plain(case, path):
    """A file on all sides: a part of a directory cannot be left out alone."""
    sides = (case.then, case.entered, case.left, case.before)
    return not any(p.startswith(path + "/") or path.startswith(p + "/") for x in sides for p in x.tree())


def check_same(case, when):
    is_same(when, case.look().plain(), case.before.plain())


def check_redone(case):
    is_same("redo", case.look().plain(), case.after.plain())


def check_again(case):
    """Another commit of the same makes the same; logs may have other times."""
    now = case.look()
    is_same("references of a second commit", now.refs(), case.after.refs())
    is_same("entries of a second commit", now.index(), case.after.index())
    is_same("files of a second commit", now.tree(), case.after.tree())


def remove(top):
    run("chmod", "-R", "u+rwx", top)
    shutil.rmtree(top)


def make_template(top):
    os.mkdir(top)
    git(top, "init", "-q", "-b", "main", "--template=", ".")
    for name, value in CONFIG.items():
        git(top, "config", name, value)
    stamp = "@1699999999 +0000"
    run("sh", "-ec", TEMPLATE, cwd=top, env=dict(GIT, GIT_AUTHOR_DATE=stamp, GIT_COMMITTER_DATE=stamp))


def find_place():
    """In memory if a session works there: the disk costs more than all commands of git."""
    try:
        top = tempfile.mkdtemp(prefix="holdback.", dir="/dev/shm")
    except OSError:
        return os.environ["TMPDIR"]
    os.mkdir(top + "/p")
    words = ("run", "-q", "--ephemeral", "--", "true")
    done = run(HOLDBACK, *words, cwd=top + "/p", env=dict(GIT, XDG_STATE_HOME=top + "/state"))
    if done.returncode == 0:
        return top
    remove(top)
    return os.environ["TMPDIR"]


def play(seeds, place):
    top = tempfile.mkdtemp(dir=place)
    try:
        make_template(os.path.join(top, "template"))
        batch = Batch(top, seeds, os.path.join(top, "template"))
        batch.all()
    finally:
        remove(top)
    return batch


def try_batch(number, seeds, counts, place):
    """A session that fails as a whole hides which seed it was: then each has its own."""
    batch = play(seeds, place)
    counts.update(batch.counts)
    failures = dict(batch.failures)
    if batch.broken and len(seeds) > 1:
        for seed in seeds:
            alone = play([seed], place)
            failures |= alone.failures
            if alone.broken:
                failures[seed] = f"{alone.broken}\n    {alone.cases[0].history()}"
    if batch.broken and not failures:
        failures[seeds[0]] = f"all of them together: {batch.broken}"
    print(f"{'not ok' if failures else 'ok'} {number} - seeds {seeds[0]} to {seeds[-1]}")
    for seed, why in failures.items():
        for line in f"seed {seed}: {why}".splitlines():
            print(f"# {line}")
    sys.stdout.flush()


def main():
    ranges = [range(n, min(n + BATCH, FIRST + SEEDS)) for n in range(FIRST, FIRST + SEEDS, BATCH)]
    print(f"1..{len(ranges)}")
    counts = collections.Counter()
    place = find_place()
    try:
        for number, seeds in enumerate(ranges, 1):
            try_batch(number, seeds, counts, place)
    finally:
        if place != os.environ["TMPDIR"]:
            remove(place)
    times = os.times()
    print("# " + ", ".join(f"{name} {n} times" for name, n in counts.most_common()))
    print(f"# {times.user + times.system:.1f} s here, {times.children_user + times.children_system:.1f} s of others")
    return 0


if __name__ == "__main__":
    sys.exit(main())
