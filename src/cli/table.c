/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#define AT(field) offsetof(struct cli_values, field)

static const struct option common_options[] = {
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPTION_SET,
	  .offset = AT(help),
	  .is_final = true,
	  .help = "show this help" },
	{ .name = "version",
	  .kind = OPTION_SET,
	  .offset = AT(version),
	  .is_final = true,
	  .help = "show the version" },
	{ 0 },
};

static const struct option json_options[] = {
	{ .name = "json",
	  .kind = OPTION_SET,
	  .offset = AT(json),
	  .help = "print one JSON document" },
	{ 0 },
};

static const struct option doctor_options[] = {
	{ .name = "json",
	  .kind = OPTION_SET,
	  .offset = AT(json),
	  .help = "print one JSON document" },
	{ .name = "inside",
	  .kind = OPTION_STRING,
	  .offset = AT(inside_word),
	  .is_hidden = true,
	  .help = "what is run inside" },
	{ 0 },
};

static const struct option caps_options[] = {
	{ .name = "json",
	  .kind = OPTION_SET,
	  .offset = AT(json),
	  .help = "print one JSON document" },
	{ .name = "inside",
	  .kind = OPTION_SET,
	  .offset = AT(inside),
	  .is_hidden = true,
	  .help = "look at this very process" },
	{ 0 },
};

static const struct option help_options[] = {
	{ .name = "list",
	  .kind = OPTION_SET,
	  .offset = AT(list),
	  .is_hidden = true,
	  .help = "print every command and option, one a line" },
	{ 0 },
};

#define SESSION_WORDS                                                            \
	"SESSION is a session's name or the beginning of it that no other has. " \
	"'@' alone, or none, is the session used last that has the working "     \
	"directory in it."

/* One more row, and it would indent all of them anew. */
/* clang-format off */
static const struct command commands[] = {
	{ .name = "run",
	  .group = "Running",
	  .synopsis = "[OPTIONS] [--] COMMAND [ARGUMENT…]",
	  .summary = "run a command on a copy-on-write view of the files",
	  .about =
		  "The workspace, which is the git top level of the working directory or else that directory, is copy-on-write at its own path; what changed is kept in a session. System directories are read-only, the home directory is empty but for toolchains, /tmp and the like are private, and there is no network, except for agents that have a profile with one.\n"
		  "The exit status is the command's own; 125 for a failure of holdback, 126 if the command cannot be executed, 127 if it is not found.",
	  .flags = COMMAND_STOPS,
	  .options = run_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "bwrap",
	  .synopsis = "[BWRAP-OPTIONS] [--] COMMAND [ARGUMENT…]",
	  .summary = "run a command in a sandbox described as for bubblewrap",
	  .flags = COMMAND_STOPS,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "plan",
	  .group = "Looking",
	  .synopsis = "[--json] run|bwrap [OPTIONS] [--] COMMAND [ARGUMENT…]",
	  .summary = "show what run or bwrap would do, and do nothing",
	  .about =
		  "The words from run or bwrap on are what follows holdback in a real call. 'plan -- OPTIONS COMMAND' with an option first means bwrap.",
	  .flags = COMMAND_STOPS,
	  .options = json_options,
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "config",
	  .synopsis = "[--json] [COMMAND | run [OPTIONS] [--] COMMAND…]",
	  .summary =
		  "show every setting of a run, and what file and line set it",
	  .about =
		  "Without a command it is for one that has no profile of its own. With run before it, the words are those of a real call, and their options count.",
	  .flags = COMMAND_STOPS,
	  .options = json_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "profile",
	  .synopsis = "[--json] [NAME]",
	  .summary = "list the profiles, or show what one says",
	  .options = json_options,
	  .operands_max = 1 },
	{ .name = "why",
	  .synopsis = "[--json] PATH [COMMAND | run [OPTIONS] [--] COMMAND…]",
	  .summary = "show what a run does with a path, and which line says so",
	  .about =
		  "Without a command it is for one that has no profile of its own. With run before it, the words are those of a real call, and their options count.",
	  .flags = COMMAND_STOPS,
	  .options = json_options,
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "caps",
	  .synopsis = "[--json]",
	  .summary = "look from inside at what a command is left with",
	  .about =
		  "Runs itself in the box of run and asks the kernel for all five sets of capabilities, no_new_privs, seccomp and landlock.\n"
		  "The exit status is 1 if something is left that should not be.",
	  .options = caps_options },
	{ .name = "doctor",
	  .synopsis = "[--json]",
	  .summary = "try what this host can do, and say how to mend the rest",
	  .options = doctor_options },
	{ .name = "create",
	  .group = "Sessions",
	  .synopsis = "NAME --cow DIR[:INSIDE]… [OPTIONS]",
	  .summary = "make a session that holds back changes to directories",
	  .options = create_options,
	  .operands_min = 1,
	  .operands_max = 1 },
	{ .name = "exec",
	  .synopsis = "[OPTIONS] [@SESSION] [--] COMMAND [ARGUMENT…]",
	  .summary = "run a command on a session's view of the files",
	  .about =
		  "In a live session the command joins the box that is there, is held to the same as its first command, and ends with that. Otherwise it gets a box of its own.\n"
		  "The host is read-only, the session's directories are copy-on-write at their own paths, /run, /tmp, /var/tmp, /dev/shm and the rest of the home directory are private and empty, and there is no network.\n"
		  "The exit status is the command's own; 125 for a failure of holdback, 126 if the command cannot be executed, 127 if it is not found.",
	  .flags = COMMAND_STOPS,
	  .options = exec_options,
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "shell",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "start your shell on a session's view of the files",
	  .about =
		  "The same as exec with $SHELL, or else /bin/sh.\n" SESSION_WORDS,
	  .options = exec_options,
	  .operands_max = 1 },
	{ .name = "keep",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "hold a session's box open for commands that come",
	  .about =
		  "Runs no command, in the foreground, until 'holdback stop', an interrupt, or the end of whoever started it. exec and shell then join the box, which takes a fraction of the time of making one.\n" SESSION_WORDS,
	  .options = keep_options,
	  .operands_max = 1 },
	{ .name = "stop",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "end what runs in a session",
	  .about =
		  "Its first command gets SIGTERM, and SIGKILL after two seconds; commands that joined get SIGHUP, and then SIGKILL. What they wrote is kept. Returns when the session is idle.\n" SESSION_WORDS,
	  .options = undo_options,
	  .operands_max = 1 },
	{ .name = "ls",
	  .synopsis = "[OPTIONS]",
	  .summary = "list the sessions",
	  .options = ls_options },
	{ .name = "status",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "show what a session has changed",
	  .about = SESSION_WORDS,
	  .options = status_options,
	  .operands_max = 1 },
	{ .name = "diff",
	  .synopsis =
		  "[--stat|--binary|--name-status] [OPTIONS] [@SESSION] [PATH…]",
	  .summary = "show the text of a session's changes",
	  .about = SESSION_WORDS,
	  .options = diff_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "gate",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "show what stands against committing a session's changes",
	  .about =
		  "Looks for what runs by itself, asks for rights or leads out. The exit status is 4 if commit would refuse it.\n" SESSION_WORDS,
	  .options = gate_options,
	  .operands_max = 1 },
	{ .name = "commit",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "put a session's changes into the real directories",
	  .about =
		  "All of them or none, whatever happens meanwhile; undo takes them back. What also changed in the real directories since the session began is a conflict, and then nothing is committed.\n" SESSION_WORDS,
	  .options = commit_options,
	  .operands_max = 1 },
	{ .name = "sync",
	  .synopsis =
		  "[--dry-run|--auto|--reset|--status] [OPTIONS] [@SESSION]",
	  .summary = "look at everything that is pending, and commit it",
	  .about =
		  "Asks the gate, lists every change with its size, asks, and commits as commit does. --auto asks nothing, and what the gate asks is refused.\n" SESSION_WORDS,
	  .options = sync_options,
	  .operands_max = 1 },
	{ .name = "undo",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "take the last commit or rollback back",
	  .about = SESSION_WORDS,
	  .options = undo_options,
	  .operands_max = 1 },
	{ .name = "redo",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "commit again what undo took back",
	  .about = SESSION_WORDS,
	  .options = undo_options,
	  .operands_max = 1 },
	{ .name = "mark",
	  .synopsis = "[OPTIONS] [@SESSION] [NAME]",
	  .summary = "give what a session holds now a name to come back to",
	  .about =
		  "Takes no longer for many changes than for one. A commit ends the marks made before it; undo brings them back. A session in which a command runs cannot be marked.\n" SESSION_WORDS,
	  .options = mark_options,
	  .operands_max = 2 },
	{ .name = "fork",
	  .synopsis = "[OPTIONS] [@SESSION] NEW",
	  .summary = "make a session that goes on from where another is",
	  .about =
		  "Both share what is pending so far and nothing after it. Takes no longer for many changes than for one.\n" SESSION_WORDS,
	  .options = fork_options,
	  .operands_min = 1,
	  .operands_max = 2 },
	{ .name = "rollback",
	  .synopsis = "[OPTIONS] [@SESSION] [PATH…]",
	  .summary = "throw a session's pending changes away",
	  .about = SESSION_WORDS,
	  .options = rollback_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "verify",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "show what changed outside although all was held back",
	  .about =
		  "Looks through all of the real directories for what changed since the session began and is in no commit: what an editor, a build or you have changed, or what got out. The exit status is 1 if there is something.\n" SESSION_WORDS,
	  .options = verify_options,
	  .operands_max = 1 },
	{ .name = "recover",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "finish or reverse what a crash interrupted",
	  .about =
		  "Every command that changes a session does this first; this one does it alone, and with --back in the other direction.\n" SESSION_WORDS,
	  .options = recover_options,
	  .operands_max = 1 },
	{ .name = "cleanup",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "remove a session with all that it holds",
	  .about = SESSION_WORDS,
	  .options = cleanup_options,
	  .operands_max = 1 },
	{ .name = "gc",
	  .synopsis = "[OPTIONS]",
	  .summary = "remove what no session needs any more",
	  .about =
		  "What interrupted commands left, crashed sessions with nothing pending, what undo needs and is old, layers that no session names. Pending changes are never removed.",
	  .options = gc_options },
	{ .name = "completion",
	  .group = "Help",
	  .synopsis = "bash|zsh|fish",
	  .summary = "print a script that completes words in a shell",
	  .operands_min = 1,
	  .operands_max = 1 },
	{ .name = "help",
	  .synopsis = "[COMMAND]",
	  .summary = "show the commands, or the options of one",
	  .options = help_options,
	  .operands_max = 1 },
	{ 0 },
};
/* clang-format on */

const struct program cli_program = {
	.name = "holdback",
	.summary =
		"Runs any command on a copy-on-write view of the real files.\n"
		"'holdback COMMAND' is short for 'holdback run -- COMMAND'.",
	.options = common_options,
	.commands = commands,
};
