/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/table.h"

#include "base/option_help.h"

#define CMD_IS_WEAK
#include "cli/commands/cmd.h"

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
	  .help = "the check to run inside" },
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

static const struct option enable_options[] = {
	{ .name = "json",
	  .kind = OPTION_SET,
	  .offset = AT(json),
	  .help = "print one JSON document" },
	{ .name = "shell",
	  .kind = OPTION_STRING,
	  .metavar = "SHELL",
	  .choices = option_shell_names,
	  .offset = AT(shell),
	  .help = "print the line for PATH that this shell evaluates" },
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
	  .group = "Start a command",
	  .synopsis = "[OPTIONS] [--] COMMAND [ARGUMENT…]",
	  .summary = "run a command on a copy-on-write view of the files",
	  .about =
		  "The workspace, which is the git top level of the working directory or else that directory, is copy-on-write at its own path; its changes are kept in a session. System directories are read-only, the home directory is empty but for toolchains, /tmp and the like are private, and there is no network, except for agents that have a profile with one.\n"
		  "The exit status is the command's own; 125 for a failure of holdback, 126 if the command cannot be executed, 127 if it is not found.",
	  .examples =
		  "holdback npm test                       'run --' may be left out\n"
		  "holdback run -s fix -- claude           in a session named fix\n"
		  "holdback run --net host -- npm install  with the network\n"
		  "holdback run --ro ~/docs -- make        with one more directory\n"
		  "holdback run --ephemeral -- ./setup.sh  nothing of it is kept",
	  .flags = COMMAND_STOPS,
	  .options = run_options,
	  .shared = view_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "shell",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "start your shell on a session's view of the files",
	  .about =
		  "The same as exec with $SHELL, or else /bin/sh.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = exec_options,
	  .operands_max = 1 },
	{ .name = "exec",
	  .synopsis = "[OPTIONS] [@SESSION] [--] COMMAND [ARGUMENT…]",
	  .summary = "run a command on a session's view of the files",
	  .about =
		  "In a live session the command joins the box that is there, and is held to the same as its first command. Otherwise it gets a box of its own. A box ends with the last of its commands.\n"
		  "The view is that of the session: run or create recorded it.\n"
		  "The exit status is the command's own; 125 for a failure of holdback, 126 if the command cannot be executed, 127 if it is not found.",
	  .flags = COMMAND_STOPS | COMMAND_NAMES,
	  .options = exec_options,
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "status",
	  .group = "Review its changes",
	  .run = cmd_status,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "show the changes of a session",
	  .about = SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = status_options,
	  .operands_max = 1 },
	{ .name = "diff",
	  .run = cmd_diff,
	  .synopsis =
		  "[--stat|--binary|--name-status] [OPTIONS] [@SESSION] [PATH…]",
	  .summary = "show the text of a session's changes",
	  .about = SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = diff_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "gate",
	  .run = cmd_gate,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "show the changes that commit would refuse or ask about",
	  .about =
		  "Looks for files that run by themselves, ask for rights or lead out. The exit status is 4 if commit would refuse one.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = gate_options,
	  .operands_max = 1 },
	{ .name = "ls",
	  .run = cmd_ls,
	  .synopsis = "[OPTIONS]",
	  .summary = "list the sessions",
	  .options = ls_options },
	{ .name = "commit",
	  .group = "Take them",
	  .run = cmd_commit,
	  .synopsis = "[OPTIONS] [@SESSION] [PATH…]",
	  .summary = "put a session's changes into the real directories",
	  .about =
		  "All of them or none, also in a crash; undo takes them back. A path that also changed in the real directories since the session began is a conflict, and then nothing is committed. With paths, only the changes at or below them are committed. With --live a session in which a command runs is committed too: it is still for a moment, and a copy of its changes is committed.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = commit_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "sync",
	  .run = cmd_sync,
	  .synopsis =
		  "[--dry-run|--auto|--reset|--status] [OPTIONS] [@SESSION]",
	  .summary = "list every pending change, and commit them",
	  .about =
		  "Asks the gate, lists every change with its size, asks, and commits as commit does. --auto asks nothing, and refuses each change that the gate asks about. A session in which a command runs is still for two moments, and goes on.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = sync_options,
	  .operands_max = 1 },
	{ .name = "state",
	  .run = cmd_state,
	  .synopsis = "[--forget|--take|--publish|--undo] [OPTIONS] [AGENT [FILE]]",
	  .summary = "show the state of agents that is carried to their next run",
	  .about =
		  "Lists the files that agents wrote to their own directories in this project, with the class of each: runs, data or login. With FILE prints that file. commit --state commits the files of the class runs. --publish gives the host the login that AGENT has here, and --undo takes that back.",
	  .options = state_options,
	  .operands_max = 2 },
	{ .name = "undo",
	  .group = "Go back",
	  .run = cmd_undo,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "take the last commit or rollback back",
	  .about = SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = undo_options,
	  .operands_max = 1 },
	{ .name = "redo",
	  .run = cmd_redo,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "commit again after undo",
	  .about = SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = undo_options,
	  .operands_max = 1 },
	{ .name = "rollback",
	  .run = cmd_rollback,
	  .synopsis = "[OPTIONS] [@SESSION] [PATH…]",
	  .summary = "discard a session's pending changes",
	  .about = SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = rollback_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "mark",
	  .run = cmd_mark,
	  .synopsis = "[OPTIONS] [@SESSION] [NAME]",
	  .summary = "name the present state of a session, to come back to",
	  .about =
		  "Takes no longer for many changes than for one. A commit ends the marks made before it; undo brings them back. With --live a session in which a command runs is marked too: it is still for a moment, and its changes are copied.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = mark_options,
	  .operands_max = 2 },
	{ .name = "cleanup",
	  .run = cmd_cleanup,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "remove a session with all that it holds",
	  .about = SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = cleanup_options,
	  .operands_max = 1 },
	{ .name = "why",
	  .group = "Look at the rules",
	  .run = cmd_why,
	  .synopsis = "[[--json] PATH|HOST [COMMAND | run [OPTIONS] [--] COMMAND…]]",
	  .summary = "show how a run treats a path or host, and which line says so",
	  .about =
		  "Without a path it shows the last refusal in this directory. Without a command the profile is generic. With run before it, the words are those of a real call, and their options count.",
	  .flags = COMMAND_STOPS,
	  .options = json_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "net",
	  .run = cmd_net,
	  .synopsis =
		  "[OPTIONS] [list [COMMAND | -- run…] | allow RULE… | deny RULE… | port [OUTSIDE:]INSIDE | watch | log]",
	  .summary = "show or change the hosts that a command can reach",
	  .about =
		  "The list names the hosts that a command can reach. It limits nothing that is sent to them. Behind -- the words are those of a real call, and their options count.",
	  .examples =
		  "holdback net list claude         the rules of a run of claude\n"
		  "holdback net list --groups       the groups of hosts\n"
		  "holdback net allow --keep a.b    one more host for all runs",
	  .options = net_options,
	  .operands_max = OPERANDS_ANY },
	{ .name = "config",
	  .run = cmd_config,
	  .synopsis = "[--json] [COMMAND | run [OPTIONS] [--] COMMAND…]",
	  .summary =
		  "show every setting of a run, with its file and line",
	  .about =
		  "Without a command the profile is generic. With run before it, the words are those of a real call, and their options count.",
	  .flags = COMMAND_STOPS,
	  .options = json_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "profile",
	  .run = cmd_profile,
	  .synopsis = "[--json] [NAME]",
	  .summary = "list the profiles, or show one",
	  .options = json_options,
	  .operands_max = 1,
	  .offer = OFFER_PROFILES },
	{ .name = "plan",
	  .run = cmd_plan,
	  .synopsis = "[--json] run|bwrap [OPTIONS] [--] COMMAND [ARGUMENT…]",
	  .summary = "show the sandbox that run or bwrap would make",
	  .about =
		  "The words from run or bwrap on are those of a real call. 'plan -- OPTIONS COMMAND' with an option first means bwrap.",
	  .flags = COMMAND_STOPS,
	  .options = json_options,
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "caps",
	  .run = cmd_caps,
	  .synopsis = "[--json]",
	  .summary = "show the rights of a command, seen from inside",
	  .about =
		  "Runs itself in the box of run and asks the kernel for all five sets of capabilities, no_new_privs, seccomp and landlock.\n"
		  "The exit status is 1 if something is left that should not be.",
	  .options = caps_options },
	{ .name = "doctor",
	  .run = cmd_doctor,
	  .synopsis = "[--json]",
	  .summary = "try the features of this host, and say how to mend the rest",
	  .options = doctor_options },
	{ .name = "strategies",
	  .run = cmd_strategies,
	  .synopsis = "[--json]",
	  .summary = "show how each type of resource can be held back",
	  .options = json_options },
	{ .name = "verify",
	  .run = cmd_verify,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "show changes outside of the session",
	  .about =
		  "Looks through all of the real directories for changes since the session began that are in no commit: made by an editor, a build or you, or by a command that got out. The exit status is 1 if there is one.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = verify_options,
	  .operands_max = 1 },
	{ .name = "enable",
	  .run = cmd_enable,
	  .synopsis = "[OPTIONS] [NAME…]",
	  .summary = "start these programs in a sandbox always",
	  .about =
		  "Makes a link to holdback for each program, in a directory that has to be the first of PATH. Without names it lists the links, and says which of them PATH reaches.",
	  .examples =
		  "holdback enable claude codex             make two links\n"
		  "eval \"$(holdback enable --shell bash)\"   in ~/.bashrc\n"
		  "AGENT_SANDBOX=off claude                 one call without it",
	  .options = enable_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "disable",
	  .run = cmd_disable,
	  .synopsis = "[--json] NAME…",
	  .summary = "remove links that enable made",
	  .options = json_options,
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "create",
	  .group = "For experts",
	  .run = cmd_create,
	  .synopsis = "NAME --cow DIR[:INSIDE]… [OPTIONS]",
	  .summary = "make a session that holds back changes to directories",
	  .about =
		  "The directories are copy-on-write at their own paths, or at INSIDE. The rest of the view is that of run, and is kept with the session: exec, shell and keep have it.\n"
		  "The first directory is the workspace. A profile is not chosen by a command's name, because there is none yet.",
	  .options = create_options,
	  .shared = view_options,
	  .operands_min = 1,
	  .operands_max = 1 },
	{ .name = "fork",
	  .run = cmd_fork,
	  .synopsis = "[OPTIONS] [@SESSION] NEW",
	  .summary = "make a session that goes on from where another is",
	  .about =
		  "Both share the changes that are pending so far and none after that. Takes no longer for many changes than for one, but with --live while a command runs, when they are copied.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = fork_options,
	  .operands_min = 1,
	  .operands_max = 2 },
	{ .name = "keep",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "hold a session's box open for commands that come",
	  .about =
		  "Runs no command, in the foreground, until 'holdback stop', an interrupt, or the end of its parent process. exec and shell then join the box, which takes a fraction of the time of making one.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = keep_options,
	  .operands_max = 1 },
	{ .name = "stop",
	  .run = cmd_stop,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "end the commands in a session",
	  .about =
		  "Its first command gets SIGTERM, and SIGKILL after two seconds; commands that joined get SIGHUP, and then SIGKILL. Their changes are kept. Returns when the session is idle.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = undo_options,
	  .operands_max = 1 },
	{ .name = "resume",
	  .run = cmd_resume,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "let a session go on that a full disk has stopped",
	  .about =
		  "Commands in a session are stopped when the disk has less than --min-free left, and go on by themselves when there is room again. This has them go on at once; they are not stopped again before there was room.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = undo_options,
	  .operands_max = 1 },
	{ .name = "recover",
	  .run = cmd_recover,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "finish or reverse a change that a crash interrupted",
	  .about =
		  "Every command that changes a session does this first; this one does it alone, and with --back in the other direction.\n" SESSION_WORDS,
	  .flags = COMMAND_NAMES,
	  .options = recover_options,
	  .operands_max = 1 },
	{ .name = "log",
	  .run = cmd_log,
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "show the commands, refusals and commits of all sessions",
	  .about =
		  "The last 20 records, oldest first: of all sessions, or of one, which may be gone. The log has commands with their settings and end, denials, findings of the gate, commits with each path, undo, rollback and cleanup.",
	  .examples =
		  "holdback log                        the last 20 records\n"
		  "holdback log @fix --since 2h        of one session\n"
		  "holdback log --denied               only refusals\n"
		  "holdback log -f                     go on as records come\n"
		  "holdback log --verify               look for changed lines",
	  .flags = COMMAND_NAMES,
	  .options = log_options,
	  .operands_max = 1 },
	{ .name = "gc",
	  .run = cmd_gc,
	  .synopsis = "[OPTIONS]",
	  .summary = "remove data that no session needs any more",
	  .about =
		  "Removes leftovers of interrupted commands, crashed sessions with nothing pending, old undo data, and layers that no session names. Pending changes are never removed.",
	  .options = gc_options },
	{ .name = "bwrap",
	  .synopsis = "[BWRAP-OPTIONS] [--] COMMAND [ARGUMENT…]",
	  .summary = "run a command in a sandbox described as for bubblewrap",
	  .flags = COMMAND_STOPS,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "help",
	  .group = "Help",
	  .run = cmd_help,
	  .synopsis = "[COMMAND]",
	  .summary = "show the commands, or the options of one",
	  .options = help_options,
	  .operands_max = 1,
	  .offer = OFFER_OWN },
	{ .name = "version",
	  .run = cmd_version,
	  .synopsis = "",
	  .summary = "show the version" },
	{ .name = "completion",
	  .run = cmd_completion,
	  .synopsis = "bash|zsh|fish",
	  .summary = "print a script that completes words in a shell",
	  .operands_min = 1,
	  .operands_max = 1 },
	{ .name = "complete",
	  .run = cmd_complete,
	  .flags = COMMAND_HIDDEN,
	  .synopsis = "LIST [--] [WORD…]",
	  .summary = "list words for a shell",
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY },
	{ 0 },
};
/* clang-format on */

static const struct other_word others[] = {
	{ "list", "ls" },
	{ "audit", "log" },
	{ "show", "diff" },
	{ "review", "status" },
	{ "apply", "commit" },
	{ "accept", "commit" },
	{ "merge", "commit" },
	{ "discard", "rollback" },
	{ "reset", "rollback" },
	{ "reject", "rollback" },
	{ "revert", "undo" },
	{ "checkpoint", "mark" },
	{ "rm", "cleanup" },
	{ "remove", "cleanup" },
	{ "delete", "cleanup" },
	{ "new", "create" },
	{ "sign", "commit --sign" },
	{ NULL, NULL },
};

const struct program cli_program = {
	.name = "holdback",
	.summary =
		"Runs any command on a copy-on-write view of the real files.\n"
		"'holdback COMMAND' is short for 'holdback run -- COMMAND'.",
	.examples =
		"holdback claude    run an agent; its changes wait in a session\n"
		"holdback status    see the changes; holdback diff shows their text\n"
		"holdback commit    take them into the real files\n"
		"holdback undo      take that back",
	.options = common_options,
	.commands = commands,
	.others = others,
	.runs_programs = true,
};
