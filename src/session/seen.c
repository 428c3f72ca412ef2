/* SPDX-License-Identifier: Apache-2.0 */
#include "session/seen.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"
#include "sys/attr.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 * The file: a header, the records one after the other, the slots sorted.  All
 * numbers are little-endian in memory order of the machines we build for; the
 * magic differs on others.
 *
 * (a) The header has the hash of the slots, each record a hash of its own: a
 *     flipped byte is found when it is read, not believed.
 * (b) A new file replaces the old one by rename, after it was synced.
 */

#define FILE_NAME  "seen"
#define FILE_NEW   "seen.new"
#define MAGIC	   0x31306e6565734268ULL /* "hBseen01" */
#define BLOCK_SIZE 65536

struct header {
	uint64_t magic;
	uint64_t n_slots;
	uint64_t slots_at;
	uint8_t slots_sum[SHA256_SIZE];
};

struct record {
	uint64_t path_len;
	uint64_t base_ino, layer_ino;
	int64_t base_sec, layer_sec;
	int64_t base_nsec, layer_nsec;
	uint64_t sum; /* the first bytes of the hash of all this and the path */
};

static uint64_t hash_path(const char *path)
{
	uint8_t digest[SHA256_SIZE];
	uint64_t hash;

	sha256_of(path, strlen(path), digest);
	memcpy(&hash, digest, sizeof(hash));
	return hash;
}

static uint64_t hash_record(const struct record *record, const char *path)
{
	uint8_t digest[SHA256_SIZE];
	struct record copy = *record;
	struct sha256 h;
	uint64_t hash;

	copy.sum = 0;
	sha256_init(&h);
	sha256_add(&h, &copy, sizeof(copy));
	sha256_add(&h, path, record->path_len);
	sha256_end(&h, digest);
	memcpy(&hash, digest, sizeof(hash));
	return hash;
}

static int read_slots(int fd, struct seen_file *seen)
{
	uint8_t digest[SHA256_SIZE];
	struct header header;
	size_t size;
	ssize_t n;

	n = sys_pread_full(fd, &header, sizeof(header), 0);
	if (n < 0)
		return (int)n;
	if (n != sizeof(header) || header.magic != MAGIC ||
	    header.n_slots > SEEN_MAX)
		return -HB_E_CORRUPT;
	if (header.n_slots == 0)
		return 0;
	size = (size_t)header.n_slots * sizeof(*seen->slots);
	seen->slots = malloc(size);
	if (!seen->slots)
		return -ENOMEM;
	n = sys_pread_full(fd, seen->slots, size, header.slots_at);
	if (n < 0)
		return (int)n;
	if ((size_t)n != size)
		return -HB_E_CORRUPT;
	sha256_of(seen->slots, size, digest);
	if (memcmp(digest, header.slots_sum, sizeof(digest)) != 0)
		return -HB_E_CORRUPT;
	seen->n = (size_t)header.n_slots;
	return 0;
}

int seen_open(int dir, struct seen_file *seen, struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	*seen = (struct seen_file){ .fd = -1 };
	fd = sys_openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return hb_fail(err, fd,
			       "cannot open the record of what was committed");
	r = read_slots(fd, seen);
	if (r < 0) {
		seen_done(seen);
		return hb_fail(err, r,
			       "cannot read the record of what was committed");
	}
	seen->fd = take_fd(&fd);
	return 0;
}

void seen_done(struct seen_file *seen)
{
	if (seen->slots)
		fd_closep(&seen->fd);
	free(seen->slots);
	free(seen->path);
	*seen = (struct seen_file){ .fd = -1 };
}

static bool grow_path(struct seen_file *seen, size_t len)
{
	char *grown;

	if (len < seen->room)
		return true;
	grown = realloc(seen->path, len + 1);
	if (!grown)
		return false;
	seen->path = grown;
	seen->room = len + 1;
	return true;
}

/* Reads a record whole; seen->path is its path. */
static bool read_record(struct seen_file *seen, uint64_t offset,
			struct record *record)
{
	if (sys_pread_full(seen->fd, record, sizeof(*record), offset) !=
		    sizeof(*record) ||
	    record->path_len > SEEN_PATH_MAX ||
	    !grow_path(seen, (size_t)record->path_len))
		return false;
	if (sys_pread_full(seen->fd, seen->path, (size_t)record->path_len,
			   offset + sizeof(*record)) !=
	    (ssize_t)record->path_len)
		return false;
	seen->path[record->path_len] = '\0';
	return hash_record(record, seen->path) == record->sum;
}

static void fill(const struct record *record, const char *path,
		 struct seen *ret)
{
	*ret = (struct seen){
		.path = path,
		.base_ino = record->base_ino,
		.base_ctime = { record->base_sec, record->base_nsec },
		.layer_ino = record->layer_ino,
		.layer_ctime = { record->layer_sec, record->layer_nsec },
	};
}

bool seen_find(void *ctx, const char *path, struct seen *ret_seen)
{
	struct seen_file *seen = ctx;
	struct record record;
	uint64_t hash;
	size_t low = 0, high = seen->n;

	if (seen->n == 0)
		return false;
	hash = hash_path(path);
	/* The first slot above all of this hash: the latest is before it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (seen->slots[middle].hash <= hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0 && seen->slots[low - 1].hash == hash; low--) {
		if (!read_record(seen, seen->slots[low - 1].offset, &record) ||
		    strcmp(seen->path, path) != 0)
			continue;
		fill(&record, path, ret_seen);
		return true;
	}
	return false;
}

static int flush(struct seen_writer *w)
{
	int r;

	if (w->block->error < 0)
		return w->block->error;
	if (w->block->len == 0)
		return 0;
	r = sys_pwrite_all(w->fd, w->block->data, w->block->len, w->offset);
	if (r < 0)
		return r;
	w->offset += w->block->len;
	buf_cut(w->block, 0);
	return 0;
}

static int carry_over(struct seen_file *old, struct seen_writer *w,
		      struct hb_error *err)
{
	struct record record;
	struct seen seen;
	int r;

	/* Only the latest of each path: the file does not grow for ever. */
	for (size_t i = 0; i < old->n; i++) {
		if (i + 1 < old->n && old->slots[i].hash == old->slots[i + 1].hash)
			continue;
		if (!read_record(old, old->slots[i].offset, &record))
			continue;
		fill(&record, old->path, &seen);
		r = seen_add(w, &seen, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int seen_begin(int dir, struct seen_file *old, struct seen_writer *w,
	       struct hb_error *err)
{
	int r;

	*w = (struct seen_writer){ .dir = dir, .fd = -1 };
	w->block = calloc(1, sizeof(*w->block));
	if (!w->block)
		return hb_fail(err, -ENOMEM, "cannot record what is committed");
	buf_init(w->block, BLOCK_SIZE + SEEN_PATH_MAX + sizeof(struct record));
	w->fd = sys_openat(dir, FILE_NEW,
			   O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	if (w->fd < 0) {
		r = hb_fail(err, w->fd, "cannot record what is committed");
		seen_abort(w);
		return r;
	}
	w->offset = sizeof(struct header);
	if (old) {
		r = carry_over(old, w, err);
		if (r < 0) {
			seen_abort(w);
			return r;
		}
	}
	return 0;
}

static int add_slot(struct seen_writer *w, uint64_t hash, uint64_t offset)
{
	if (w->n == w->room) {
		size_t room = w->room ? 2 * w->room : 256;
		struct seen_slot *grown =
			reallocarray(w->slots, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		w->slots = grown;
		w->room = room;
	}
	w->slots[w->n++] = (struct seen_slot){ hash, offset };
	return 0;
}

int seen_add(struct seen_writer *w, const struct seen *seen,
	     struct hb_error *err)
{
	struct record record = {
		.path_len = strlen(seen->path),
		.base_ino = seen->base_ino,
		.layer_ino = seen->layer_ino,
		.base_sec = seen->base_ctime.tv_sec,
		.base_nsec = seen->base_ctime.tv_nsec,
		.layer_sec = seen->layer_ctime.tv_sec,
		.layer_nsec = seen->layer_ctime.tv_nsec,
	};
	int r;

	if (w->n >= SEEN_MAX || record.path_len > SEEN_PATH_MAX)
		return 0;
	record.sum = hash_record(&record, seen->path);
	r = add_slot(w, hash_path(seen->path), w->offset + w->block->len);
	if (r >= 0)
		r = buf_add(w->block, &record, sizeof(record));
	if (r >= 0)
		r = buf_add(w->block, seen->path, (size_t)record.path_len);
	if (r >= 0 && w->block->len >= BLOCK_SIZE)
		r = flush(w);
	if (r < 0)
		return hb_fail(err, r, "cannot record what is committed");
	return 0;
}

static int compare_slots(const void *a, const void *b)
{
	const struct seen_slot *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

int seen_commit(struct seen_writer *w, struct hb_error *err)
{
	struct header header = { .magic = MAGIC, .n_slots = w->n };
	size_t size = w->n * sizeof(*w->slots);
	int r;

	r = flush(w);
	if (w->n > 1)
		qsort(w->slots, w->n, sizeof(*w->slots), compare_slots);
	header.slots_at = w->offset;
	sha256_of(w->slots, size, header.slots_sum);
	if (r >= 0 && w->n > 0)
		r = sys_pwrite_all(w->fd, w->slots, size, w->offset);
	if (r >= 0)
		r = sys_pwrite_all(w->fd, &header, sizeof(header), 0);
	if (r >= 0)
		r = sys_fsync(w->fd);
	if (r >= 0)
		r = sys_renameat(w->dir, FILE_NEW, w->dir, FILE_NAME);
	if (r >= 0)
		r = sys_fsync(w->dir);
	seen_abort(w);
	if (r < 0)
		return hb_fail(err, r, "cannot record what is committed");
	return 0;
}

void seen_abort(struct seen_writer *w)
{
	if (!w->block)
		return;
	fd_closep(&w->fd);
	buf_done(w->block);
	free(w->block);
	free(w->slots);
	*w = (struct seen_writer){ .fd = -1 };
}

int seen_forget(int dir, struct hb_error *err)
{
	int r = sys_unlinkat(dir, FILE_NAME, 0);

	if (r < 0 && r != -ENOENT)
		return hb_fail(err, r, "cannot forget what was committed");
	return 0;
}
