/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_FRONT_HAND_OVER_H
#define HB_CLI_FRONT_HAND_OVER_H

struct cli_values;

/*
 * --help and --version of a command of the fast executable: the long texts are
 * in the other one, which takes our place.  Returns, with an exit status, only
 * if it is not there.
 */
int cli_hand_over(const char *command, const struct cli_values *values,
		  char *const *envp);

/*
 * The words of "holdback run -s SESSION" and those words.  Borrows all of them;
 * the caller frees the list.  NULL: no memory.
 */
char **cli_words_in(char *session, char **words);

/*
 * A list of the same words, because the parser of a call may have to pass it on
 * unchanged.  The caller frees the list.  NULL: no memory.
 */
char **cli_copy_words(char **words);

#endif
