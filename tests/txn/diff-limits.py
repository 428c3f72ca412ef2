#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: git
"""Contents of any size and shape: `holdback diff` folds what is too much for
memory, opens nothing that blocks, and its processes stay small."""

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile

HOLDBACK = os.environ["HB_BIN"]
MOST = 64 << 10  # kB that a process of ours may hold
FOLDED = 8 << 20
LINES = 200000
WORK = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
PROJECT, STATE = os.path.join(WORK, "p"), os.path.join(WORK, "state")
COUNT = [0]

# Inside: the same names as below.
CHANGE = """
import os
def write(name, *parts):
    with open(name, "wb") as file:
        for part in parts:
            file.write(part)
half = {lines} // 2
write("newlines", b"\\n" * {folded})
write("one-line", b"x" * ({folded} - 1) + b"\\n")
write("most-lines", b"".join(b"%d\\n" % (3 * i) for i in range(half)))
write("too-many-lines", b"".join(b"%d\\n" % (3 * i) for i in range(half + 1)))
write("added-lines", b"\\n" * {folded})
write("large-text", b"line\\n" * ({folded} // 5 + 1))
write("large-random", *(os.urandom(1 << 20) for _ in range(10)))
with open("sparse", "wb") as file:
    file.truncate(1 << 40)
    file.seek(1 << 30)
    file.write(b"x")
os.mkfifo("fifo")
os.unlink("was-file"); os.mkfifo("was-file")
"""


def write(name, *parts):
    with open(os.path.join(PROJECT, name), "wb") as file:
        for part in parts:
            file.write(part)


def hb(command, *words, out=subprocess.PIPE):
    """Its output, and the most that it or one of its processes held."""
    with subprocess.Popen(
        [HOLDBACK, command, "--state-dir", STATE, *words],
        cwd=PROJECT, stdout=out, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        text = process.stdout.read() if out == subprocess.PIPE else b""
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise AssertionError(f"{command}: {process.returncode}: {said.decode()}")
    return text, used.ru_maxrss


def point(name, function):
    COUNT[0] += 1
    try:
        wrong = function()
    except AssertionError as error:
        wrong = str(error)
    print(f"{'not ' if wrong else ''}ok {COUNT[0]} - {name}")
    for line in str(wrong or "").splitlines():
        print(f"# {line[:300]}")
    sys.stdout.flush()


def set_up():
    os.mkdir(PROJECT)
    half = LINES // 2
    write("newlines", b"\n" * (FOLDED - 1))
    write("one-line", b"y" * (FOLDED - 1) + b"\n")
    for name in ("most-lines", "too-many-lines"):
        write(name, b"".join(b"%d\n" % (2 * i) for i in range(half)))
    write("large-text", b"line\n" * (FOLDED // 5))
    write("large-random", *(os.urandom(1 << 20) for _ in range(9)))
    write("was-file", b"was\n")
    hb("create", "s", "--cow", PROJECT)
    hb("exec", "@s", "--", "/usr/bin/python3", "-c", CHANGE.format(folded=FOLDED, lines=LINES))


def is_folded(name, is_expected, sums=None):
    def look():
        text, rss = hb("diff", "@s", name)
        folded = b"\nBinary files " in text
        if rss > MOST:
            return f"{rss} kB"
        if folded != is_expected:
            return f"{'is' if folded else 'is not'} folded: {text[:300]!r}"
        missing = [s for s in sums or () if s.encode() not in text]
        return f"no {missing} in {text[:400]!r}" if missing else ""

    point(f"{name} is {'' if is_expected else 'not '}folded, in little memory", look)


def sum_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_fifos():
    text, _ = hb("diff", "@s", "fifo", "was-file")
    want = b"# fifo: nothing -> fifo\n# was-file: file -> fifo\ndiff --git a/was-file b/was-file\ndeleted file"
    return "" if text.startswith(want) else repr(text)


def test_binary():
    """The large ones as a patch, made and applied."""
    copy, patch = os.path.join(WORK, "copy"), os.path.join(WORK, "patch")
    shutil.copytree(PROJECT, copy)
    words = ("--binary", "--except", "sparse", "@s")
    with open(patch, "wb") as file:
        _, rss = hb("diff", *words, out=file)
    if rss > MOST:
        return f"{rss} kB"
    subprocess.run(["git", "apply", "--binary", patch], cwd=copy, check=True,
                   env=dict(os.environ, GIT_CEILING_DIRECTORIES="/"))  # fmt: skip
    hb("commit", "-y", "--except", "sparse", "--special", "@s")
    for name in os.listdir(copy):
        if sum_of(os.path.join(copy, name)) != sum_of(os.path.join(PROJECT, name)):
            return f"{name} is another"
    return ""


def test_all():
    _, rss = hb("diff", "@s", out=subprocess.DEVNULL)
    return f"{rss} kB" if rss > MOST else ""


def test_stat():
    text, rss = hb("diff", "--stat", "@s")
    if rss > MOST:
        return f"{rss} kB"
    row = [line.split() for line in text.decode().splitlines() if line.startswith(" sparse ")]
    return "" if row == [["sparse", "|", "Bin", "0", "->", str(1 << 40), "bytes"]] else repr(text)


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    set_up()
    new = os.path.join(STATE, "sessions", "s", "r0", "upper")
    is_folded("newlines", True)
    is_folded("one-line", False)
    is_folded("most-lines", False)
    is_folded("too-many-lines", True)
    is_folded("added-lines", False)
    sums = [sum_of(os.path.join(top, "large-random")) for top in (PROJECT, new)]
    is_folded("large-random", True, sums)
    is_folded("large-text", True, [sum_of(os.path.join(new, "large-text"))])
    is_folded("sparse", True, ["too large for a sha256"])
    point("fifos are named and never opened", test_fifos)
    point("all of it in little memory", test_all)
    point("counting as well", test_stat)
    point("a binary patch of large files is a stream", test_binary)
    print(f"1..{COUNT[0]}")
    hb("cleanup", "-y", "@s")
    shutil.rmtree(WORK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
