#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth_before.py SESSION: makes a session whose store lies in its project one as
the version before made them: .holdback-ID at the top of the project."""
import hashlib
import os
import sys

record = os.path.join(sys.argv[1], "session")
with open(record, encoding="utf-8") as f:
    lines = f.read().splitlines(keepends=True)[:-1]
keys = {line.split(" = ", 1)[0]: line.split(" = ", 1)[1].rstrip("\n") for line in lines}
source, name = keys["resource"], keys["id"]
berth = os.path.join(source, ".holdback")
os.chmod(berth, 0o700)
os.chmod(os.path.join(berth, "store"), 0o700)
os.rename(os.path.join(berth, "store", name + "-r0"), os.path.join(source, ".holdback-" + name))
os.unlink(os.path.join(sys.argv[1], "r0", "berth"))
with open(os.path.join(sys.argv[1], "r0", "in-base"), "w", encoding="utf-8") as f:
    f.write(name + "\n" + source)
os.system("rm -rf '" + berth + "'")
text = "".join(
    "in-base = yes\n" if line.startswith("in-base = ") else line
    for line in lines
    if not line.startswith("berth = ")
)
# A record before had whole seconds.
text = "".join(
    line.split(".")[0] + "\n" if line.startswith("used = ") else line
    for line in text.splitlines(keepends=True)
)
text += "sum = " + hashlib.sha256(text.encode()).hexdigest() + "\n"
with open(record, "w", encoding="utf-8") as f:
    f.write(text)
