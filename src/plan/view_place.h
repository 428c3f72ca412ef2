/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_VIEW_PLACE_H
#define HB_PLAN_VIEW_PLACE_H

#include "plan/plan.h"

#include <stdbool.h>

struct view_entry;

/* What the files of the view share, and nobody else includes. */

/* A place that the view has of its own. */
struct view_place {
	const char *path;
	enum plan_op_kind kind;
	unsigned flags;
	mode_t perms;
};

#define VIEW_PLACES 5

extern const struct view_place view_places[VIEW_PLACES];

/* Whether it was asked for by name, and so wins over what is ours. */
bool view_is_asked(const struct view_entry *e);

/*
 * $AGENT_WORK_DIR, which is fresh, private and gone with the memory it is in:
 * in /tmp, or elsewhere if that was given away, because nothing is made on the
 * host.  NULL: every place for it is taken.  The plan has the rest of the view,
 * and may have this directory.
 */
const char *view_work_dir(const struct plan *plan);

/*
 * Where a link at `link` with the text `target` leads to, and then `rest` from
 * there: `ret` has room for PATH_MAX.
 */
int view_follow(const char *link, const char *target, const char *rest,
		char *ret);

#endif
