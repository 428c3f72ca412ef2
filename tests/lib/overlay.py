# SPDX-License-Identifier: Apache-2.0
"""A project that lies in the lower layer of an overlay, as in a container."""

import os
import subprocess
import sys

IS_ROOT = os.environ.get("HB_MODE") == "root"
INSIDE = "HB_IN_NAMESPACE"


def run_inside(main):
    """main() in a namespace for mounts of our own; what it returned."""
    namespace = ["unshare", "-m"] if IS_ROOT else ["unshare", "-Urm"]
    if INSIDE in os.environ:
        return main()
    if subprocess.run([*namespace, "true"], check=False, capture_output=True).returncode:
        print("1..0 # SKIP no namespace for mounts of our own")
        return 0
    again = [*namespace, sys.executable, os.path.abspath(sys.argv[0])]
    return subprocess.run(again, env={**os.environ, INSIDE: "1"}, check=False).returncode


def make(top, fill):
    """Mounts TOP/o, whose project `p` is what fill(path) makes; returns its path."""
    for name in ("l/p", "u", "w", "o"):
        os.makedirs(os.path.join(top, name))
    fill(os.path.join(top, "l/p"))
    options = f"lowerdir={top}/l,upperdir={top}/u,workdir={top}/w"
    options += "" if IS_ROOT else ",userxattr"
    subprocess.run(
        ["mount", "-t", "overlay", "-o", options, "none", os.path.join(top, "o")], check=True
    )
    return os.path.join(top, "o/p")


def unmake(top):
    subprocess.run(["umount", os.path.join(top, "o")], check=True)
