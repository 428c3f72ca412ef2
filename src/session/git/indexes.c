/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/indexes.h"

#include "base/time.h"
#include "git/kept_index.h"
#include "git/kept_take.h"
#include "plan/role.h"
#include "session/session.h"
#include "store/seen.h"
#include "sys/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct kept_request request_for(const struct resource *resource)
{
	bool is_git = strcmp(resource->record->role, role_name(VIEW_GIT)) == 0;

	return (struct kept_request){
		.base = resource->base,
		.dir = resource->dir,
		.root = git_root(is_git),
		.t0 = resource->record->t0,
	};
}

/*
 * Once: what a commit changes is in a record with its number, which undo makes
 * count no more (session/git/kept_values.h).  A later one in this place would
 * stay.
 */
static void keep_references(const struct resource *resource)
{
	const struct kept_refs_request request = {
		.base = resource->base,
		.dir = resource->dir,
		.root = request_for(resource).root,
	};

	kept_refs_take(&request);
}

void indexes_keep_first(const struct resource *resource)
{
	const struct kept_request request = request_for(resource);

	kept_index_take(&request);
	keep_references(resource);
}

static bool is_ours(void *ctx, const char *path, uint64_t ino,
		    struct timespec ctime)
{
	struct seen seen;

	return seen_find(ctx, path, &seen) && seen.conflict == 0 &&
	       seen.base_ino == ino && time_is_same(seen.base_ctime, ctime);
}

void indexes_keep(const struct hb_session *s)
{
	for (size_t i = 0; i < s->record.n_resources; i++) {
		struct kept_request request;
		struct seen_file seen = { .fd = -1 };

		if (s->resources[i].is_gone || s->resources[i].base < 0)
			continue;
		request = request_for(&s->resources[i]);
		/* Read anew: by now there is more in it. */
		if (seen_open(request.dir, &seen, NULL) >= 0) {
			request.is_ours = is_ours;
			request.ctx = &seen;
		}
		kept_index_take(&request);
		seen_done(&seen);
	}
}
