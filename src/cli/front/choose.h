/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_FRONT_CHOOSE_H
#define HB_CLI_FRONT_CHOOSE_H

struct hb_error;
struct hb_store;

/* Which sessions a command could mean. */
enum choose_by {
	CHOOSE_BY_PENDING,
	CHOOSE_BY_PAST, /* and those with a commit that can be taken back */
	CHOOSE_BY_LIVE, /* and those in which something runs */
};

/*
 * No session was named, and several have the working directory in them.
 *
 * For a command that changes something: -HB_E_USAGE, with the names, if more
 * than one of them has changes.  Needs memory: not for the executable in front.
 */
int choose_only(struct hb_store *store, const char *command, enum choose_by by,
		struct hb_error *err);

/*
 * For a command that looks: says on stderr that it is `name`, if there are
 * others.
 */
int choose_said(struct hb_store *store, const char *name, struct hb_error *err);

#endif
