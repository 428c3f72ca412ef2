/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_CMD_EXEC_H
#define HB_CLI_CMD_EXEC_H

/* `words` are changed.  Returns the exit status. */
int cmd_exec(char **words, char *const *envp);

#endif
