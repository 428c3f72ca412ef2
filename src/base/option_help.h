/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_OPTION_HELP_H
#define HB_BASE_OPTION_HELP_H

struct buf;
struct command;
struct program;

/*
 * What is said about the tables of base/option.h.  All add to `out` and return
 * 0 or its error.
 */

/* The help of a command, or with NULL that of the program: its commands. */
int option_help(const struct program *p, const struct command *c,
		struct buf *out);

/*
 * All that can be typed, for a test to hold against the man pages.  One line
 * for each command and for each option that is not hidden, in the order of the
 * tables.  Its columns have TAB between: the command ("-" for the options of
 * all), the long option with its dashes, the short option, the metavar.  A
 * missing one is "-".  The metavar of an optional argument is in brackets.
 */
int option_list(const struct program *p, struct buf *out);

enum option_shell {
	OPTION_SHELL_BASH,
	OPTION_SHELL_ZSH,
	OPTION_SHELL_FISH,
	OPTION_SHELLS, /* one past the last */
};

/* The names of the shells, NULL at the end. */
extern const char *const option_shell_names[OPTION_SHELLS + 1];

#endif
