/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/indexes.h"

#include "base/grow.h"
#include "base/time.h"
#include "git/kept/kept_index.h"
#include "git/kept/kept_placed.h"
#include "git/kept/kept_take.h"
#include "plan/role.h"
#include "session/session.h"
#include "store/seen.h"
#include "sys/file.h"
#include "txn/history.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

struct numbers {
	uint64_t *list;
	size_t n;
	uint64_t last;
};

/* Of type history_fn. */
static int note_number(void *ctx, uint64_t id, struct hb_error *err)
{
	struct numbers *numbers = ctx;

	(void)err;
	if (grow(numbers->list, numbers->n) < 0)
		return -ENOMEM;
	numbers->list[numbers->n++] = id;
	if (id > numbers->last)
		numbers->last = id;
	return 0;
}

int indexes_place(const struct hb_session *s, size_t resource, const char *path,
		  uint64_t id, const void *data, size_t size)
{
	int dir = s->resources[resource].dir;
	struct numbers numbers = { 0 };
	int r = history_each(s->dir, HISTORY_DONE, note_number, &numbers, NULL);

	free(numbers.list);
	if (r >= 0)
		r = kept_placed_begin(dir, path, numbers.last);
	return r < 0 ? r : kept_placed_store(dir, path, id, data, size);
}

void indexes_restore(const struct hb_session *s)
{
	struct numbers numbers = { 0 };
	int r = history_each(s->dir, HISTORY_DONE, note_number, &numbers, NULL);

	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		if (s->resources[i].dir >= 0)
			if (kept_placed_restore(s->resources[i].dir,
						numbers.list, numbers.n) >= 0)
				(void)kept_placed_confirm(s->resources[i].dir,
							  numbers.last, false);
	free(numbers.list);
}

void indexes_confirm(const struct hb_session *s, bool is_first)
{
	struct numbers numbers = { 0 };
	int r = history_each(s->dir, HISTORY_DONE, note_number, &numbers, NULL);

	free(numbers.list);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		if (s->resources[i].dir >= 0)
			(void)kept_placed_confirm(s->resources[i].dir,
						  numbers.last, is_first);
}

int indexes_open(const struct hb_session *s, size_t resource, const char *path,
		 uint64_t *ret_size)
{
	struct numbers numbers = { 0 };
	int r = history_each(s->dir, HISTORY_DONE, note_number, &numbers, NULL);

	if (r >= 0)
		r = kept_placed_open(s->resources[resource].dir, path,
				     numbers.list, numbers.n, numbers.last,
				     ret_size);
	free(numbers.list);
	return r;
}
