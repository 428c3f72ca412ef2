/* SPDX-License-Identifier: Apache-2.0 */
#include "view/home/bounds.h"

#include "base/path.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool bounds_is_held(const void *ctx, const char *path)
{
	const struct run *run = ctx;

	for (size_t i = 0; i < run->n_resources; i++)
		if (view_lies_in(path, run->resources[i].source))
			return true;
	return false;
}

bool bounds_is_exposed(const struct run *run, const char *path)
{
	if (bounds_is_held(run, path))
		return true;
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class != VIEW_HIDE &&
		    view_lies_in(path, run->entries[i].path))
			return true;
	return false;
}

bool bounds_is_shown(const struct run *run, const char *path)
{
	bool shown = false;

	if (bounds_is_held(run, path))
		return true;
	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if (e->class == VIEW_TEXT || e->class == VIEW_EMPTY ||
		    e->class == VIEW_FRESH || e->class == VIEW_COPY ||
		    e->found == VIEW_ABSENT || !view_lies_in(path, e->path))
			continue;
		if (e->class == VIEW_HIDE)
			return false;
		shown = true;
	}
	return shown;
}

bool bounds_is_checkout(const struct run *run, const char *path)
{
	char at[PATH_MAX], git[PATH_MAX];

	(void)snprintf(at, sizeof(at), "%s", path);
	while (at[0] && !(run->host.home && strcmp(at, run->host.home) == 0)) {
		/* What cannot be looked at is not known to be none. */
		if (path_join(at, ".git", git, sizeof(git)) < 0 ||
		    sys_faccessat(AT_FDCWD, git, F_OK) >= 0)
			return true;
		*strrchr(at, '/') = '\0';
	}
	return false;
}

bool bounds_keep_out(struct run *run, const char *path)
{
	const char *home = run->host.home;

	if (view_refuses_workspace(path, home) ||
	    (home && strcmp(path, home) == 0) || entries_would_hide(run, path))
		return true;
	return run->store[0] && (view_lies_in(run->store, path) ||
				 view_lies_in(path, run->store));
}

bool bounds_allow(struct run *run, const char *path)
{
	return !bounds_keep_out(run, path) && !bounds_is_checkout(run, path);
}
