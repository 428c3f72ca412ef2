/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_FRONT_CMD_RUN_H
#define HB_CLI_FRONT_CMD_RUN_H

enum cmd_run_how {
	RUN_NAMED,   /* holdback run WORDS */
	RUN_IMPLIED, /* holdback WORDS: a command may have been meant */
	RUN_BEHIND,  /* the same as the first, in the other executable */
};

/* `words` are not changed.  Returns the exit status. */
int cmd_run(char **words, enum cmd_run_how how, char *const *envp);

#endif
