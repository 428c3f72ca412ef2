/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_PATCH_H
#define HB_CLI_DIFF_PATCH_H

#include "base/buf.h"
#include "cli/diff/sides.h"
#include "holdback/session.h"

#include <stdbool.h>

/*
 * Changes in git's format, one after the other.  Facts beyond that format are
 * in lines that begin with '#' and stand before their file: a patch tool skips
 * them there.
 */
struct patch {
	struct paint *paint;
	const struct hb_session_info *info; /* NULL: of the files of a commit */
	struct sides sides;
	const char *const *names; /* what git calls both; NULL: to be found */
	const struct hb_change *change; /* whose lines are being compared */
	bool is_exact;	 /* --binary: nothing is left out that can be said */
	struct buf last; /* a directory that may turn out to be empty */
	char last_kind;	 /* A or D; 0: none */
	size_t last_resource;
};

void patch_init(struct patch *p, struct paint *paint,
		const struct hb_session_info *info, struct hb_changes *changes,
		bool is_exact);
void patch_done(struct patch *p);

/* Paints the change that was given last. */
int patch_change(struct patch *p, const struct hb_change *change,
		 struct hb_error *err);

/*
 * Paints a file of a commit: p->sides are set by the caller, and git calls the
 * two contents so.  The name of a side that is not there is empty.
 */
int patch_file(struct patch *p, const char *path, const char *const names[2],
	       struct hb_error *err);

/* After the last one. */
int patch_end(struct patch *p, struct hb_error *err);

#endif
