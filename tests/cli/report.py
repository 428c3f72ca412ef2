#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A listener of its own hears every report of a session's whole story.

tests/probe/listen.c uses the public interface and writes each report to its
stderr.  What the command line would show of it plays no part here: news that
did not come as a report would be missing.
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

LISTEN = os.environ["HB_LISTEN"]
COPY = "printf '\\033]52;c;aGk=\\007'"
START = "noted text=session s \u00b7 P is copy-on-write \u00b7 network: none"
QUESTION = ("asked text=the home directory would be the workspace: the command could read all "
            "of it but known keys; go on?")  # fmt: skip


def order(words):
    """How a run begins for the log: values of options are dots, the settings those of the call."""
    return [f"ordered session=s source=P text={words}", "policy session=s"]


# Each step: its name, the words of listen, a file that is written before it, and
# the reports.  They say what changes: pid, directory, tools of the host.
STORY = (
    ("a run is announced, started and ended",
     ["run", "session=s", "--", "sh", "-c", "echo x >f; echo y >.envrc"], None,
     [*order("sh -c ..."), START, "started session=s path=SH n=PID",
      "ended session=s"]),
    ("a commit that the gate stops is a finding and a refusal",
     ["commit"], None,
     ["begun session=s text=commit", "finding session=s source=P path=.envrc rule=environment",
      "refused session=s n=4102 text=the gate does not let it pass"]),
    ("a commit tells the finding that was allowed and each change",
     ["commit", "allow=environment"], None,
     ["begun session=s text=commit", "finding session=s source=P path=.envrc rule=environment",
      "changed session=s source=P path=.envrc", "changed session=s source=P path=f",
      "done session=s n=2 text=commit"]),
    ("an undo tells each change",
     ["undo"], None,
     ["begun session=s text=undo", "changed session=s source=P path=.envrc",
      "changed session=s source=P path=f", "done session=s n=2 text=undo"]),
    ("a commit in conflict is refused",
     ["commit", "allow=environment"], "f",
     ["begun session=s text=commit", "refused session=s n=4097 text=the base has changed in 1 place: f"]),
    ("a command that ends with others in the box tells so",
     ["exec", "--", "sh", "-c", "sleep 100 & exit 3"], None,
     [*order("sh -c ..."), "started session=s path=SH n=PID", "ended session=s n=3",
      "said text=ended 1 process that the command left behind"]),
    ("a weakened run says so before it starts",
     ["run", "session=s", "net=host", "--", "sh", "-c", "exit 4"], None,
     [*order("sh -c ..."), "weakened text=the network is the host's", START.replace("none", "host"),
      "started session=s path=SH n=PID", "ended session=s n=4"]),
    ("a quiet run marks its reports",
     ["run", "session=s", "quiet=yes", "--", "true"], None,
     [*order("true"), START.replace("noted", "noted quiet"), "started session=s path=TRUE n=PID",
      "ended session=s"]),
    ("a clipboard that is not set is denied to the command",
     ["run", "session=s", "--", "sh", "-c", COPY], None,
     [*order("sh -c ..."), START, "started session=s path=SH n=PID", "ended session=s",
      "denied text=the command wanted to set the clipboard, which was not done "
      "(--clipboard write allows up to 100 KB)"]),
)  # fmt: skip


def listen(words, where, env):
    """The reports of one call, on a terminal of its own but for stderr."""
    log = os.path.join(os.path.dirname(where), "log")
    leader, follower = pty.openpty()
    with open(log, "wb") as out, subprocess.Popen(
        [LISTEN, "../state", *words], cwd=where, env=env, stdin=follower, stdout=follower,
        stderr=out, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(follower)
        try:
            while os.read(leader, 4096):
                pass
        except OSError:
            pass
        os.close(leader)
        process.wait()
    with open(log, encoding="utf-8") as file:
        return process.returncode, file.read().splitlines()


def plain(lines, where):
    """Without what is another thing on each host."""
    out = []
    for line in lines:
        line = line.replace(where, "P").replace("~/p", "P")
        line = re.sub(r" n=\d+$", " n=PID", line) if line.startswith("started") else line
        line = re.sub(r" path=\S*/(sh|dash|bash|busybox) ", " path=SH ", line)
        line = re.sub(r" path=\S*/(true|coreutils) ", " path=TRUE ", line)
        line = re.sub(r"(network: \w+) .*", r"\1", line)
        line = re.sub(r"^(policy session=s) text=profile=.* sha256:[0-9a-f]{64}$", r"\1", line)
        # Of the kernel, of what is mounted here, and of a slow host.
        if line.startswith("lasted"):
            continue
        if not line.startswith("weakened") or "network" in line:
            out.append(line)
    return out


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, found, wanted):
        good = found == wanted
        self.count += 1
        self.failed += not good
        print(f"{'' if good else 'not '}ok {self.count} - {name}")
        for line in () if good else [f"heard: {x}" for x in found] + [f"wanted: {x}" for x in wanted]:
            print(f"# {line}")


def tell_story(tap, project, env):
    heard = []
    for name, words, written, wanted in STORY:
        if written:
            with open(os.path.join(project, written), "w", encoding="utf-8") as file:
                file.write("meanwhile\n")
        lines = plain(listen(words, project, env)[1], project)
        heard += lines
        tap.check(name, lines, wanted)
    tap.check("a report has no member that its kind does not name",
              [line for line in heard if "!" in line], [])  # fmt: skip


def tell_rest(tap, project, env):
    home = env["HOME"]
    status, lines = listen(["run", "--", "true"], home, env)
    tap.check("a question that is answered no stops the run, which failed",
              [status, *(line.split(":")[0] for line in lines)],
              [125, QUESTION.split(":", maxsplit=1)[0],
               "failed n=4101 text=the home directory cannot be a workspace"])  # fmt: skip
    status, lines = listen(["run", "answer=yes", "--", "true"], home, env)
    tap.check("a question that is answered yes goes on",
              [status, lines[0], plain(lines, home)[-1]],
              [0, QUESTION, "ended session=true-1"])  # fmt: skip
    lines = listen(["commit", "progress=yes", "allow=environment"], project, env)[1]
    told = [line for line in lines if line.startswith("progress")]
    tap.check("progress is told to a listener that wants it, with its end",
              [told[0].split(" n=")[0], told[-1].split(" n=")[0]] if told else [],
              ["progress text=committing", "progress"])  # fmt: skip


def main():
    tap = Tap()
    work = os.path.realpath(tempfile.mkdtemp())
    project, home = os.path.join(work, "p"), os.path.join(work, "h")
    os.makedirs(project)
    os.makedirs(home)
    env = {**os.environ, "HOME": home}
    try:
        tell_story(tap, project, env)
        tell_rest(tap, project, env)
    finally:
        shutil.rmtree(work)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


sys.exit(main())
