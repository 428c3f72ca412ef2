/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_CMD_EXEC_H
#define HB_CLI_CMD_EXEC_H

enum cmd_exec_where {
	EXEC_IN_FRONT, /* what takes memory is left to the other executable */
	EXEC_BEHIND,
};

/*
 * `argv` is that of the program and not changed.  Returns the exit status.
 */
int cmd_exec(char **argv, enum cmd_exec_where where, char *const *envp);

#endif
