#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: user
# needs: node git bash openssl
# agent: claude
# timeout: 300
"""The real claude marks its turns, and one of them is taken back."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "agents", "bed"))

# pylint: disable=wrong-import-position
import bed  # noqa: E402


def marks(world):
    return [mark["name"] for mark in world.status()["marks"]]


def first_turn(world):
    world.work(world.inside, "first", world.kind.first, [bed.HOLDBACK, "run", "--mark-turns", "--"])
    bed.same(marks(world), ["turn-1"])


def second_turn(world):
    """The session goes on, and so does its option."""
    world.work(world.inside, "second", world.kind.again, [bed.HOLDBACK, "-c"])
    bed.same(marks(world), ["turn-1", "turn-2"])


def one_turn_back(world):
    world.holdback("rollback", "-y", "--to", "turn-1")
    world.work(world.outside, "first", world.kind.first)
    world.commit()


def nothing_stays(world):
    """The hook is a setting of the run; claude's transcript says that it ran."""
    for folder, _, names in os.walk(world.inside.home):
        for name in names:
            path = os.path.join(folder, name)
            if not name.endswith(".json"):
                continue
            with open(path, "rb") as file:
                if b"mark --turn" in file.read():
                    raise bed.Failed(path)


def main():
    found = json.loads(os.environ["HB_AGENT"])
    if "reason" in found:
        print(f"1..0 # SKIP claude is not to be had: {found['reason']}")
        return 0
    tap = bed.Tap()
    world = bed.Bed("claude", found["directory"])
    try:
        tap.test("claude marks the end of its first turn", first_turn, world)
        tap.test("claude marks its second turn in the session that goes on", second_turn, world)
        tap.test("after rollback to the first turn, commit brings its bytes", one_turn_back, world)
        tap.test("no settings have claude's hook afterwards", nothing_stays, world)
    finally:
        world.remove()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
