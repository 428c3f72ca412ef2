/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_CMD_H
#define HB_CLI_COMMANDS_CMD_H

struct cli_values;
struct hb_error;
struct hb_run_options;

/* One call of a command in libexec/holdback/commands. */
struct cmd_call {
	const struct cli_values *values;
	char **operands; /* NULL-terminated */
	int n_operands;
	char *const *envp;
};

/*
 * The commands, for the table.  Return the exit status, or a negated code with
 * words.  The table is in every executable, and a command in one of them alone:
 * elsewhere its name is NULL.
 */
#define CMD(name)                                                         \
	int cmd_##name(const struct cmd_call *call, struct hb_error *err) \
		__attribute__((weak))

CMD(help);
CMD(version);
CMD(completion);
CMD(plan);
CMD(config);
CMD(profile);
CMD(why);
CMD(caps);
CMD(doctor);
CMD(create);
CMD(ls);
CMD(status);
CMD(diff);
CMD(gate);
CMD(commit);
CMD(sync);
CMD(undo);
CMD(redo);
CMD(mark);
CMD(fork);
CMD(gc);
CMD(verify);
CMD(rollback);
CMD(recover);
CMD(stop);
CMD(resume);
CMD(cleanup);

/*
 * What words after a command say about a run: nothing, "COMMAND…", or
 * "run OPTIONS COMMAND…".  `values` is zero, and lives as long as the options.
 */
int cmd_run_words(const struct cmd_call *call, char **words,
		  struct cli_values *values, struct hb_run_options *ret_options,
		  struct hb_error *err);

/* The help of one command, or with NULL of the program, to stdout. */
int cmd_print_help(const char *name, struct hb_error *err);

#endif
