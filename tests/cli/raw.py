#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash stty node
"""An agent-like program at the terminal, in a run with a session: raw mode, a
new window size, suspended with its key and brought back, and at its end the
terminal as before and the changes listed below what it drew.
"""

import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from pty_shell import Failed, Shell, Tap, same  # noqa: E402

AGENT = r"""
const fs = require("fs");
const input = process.stdin, say = (text) => process.stdout.write(`<${text}>\r\n`);
input.setRawMode(true);
process.stdout.on("resize", () => say(`size ${process.stdout.columns}`));
process.on("SIGCONT", () => { input.setRawMode(true); say("back"); });
input.on("data", (keys) => {
  for (const key of keys.toString())
    if (key === "\x1a") {
      input.setRawMode(false);
      say("away");
      process.kill(process.pid, "SIGTSTP");
    } else if (key === "q") {
      input.setRawMode(false);
      process.exit(5);
    } else {
      fs.appendFileSync("keys", key.charCodeAt(0) + "\n");
      say(`key ${key.charCodeAt(0)}`);
    }
});
say(`ready ${process.stdout.columns}`);
"""


def session(sh):
    sh.start("$HB_BIN node agent.js", r"session node-1 ·\s[\s\S]* is copy-on-write")
    sh.expect("<ready 80>")
    # ^C is a key for it, as in any program that draws.
    sh.type("\x03")
    sh.expect("<key 3>")
    sh.type("é")
    sh.expect("<key 233>")
    sh.resize(100, 30)
    sh.expect("<size 100>")
    sh.type("\x1a")
    sh.expect("<away>")
    sh.expect("Stopped")
    sh.expect("hb> ")
    if "-icanon" in sh.run("stty -a"):
        raise Failed("the shell has a raw terminal")
    sh.start("fg", "<back>")
    sh.type("x")
    sh.expect("<key 120>")
    sh.type("q")
    sh.expect("holdback: node exited 5 after ")
    sh.expect(r"  A  keys  \+3")
    sh.expect(r"1 file: 1 added · \+3 -0")
    sh.expect(r"Next: holdback diff @node-1 .*\r\n +holdback rollback @node-1\r\nGo on: holdback -c node agent.js")
    sh.expect("hb> ")
    same(sh.status(), 5)
    sh.resize(80, 24)


def main():
    folder = tempfile.mkdtemp()
    home = os.path.join(folder, "home")
    project = os.path.join(folder, "p")
    os.mkdir(home)
    os.mkdir(project)
    os.chdir(project)
    os.environ["HOME"] = home
    os.environ["LC_ALL"] = "C.UTF-8"
    with open("agent.js", "w", encoding="utf-8") as file:
        file.write(AGENT)
    tap = Tap()
    sh = Shell("")
    try:
        before = sh.run("stty -g")
        tap.test("raw mode, keys, resize, suspend, and the end", session, sh)
        tap.test("terminal modes are as before", lambda: same(sh.run("stty -g"), before))
        tap.test("nothing is left running", lambda: same(sh.children(), []))
        sh.run("$HB_BIN cleanup -y @node-1")
    finally:
        sh.close()
        os.chdir("/")
        shutil.rmtree(folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
