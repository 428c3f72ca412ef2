# SPDX-License-Identifier: Apache-2.0
"""Has the agents installed that the chosen tests run.

Not by a test: the user of a run is gone after it, and what was fetched is to be
there for the next one.
"""

import json
import os
import signal
import subprocess


class Agents:
    """Fetches in the background, while tests run that need none of them."""

    def __init__(self, source, tests):
        self.found = None
        self.child = None
        names = sorted({test.agent for test in tests if test.agent and not test.broken})
        if names:
            program = os.path.join(source, "tests", "agents", "bed", "install.py")
            newest = ["--newest"] if os.environ.get("HB_AGENTS_NEWEST") == "1" else []
            self.child = subprocess.Popen([program, *newest, *names], stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, text=True,
                                          start_new_session=True)  # fmt: skip

    def of(self, name):
        """What was found of an agent, as JSON: `directory`, or the `reason`."""
        self.wait()
        return json.dumps(self.found.get(name, {"reason": "the installation failed"}))

    def wait(self):
        """Until all are there, or known to be missing."""
        if self.found is None and self.child:
            try:
                self.found = json.loads(self.child.communicate()[0])
            except ValueError:
                self.found = {}

    def stop(self):
        """The end of the run, which may be early: npm goes as well."""
        if self.child and self.found is None:
            try:
                os.killpg(self.child.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
            self.child.communicate()
