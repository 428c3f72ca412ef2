/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/placed_stat.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/time.h"
#include "git/githash.h"
#include "git/indexstat.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/access.h"
#include "txn/site.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Stat data says that a file has the content of its entry.  The session's index
 * is no witness for that, so the file itself is read and hashed.  No program
 * may write to it meanwhile.  A later write has to show: by git's rule of racy
 * entries, or by its change time, which has to be past.
 *
 * The index is changed where it is staged.  No program reads it there, and its
 * identity is inode, size and time of modification, which stay.
 */

#define INDEX	   ".git/index"
#define BLOCK	   ((size_t)64 << 10)
#define BYTES_MAX  ((uint64_t)256 << 20) /* that are read for one index */
#define TICK_MS	   11 /* the kernel's times move on by then */
#define NS_PER_MS  1000000
#define MS_PER_SEC 1000

struct placed {
	int base;
	const char *prefix; /* of the work tree, with its '/' */
	int prefix_len;
	uint64_t left;
	char *block;
};

static int64_t age_ms(struct timespec then, struct timespec now)
{
	return (int64_t)(now.tv_sec - then.tv_sec) * MS_PER_SEC +
	       (now.tv_nsec - then.tv_nsec) / NS_PER_MS;
}

/* Whether a write from now on gives it another change time. */
static bool is_settled(const struct sys_attr *a)
{
	int64_t age = age_ms(a->ctime, sys_now());

	if (age >= 0 && age < TICK_MS)
		sys_pause((long)(TICK_MS - age));
	return age >= 0;
}

static bool fits(const struct gitindex_entry *entry, const struct sys_attr *a)
{
	if (entry->flags & (GITINDEX_STAGE | GITINDEX_EXTENDED))
		return false;
	return S_ISREG(entry->mode) && S_ISREG(a->mode) &&
	       !(entry->mode & 0100) == !(a->mode & 0100);
}

static int has_content(struct placed *p, int fd, uint64_t size,
		       const struct gitindex_entry *entry, size_t id_size)
{
	struct githash hash;
	struct git_id id;
	uint64_t at = 0;

	githash_init_object(&hash, 2 * id_size, "blob", size);
	while (at < size) {
		ssize_t n = sys_pread(fd, p->block, BLOCK, at);

		if (n <= 0)
			return 0;
		githash_add(&hash, p->block, (size_t)n);
		at += (uint64_t)n;
	}
	githash_end(&hash, &id);
	for (size_t i = 0; i < id_size; i++) {
		char hex[3];

		(void)snprintf(hex, sizeof(hex), "%02x", entry->id[i]);
		if (memcmp(hex, id.hex + 2 * i, 2) != 0)
			return 0;
	}
	return at == size;
}

/* Of type indexstat_request.look. */
static int look(void *ctx, const struct gitindex_entry *entry, size_t id_size,
		struct indexmerge_stat *ret)
{
	struct placed *p = ctx;
	char path[PATH_MAX];
	struct sys_attr a, after;
	uint64_t size;
	auto_fd int fd = -1;
	int n = snprintf(path, sizeof(path), "%.*s%s", p->prefix_len, p->prefix,
			 entry->path);

	if (n < 0 || (size_t)n >= sizeof(path))
		return 0;
	fd = access_open_regular(p->base, path, &size);
	if (fd < 0 || sys_attr_at(fd, "", &a) < 0 || !fits(entry, &a) ||
	    a.size > p->left || !is_settled(&a))
		return 0;
	p->left -= a.size;
	if (!has_content(p, fd, a.size, entry, id_size) ||
	    sys_attr_at(fd, "", &after) < 0 || after.size != a.size ||
	    !time_is_same(a.ctime, after.ctime) ||
	    !time_is_same(a.mtime, after.mtime))
		return 0;
	*ret = (struct indexmerge_stat){ .ctime = a.ctime,
					 .mtime = a.mtime,
					 .dev = a.dev,
					 .ino = a.ino,
					 .size = a.size,
					 .uid = a.uid,
					 .gid = a.gid };
	return 1;
}

/* How much of the path is the work tree; -1: it is no index of one. */
static int work_tree(const char *path)
{
	size_t n = strlen(path), k = strlen(INDEX);

	if (n < k || n >= PATH_MAX || strcmp(path + n - k, INDEX) != 0 ||
	    (n > k && path[n - k - 1] != '/'))
		return -1;
	return (int)(n - k);
}

static int write_back(const struct place *at, int fd, const char *data,
		      const struct op *op)
{
	int r = sys_pwrite_all(fd, data, (size_t)op->new.size, 0);

	if (r >= 0)
		r = sys_set_mtime_at(at->dir, at->name, op->new.mtime);
	return r < 0 ? r : sys_fsync(fd);
}

static int fill(struct site *s, const struct op *op, const struct place *at,
		int fd, int prefix_len)
{
	auto_free char *data = malloc((size_t)op->new.size + 1);
	auto_free char *block = malloc(BLOCK);
	struct placed p = { .base = s->resource->base,
			    .prefix = op->path,
			    .prefix_len = prefix_len,
			    .left = BYTES_MAX,
			    .block = block };
	struct indexstat_request q = { .data = data,
				       .len = (size_t)op->new.size,
				       .look = look,
				       .ctx = &p };
	int r;

	/* Then git reads the files: no reason to fail. */
	if (!data || !block ||
	    sys_pread_full(fd, data, q.len, 0) != (ssize_t)q.len)
		return 0;
	r = indexstat_fill(&q);
	return r <= 0 ? 0 : write_back(at, fd, data, op);
}

int placed_stat_note(struct site *s, const struct op *op, struct hb_error *err)
{
	int prefix_len = work_tree(op->path), r;
	struct object now;
	struct place at;
	auto_fd int fd = -1;

	if (prefix_len < 0 || op->source != SOURCE_STAGED ||
	    op->new.type != ENTRY_FILE || op->new.size > INDEXMERGE_MAX ||
	    (op->effect & OP_UPPER))
		return 0;
	r = site_source(s, op, &at, err);
	if (r < 0 || at.dir < 0)
		return r;
	r = place_read(&at, &now, err);
	if (r < 0 || !object_is(&now, &op->new) || now.size != op->new.size)
		return r < 0 ? r : 0;
	/* Its mode may forbid it: then git reads the files. */
	fd = sys_openat(at.dir, at.name, O_RDWR | O_NOFOLLOW, 0);
	r = fd < 0 ? 0 : fill(s, op, &at, fd, prefix_len);
	return r < 0 ? hb_fail_at(err, r, op->path, "cannot write") : 0;
}
