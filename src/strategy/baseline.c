/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/baseline.h"

#include "base/error.h"
#include "base/path.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "baseline"
#define NEW_NAME  "baseline.new"
#define MAGIC	  UINT64_C(0x3130657361624268) /* hBbase01 */

#define READ_SIZE ((size_t)1 << 18)
#define DEPTH_MAX 65536

struct head {
	uint64_t magic;
	uint64_t n; /* records */
	char boot[BASELINE_BOOT_SIZE];
};

/* The name follows, without a NUL. */
struct fixed {
	uint64_t ino, size, from_ino;
	int64_t ctime_sec, from_ctime_sec;
	uint32_t ctime_nsec, from_ctime_nsec;
	uint32_t depth;
	uint16_t name_len;
	uint8_t type, flags;
};

static_assert(sizeof(struct fixed) == 56, "no holes that would be written");
static_assert(sizeof(struct head) == 56, "no holes that would be written");

static int corrupt(struct hb_error *err)
{
	hb_fix(err, "copy useful files out of it, then holdback cleanup");
	return hb_fail(err, -HB_E_CORRUPT, "the baseline of a copy is damaged");
}

static int open_file(int dir, const char *name, const char *boot,
		     struct baseline_reader *ret, struct hb_error *err)
{
	struct baseline_reader b = { .fd = -1, .end = sizeof(struct head) };
	struct head head;
	ssize_t n;
	int r;

	b.fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW, 0);
	if (b.fd == -ENOENT)
		return -ENOENT;
	if (b.fd < 0)
		return hb_fail(err, b.fd, "cannot open the baseline");
	n = sys_pread_full(b.fd, &head, sizeof(head), 0);
	if (n != (ssize_t)sizeof(head) || head.magic != MAGIC ||
	    memchr(head.boot, '\0', sizeof(head.boot)) == NULL) {
		sys_close(b.fd);
		return n < 0 ? hb_fail(err, (int)n, "cannot read the baseline")
			     : corrupt(err);
	}
	b.is_trusted = strcmp(head.boot, boot) == 0;
	b.n_left = head.n;
	b.block = malloc(READ_SIZE);
	r = b.block ? sys_seek(b.fd, sizeof(head)) : -ENOMEM;
	buf_init(&b.path, PATH_TREE_MAX);
	buf_init(&b.lengths, (size_t)DEPTH_MAX * sizeof(size_t));
	if (r >= 0)
		r = baseline_next(&b, err);
	else
		(void)hb_fail(err, r, "cannot read the baseline");
	if (r < 0) {
		baseline_close(&b);
		return r;
	}
	*ret = b;
	return 0;
}

int baseline_open(int dir, const char *boot, struct baseline_reader *ret,
		  struct hb_error *err)
{
	return open_file(dir, FILE_NAME, boot, ret, err);
}

void baseline_close(struct baseline_reader *b)
{
	if (b->fd >= 0)
		sys_close(b->fd);
	b->fd = -1;
	b->has_next = false;
	free(b->block);
	b->block = NULL;
	buf_done(&b->path);
	buf_done(&b->lengths);
}

/* The next `n` bytes, which are fewer than a block. */
static int take(struct baseline_reader *b, void *to, size_t n,
		struct hb_error *err)
{
	size_t rest = b->n_block - b->at;

	while (rest < n) {
		ssize_t got;

		memmove(b->block, b->block + b->at, rest);
		b->at = 0;
		b->n_block = rest;
		got = sys_read(b->fd, b->block + rest, READ_SIZE - rest);
		if (got < 0)
			return hb_fail(err, (int)got,
				       "cannot read the baseline");
		if (got == 0)
			return corrupt(err);
		b->n_block += (size_t)got;
		rest = b->n_block;
	}
	memcpy(to, b->block + b->at, n);
	b->at += n;
	return 0;
}

/* The path of the next record follows from the one before. */
static int set_path(struct baseline_reader *b, struct hb_error *err)
{
	size_t depth = b->next.depth, n = b->lengths.len / sizeof(size_t);
	size_t len = 0;

	if (depth > n)
		return corrupt(err);
	if (depth > 0) {
		memcpy(&len, b->lengths.data + (depth - 1) * sizeof(len),
		       sizeof(len));
		buf_cut(&b->path, len);
		(void)buf_add_char(&b->path, '/');
	} else {
		buf_cut(&b->path, 0);
	}
	(void)buf_add_str(&b->path, b->next.name);
	buf_cut(&b->lengths, depth * sizeof(len));
	len = b->path.len;
	(void)buf_add(&b->lengths, &len, sizeof(len));
	if (b->path.error < 0 || b->lengths.error < 0)
		return hb_fail(err, -E2BIG, "the copy is too deep");
	return 0;
}

int baseline_next(struct baseline_reader *b, struct hb_error *err)
{
	struct baseline_record *next = &b->next;
	struct fixed f;
	int r;

	b->has_next = false;
	if (b->n_left == 0)
		return 0;
	b->offset = b->end;
	r = take(b, &f, sizeof(f), err);
	if (r < 0)
		return r;
	if (f.name_len == 0 || f.name_len > NAME_MAX || f.depth >= DEPTH_MAX ||
	    f.type >= ENTRY_TYPES)
		return corrupt(err);
	r = take(b, next->name, f.name_len, err);
	if (r < 0)
		return r;
	next->name[f.name_len] = '\0';
	if (strlen(next->name) != f.name_len || strchr(next->name, '/'))
		return corrupt(err);
	next->type = (enum entry_type)f.type;
	next->flags = f.flags;
	next->depth = f.depth;
	next->ino = f.ino;
	next->size = f.size;
	next->ctime = (struct timespec){ f.ctime_sec, f.ctime_nsec };
	next->from_ino = f.from_ino;
	next->from_ctime =
		(struct timespec){ f.from_ctime_sec, f.from_ctime_nsec };
	r = set_path(b, err);
	if (r < 0)
		return r;
	b->end += sizeof(f) + f.name_len;
	b->n_left--;
	b->has_next = true;
	return 0;
}

int baseline_skip(struct baseline_reader *b, uint32_t depth,
		  struct hb_error *err)
{
	int r = 0;

	while (r >= 0 && b->has_next && b->next.depth > depth)
		r = baseline_next(b, err);
	return r;
}

int baseline_begin(int dir, struct baseline_writer *ret, struct hb_error *err)
{
	static const struct head empty;
	int r;

	*ret = (struct baseline_writer){ .dir = dir, .fd = -1 };
	buf_init(&ret->block, READ_SIZE + sizeof(struct fixed) + NAME_MAX);
	/* What an interruption left is written over. */
	ret->fd = sys_openat(dir, NEW_NAME,
			     O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	if (ret->fd < 0)
		return hb_fail(err, ret->fd, "cannot make a baseline");
	r = sys_write_all(ret->fd, &empty, sizeof(empty));
	if (r < 0)
		return hb_fail(err, r, "cannot write a baseline");
	ret->written = sizeof(empty);
	return 0;
}

static int flush(struct baseline_writer *w, struct hb_error *err)
{
	int r = w->block.error;

	if (r == 0 && w->block.len > 0)
		r = sys_pwrite_all(w->fd, w->block.data, w->block.len,
				   w->written);
	if (r < 0)
		return hb_fail(err, r, "cannot write a baseline");
	w->written += w->block.len;
	buf_cut(&w->block, 0);
	return 0;
}

int baseline_add(struct baseline_writer *w,
		 const struct baseline_record *record, uint64_t *ret_offset,
		 struct hb_error *err)
{
	const struct fixed f = {
		.ino = record->ino,
		.size = record->size,
		.from_ino = record->from_ino,
		.ctime_sec = record->ctime.tv_sec,
		.ctime_nsec = (uint32_t)record->ctime.tv_nsec,
		.from_ctime_sec = record->from_ctime.tv_sec,
		.from_ctime_nsec = (uint32_t)record->from_ctime.tv_nsec,
		.depth = record->depth,
		.name_len = (uint16_t)strlen(record->name),
		.type = (uint8_t)record->type,
		.flags = (uint8_t)record->flags,
	};

	if (record->depth >= DEPTH_MAX)
		return hb_fail(err, -E2BIG, "directories are nested too deep");
	*ret_offset = w->written + w->block.len;
	(void)buf_add(&w->block, &f, sizeof(f));
	(void)buf_add(&w->block, record->name, f.name_len);
	w->n++;
	return w->block.len < READ_SIZE ? 0 : flush(w, err);
}

int baseline_amend(struct baseline_writer *w, uint64_t offset,
		   struct timespec ctime, struct hb_error *err)
{
	const int64_t sec = ctime.tv_sec;
	const uint32_t nsec = (uint32_t)ctime.tv_nsec;
	struct fixed f;
	ssize_t n;
	int r;

	if (offset >= w->written) {
		char *at = w->block.data + (offset - w->written);

		memcpy(at + offsetof(struct fixed, ctime_sec), &sec,
		       sizeof(sec));
		memcpy(at + offsetof(struct fixed, ctime_nsec), &nsec,
		       sizeof(nsec));
		return 0;
	}
	n = sys_pread_full(w->fd, &f, sizeof(f), offset);
	if (n != (ssize_t)sizeof(f))
		return hb_fail(err, n < 0 ? (int)n : -EIO,
			       "cannot read a baseline");
	f.ctime_sec = sec;
	f.ctime_nsec = nsec;
	r = sys_pwrite_all(w->fd, &f, sizeof(f), offset);
	return r < 0 ? hb_fail(err, r, "cannot write a baseline") : 0;
}

static int write_head(struct baseline_writer *w, const char *boot,
		      struct hb_error *err)
{
	struct head head = { .magic = MAGIC, .n = w->n };
	int r;

	(void)snprintf(head.boot, sizeof(head.boot), "%s", boot);
	r = flush(w, err);
	if (r < 0)
		return r;
	r = sys_pwrite_all(w->fd, &head, sizeof(head), 0);
	return r < 0 ? hb_fail(err, r, "cannot write a baseline") : 0;
}

int baseline_reread(struct baseline_writer *w, struct baseline_reader *ret,
		    struct hb_error *err)
{
	int r = write_head(w, "", err);

	return r < 0 ? r : open_file(w->dir, NEW_NAME, "", ret, err);
}

int baseline_publish(struct baseline_writer *w, const char *boot,
		     struct hb_error *err)
{
	int r;

	r = write_head(w, boot, err);
	if (r < 0)
		return r;
	r = sys_renameat(w->dir, NEW_NAME, w->dir, FILE_NAME);
	if (r < 0)
		return hb_fail(err, r, "cannot write a baseline");
	sys_close(w->fd);
	w->fd = -1;
	return 0;
}

void baseline_drop(struct baseline_writer *w)
{
	if (w->fd >= 0) {
		sys_close(w->fd);
		(void)sys_unlinkat(w->dir, NEW_NAME, 0);
	}
	w->fd = -1;
	buf_done(&w->block);
}

int baseline_remove(int dir, struct hb_error *err)
{
	int r = sys_unlinkat(dir, FILE_NAME, 0);

	if (r < 0 && r != -ENOENT)
		return hb_fail(err, r, "cannot remove the baseline");
	(void)sys_unlinkat(dir, NEW_NAME, 0);
	return 0;
}

bool baseline_is_there(int dir)
{
	return sys_faccessat(dir, FILE_NAME, F_OK) != -ENOENT;
}
