/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_ENABLED_H
#define HOLDBACK_ENABLED_H

#include <stdbool.h>

struct hb_error;

/*
 * Programs that always start in a sandbox.  Each is a link to bin/holdback that
 * is named like the program.  PATH has the directory of links before all
 * others.
 */

enum hb_reach {
	HB_REACH_ON,	  /* PATH finds the link, and the program behind it */
	HB_REACH_BEHIND,  /* PATH finds the program before the link */
	HB_REACH_ABSENT,  /* PATH does not have the directory of links */
	HB_REACH_MISSING, /* PATH has no such program */
	HB_REACH_STALE,	  /* the link leads to an installation that is gone */
};

/* One link; valid during the call that tells it. */
struct hb_enabled {
	const char *name;
	const char *program; /* that the link stands in front of; may be "" */
	enum hb_reach reach;
};

/* The directory of links, into `ret`, which has room for PATH_MAX. */
int hb_enabled_dir(char *const *envp, char *ret, struct hb_error *err);

/* Whether PATH has that directory. */
bool hb_enabled_in_path(char *const *envp);

/*
 * Tells the links in the order of their names; with `only`, that link alone.
 * Files that holdback did not make are passed over.  1: there was one, 0: none.
 */
int hb_enabled_each(const char *only, char *const *envp,
		    void (*tell)(void *ctx, const struct hb_enabled *link),
		    void *ctx, struct hb_error *err);

/*
 * Makes a link; 1: it is new, 0: it was there.  A link to another installation
 * is replaced in one step; any other file of that name stays, and is an error.
 */
int hb_enable(const char *name, char *const *envp, struct hb_error *err);

/* Removes a link of ours; 0: there is none. */
int hb_disable(const char *name, char *const *envp, struct hb_error *err);

#endif
