/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_CMD_H
#define HB_CLI_CMD_H

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

/* The commands.  Return the exit status, or a negated code with words. */
int cmd_help(const struct cmd_call *call, struct hb_error *err);
int cmd_completion(const struct cmd_call *call, struct hb_error *err);
int cmd_plan(const struct cmd_call *call, struct hb_error *err);
int cmd_config(const struct cmd_call *call, struct hb_error *err);
int cmd_profile(const struct cmd_call *call, struct hb_error *err);
int cmd_why(const struct cmd_call *call, struct hb_error *err);
int cmd_caps(const struct cmd_call *call, struct hb_error *err);
int cmd_doctor(const struct cmd_call *call, struct hb_error *err);

int cmd_create(const struct cmd_call *call, struct hb_error *err);
int cmd_ls(const struct cmd_call *call, struct hb_error *err);
int cmd_status(const struct cmd_call *call, struct hb_error *err);
int cmd_diff(const struct cmd_call *call, struct hb_error *err);
int cmd_gate(const struct cmd_call *call, struct hb_error *err);
int cmd_commit(const struct cmd_call *call, struct hb_error *err);
int cmd_sync(const struct cmd_call *call, struct hb_error *err);
int cmd_undo(const struct cmd_call *call, struct hb_error *err);
int cmd_redo(const struct cmd_call *call, struct hb_error *err);
int cmd_mark(const struct cmd_call *call, struct hb_error *err);
int cmd_fork(const struct cmd_call *call, struct hb_error *err);
int cmd_gc(const struct cmd_call *call, struct hb_error *err);
int cmd_verify(const struct cmd_call *call, struct hb_error *err);
int cmd_rollback(const struct cmd_call *call, struct hb_error *err);
int cmd_recover(const struct cmd_call *call, struct hb_error *err);
int cmd_stop(const struct cmd_call *call, struct hb_error *err);
int cmd_resume(const struct cmd_call *call, struct hb_error *err);
int cmd_cleanup(const struct cmd_call *call, struct hb_error *err);

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
