#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What takes long is told on a terminal, on a line that is gone at the end."""

import os
import pty
import shutil
import subprocess
import sys
import tempfile

HOLDBACK = os.environ["HB_BIN"]
ERASE = b"\r\x1b[K"

# The command, and what is said of it.
STEPS = (
    (["exec", "@s", "--", "sh", "-c", "echo x >>a"], b"writing the changes to disk"),
    (["status", "@s"], b"looking for changes"),
    (["commit", "-y", "@s"], b"committing"),
    (["undo", "@s"], b"changing the real directories"),
    (["cleanup", "-y", "@s"], b"removing the session"),
)


def run(words, project, env):
    """What the command says on a terminal that is its stderr."""
    leader, follower = pty.openpty()
    command = [HOLDBACK, words[0], "--state-dir", "../state", *words[1:]]
    with subprocess.Popen(
        command, cwd=project, env=env, stderr=follower, stdout=subprocess.PIPE
    ) as process:
        os.close(follower)
        said = b""
        while True:
            try:
                block = os.read(leader, 4096)
            except OSError:
                break
            if not block:
                break
            said += block
        process.communicate()
    os.close(leader)
    return process.returncode, said


def make(work):
    project = os.path.join(work, "p")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(project)
    with open(os.path.join(project, "a"), "w", encoding="utf-8") as file:
        file.write("a\n")
    subprocess.run(
        [HOLDBACK, "create", "--state-dir", "../state", "s", "--cow", "."],
        cwd=project, check=True, capture_output=True,
    )  # fmt: skip
    return project


def main():
    work = tempfile.mkdtemp()
    count = 0
    env = {**os.environ, "HB_TEST_PROGRESS_AFTER": "0"}
    project = make(work)
    for words, line in STEPS:
        status, said = run(words, project, env)
        good = ERASE + b"holdback: " + line in said and said.endswith(ERASE)
        count += 1
        good = good and status == 0
        print(f"{'' if good else 'not '}ok {count} - {words[0]} tells, and erases it")
        if not good:
            print(f"# status {status}, said {said!r}")
    project = make(work)
    done = subprocess.run(
        [HOLDBACK, "status", "--state-dir", "../state", "@s"],
        cwd=project, env=env, capture_output=True, check=False,
    )  # fmt: skip
    count += 1
    silent = "" if done.returncode == 0 and not done.stderr else "not "
    print(f"{silent}ok {count} - without a terminal nothing is told")
    print(f"1..{count}")
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
