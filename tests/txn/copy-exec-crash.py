#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: strace
# timeout: 900
# soak-modes: userns
"""Kills `exec` on a copy at each of its system calls that change something.

Whether the copy is being made up to date or what the command did is being
carried over: the next command sees nothing of it or all of it, the real tree is
what it was, and the view is what it would have been without.
"""

import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "txn"))
sys.dont_write_bytecode = True
os.environ["HB_STRATEGY"] = "copy_on_write"
# pylint: disable=wrong-import-position
import crash  # noqa: E402

CALLS = ["mkdirat", "renameat", "linkat", "unlinkat", "utimensat", "fsync",
         "syncfs", "mknodat", "fchmodat2", "copy_file_range"]  # fmt: skip
STEP = 1 if os.environ.get("HB_SOAK") == "1" else 11
AGAIN = "echo again >>f; rm -r e; mkdir -p e/z; echo 2 >e/z/2; rm -r l; ln n/1 n/3; chmod 755 d"
LOOK = "find . | sort; cat f e/z/2 2>/dev/null; stat -c '%h %a' n/1 d"


def check(call, number):
    session = crash.Session()
    try:
        old = session.tree()
        # The copy has to follow the host, too.
        with open(os.path.join(session.real, "host"), "w", encoding="ascii") as file:
            file.write("made meanwhile\n")
        old, pending = session.tree(), session.names()
        inject = f"inject={call}:signal=KILL:when={number}"
        strace = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject]
        done = session.run("exec", "@s", "--", "sh", "-c", AGAIN, under=strace)
        names = session.names()
        if session.tree() != old:
            raise AssertionError("the real tree has changed")
        if names == pending:
            session.must("exec", "@s", "--", "sh", "-c", AGAIN)
            names = session.names()
        view = session.must("exec", "@s", "--", "sh", "-c", LOOK)
        if session.names() != names:
            raise AssertionError("looking changed something")
        session.must("commit", "-y", "@s")
        return done.returncode != 0, (names, view, [line for line in session.tree()])
    finally:
        session.remove()


def without_times(result):
    """The command may have run at another second."""
    names, view, _ = result
    return names, view


def main():
    print(f"1..{len(CALLS)}")
    _, want = check("syncfs", 1000000)
    for number, call in enumerate(CALLS):
        failures, hit, at = [], 0, 1
        while at < crash.LIMIT:
            try:
                died, got = check(call, at)
                if without_times(got) != without_times(want):
                    failures.append(f"{call} {at}: {got[:2]} instead of {want[:2]}")
            except AssertionError as error:
                died = True
                failures.append(f"{call} {at}: {error}")
            if not died:
                break
            hit += 1
            at += STEP
        print(f"{'not ok' if failures else 'ok'} {number + 1} - {call}, {hit} times")
        for failure in failures:
            print("# " + "\n# ".join(failure.splitlines()))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
