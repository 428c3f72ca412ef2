# SPDX-License-Identifier: Apache-2.0
"""What lints in Python share: points, and a small tree to see them fail on."""

import os


class Points:
    """Prints TAP; a point fails with the lines that it is given."""

    def __init__(self):
        self.count = self.failed = 0

    def add(self, name, faults):
        self.count += 1
        self.failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {self.count} - {name}")
        for fault in faults:
            print(f"# {fault}")

    def expect(self, name, found, wanted):
        """A fixture must be told apart: these lines and no others."""
        found = list(found)
        self.add(name, [] if found == wanted else found or ["nothing was found"])

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def write_tree(top, texts):
    for name, text in texts.items():
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
