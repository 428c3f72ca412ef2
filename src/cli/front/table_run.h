/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_FRONT_TABLE_RUN_H
#define HB_CLI_FRONT_TABLE_RUN_H

struct cli_values;
struct hb_error;
struct hb_run_options;
struct option;

/* The options of `run` as hb_run() takes them; `argv` is the command. */
void cli_run_options(const struct cli_values *values, char *const *argv,
		     char *const *envp, struct hb_run_options *ret_options);

/*
 * The descriptor for the documents of run and exec; 0: none.  -HB_E_USAGE: it
 * cannot be written to.
 */
int cli_json_fd(const struct cli_values *values, struct hb_error *err);

#endif
