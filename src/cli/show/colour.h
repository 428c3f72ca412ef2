/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_COLOUR_H
#define HB_CLI_SHOW_COLOUR_H

#include <stdbool.h>

struct buf;

/* What a colour means; git's own, as `diff` has them. */
enum colour {
	COLOUR_NONE,
	COLOUR_HEAD,	/* a heading */
	COLOUR_ADDED,	/* and all that is well */
	COLOUR_DELETED, /* and all that stands against a command */
	COLOUR_CHANGED,
	COLOUR_WARNING,
};

/* Whether the user wants none: NO_COLOR is set, and not empty. */
bool colour_is_refused(char *const *envp);

/* Whether a terminal, if there is one, can show them, by TERM. */
bool colour_is_possible(char *const *envp);

/*
 * The place that decides for all commands: a terminal that can, and a user who
 * does not refuse.  Only `diff` has an option and git's settings before that.
 */
bool colour_is_on(int fd);

/* Of a change, by the letter that `status` shows. */
enum colour colour_of_kind(char kind);

/* The bytes that begin a colour, or "" where it is none or not on. */
const char *colour_begin(bool is_on, enum colour colour);
const char *colour_end(bool is_on, enum colour colour);

#endif
