/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_DIRECT_DIRECT_WALK_H
#define HB_VIEW_DIRECT_DIRECT_WALK_H

#include <stdbool.h>

struct hb_error;

/*
 * Looks through a real directory for names that the gate asks about.  By
 * descriptor; nothing is changed.  A link in the place of a directory in which
 * such names lie is followed once, if it leads to another place in there.
 */

/* So many names are looked at, and so many directories deep. */
#define DIRECT_WALK_NAMES 2000000
#define DIRECT_WALK_DEPTH 40

struct direct_hit {
	const char *path;	      /* relative to the directory, any bytes */
	const char *as;		      /* what rules take for its path */
	const struct gate_rule *rule; /* NULL: it lies too deep to be looked at
				       */
	const char *reason;	      /* the rule's, or its path's */
	bool is_link;
	bool is_dir; /* all below it is meant */
};

/* Strings last as long as the call.  A negated code ends the walk with it. */
typedef int (*direct_hit_fn)(void *ctx, const struct direct_hit *hit,
			     struct hb_error *err);

struct direct_walk {
	int root;	    /* of the directory */
	const char *source; /* its path, without links */
	const struct gate_rules *rules;
	const char *prefix; /* what rules take for the path above it, or "" */
	const char *above;  /* names that built-in rules know besides, or "" */
	/* Whether the walk stays out of a directory; `path` as in a hit. */
	bool (*is_closed)(void *ctx, const char *path);
	direct_hit_fn hit;
	void *ctx;
};

/*
 * Calls `hit` with each name that a rule of at least `ask` is about by its path
 * alone or by its contents.  Also with each link in a directory of which all is
 * meant.  A directory comes before the links in it.  In packages that others
 * made only repositories count: their users run all of them.  A directory that
 * cannot be read is passed over; -HB_E_USAGE with a fix beyond the limit of
 * names.
 */
int direct_walk(const struct direct_walk *walk, struct hb_error *err);

#endif
