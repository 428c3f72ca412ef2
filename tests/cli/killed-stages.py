#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""Kills the supervisor with SIGKILL while its child is at work on the box.

A call of the child waits until the supervisor is dead, and then goes on.  Every
stage makes one of these calls, so the supervisor is gone at the beginning, in
the middle and at the end of each.  What has to hold afterwards is in
tests/lib/killed.py.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

from killed import at_each, main, run_that_stays  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
# Calls of the child, and how many of each are left out; the stages that they
# belong to.
CALLS = {
    "prctl": 37,  # parent, bound, prove
    "openat": 11,  # ids, no-userns, devices, landlock, prove
    "socket": 1,  # network
    "mount_setattr": 7,  # private, mounts, root
    "fsopen": 5,  # mounts
    "open_tree": 9,  # mounts
    "move_mount": 11,  # mounts
    "mkdirat": 13,  # mounts
    "fchdir": 1,  # root
    "pivot_root": 1,  # root
    "umount2": 1,  # root
    "clone": 1,  # init
    "chdir": 1,  # cwd
    "prlimit64": 1,  # limits
    "keyctl": 1,  # limits
    "capset": 1,  # init, caps
    "landlock_create_ruleset": 1,  # landlock
    "landlock_add_rule": 9,  # landlock
    "landlock_restrict_self": 1,  # landlock
    "close_range": 1,  # init, fds
    "seccomp": 1,  # seccomp
    "execve": 1,  # exec
    "sendto": 1,  # what init tells
}


def at_stages(world):
    def cut(call, number):
        return [os.environ["HB_PROBE"], "cut", call, str(number), "--"]

    calls = {call: 1 if SOAK else step for call, step in CALLS.items()}
    visited = at_each(world, calls, cut, run_that_stays)
    missed = [call for call, n in visited.items() if n == 0 and not call.startswith("landlock_")]
    if missed:
        raise AssertionError(f"nobody makes these calls: {missed}")
    return sum(visited.values())


if __name__ == "__main__":
    sys.exit(main(at_stages))
