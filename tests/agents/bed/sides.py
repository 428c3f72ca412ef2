# SPDX-License-Identifier: Apache-2.0
"""A home with a project in it, for one agent and its model."""

import json
import os
import shutil
import subprocess

import gateway
import model
from pty_shell import Failed

HOLDBACK = os.environ["HB_BIN"]
SECONDS = 240
# Directories that claude and codex make in /tmp, whatever TMPDIR says.
DAEMONS = ("cc", "codex")


class Side:
    """A home with a project in it, and the model that its agent talks to."""

    def __init__(self, kind, name, directory):
        self.kind = kind
        self.home = os.path.join(os.environ["HOME"], name)
        self.project = os.path.join(self.home, "p")
        self.path = f"{directory}/bin:{os.environ['PATH']}"
        self.model = model.Model()
        self.temporary = os.path.join(os.environ["TMPDIR"], name)
        os.makedirs(self.temporary)
        os.makedirs(self.project)
        self.gateway = None
        if kind.GATEWAY:
            self.gateway = gateway.Gateway(os.path.join(self.home, "ca"), kind.GATEWAY, self.model.note)
        if not kind.URL_IN_VARIABLE:
            self.write_settings(name=kind.PROFILE, text=f"host-port = {self.model.port}\n")
        self.git("init", "-q")
        self.write("README", "a project\n")
        for path, text in kind.files(self.model.url).items():
            self.write(path, text)
        self.git("add", ".")
        self.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first")

    def write_settings(self, name, text):
        """Of holdback, for one profile: the model is a port of this host."""
        folder = os.path.join(self.home, ".config", "holdback")
        os.makedirs(folder)
        with open(os.path.join(folder, f"{name}.conf"), "w", encoding="utf-8") as file:
            file.write(text)

    def write(self, path, text):
        path = os.path.join(self.project, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def environment(self):
        env = {"HOME": self.home, "PATH": self.path, "TERM": "xterm-256color",
               "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8", "USER": os.environ["USER"],
               "LOGNAME": os.environ["USER"], "TMPDIR": self.temporary}  # fmt: skip
        if self.gateway:
            env.update(self.gateway.variables())
        return dict(env, **self.kind.variables(self.model.url))

    def call(self, words):
        """Runs a command in the project; what it printed, and its status."""
        try:
            return subprocess.run(words, cwd=self.project, env=self.environment(), check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=SECONDS, text=True)  # fmt: skip
        except subprocess.TimeoutExpired as slow:
            printed = (slow.stdout or b"").decode(errors="replace")
            raise Failed(f"no end after {SECONDS} s: {words}\n{printed}\n{self.told()}") from slow

    def git(self, *words):
        done = self.call(["git", *words])
        if done.returncode != 0:
            raise Failed(done.stdout)
        return done.stdout

    def prompt(self, story):
        return f"Please tell the story {story} in {self.project}: go on to its end"

    def told(self):
        """The last requests, for the reader of a failure."""
        return "\n".join(json.dumps(request)[:600] for request in self.model.requests[-6:])

    def tree(self):
        """The project's files: name, mode, bytes; without git's own."""
        found = {}
        for folder, folders, names in os.walk(self.project):
            if folder == self.project:
                folders.remove(".git")
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    text = file.read().decode(errors="replace")
                found[os.path.relpath(path, self.project)] = (oct(os.stat(path).st_mode), text)
        return found

    def remove(self):
        self.model.__exit__()
        if self.gateway:
            self.gateway.close()
        shutil.rmtree(self.home)
        shutil.rmtree(self.temporary)
        for name in DAEMONS:
            try:
                os.rmdir(f"/tmp/{name}-daemon-{os.getuid()}")
            except OSError:
                pass  # none was made, or another test has it in use
