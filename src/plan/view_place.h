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

/* $AGENT_WORK_DIR: fresh, private, and gone with the rest of /tmp. */
#define VIEW_WORK_DIR "/tmp/agent-work"

extern const struct view_place view_places[VIEW_PLACES];

/* Whether it was asked for by name, and so wins over what is ours. */
bool view_is_asked(const struct view_entry *e);

/*
 * Where a link at `link` with the text `target` leads to, and then `rest` from
 * there: `ret` has room for PATH_MAX.
 */
int view_follow(const char *link, const char *target, const char *rest,
		char *ret);

#endif
