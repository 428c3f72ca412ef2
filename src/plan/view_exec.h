/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_VIEW_EXEC_H
#define HB_PLAN_VIEW_EXEC_H

#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct plan;
struct view_host;

/*
 * The view of `holdback exec`: the host read-only, with the resources of a
 * session copy-on-write in it, and private places over what is shared between
 * processes of a user.  Pure, like plan/view.h.
 */

/* A directory that is held back. */
struct view_overlay {
	const char *source; /* the real one */
	const char *inside;
	const char *const *layers; /* frozen ones, the lowest first */
	size_t n_layers;
	const char *upper, *work;
	const char *tree; /* NULL; or what is shown instead, and written to */
};

/* Something of the host's that is shown as it is, read-only. */
struct view_held {
	const char *source, *inside;
};

struct view_exec_request {
	const struct view_overlay *overlays;
	size_t n_overlays;
	bool is_volatile;
	const char *store;	   /* covered, wherever it is seen */
	const char *const *hidden; /* likewise, at these paths */
	size_t n_hidden;
	const struct view_held *held;
	size_t n_held;
	const char *const
		*read_only; /* shown also where something covers them */
	size_t n_read_only;
	const char *cwd;     /* inside */
	const char *program; /* the last component of the command's name */
};

/* As view_build(). */
int view_exec_build(const struct view_exec_request *request,
		    const struct view_host *host, struct plan *plan,
		    struct hb_error *err);

#endif
