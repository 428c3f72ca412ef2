/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_CMD_H
#define HB_CLI_COMMANDS_CMD_H

struct cli_values;
struct evidence;
struct hb_error;
struct hb_run_options;
struct reports;

/* One call of a command in libexec/holdback/commands. */
struct cmd_call {
	const struct cli_values *values;
	char **operands; /* NULL-terminated */
	int n_operands;
	char *const *envp;
	struct reports *reports;   /* the listener of this call */
	struct evidence *evidence; /* for a document of an error; or NULL */
};

/* The commands of libexec/holdback/commands: cmd_NAME() each. */
/* clang-format off */
#define COMMANDS(ROW) \
	ROW(help) \
	ROW(version) \
	ROW(completion) \
	ROW(complete) \
	ROW(plan) \
	ROW(config) \
	ROW(profile) \
	ROW(why) \
	ROW(net) \
	ROW(caps) \
	ROW(doctor) \
	ROW(strategies) \
	ROW(enable) \
	ROW(disable) \
	ROW(create) \
	ROW(ls) \
	ROW(status) \
	ROW(diff) \
	ROW(gate) \
	ROW(log) \
	ROW(commit) \
	ROW(sync) \
	ROW(state) \
	ROW(undo) \
	ROW(redo) \
	ROW(mark) \
	ROW(fork) \
	ROW(gc) \
	ROW(verify) \
	ROW(rollback) \
	ROW(recover) \
	ROW(stop) \
	ROW(resume) \
	ROW(cleanup)
/* clang-format on */

/*
 * Return the exit status, or a negated code with words.  The table of commands
 * is in every executable, and these functions are in one: where CMD_IS_WEAK is
 * defined, a function may be missing.
 */
#ifdef CMD_IS_WEAK
#define CMD_LINKAGE __attribute__((weak))
#else
#define CMD_LINKAGE
#endif
#define CMD_FUNCTION(name)                                                \
	int cmd_##name(const struct cmd_call *call, struct hb_error *err) \
		CMD_LINKAGE;
COMMANDS(CMD_FUNCTION)
#undef CMD_FUNCTION

/*
 * What words after a command say about a run: nothing, "COMMAND…", or
 * "run OPTIONS COMMAND…".  `values` is zero, and lives as long as the options.
 */
int cmd_run_words(const struct cmd_call *call, char **words,
		  struct cli_values *values, struct hb_run_options *ret_options,
		  struct hb_error *err);

/* The last denial of the log in this directory: `why` without a path. */
int cmd_last_denial(const struct cmd_call *call, struct hb_error *err);

/* The help of one command, or with NULL of the program, to stdout. */
int cmd_print_help(const char *name, struct hb_error *err);

#endif
