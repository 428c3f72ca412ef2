/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_FRONT_CMD_EXEC_H
#define HB_CLI_FRONT_CMD_EXEC_H

#include <stdbool.h>

enum cmd_exec_where {
	EXEC_IN_FRONT, /* what takes memory is left to the other executable */
	EXEC_BEHIND,
};

/* Whether this is the name of a command that cmd_exec() is. */
bool cmd_is_exec(const char *name);

/*
 * `argv` is that of the program and not changed.  Returns the exit status.
 */
int cmd_exec(char **argv, enum cmd_exec_where where, char *const *envp);

#endif
