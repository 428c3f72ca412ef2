#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 600
"""Repositories that were made to hurt, with the real commands.

Each is made in a session, some with a change outside meanwhile, and goes through
status, diff, diff --commits, gate, commit -n and commit.  No command crashes or
fails without words, takes more than the limits below, shows or touches what
lies outside of the project, or executes a program of the repository.  The
objects that the user had are there afterwards, byte by byte.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile

HOLDBACK = os.environ.get("HB_BIN", "holdback")
MEMORY = 256 << 20  # address space, less than the objects below say they have
SECONDS = 30  # processor
WALL = 120
PYTHON = "/usr/bin/python3"
SECRET = "sekret-of-the-host"
ID = "-c user.name=n -c user.email=e"

# The statuses that a command may end with: done, denied, conflict, busy, state.
LOOKS = {0}
COMMITS = {0, 4, 5, 8, 10}

COMMIT = f"git {ID} commit -q --allow-empty -m inside"

# Makes an index of so many entries; the sum at its end is right, or not.
INDEX = """
import hashlib, struct
n = %d
body = bytearray(b"DIRC" + struct.pack(">LL", 2, %s))
for i in range(n):
    name = b"f%%07d" %% i
    entry = struct.pack(">10L", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0) + bytes(20) + struct.pack(">H", len(name)) + name
    body += entry + bytes(8 - len(entry) %% 8)
open(".git/index", "wb").write(body + (hashlib.sha1(body).digest() if %s else bytes(20)))
"""

# A loose object that is much larger than its file, at the tip of a branch.
BOMB = """
import hashlib, os, zlib
head, size = b"%s 300000000\\0", 300000000
h, z, out = hashlib.sha1(head), zlib.compressobj(9), b""
out += z.compress(head)
block = bytes(1000000)
for _ in range(300):
    h.update(block); out += z.compress(block)
out += z.flush()
name = h.hexdigest()
os.makedirs(".git/objects/" + name[:2], exist_ok=True)
open(".git/objects/%%s/%%s" %% (name[:2], name[2:]), "wb").write(out)
open(".git/refs/heads/bomb", "w").write(name + "\\n")
"""

# A pack whose one object is a delta that says it makes 2 GB of 10 bytes.
DELTA = """
import hashlib, os, struct, zlib
def varint(n):
    out = b""
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)]); n >>= 7
        if not n: return out
def head(kind, n):
    out, c, n = b"", kind << 4 | n & 15, n >> 4
    while n: out += bytes([c | 128]); c = n & 127; n >>= 7
    return out + bytes([c])
base = b"x" * 65536
delta = varint(len(base)) + varint(2147483648) + (b"\\xb0" + struct.pack("<H", 65535)) * 32768
pack = b"PACK" + struct.pack(">LL", 2, 2)
at = len(pack)
pack += head(3, len(base)) + zlib.compress(base)
second = len(pack)
assert second - at < 16384
gap = second - at
far = bytes([((gap >> 7) - 1) | 128, gap & 127]) if gap > 127 else bytes([gap])
pack += head(6, len(delta)) + far + zlib.compress(delta)
pack += hashlib.sha1(pack).digest()
names = sorted([(hashlib.sha1(b"blob 65536\\0" + base).digest(), at), (bytes.fromhex("ab" * 20), second)])
idx = b"\\xfftOc" + struct.pack(">L", 2)
idx += b"".join(struct.pack(">L", sum(n[0] <= i for n, _ in names)) for i in range(256))
idx += b"".join(n for n, _ in names) + bytes(8) + b"".join(struct.pack(">L", o) for _, o in names)
idx += pack[-20:]
idx += hashlib.sha1(idx).digest()
os.makedirs(".git/objects/pack", exist_ok=True)
open(".git/objects/pack/pack-%s.pack" % pack[-20:].hex(), "wb").write(pack)
open(".git/objects/pack/pack-%s.idx" % pack[-20:].hex(), "wb").write(idx)
open(".git/refs/heads/delta", "w").write("ab" * 20 + "\\n")
"""


def python(text):
    return PYTHON + " -c '" + text.replace("'", "'\\''") + "'"


# Name; what is done before the session, in it, and outside meanwhile.
ROWS = (
    ("references with odd names", "", "cd .git/refs/heads && i=$(cat main) && for n in 'a b' x.lock '-x' '@{' \"$(printf 'a\\nb')\""
     " \"$(printf '\\033[2J')\" 'a~1' 'HEAD'; do echo $i >\"$n\"; done; d=deep; for k in $(seq 60); do d=$d/deep; done;"
     " mkdir -p $d && echo $i >$d/x; echo $i >\"$(printf '%0200d' 1)\"", ""),
    ("references in a circle", "", "cd .git && echo 'ref: refs/heads/a' >refs/heads/b && echo 'ref: refs/heads/b' >refs/heads/a"
     " && echo 'ref: refs/heads/a' >HEAD", ""),
    ("a HEAD that names itself", "", "echo 'ref: HEAD' >.git/HEAD", ""),
    ("a HEAD that is a directory", "", "rm .git/HEAD && mkdir .git/HEAD && echo x >.git/HEAD/x", ""),
    ("a HEAD that is a link out of the tree", "", "ln -sf $OUT/secret .git/HEAD", ""),
    ("references that are links out of the tree", "", "ln -sf $OUT/secret .git/refs/heads/out; ln -sf $OUT .git/refs/heads/dir;"
     " ln -sf $OUT/secret .git/packed-refs; ln -sf $OUT/secret .git/COMMIT_EDITMSG", ""),
    ("packed-refs of 1 GB", "", "truncate -s 1G .git/packed-refs", ""),
    ("packed-refs of 200 000 lines", "", python(
        "open('.git/packed-refs', 'w').write(''.join('%040x refs/heads/b%d\\n' % (i, i) for i in range(200000)))"), ""),
    ("an index of 300 000 entries", "", python(INDEX % (300000, "n", "True")), ""),
    ("an index that says it has 5 million entries", "", python(INDEX % (10, "5000000", "True")), ""),
    ("an index with a wrong sum", "", python(INDEX % (10, "n", "False")), ""),
    ("an index that is a link out of the tree", "", "ln -sf $OUT/secret .git/index", ""),
    ("a commit that inflates to 300 MB", "", python(BOMB % "commit"), ""),
    ("a tree that inflates to 300 MB", "", python(BOMB % "tree") + " && " + "t=$(cat .git/refs/heads/bomb) && printf"
     " 'tree %s\\nauthor a <a> 1 +0000\\ncommitter a <a> 1 +0000\\n\\nx\\n' $t | git hash-object --literally -t commit -w --stdin"
     " >.git/refs/heads/bomb", ""),
    ("a delta that makes 2 GB", "", python(DELTA), ""),
    ("a pack that is a link out of the tree", "", "mkdir -p .git/objects/pack; ln -s $OUT/secret .git/objects/pack/pack-1.idx;"
     f" ln -s $OUT/secret .git/objects/pack/pack-1.pack; {COMMIT}", ""),
    ("alternates that lead to /etc and out", "", f"{COMMIT}; printf '/etc\\n$OUT\\n' >.git/objects/info/alternates", ""),
    ("alternates of the user that lead out", "mkdir -p .git/objects/info; printf '%s\\n' $OUT >.git/objects/info/alternates",
     COMMIT, ""),
    ("gitdir files that lead out", "", "mkdir sub dir; echo 'gitdir: $OUT' >sub/.git; echo 'gitdir: ../../../../etc' >dir/.git;"
     f" mkdir -p .git/modules/m; echo 'gitdir: /etc' >.git/modules/m/gitdir; {COMMIT}", ""),
    ("commondir that leads out", "", f"{COMMIT}; echo $OUT >.git/commondir", ""),
    ("names that fold to .git", "", "for d in .GIT .Git git~1; do mkdir -p $d/hooks; printf '#!/bin/sh\\ntouch $OUT/executed\\n'"
     " >$d/hooks/pre-commit; chmod +x $d/hooks/pre-commit; echo '[core] fsmonitor = touch $OUT/executed' >$d/config; done", ""),
    (".git replaced by a file", "", "mv .git g && echo 'gitdir: $OUT' >.git", ""),
    (".git replaced by a link", "", "mv .git g && ln -s $OUT .git", ""),
    (".git replaced by a link outside meanwhile", "", COMMIT, "mv .git ../moved && ln -s ../moved .git"),
    ("a branch called holdback", "git branch holdback", COMMIT, f"{COMMIT}"),
    ("holdback/s with commits of the user", f"git branch holdback/s; git checkout -q holdback/s; {COMMIT}; git checkout -q main",
     COMMIT, f"git {ID} commit -q --allow-empty -m outside"),
    ("pack-refs outside", "git branch b; git tag t", f"{COMMIT}; git branch c", "git pack-refs --all"),
    ("replace references", f"{COMMIT}; {COMMIT}", "git replace HEAD HEAD~1; " + COMMIT, ""),
    ("grafts", f"{COMMIT}; {COMMIT}", "mkdir -p .git/info; echo \"$(git rev-parse HEAD)\" >.git/info/grafts; " + COMMIT, ""),
    ("an object that is not its name", "", "echo f >f; git add f; " + COMMIT + "; b=$(git rev-parse HEAD:f); p=.git/objects/$("
     "echo $b | cut -c1-2)/$(echo $b | cut -c3-); t=.git/objects/$(git rev-parse HEAD | sed 's|^..|&/|'); chmod u+w $p; cat $t >$p", ""),
    ("an unborn HEAD", "git checkout -q --orphan none; git rm -q -rf .", COMMIT, ""),
    ("a repository without a commit", "rm -rf .git && git init -q -b main .", "echo a >a; git add a; " + COMMIT, ""),
    ("core.worktree that leads out", "", f"{COMMIT}; git config core.worktree $OUT", ""),
    ("core.worktree of the user that leads out", "git config core.worktree $OUT", "export GIT_WORK_TREE=$PWD; " + COMMIT, ""),
    ("sparse paths", "mkdir x; echo y >x/y; git add x; " + COMMIT, "git sparse-checkout set --cone none; " + COMMIT, ""),
    ("a rebase of the user under way", "", COMMIT, "mkdir .git/rebase-merge && echo x >.git/rebase-merge/git-rebase-todo"),
    ("a merge of the user under way", "", COMMIT, "git rev-parse HEAD >.git/MERGE_HEAD"),
    ("configuration that runs programs", "", "for k in core.fsmonitor core.pager core.editor core.sshCommand diff.external"
     " gpg.program credential.helper; do git config $k \"touch $OUT/executed\"; done; git config core.hooksPath $PWD/h;"
     " git config diff.x.textconv \"touch $OUT/executed\"; git config filter.x.clean \"touch $OUT/executed\"; mkdir h; printf"
     " '#!/bin/sh\\ntouch $OUT/executed\\n' >h/pre-commit; echo '* diff=x filter=x' >.gitattributes; rm h/pre-commit; echo n >n;"
     " git -c core.fsmonitor= -c core.hooksPath=/dev/null -c filter.x.clean= add n", ""),
    ("a configuration of the user that runs programs", "for k in core.fsmonitor core.pager diff.external gpg.program; do git config"
     " $k \"touch $OUT/executed\"; done", "echo n >n; git -c core.fsmonitor= add n; git -c core.fsmonitor= " + COMMIT[4:], ""),
    ("a message and names that speak to the terminal", "", "printf 'x' >\"$(printf 'n\\033[2Jn')\"; git add -A; git "
     + ID + " -c user.name=\"$(printf 'a\\033]0;t\\007')\" commit -q -m \"$(printf 'm\\033[2Jm')\"", ""),
)


class Fault(Exception):
    """What a row found."""


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


class World:
    def __init__(self, top):
        self.top = top
        self.project = os.path.join(top, "p")
        self.out = os.path.join(top, "out")
        self.path = os.path.join(top, "bin")
        for path in (self.project, self.out, self.path, os.path.join(top, "home")):
            os.mkdir(path)
        with open(os.path.join(self.out, "secret"), "w", encoding="ascii") as f:
            f.write("ref: refs/heads/" + SECRET + "\n" + SECRET + "\n")
        # Whoever starts one of these on the host is seen.
        for name in ("git", "gpg", "ssh", "less", "sh-of-the-host"):
            with open(os.path.join(self.path, name), "w", encoding="ascii") as f:
                f.write(f"#!/bin/sh\ntouch {self.out}/executed\n")
            os.chmod(os.path.join(self.path, name), 0o755)

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": os.path.join(self.top, "home"), "OUT": self.out,
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
                "LC_ALL": "C.UTF-8"}

    def shell(self, script):
        subprocess.run(["sh", "-c", script], cwd=self.project, env=self.environment(), check=True, timeout=WALL,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def hb(self, statuses, *words, limited=True):
        env = self.environment()
        env["PATH"] = self.path + ":" + env["PATH"]
        done = subprocess.run([HOLDBACK, words[0], "--state-dir", os.path.join(self.top, "state"), *words[1:]], cwd=self.project,
                              env=env, timeout=WALL, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, preexec_fn=limit if limited else None)  # pylint: disable=subprocess-popen-preexec-fn
        said = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
        name = " ".join(words[:3])
        if done.returncode not in statuses:
            raise Fault(f"{name}: status {done.returncode}: {said[-400:]}")
        if done.returncode and not said.strip():
            raise Fault(f"{name}: no words for status {done.returncode}")
        if SECRET in said:
            raise Fault(f"{name}: shows what lies outside")
        return done.returncode

    def objects(self):
        found = {}
        for top, _, names in os.walk(os.path.join(self.project, ".git", "objects")):
            for name in names:
                path = os.path.join(top, name)
                if os.path.isfile(path) and not os.path.islink(path) and "info" not in top:
                    with open(path, "rb") as f:
                        found[os.path.relpath(path, self.project)] = f.read()
        return found


def try_row(row):
    _, before, inside, outside = row
    top = tempfile.mkdtemp(prefix="git-hostile.")
    try:
        world = World(top)
        world.shell("git init -q -b main . && echo f >first && git add first && git " + ID + " commit -qm one")
        if before:
            world.shell(before)
        world.hb(LOOKS, "create", "s", "--cow", ".", limited=False)
        # What the box lacks of the variable is said as text.
        inside = inside.replace("$OUT", world.out)
        env = ["env", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"]
        world.hb({0}, "exec", "@s", "--", *env, "sh", "-ec", inside, limited=False)
        if outside:
            world.shell(outside)
        had = world.objects()
        refs = subprocess.run(["git", "for-each-ref", "refs/heads/holdback"], cwd=world.project, env=world.environment(),
                              stdout=subprocess.PIPE, check=False).stdout
        for words in (("status",), ("status", "--json"), ("diff",), ("diff", "--commits"), ("diff", "--commits", "--json")):
            world.hb(LOOKS, *words, "@s")
        world.hb({0, 4}, "gate", "@s")
        world.hb(COMMITS, "commit", "-n", "@s")
        status = world.hb(COMMITS, "commit", "-y", "@s")
        if os.path.exists(os.path.join(world.out, "executed")):
            raise Fault("a program was executed")
        if sorted(os.listdir(world.out)) != ["secret"]:
            raise Fault(f"there is more outside: {os.listdir(world.out)}")
        has = world.objects()
        lost = [path for path, data in had.items() if has.get(path) != data]
        if lost:
            raise Fault(f"objects of the user are gone or changed after status {status}: {lost[:3]}")
        if refs:
            now = subprocess.run(["git", "for-each-ref", "refs/heads/holdback"], cwd=world.project, env=world.environment(),
                                 stdout=subprocess.PIPE, check=False).stdout
            if not now.startswith(refs.splitlines()[0]):
                raise Fault("a branch of the user moved")
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", top], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(top)


def main():
    number = 0
    for row in ROWS:
        number += 1
        try:
            try_row(row)
            print(f"ok {number} - {row[0]}", flush=True)
        except (Fault, subprocess.SubprocessError) as e:
            print(f"not ok {number} - {row[0]}", flush=True)
            words = getattr(e, "stderr", None)
            print("\n".join("# " + line for line in (str(e) + (words.decode("utf-8", "replace") if words else "")).splitlines()))
    print(f"1..{number}")


if __name__ == "__main__":
    sys.exit(main())
