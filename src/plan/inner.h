/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_INNER_H
#define HB_PLAN_INNER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where a view with marks of turns has the socket on which they are asked for
 * (box/turns.h), and our program, which speaks to it.  The directory is a mount
 * of its own: so no command can move it away.
 */
#define TURNS_DIR     "/run/holdback"
#define TURNS_SOCKET  "/run/holdback/turn"
#define TURNS_PROGRAM "/run/holdback/holdback"

/*
 * The sandbox that an agent makes for its own commands, inside of ours.  It
 * needs user namespaces, and a box has none.  So the agent's documented option
 * switches it off for this run, by words of its command line.
 */
struct inner {
	/* The words to use; an allocated array of borrowed ones. NULL: as they
	 * are. */
	const char **argv;
	/* The caller asks for more than ours keeps, by this word; or NULL. */
	const char *stricter;
	/*
	 * The configuration decides: the words name no mode, and inner_mode()
	 * tells whether a file of it asks for more.
	 */
	bool is_by_file;
	const char *profile; /* the words name another file; or NULL */
	bool is_off;	     /* by these words its own sandbox is */
	bool marks_turns;    /* and by these it asks for marks */
};

/*
 * The settings of `program` that may switch such a sandbox on.  The caller
 * reads these files, and inner_is_set() tells of each; the names are paths from
 * the home directory and from the project.  inner_is_on() tells of the value of
 * the variable.  Returns the number of names; the variable may be NULL.
 */
size_t inner_settings(const char *program, const char *const **ret_names,
		      const char **ret_variable);
bool inner_is_set(const char *text, size_t n);
bool inner_is_on(const char *value);

/*
 * The words of `program`, which may be NULL, with its own sandbox off. `is_set`
 * is whether its settings switch that on.  -ENOMEM.
 */
int inner_switch_off(const char *program, char *const *argv, bool is_set,
		     struct inner *ret);

/*
 * The words of `program` as `inner` has them, with a hook that runs `holdback
 * mark --turn` at the end of each turn.  Nothing changes where the agent has no
 * such option, or the caller uses it: inner->marks_turns says so.  -ENOMEM.
 */
int inner_mark_turns(const char *program, char *const *argv,
		     struct inner *inner);

/*
 * What a configuration file of codex says of the mode: 1, more than ours
 * keeps; 0, another; -1, nothing.
 */
int inner_mode(const char *text, size_t n);

#endif
