#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: gcc groff scdoc
# timeout: 600
"""An addition costs the files that CONTRIBUTING names, and each part of it is missed.

On a copy of the tree each row of the table "Where a change goes" is followed
with a dummy.  With all of them the tree compiles and the lints pass.  Then each
part is taken away alone: a file does not compile, the program does not link, or
the lint that the part names fails.
"""

import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
from addition import SOURCE, Addition, Copy, Part  # noqa: E402
from lint import Points  # noqa: E402

PAGE = """holdback-dummy(1)

# NAME

holdback-dummy - do nothing

# SYNOPSIS

*holdback* *dummy*

# DESCRIPTION

Does nothing.

# OPTIONS

.include json

# SEE ALSO

*holdback*(1)
"""

KEY = Addition("key of a run", [
    Part("src/plan/keys.h", 'ROW(PROFILE, "profile"',
         '\tROW(DUMMY, "dummy", 0, NULL, OFFER_NOTHING, \\\n'
         '\t    SET, is_dummy, 0, NULL, NO, NULL, ANY, LASTS, \\\n'
         '\t    "do nothing") \\\n', "lint/man", "holdback.conf(5) defines every key"),
    Part("src/plan/settings.h", "bool no_ptrace;", "\tbool is_dummy;\n", "src/plan/settings.c", "is_dummy"),
    Part("docs/man/common/view.scd", "*--inotify* _N_", "*--dummy*\n\tDo nothing.\n\n",
         "lint/man", "holdback-run(1) has the options of run"),
    Part("docs/man/holdback.conf.5.scd", "*inotify* = _N_", "*dummy* = _yes_|_no_\n\tNothing.\n\n",
         "lint/man", "holdback.conf(5) defines every key"),
])

COMMAND = Addition("command", [
    Part("src/cli/host/cmd_help.c", "int cmd_help(",
         "int cmd_dummy(const struct cmd_call *call, struct hb_error *err)\n"
         "{\n\t(void)call;\n\t(void)err;\n\treturn 0;\n}\n\n", "link", "cmd_dummy"),
    Part("src/cli/commands/cmd.h", "ROW(help)", "\tROW(dummy) \\\n", "src/cli/front/table.c", "cmd_dummy"),
    Part("src/cli/front/table.c", '{ .name = "completion"',
         '\t{ .name = "dummy",\n\t  .run = cmd_dummy,\n\t  .synopsis = "",\n'
         '\t  .summary = "do nothing",\n\t  .options = json_options },\n',
         "lint/man", "holdback(1) lists every command and nothing else"),
    Part("docs/man/holdback-dummy.1.scd", None, PAGE, "lint/man", "dummy needs no page of its own"),
    Part("docs/man/holdback.1.scd", "*holdback* *shell*|", "*holdback* *dummy*++\n",
         "lint/man", "holdback(1) lists every command and nothing else"),
    Part("docs/man/holdback.1.scd", "*stop*\n",
         "*dummy*\n\tDoes nothing. See *holdback-dummy*(1).\n\n",
         "lint/man", "holdback(1) lists every command and nothing else"),
])

OPERATION = Addition("operation of a plan", [
    Part("src/plan/op_kinds.h", "/* source is the name; needs PLAN_NS_UTS */",
         '\tROW(DUMMY, "dummy", HAS_DEST, OP_IS_NOTHING, 0, dummy) \\\n', "src/box/things.c", "op_dummy"),
    Part("src/box/things.c", "int op_symlink(",
         "int op_dummy(struct box *box, const struct plan_op *op,\n\t     struct hb_error *err)\n"
         "{\n\t(void)box;\n\t(void)op;\n\t(void)err;\n\treturn 0;\n}\n\n", "link", "op_dummy"),
])

STAGE = Addition("stage of a box", [
    Part("src/box/stage.h", 'ROW(CWD, "cwd"',
         '\tROW(DUMMY, "dummy", COMMAND, BARE, dummy) /* before all others: it is nothing */ \\\n',
         "src/box/caps.c", "step_dummy"),
    Part("src/box/caps.c", "int step_caps(",
         "int step_dummy(struct box *box, struct hb_error *err)\n"
         "{\n\t(void)box;\n\t(void)err;\n\treturn 0;\n}\n\n", "link", "step_dummy"),
    Part("docs/ARCHITECTURE.md", "| cwd | command |", "| dummy | command | nothing |\n",
         "lint/stages", "ARCHITECTURE has the stages in their order"),
])

STATUS = Addition("exit status", [
    Part("include/holdback/holdback.h", "/* an error that should not happen */", "\t/* a dummy */\n",
         "lint/man", "holdback(1) lists every exit status of the enum"),
    Part("include/holdback/holdback.h", "/* an error that should not happen */", "\tHB_EXIT_DUMMY = 11,\n",
         "src/cli/show/exit.c", "HB_EXIT_DUMMY"),
    Part("src/cli/show/exit.c", "{ HB_E_USAGE, HB_EXIT_USAGE", "\t{ EXFULL, HB_EXIT_DUMMY, NULL },\n",
         "lint/man", "src/cli returns every exit status of the enum"),
])

JOURNAL = Addition("operation of a journal", [
    Part("src/txn/op.h", "OP_KINDS /* one past the last */", "\tOP_DUMMY,\n", "src/txn/op.c", "OP_DUMMY"),
    Part("src/txn/op.c", "X(OP_LAYER,",
         "\tX(OP_DUMMY, HAS_ANY, HAS_NONE, NONE, 0, 0, 0, MOVED) \\\n", "src/txn/op.c", "each kind has a row"),
    Part("src/txn/step.c", "{ OP_DELETE, H_OLD, H_NONE,",
         "\t{ OP_DUMMY, H_OLD, H_NONE, H_NONE, 0, 0, A_DONE, A_DONE },\n",
         "lint/formats", "every operation that moves an object has rows"),
    Part("docs/formats/journal.md", "| 0 | 4 | operation:",
         "| 0 | 4 | operation: 1 add, 2 replace, 3 delete, 4 directory, 5 layer, 6 remove, 7 dummy |\n",
         "lint/formats", "journal.md lists the operations"),
])

TYPE = Addition("type of an object", [
    Part("src/tree/entry.h", "a new row comes last", "\tROW(DUMMY, \"dummy\", S_IFMT, SPECIAL) \\\n",
         "src/tree/carry.c", "ENTRY_DUMMY"),
    Part("src/tree/carry.c", "case ENTRY_DEVICE:", "\tcase ENTRY_DUMMY:\n",
         "src/tree/carry.c", "ENTRY_DUMMY"),
    Part("docs/formats/journal.md", "| 4 | type: 0 none",
         "| 4 | type: 0 none, 1 file, 2 directory, 3 link, 4 fifo, 5 socket, 6 device, 7 dummy |\n",
         "lint/formats", "journal.md lists the types"),
])

NEWS = Addition("kind of news", [
    Part("include/holdback/report.h", "/* some usual isolation is off */",
         "\tROW(DUMMY, dummy, HB_HAS_TEXT) \\\n",
         "lint/report", "the command line has a way to show every kind of report"),
    Part("src/cli/show/reports.c", "#define SHOW_weakened", "#define SHOW_dummy {}\n",
         "src/cli/show/reports.c", "SHOW_dummy"),
    Part("src/audit/audit.c", "#define ACT_weakened", "#define ACT_dummy SKIP\n",
         "src/audit/audit.c", "ACT_dummy"),
])

STRATEGY_FILE = """/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/strategy.h"

int idle_possible(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int idle_adopt(const struct strategy_call *call, struct record_resource *record,
	       struct hb_error *err)
{
	(void)call;
	(void)record;
	(void)err;
	return 0;
}

const char *idle_show(const struct record_resource *record)
{
	(void)record;
	return NULL;
}

bool idle_is_quick(const struct record_resource *record)
{
	(void)record;
	return true;
}

int idle_before_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int idle_begin_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int idle_after_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}
"""

STRATEGY = Addition("strategy", [
    Part("src/base/strategy_names.h", 'ROW(COPY, "copy_on_write"',
         '\tROW(IDLE, "stand_idle", "an", "idle", "does nothing") \\\n',
         "src/strategy/strategy.c", "STRATEGY_NAME_IDLE"),
    Part("src/strategy/strategy.h", "ROW(copy, COPY",
         '\tROW(idle, IDLE, STRATEGY_OF(RESOURCE_FS_DIRECTORY), 0, part_layers) \\\n',
         "lint/strategies", "every name has functions"),
    Part("src/strategy/by_dummy.c", None, STRATEGY_FILE, "link", "idle_possible"),
    Part("src/strategy/by_dummy.c", "int idle_possible(",
         "int idle_cleanup(int dir, struct hb_error *err)\n"
         "{\n\t(void)dir;\n\t(void)err;\n\treturn 0;\n}\n\n", "link", "idle_cleanup"),
    Part("src/strategy/meson.build", "'copy_place.c'", "  'by_dummy.c',\n",
         "lint/layers", "every file of src is built"),
    Part("docs/man/common/view.scd", "says why and a copy is used.",
         "\t*stand\\_idle* does nothing.\n", "lint/strategies",
         "docs/man/common/view.scd has every strategy"),
    Part("docs/man/holdback.conf.5.scd", "*holdback-strategies*(1).",
         "\t*stand\\_idle* does nothing.\n", "lint/strategies",
         "docs/man/holdback.conf.5.scd has every strategy"),
])

FOLDER = Addition("folder", [
    Part("tests/lint/layers", "ground     sys ", "ground     dummy     banned    base\n",
         "lint/layers", "ARCHITECTURE shows the table"),
    Part("src/dummy/meson.build", None, "dummy_src = files()\n", "lint/layers", "the table has every folder"),
    Part("docs/ARCHITECTURE.md", "| ground | `sys` |", "| ground | `dummy` | nothing | base |\n",
         "lint/layers", "ARCHITECTURE shows the table"),
])

STATE = Addition("state of a session", [
    Part("include/holdback/session_state.h", 'ROW(CHECK, "check")', '\tROW(DUMMY, "dummy") \\\n',
         "lint/choices", "json.md has every state of a session"),
    Part("docs/formats/json.md", "| session | `state` | string |",
         "| session | `state` | string | `idle`, `live`, `busy`, `crashed`, `broken`, `unreadable`, "
         "`orphan`, `check` or `dummy` |\n", "lint/choices", "json.md has every state of a session"),
])

NETWORK = Addition("mode of the network", [
    Part("src/plan/keys.h", 'ROW(HOST, "host")', '\tROW(DUMMY, "dummy") \\\n',
         "lint/choices", "holdback.conf(5) has every network"),
    Part("docs/man/common/view.scd", "*none* is the default. *allow* is", "\t*dummy* is nothing.\n",
         "lint/choices", "holdback-run(1) has every network"),
    Part("docs/man/holdback.conf.5.scd", "\tThe network.", "\t*dummy* is nothing.\n",
         "lint/choices", "holdback.conf(5) has every network"),
])

MEMBER = Addition("member of a document of `--json`", [
    Part("docs/formats/json.md", "| session | `durable` | bool |", "| session | `dummy?` | bool | |\n",
         "lint/formats", "holdback.schema.json is what tools/schema makes of json.md"),
    Part("docs/formats/holdback.schema.json", '"durable": {"type": "boolean"}', '    "dummy": {"type": "boolean"},\n',
         "lint/formats", "holdback.schema.json is what tools/schema makes of json.md"),
])

# The rows that are tried, in the order of CONTRIBUTING.
ADDITIONS = [FOLDER, KEY, COMMAND, OPERATION, STAGE, STATUS, JOURNAL, TYPE, NEWS, MEMBER, STRATEGY, STATE, NETWORK]

PATH = re.compile(r"`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+|[A-Z]+\.md)`")
PAGES = re.compile(r"`(holdback[a-zA-Z.-]*)\((\d)\)`")


def rows_of(text):
    """What CONTRIBUTING's table says to write, by the first column."""
    table = text.split("## Where a change goes", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {row[0]: row[1] for row in rows if row[0] not in ("new", "---")}


def files_said(text):
    """The files and folders that a cell names; NAME is the dummy's."""
    pages = [f"docs/man/{name}.{section}.scd" for name, section in PAGES.findall(text)]
    return {name.replace("NAME", "dummy") for name in PATH.findall(text) + pages}


def compare_files(said, touched):
    """What differs between the files said and those that an addition touches."""
    for file in sorted(touched):
        if not any(file == name or file.startswith(name + "/") for name in said):
            yield f"{file} is touched, and CONTRIBUTING does not say so"
    for name in sorted(said):
        if not any(file == name or file.startswith(name + "/") for file in touched):
            yield f"CONTRIBUTING says {name}, and nothing is to be done there"


def check_text(points):
    with open(os.path.join(SOURCE, "CONTRIBUTING.md"), encoding="utf-8") as file:
        rows = rows_of(file.read())
    points.expect("a file that CONTRIBUTING does not name is found",
                  compare_files({"src/a", "src/b.c"}, {"src/a/x.c", "src/c.c"}),
                  ["src/c.c is touched, and CONTRIBUTING does not say so",
                   "CONTRIBUTING says src/b.c, and nothing is to be done there"])
    points.expect("each row of CONTRIBUTING's table is tried", sorted(rows),
                  sorted(addition.row for addition in ADDITIONS))
    for addition in ADDITIONS:
        points.add(f"the row '{addition.row}' of CONTRIBUTING names the files of the addition",
                   list(compare_files(files_said(rows.get(addition.row, "")),
                                      {part.file for part in addition.parts})))


def lints(parts):
    return sorted({part.noticed for part in parts if part.noticed.startswith("lint/")})


def check_whole(points, tree, parts):
    faults = [fault for part in parts for fault in tree.add(part)]
    points.add("every dummy finds its place in the tree", faults)
    faults = tree.build(tree.users_of({part.file for part in parts if part.file.endswith((".c", ".h"))}))
    points.add("the tree compiles with every dummy", faults)
    points.add("the program links with every dummy", tree.link("commands").splitlines()[:3])
    tree.make_pages()
    for lint in lints(parts):
        points.add(f"{lint} passes with every dummy", tree.lint(lint))
    help_of_run, script = tree.run("help", "run"), tree.run("completion", "bash")
    points.add("the help shows the key", [] if "--dummy" in help_of_run else help_of_run.splitlines()[:5])
    points.add("the help shows the command", [] if "do nothing" in tree.run("help") else ["it does not"])
    said = tree.run("create", "--strategy", "nonsense", "s")
    points.add("--strategy accepts the strategy", [] if "stand_idle" in said else said.splitlines()[:3])
    points.add("the completion offers the strategy", [] if "stand_idle" in script else ["it does not"])
    offered = script.replace("\\n", " ").split()
    said = tree.run("run", "--net", "nonsense", "true")
    points.add("--net accepts the network", [] if "dummy" in said else said.splitlines()[:3])
    points.add("the completion offers both", [f"no {word}" for word in ("--dummy", "dummy") if word not in offered])


def name_of(part):
    words = " ".join(part.text.split())[:30].rsplit(" ", 1)[0]
    return f"{part.file} lacks '{words}'"


def is_code(part):
    return part.file.startswith("src/")


def restored(check):
    """Runs the check of some parts, and puts back what it took away."""
    def run(points, tree, parts):
        texts = {part.file: tree.read(part.file) for part in parts}
        objects, program = dict(tree.objects), tree.program
        for part in parts:
            tree.forget(part)
        check(points, tree, parts)
        for file, text in texts.items():
            tree.write(file, text)
        tree.objects, tree.program = objects, program

    return run


@restored
def check_built(points, tree, parts):
    """The part is away: a file does not compile, or the program does not link."""
    (part,) = parts
    if part.noticed == "link":
        tree.build({part.file})
        errors = tree.link("incomplete")
    else:
        errors = tree.compile(next(tree.entries_of({part.noticed})), "-fsyntax-only")
    how = "the program does not link" if part.noticed == "link" else f"{part.noticed} does not compile"
    points.add(f"{how} where {name_of(part)}", [] if part.by in errors else errors.splitlines()[:3] or ["it does"])


@restored
def check_linted(points, tree, parts):
    """The parts are away: the lint says so of each."""
    files = {part.file for part in parts if is_code(part)}
    if files:
        tree.build(tree.users_of(files))
        tree.link("incomplete")
    found = tree.lint(parts[0].noticed)
    for part in parts:
        points.add(f"{part.noticed} fails where {name_of(part)}",
                   [] if any(part.by in point for point in found) else found or ["it does not"])


def groups_of(parts):
    """Parts of one lint that are told apart by their points, to run it seldom."""
    groups = []
    for part in parts:
        for group in groups:
            if not is_code(part) and group[0].noticed == part.noticed and not is_code(group[0]) \
                    and all(part.by != other.by for other in group):
                group.append(part)
                break
        else:
            groups.append([part])
    return groups


def main():
    points = Points()
    check_text(points)
    parts = [part for addition in ADDITIONS for part in addition.parts]
    top = tempfile.mkdtemp()
    try:
        tree = Copy(top)
        check_whole(points, tree, parts)
        for part in parts:
            if not part.noticed.startswith("lint/"):
                check_built(points, tree, [part])
        for group in groups_of([part for part in parts if part.noticed.startswith("lint/")]):
            check_linted(points, tree, group)
    finally:
        shutil.rmtree(top)
    return points.end()


sys.exit(main())
