/* SPDX-License-Identifier: Apache-2.0 */
#include "session/indexes.h"

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

/* A file of a layer is pending, and so is the mark of a deleted one. */
static bool is_pending(void *ctx, const char *path)
{
	static const char *const names[] = { "HEAD", "packed-refs", "refs" };
	const struct resource *resource = ctx;
	char whole[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < resource->n_layers; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			int n = snprintf(whole, sizeof(whole), "%s%s%s", path,
					 path[0] ? "/" : "", names[k]);

			if (n < 0 || (size_t)n >= sizeof(whole) ||
			    sys_fstatat(resource->layers[i], whole, &st,
					AT_SYMLINK_NOFOLLOW) >= 0)
				return true;
		}
	return false;
}

static void keep_references(const struct resource *resource, bool is_first)
{
	const struct kept_refs_request request = {
		.base = resource->base,
		.dir = resource->dir,
		.root = request_for(resource).root,
		.is_pending = is_first ? NULL : is_pending,
		.ctx = (void *)(uintptr_t)resource,
	};

	kept_refs_take(&request);
}

void indexes_keep_first(const struct resource *resource)
{
	const struct kept_request request = request_for(resource);

	kept_index_take(&request);
	keep_references(resource, true);
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
		keep_references(&s->resources[i], false);
	}
}
