/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/held.h"

#include "base/auto.h"
#include "base/error.h"
#include "changes/resource.h"
#include "strategy/copy.h"
#include "strategy/copy_place.h"
#include "tree/content.h"
#include "tree/standin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than a copy ever has: each that a box moves stays one. */
#define HELD_FILES_MAX (4 * (size_t)COPY_HELD_MAX)

/*
 * Which file of the base it stands for.  A mark in the topmost layer that has
 * something there says so; else it is the file at the same path.
 */
static char *find_real(const struct resource *resource, const char *path)
{
	for (size_t i = 0; i < resource->n_layers; i++) {
		const struct content_place at = { .root = resource->layers[i],
						  .in_layer = true,
						  .path = path };
		struct content_dir dir = { .fd = -1 };
		struct standin in;
		struct entry e = { 0 };
		const char *name;
		bool is_found = false;

		if (content_enter(&at, &dir, &name, NULL) >= 0 &&
		    entry_read_layer(dir.fd, name, &e, NULL) >= 0)
			is_found = e.is_stand_in &&
				   standin_read(dir.fd, name, &e, &in) >= 0;
		(void)content_leave(&dir, NULL);
		if (is_found)
			return strdup(in.real);
		if (e.type != ENTRY_NONE || e.is_whiteout)
			break;
	}
	return strdup(path);
}

static int add(const struct resource *resource, struct held_files *held,
	       const struct baseline_record *record, const char *path,
	       struct hb_error *err)
{
	struct held_file *file;

	if (held->n == HELD_FILES_MAX)
		return hb_fail(err, -E2BIG,
			       "too many files that may not be read");
	if (!held->files)
		held->files = calloc(HELD_FILES_MAX, sizeof(*held->files));
	if (!held->files)
		return hb_fail(err, -ENOMEM, "cannot tell which files changed");
	file = &held->files[held->n++];
	*file = (struct held_file){
		.type = record->type,
		.ino = record->ino,
		.ctime = record->ctime,
		.mtime = record->from_ctime,
		.path = strdup(path),
		.real = find_real(resource, path),
	};
	return file->path && file->real
		       ? 0
		       : hb_fail(err, -ENOMEM,
				 "cannot tell which files changed");
}

int held_read(const struct resource *resource, const char *boot,
	      struct held_files *ret, struct hb_error *err)
{
	struct baseline_reader b = { .fd = -1 };
	int r;

	*ret = (struct held_files){ 0 };
	r = baseline_open(resource->dir, boot, &b, err);
	while (r >= 0 && b.has_next) {
		if ((b.next.flags & BASELINE_HELD) && entry_opens(b.next.type))
			r = add(resource, ret, &b.next, buf_str(&b.path), err);
		if (r >= 0)
			r = baseline_next(&b, err);
	}
	baseline_close(&b);
	return r;
}

void held_done(struct held_files *held)
{
	for (size_t i = 0; i < held->n; i++) {
		free(held->files[i].path);
		free(held->files[i].real);
	}
	free(held->files);
	*held = (struct held_files){ 0 };
}

static bool is_after(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec ||
	       (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

const struct held_file *held_find(const struct held_files *held,
				  const struct entry *in_copy)
{
	for (size_t i = 0; i < held->n; i++) {
		const struct held_file *file = &held->files[i];

		/* Born later, it only has the number of a file that is gone. */
		if (in_copy->type == file->type && file->ino == in_copy->ino &&
		    !is_after(in_copy->btime, file->ctime))
			return file;
	}
	return NULL;
}

const struct held_file *held_at(const struct held_files *held, const char *path)
{
	for (size_t i = 0; i < held->n; i++)
		if (held->files[i].type == ENTRY_FILE &&
		    strcmp(held->files[i].path, path) == 0)
			return &held->files[i];
	return NULL;
}

bool held_is_untouched(const struct held_file *file,
		       const struct entry *in_copy)
{
	const struct timespec zero = { 0 };

	/* Changes below a directory are looked at by themselves. */
	if (in_copy->type == ENTRY_DIR)
		return true;
	if (in_copy->size != 0)
		return false;
	/* Of an earlier version: it had another mode, and no time. */
	if (place_is_time(file->mtime, zero))
		return true;
	return in_copy->mode == 0 && place_is_time(file->mtime, in_copy->mtime);
}
