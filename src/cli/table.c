/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include "base/error.h"

#include <string.h>

static const char *const nets[] = { "none", "host", NULL };

static int add_dir(struct cli_values *v, const char *path, bool is_writable,
		   struct hb_error *err)
{
	if (v->n_dirs >= CLI_MAX_DIRS)
		return hb_fail(err, -HB_E_USAGE, "more than %d directories",
			       CLI_MAX_DIRS);
	v->dirs[v->n_dirs++] = (struct hb_dir){ path, is_writable };
	return 0;
}

int cli_add_ro(void *values, const struct option *option, const char *arg,
	       struct hb_error *err)
{
	(void)option;
	return add_dir(values, arg, false, err);
}

static int add_rw(void *values, const struct option *option, const char *arg,
		  struct hb_error *err)
{
	(void)option;
	return add_dir(values, arg, true, err);
}

static int add_env(void *values, const struct option *option, const char *arg,
		   struct hb_error *err)
{
	struct cli_values *v = values;

	(void)option;
	if (v->n_env >= CLI_MAX_ENV)
		return hb_fail(err, -HB_E_USAGE, "more than %d variables",
			       CLI_MAX_ENV);
	v->env[v->n_env++] = arg;
	return 0;
}

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

static const struct option run_options[] = {
	{ .name = "ephemeral",
	  .kind = OPTION_SET,
	  .offset = AT(ephemeral),
	  .help = "keep what is written in memory, and nothing at the end" },
	{ .name = "size",
	  .kind = OPTION_SIZE,
	  .offset = AT(size),
	  .help = "how much that may be; 1G by default" },
	{ .name = "ro",
	  .kind = OPTION_CALL,
	  .metavar = "DIR",
	  .offer = OFFER_DIRS,
	  .call = cli_add_ro,
	  .help = "show this directory or file too, read-only; may repeat" },
	{ .name = "rw",
	  .kind = OPTION_CALL,
	  .metavar = "DIR",
	  .offer = OFFER_DIRS,
	  .call = add_rw,
	  .help = "let writes reach this real directory; may repeat" },
	{ .name = "net",
	  .kind = OPTION_STRING,
	  .metavar = "NET",
	  .choices = nets,
	  .offset = AT(net),
	  .help = "the network: none (the default) or host" },
	{ .name = "env",
	  .kind = OPTION_CALL,
	  .metavar = "NAME[=VALUE]",
	  .call = add_env,
	  .help = "pass this variable on, or set it; may repeat" },
	{ .name = "chdir",
	  .kind = OPTION_STRING,
	  .metavar = "DIR",
	  .offer = OFFER_DIRS,
	  .offset = AT(chdir),
	  .help = "start in this directory of the view" },
	{ .name = "no-ptrace",
	  .kind = OPTION_SET,
	  .offset = AT(no_ptrace),
	  .help = "let no process trace another" },
	{ .name = "allow-nested",
	  .kind = OPTION_SET,
	  .offset = AT(allow_nested),
	  .help = "let the command make sandboxes of its own" },
	{ .name = "quiet",
	  .letter = 'q',
	  .kind = OPTION_SET,
	  .offset = AT(quiet),
	  .help = "say nothing but errors and what is weakened" },
	{ 0 },
};

static const struct option json_options[] = {
	{ .name = "json",
	  .kind = OPTION_SET,
	  .offset = AT(json),
	  .help = "print one JSON document" },
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

static const struct command commands[] = {
	{ .name = "run",
	  .group = "Running",
	  .synopsis = "[OPTIONS] [--] COMMAND [ARGUMENT…]",
	  .summary = "run a command on a copy-on-write view of the files",
	  .about =
		  "The workspace, which is the git top level of the working directory or else that directory, is copy-on-write at its own path. System directories are read-only, the home directory is empty but for toolchains, /tmp and the like are private, and there is no network.\n"
		  "The exit status is the command's own; 125 for a failure of holdback, 126 if the command cannot be executed, 127 if it is not found.",
	  .flags = COMMAND_STOPS,
	  .options = run_options,
	  .operands_min = 1,
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
	{ .name = "doctor",
	  .synopsis = "[--json]",
	  .summary = "try what this host can do, and say how to mend the rest",
	  .options = json_options },
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
		  "The host is read-only, the session's directories are copy-on-write at their own paths, /run, /tmp, /var/tmp, /dev/shm and the rest of the home directory are private and empty, and there is no network.\n"
		  "The exit status is the command's own; 125 for a failure of holdback, 126 if the command cannot be executed, 127 if it is not found.",
	  .flags = COMMAND_STOPS,
	  .options = exec_options,
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
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
	  .synopsis = "--name-status [OPTIONS] [@SESSION] [PATH…]",
	  .summary = "list a session's changes for programs to read",
	  .about = SESSION_WORDS,
	  .options = diff_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "commit",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "put a session's changes into the real directories",
	  .about =
		  "All of them or none, whatever happens meanwhile; undo takes them back. What also changed in the real directories since the session began is a conflict, and then nothing is committed.\n" SESSION_WORDS,
	  .options = commit_options,
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
	{ .name = "rollback",
	  .synopsis = "[OPTIONS] [@SESSION] [PATH…]",
	  .summary = "throw a session's pending changes away",
	  .about = SESSION_WORDS,
	  .options = rollback_options,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_FILES },
	{ .name = "recover",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "finish or reverse what a crash interrupted",
	  .about =
		  "Every command does this first for the session it works on; this one does it alone, and with --back in the other direction.\n" SESSION_WORDS,
	  .options = recover_options,
	  .operands_max = 1 },
	{ .name = "cleanup",
	  .synopsis = "[OPTIONS] [@SESSION]",
	  .summary = "remove a session with all that it holds",
	  .about = SESSION_WORDS,
	  .options = cleanup_options,
	  .operands_max = 1 },
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

const struct program cli_program = {
	.name = "holdback",
	.summary =
		"Runs any command on a copy-on-write view of the real files.\n"
		"'holdback COMMAND' is short for 'holdback run -- COMMAND'.",
	.options = common_options,
	.commands = commands,
};

void cli_run_options(const struct cli_values *values, char *const *argv,
		     char *const *envp, struct hb_run_options *ret_options)
{
	*ret_options = (struct hb_run_options){
		.argv = argv,
		.envp = envp,
		.is_ephemeral = values->ephemeral,
		.size = values->size,
		.net = values->net && strcmp(values->net, "host") == 0
			       ? HB_NET_HOST
			       : HB_NET_NONE,
		.no_ptrace = values->no_ptrace,
		.allow_nested = values->allow_nested,
		.chdir = values->chdir,
		.dirs = values->dirs,
		.n_dirs = values->n_dirs,
		.env = values->env,
		.n_env = values->n_env,
	};
}
