# SPDX-License-Identifier: Apache-2.0
"""A copy of the source to which a test adds a row, and from which it takes a part away."""

import concurrent.futures
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess

SOURCE = os.path.realpath(os.environ["HB_SOURCE"])
BUILD = os.path.realpath(os.environ["HB_BUILD"])
COPIED = "data docs include src tests/lint tools".split()
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
FAILED = re.compile(r"^not ok \d+ - (.*)", re.M)
PROGRAM = "src/cli/holdback-commands.p/"


@dataclasses.dataclass
class Part:
    """One edit of one file, and the check that notices its absence.

    `text` goes before the first line that contains `before`; without `before`
    it is a new file.  `noticed` is a file that does not compile, "link" for a
    program that does not link, or the name of a lint; `by` is a piece of the
    error or of the test point.
    """

    file: str
    before: str
    text: str
    noticed: str
    by: str


@dataclasses.dataclass
class Addition:
    """A row of the table "Where a change goes" in CONTRIBUTING, tried."""

    row: str
    parts: list


class Copy:
    """The copied tree, its objects and its program."""

    def __init__(self, top):
        self.top = os.path.join(top, "tree")
        self.made = os.path.join(top, "made")
        os.makedirs(os.path.join(self.made, "man"))
        for name in COPIED:
            shutil.copytree(os.path.join(SOURCE, name), os.path.join(self.top, name))
        with open(os.path.join(BUILD, "main", "compile_commands.json"), encoding="utf-8") as file:
            self.entries = [entry for entry in json.load(file) if "/tests/" not in entry["file"]]
        self.objects = {}
        self.program = None

    def path(self, name):
        return os.path.join(self.top, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def add(self, part):
        """Returns the faults: an edit whose place is not there."""
        if not part.before:
            self.write(part.file, part.text)
            self.entries += self.entries_like(part.file)
            return []
        lines = self.read(part.file).splitlines(keepends=True)
        for i, line in enumerate(lines):
            if part.before in line:
                self.write(part.file, "".join(lines[:i]) + part.text + "".join(lines[i:]))
                return []
        return [f"{part.file} has no line with '{part.before}'"]

    def entries_like(self, name):
        """The compile commands of a new .c file: those of a neighbour."""
        folder, base = os.path.split(name)
        if not base.endswith(".c"):
            return []
        neighbour = next(file for file in sorted(os.listdir(self.path(folder))) if file.endswith(".c") and file != base)
        return [dict(entry, file=os.path.join(SOURCE, name), output=entry["output"].replace(neighbour, base))
                for entry in self.entries_of({os.path.join(folder, neighbour)})]

    def forget(self, part):
        if not part.before:
            os.remove(self.path(part.file))
            if not os.listdir(os.path.dirname(self.path(part.file))):
                os.rmdir(os.path.dirname(self.path(part.file)))
            for entry in self.entries_of({part.file}):
                self.objects.pop(entry["output"], None)
            return
        text = self.read(part.file)
        assert part.text in text, part
        self.write(part.file, text.replace(part.text, "", 1))

    def users_of(self, names):
        """The files of src that see one of these, by their includes."""
        includes = {}
        for top, _, files in os.walk(self.path("src")):
            for name in files:
                if name.endswith((".c", ".h")):
                    file = os.path.relpath(os.path.join(top, name), self.top)
                    includes[file] = INCLUDE.findall(self.read(file))
        seen, todo = set(names), list(names)
        while todo:
            header = todo.pop().split("/", 1)[1]
            for file, seen_by_it in includes.items():
                if header in seen_by_it and file not in seen:
                    seen.add(file)
                    todo.append(file)
        return {name for name in seen if name.endswith(".c")}

    def here(self, directory, word):
        """A path of the build's own command, in the copy."""
        path = os.path.normpath(os.path.join(directory, word))
        is_ours = path.startswith(SOURCE + "/") and not path.startswith(BUILD + "/")
        return os.path.join(self.top, os.path.relpath(path, SOURCE)) if is_ours else path

    def command(self, entry):
        words = shlex.split(entry["command"])
        words = words[: words.index("-MD")]
        paths = {"-iquote", "-include"}
        for i, word in enumerate(words):
            if word.startswith("-I"):
                words[i] = "-I" + self.here(entry["directory"], word[2:])
            elif i and words[i - 1] in paths:
                words[i] = self.here(entry["directory"], word)
        return words + ["-O0", "-fdiagnostics-color=never", self.here(entry["directory"], entry["file"])]

    def compile(self, entry, *options):
        env = dict(os.environ, CCACHE_DISABLE="1")
        done = subprocess.run(self.command(entry) + list(options), env=env, cwd=entry["directory"],
                              capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    def entries_of(self, names):
        wanted = {self.path(name): name for name in names}
        for entry in self.entries:
            if self.here(entry["directory"], entry["file"]) in wanted:
                yield entry

    def build(self, names):
        """Compiles these files; returns what the compiler says against them."""
        def one(entry):
            target = os.path.join(self.made, entry["output"].replace("/", "_"))
            errors = self.compile(entry, "-c", "-o", target)
            if not errors:
                self.objects[entry["output"]] = target
            return errors.splitlines()[:3]

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = pool.map(one, self.entries_of(names))
        return [line for lines in found for line in lines]

    def link(self, name):
        """Makes the program of commands with the objects made here; returns the linker's errors."""
        self.program = os.path.join(self.made, name)
        own = [entry["output"] for entry in self.entries if entry["output"].startswith(PROGRAM)]
        first = [self.objects.get(name, os.path.join(BUILD, "main", name)) for name in own]
        first += [path for name, path in self.objects.items() if ".a.p/" in name]
        main = os.path.join(BUILD, "main")
        archives = [os.path.join(main, name) for name in sorted(os.listdir(main)) if name.endswith(".a")]
        done = subprocess.run(["gcc", "-o", self.program, "-Wl,--gc-sections", *first, "-Wl,--start-group",
                               *archives, "-Wl,--end-group"], cwd=main, capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    def run(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True)
        return done.stdout + done.stderr

    def make_pages(self):
        """The man pages of the copy, as the build makes them."""
        for name in os.listdir(self.path("docs/man")):
            if not name.endswith(".scd"):
                continue
            made = os.path.join(self.made, "man", name[:-4])
            source = subprocess.run([self.path("tools/man"), self.path(f"docs/man/{name}")], capture_output=True)
            page = subprocess.run(["scdoc"], input=source.stdout, capture_output=True)
            with open(made, "wb") as file:
                file.write(page.stdout)

    def lint(self, name):
        """The points of a lint that fail on the copy."""
        env = dict(os.environ, HB_SOURCE=self.top, HB_BUILD=self.made, HB_BIN=self.program)
        path = next(path for path in (self.path(f"tests/{name}{end}") for end in (".sh", ".py"))
                    if os.path.exists(path))
        done = subprocess.run([path], env=env, capture_output=True, text=True)
        found = FAILED.findall(done.stdout)
        if done.returncode and not found:
            return [f"{name} does not run: {done.stderr}"]
        return found
