/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/staged.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "git/gitindex.h"
#include "review/git/units.h"
#include "session/session.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define INDEX	    "index"
#define SKIPPED	    0x4000U /* of the extended flags */
#define ENTRIES_MAX ((size_t)4 << 20)

void staged_done(struct staged *staged)
{
	for (size_t i = 0; i < staged->n; i++)
		free(staged->entries[i].path);
	free(staged->entries);
	*staged = (struct staged){ 0 };
}

static ssize_t read_fd(void *ctx, void *buf, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, buf, size, offset);
}

static int no_index(const struct hb_session *s, struct hb_error *err)
{
	hb_fix(err, "holdback exec @%s -- git update-index --no-split-index",
	       s->record.name);
	return hb_fail(err, -HB_E_CONFLICT,
		       "the index of the session cannot be read: it is split, "
		       "sparse or damaged");
}

static int not_merged(const struct hb_session *s, const char *path,
		      struct hb_error *err)
{
	hb_fix(err, "holdback shell @%s: end the merge there", s->record.name);
	return hb_fail(err, -HB_E_CONFLICT,
		       "a path of the session is not merged: %s", quoted(path));
}

static int add(struct staged *staged, const struct gitindex_entry *e,
	       size_t digits)
{
	static const char hex[] = "0123456789abcdef";
	struct staged_entry entry = {
		.path = strdup(e->path),
		.mode = gittree_mode(e->mode),
		.is_skipped = (e->flags & GITINDEX_EXTENDED & SKIPPED) != 0,
	};

	for (size_t i = 0; i < digits / 2; i++) {
		entry.id.hex[2 * i] = hex[e->id[i] >> 4];
		entry.id.hex[2 * i + 1] = hex[e->id[i] & 15];
	}
	if (!entry.path || staged->n >= ENTRIES_MAX ||
	    grow(staged->entries, staged->n) < 0) {
		free(entry.path);
		return -ENOMEM;
	}
	staged->entries[staged->n++] = entry;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct staged_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

const struct staged_entry *staged_find(const struct staged *staged,
				       const char *path)
{
	/* Only compared. */
	const struct staged_entry key = { .path = (char *)(uintptr_t)path };

	return staged->n == 0 ? NULL
			      : bsearch(&key, staged->entries, staged->n,
					sizeof(key), by_path);
}

static int read_entries(const struct hb_session *s, int fd, uint64_t size,
			size_t digits, struct staged *ret, struct hb_error *err)
{
	auto_free struct gitindex *index = malloc(sizeof(*index));
	struct gitindex_entry e;
	int r = index ? gitindex_open(index, read_fd, &fd, size, digits / 2)
		      : -ENOMEM;

	while (r >= 0 && (r = gitindex_next(index, &e)) == 1) {
		if (e.flags & GITINDEX_STAGE)
			return not_merged(s, e.path, err);
		r = add(ret, &e, digits);
	}
	if (r < 0 && r != -ENOMEM)
		return no_index(s, err);
	if (ret->n > 0)
		qsort(ret->entries, ret->n, sizeof(*ret->entries), by_path);
	return r < 0 ? hb_fail(err, r, "cannot merge") : 0;
}

static int open_session(const struct unit *unit, const struct unit_file *file,
			const struct hb_session *s, uint64_t *ret_size,
			struct hb_error *err)
{
	const struct content_place place = {
		.root = s->resources[unit->resource].layers[file->layer],
		.in_layer = true,
		.path = file->whole,
		.entry = &file->new,
	};

	*ret_size = file->new.size;
	return content_open(&place, err);
}

static int open_base(const struct unit *unit, const struct hb_session *s,
		     uint64_t *ret_size)
{
	auto_fd int dir = access_open_below(s->resources[unit->resource].base,
					    unit->prefix, strlen(unit->prefix),
					    O_PATH, NULL);

	return dir < 0 ? dir : access_open_regular(dir, INDEX, ret_size);
}

int staged_load(const struct unit *unit, const struct hb_session *s,
		size_t digits, struct staged *ret, struct hb_error *err)
{
	const struct unit_file *file = unit_find(unit, INDEX);
	auto_fd int fd = -1;
	uint64_t size = 0;

	if (file && file->is_gone)
		return no_index(s, err);
	fd = file ? open_session(unit, file, s, &size, err)
		  : open_base(unit, s, &size);
	if (fd < 0)
		return file && fd != -ENOENT ? fd : no_index(s, err);
	return read_entries(s, fd, size, digits, ret, err);
}

int staged_load_base(const struct hb_session *s, int base, const char *path,
		     size_t digits, struct staged *ret, struct hb_error *err)
{
	uint64_t size = 0;
	auto_fd int fd = access_open_regular(base, path, &size);

	if (fd == -ENOENT)
		return 0;
	return fd < 0 ? hb_fail_at(err, fd, path, "cannot read")
		      : read_entries(s, fd, size, digits, ret, err);
}
