# SPDX-License-Identifier: Apache-2.0
"""Calls of holdback with a store of the test's own."""

import os
import subprocess

from pty_shell import Failed

HOLDBACK = os.environ["HB_BIN"]


class Caller:
    """A world with a `project` to call from, and a store in `state`."""

    project = state = None

    def words(self, *words):
        return [HOLDBACK, words[0], "--state-dir", self.state, *words[1:]]

    def run(self, *words):
        return subprocess.run(
            self.words(*words), cwd=self.project, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip

    def must(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise Failed(f"{words}: {done.returncode}: {done.stderr}")
        return done.stdout
