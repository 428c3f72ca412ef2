/* SPDX-License-Identifier: Apache-2.0 */
#include "view/repository/borrowed.h"

#include "base/error.h"
#include "base/path.h"
#include "host/alternates.h"
#include "plan/view.h"
#include "view/home/bounds.h"
#include "view/prepare.h"

#include <limits.h>

static int show_one(struct run *run, const struct alternate *alternate,
		    struct hb_error *err)
{
	const char *path, *real;
	int r;

	if (bounds_is_held(run, alternate->path) ||
	    bounds_is_shown(run, alternate->path))
		return 0;
	if (bounds_keep_out(run, alternate->path) ||
	    bounds_keep_out(run, alternate->real)) {
		run->n_borrowed_lacks++;
		return 0;
	}
	r = plan_keep_text(&run->plan, alternate->path, &path, err);
	if (r >= 0)
		r = plan_keep_text(&run->plan, alternate->real, &real, err);
	if (r < 0)
		return r;
	run->n_borrowed++;
	run->entries[run->n_entries++] = (struct view_entry){
		.class = VIEW_RO,
		.found = VIEW_DIR,
		.path = path,
		.source = real,
	};
	return 0;
}

int borrowed_show(struct run *run, struct hb_error *err)
{
	auto_alternates struct alternates found = { 0 };
	char path[PATH_MAX];
	int r = path_join(run->workspace, ".git", path, sizeof(path));

	for (size_t i = 0; i < run->n_resources; i++)
		if (run->resources[i].role == VIEW_GIT)
			r = path_join(run->resources[i].source, "", path,
				      sizeof(path));
	if (r < 0)
		return 0;
	r = alternates_find(path, &found);
	if (r < 0)
		return hb_fail(err, r, "cannot find borrowed objects");
	run->n_borrowed_lacks = found.n_refused;
	for (size_t i = 0; r >= 0 && i < found.n; i++)
		r = show_one(run, &found.list[i], err);
	return r;
}
