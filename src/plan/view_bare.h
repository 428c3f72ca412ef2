/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_VIEW_BARE_H
#define HB_PLAN_VIEW_BARE_H

struct hb_error;
struct plan;
struct view_host;
struct view_request;

/*
 * The view of `holdback run` where there are no namespaces: the host's own
 * files, of which only those can be opened that the view would show, and a copy
 * of each resource at the copy's own path.  The host's home is a directory of
 * the session.  Pure, as view_build() is.
 *
 * Each resource that the session keeps has a tree, and is `inside` there.
 */
int view_bare_build(const struct view_request *request,
		    const struct view_host *host, const char *tmp,
		    struct plan *plan, struct hb_error *err);

#endif
