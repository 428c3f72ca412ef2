/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_VIEW_PLACE_H
#define HB_PLAN_VIEW_PLACE_H

#include "plan/plan.h"

#include <stdbool.h>

struct view_request;
struct view_entry;

/* Shared by the files of the view; no other file includes it. */

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
 * $AGENT_WORK_DIR, which is fresh, private and gone with the memory it is in.
 * It is in /tmp, or elsewhere if the run gave /tmp away, because nothing is
 * made on the host.  NULL: every place for it is taken.  The plan has the rest
 * of the view, and may have this directory.
 */
const char *view_work_dir(const struct plan *plan);

/*
 * Where a link at `link` with the text `target` leads to, and then `rest` from
 * there: `ret` has room for PATH_MAX.
 */
int view_follow(const char *link, const char *target, const char *rest,
		char *ret);

/*
 * Whether a host path shows the same object in a view.  Links that the view
 * itself makes are followed, others are not known.
 */
bool view_has(const struct plan *plan, const char *path);

/* The same, or something of the host below that path. */
bool view_has_part(const struct plan *plan, const char *path);

/*
 * The operation that decides what is seen at `path`, which is normalised; NULL
 * if nothing does.  Links of the view are followed; `ret_path` (PATH_MAX) gets
 * where that led to.
 */
const struct plan_op *view_find(const struct plan *plan, const char *path,
				char *ret_path);

/*
 * The path inside of the object at the host path `path`, into `ret` (PATH_MAX).
 * They differ only below a resource that is not at its own path.
 */
int view_inside(const struct view_request *request, const char *path,
		char *ret);

/* Whether `path` is `dir` or lies below it; both are normalised. */
bool view_lies_in(const char *path, const char *dir);

/*
 * The reason why a place may not be a workspace, because the view has its own
 * files there; or NULL.  The home directory itself is not among them.
 */
const char *view_refuses_workspace(const char *path, const char *home);

#endif
