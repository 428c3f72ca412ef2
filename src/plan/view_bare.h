/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_VIEW_BARE_H
#define HB_PLAN_VIEW_BARE_H

struct hb_error;
struct plan;
struct view_host;
struct view_request;

/*
 * The view of `holdback run` without namespaces: the host's own files, of which
 * a command can open only those that the view would show.  Each resource is a
 * copy at the copy's own path.  The host's home is a directory of the session.
 * Pure, as view_build() is.
 *
 * Each resource that the session keeps has a tree, and is `inside` there.
 */
int view_bare_build(const struct view_request *request,
		    const struct view_host *host, const char *tmp,
		    struct plan *plan, struct hb_error *err);

#endif
