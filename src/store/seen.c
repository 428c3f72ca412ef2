/* SPDX-License-Identifier: Apache-2.0 */
#include "store/seen.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/conflict.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 * The file: a magic number, then records, each with a hash over itself.  It is
 * read once from end to end, in large blocks, to build a table by hash.  A path
 * that is looked up is then compared with that of one record.  Look-ups come in
 * the order in which records were written, so that the block at hand serves
 * most of them.
 *
 * (a) Reading ends at the first record that is not whole.  The bytes that a
 *     crash or a flipped byte left behind it are as if never written.
 * (b) To forget a record, or all, is safe at any time: a path that is not found
 *     counts as changed by another program.
 * (c) A transaction that fails half-way has to be able to say what it put back.
 *     So the file is open, begun and has room before the first step is made.
 *
 * t_seen holds these.
 */

#define FILE_NAME  "seen"
#define FILE_NEW   "seen.new"
#define CHUNK_SIZE 65536
#define SLOTS_MIN  ((size_t)256)

/* A record and a path of a usual length, there and back. */
#define ROOM_PER_PATH ((uint64_t)2 * 192)

/* In the byte order of the machine: a file of another is not ours. */
static const uint64_t magic = 0x32306e6565734268ULL;

struct record {
	uint64_t path_len;
	uint64_t base_ino, layer_ino;
	int64_t base_sec, layer_sec;
	int64_t base_nsec, layer_nsec;
	uint64_t sum; /* the first bytes of the hash of all this and the path */
};

/* For what tells a torn record from a whole one: the same for every file. */
static const struct siphash_key sum_key = { 0, 0 };

/* `size` bytes at the offset; NULL: the file has not so many. */
static char *bytes_at(struct seen_file *seen, uint64_t offset, size_t size)
{
	size_t want = size > CHUNK_SIZE ? size : CHUNK_SIZE;
	ssize_t n;

	if (offset >= seen->at && offset + size <= seen->at + seen->n_block)
		return seen->block + (offset - seen->at);
	seen->n_block = 0;
	if (want > seen->block_room) {
		char *grown = realloc(seen->block, want);

		if (!grown) {
			seen->failed = -ENOMEM;
			return NULL;
		}
		seen->block = grown;
		seen->block_room = want;
	}
	n = sys_pread_full(seen->fd, seen->block, want, offset);
	if (n < 0)
		seen->failed = (int)n;
	if (n < 0 || (size_t)n < size)
		return NULL;
	seen->at = offset;
	seen->n_block = (size_t)n;
	return seen->block;
}

/* The path of a record, which has no NUL; NULL: none is there. */
static const char *record_at(struct seen_file *seen, uint64_t offset,
			     struct record *ret)
{
	char *bytes = bytes_at(seen, offset, sizeof(*ret));

	if (!bytes)
		return NULL;
	memcpy(ret, bytes, sizeof(*ret));
	if (ret->path_len > SEEN_PATH_MAX)
		return NULL;
	bytes = bytes_at(seen, offset, sizeof(*ret) + (size_t)ret->path_len);
	return bytes ? bytes + sizeof(*ret) : NULL;
}

/* Of a record and the path behind it. */
static uint64_t sum_of(char *bytes, size_t path_len)
{
	const uint64_t none = 0;
	uint64_t sum;

	memcpy(bytes + offsetof(struct record, sum), &none, sizeof(none));
	sum = siphash(&sum_key, bytes, sizeof(struct record) + path_len);
	memcpy(bytes + offsetof(struct record, sum), &sum, sizeof(sum));
	return sum;
}

static int add_slot(struct seen_file *seen, uint64_t hash, uint64_t offset)
{
	if (grow(seen->slots, seen->n) < 0)
		return -ENOMEM;
	seen->slots[seen->n++] = (struct seen_slot){ hash, offset };
	return 0;
}

/* The place of a hash, or the free one where it belongs. */
static uint32_t *place_of(const struct seen_file *seen, uint64_t hash)
{
	size_t i = (size_t)hash & seen->mask;

	while (seen->table[i] && seen->slots[seen->table[i] - 1].hash != hash)
		i = (i + 1) & seen->mask;
	return &seen->table[i];
}

/* A later record takes the place of an earlier one. */
static int fill_table(struct seen_file *seen)
{
	size_t size = 2 * SLOTS_MIN;

	while (size < 2 * seen->n)
		size *= 2;
	seen->table = calloc(size, sizeof(*seen->table));
	if (!seen->table)
		return -ENOMEM;
	seen->mask = size - 1;
	for (size_t i = 0; i < seen->n; i++)
		*place_of(seen, seen->slots[i].hash) = (uint32_t)i + 1;
	return 0;
}

static int read_records(struct seen_file *seen)
{
	struct record record;
	const char *path;
	int r;

	r = sys_random(&seen->key, sizeof(seen->key));
	if (r < 0)
		return r;
	while (seen->n < SEEN_MAX &&
	       (path = record_at(seen, seen->end, &record))) {
		size_t n = (size_t)record.path_len;

		if (sum_of(seen->block + (seen->end - seen->at), n) !=
		    record.sum)
			break;
		r = add_slot(seen, siphash(&seen->key, path, n), seen->end);
		if (r < 0)
			return r;
		seen->end += sizeof(record) + n;
	}
	/* A block may hold the sum of a record that is not whole. */
	seen->n_block = 0;
	return seen->failed < 0 ? seen->failed : fill_table(seen);
}

static int read_once(struct seen_file *seen)
{
	if (!seen->is_read && seen->end > 0)
		seen->failed = read_records(seen);
	seen->is_read = true;
	return seen->failed;
}

static int check_magic(struct seen_file *seen)
{
	uint64_t found = 0;
	ssize_t n;

	n = sys_pread_full(seen->fd, &found, sizeof(found), 0);
	if (n < 0)
		return (int)n;
	/*
	 * Without the head nothing in it is known to be ours: it was begun, and
	 * the power went or the disk failed.  By (b) it is as good as empty.
	 */
	if (n == (ssize_t)sizeof(found) && found == magic)
		seen->end = sizeof(magic);
	return 0;
}

int seen_open(int dir, struct seen_file *seen, struct hb_error *err)
{
	int r;

	*seen = (struct seen_file){ .fd = -1 };
	seen->fd = sys_openat(dir, FILE_NAME,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (seen->fd == -ENOENT) {
		seen->fd = -1;
		return 0;
	}
	r = seen->fd < 0 ? seen->fd : check_magic(seen);
	if (r < 0) {
		seen_done(seen);
		return hb_fail(err, r, "cannot read the record of commits");
	}
	return 0;
}

void seen_done(struct seen_file *seen)
{
	fd_closep(&seen->fd);
	free(seen->slots);
	free(seen->table);
	free(seen->block);
	*seen = (struct seen_file){ .fd = -1 };
}

bool seen_find(void *ctx, const char *path, struct seen *ret_seen)
{
	struct seen_file *seen = ctx;
	size_t n = strlen(path);
	struct record record;
	const char *found;
	uint32_t slot;

	if (read_once(seen) < 0 || seen->n == 0)
		return false;
	slot = *place_of(seen, siphash(&seen->key, path, n));
	if (slot == 0)
		return false;
	found = record_at(seen, seen->slots[slot - 1].offset, &record);
	if (!found || record.path_len != n || memcmp(found, path, n) != 0)
		return false;
	*ret_seen = (struct seen){
		.path = path,
		.base_ino = record.base_ino,
		.base_ctime = { record.base_sec, record.base_nsec },
		.layer_ino = record.layer_ino,
		.layer_ctime = { record.layer_sec, record.layer_nsec },
	};
	if (record.layer_ino != 0 || record.layer_sec == 0)
		return true;
	ret_seen->layer_ctime = (struct timespec){ 0 };
	/* Of a later version: some conflict it is. */
	ret_seen->conflict =
		record.layer_sec > 0 && record.layer_sec < CONFLICT_END
			? (unsigned)record.layer_sec
			: CONFLICT_EDITED;
	return true;
}

int seen_each(struct seen_file *seen, seen_each_fn fn, void *ctx,
	      struct hb_error *err)
{
	int r = read_once(seen);

	if (r < 0)
		return hb_fail(err, r, "cannot read the record of commits");
	for (size_t i = 0; r >= 0 && i < seen->n; i++) {
		struct seen known = { 0 };
		auto_free char *path = NULL;
		struct record record;
		const char *found;

		if (*place_of(seen, seen->slots[i].hash) != (uint32_t)i + 1)
			continue;
		found = record_at(seen, seen->slots[i].offset, &record);
		if (!found)
			return hb_fail(err,
				       seen->failed < 0 ? seen->failed : -EIO,
				       "cannot read the record of commits");
		path = strndup(found, (size_t)record.path_len);
		if (!path)
			return hb_fail(err, -ENOMEM, "cannot keep a path");
		if (seen_find(seen, path, &known))
			r = fn(ctx, &known, err);
	}
	return r < 0 ? r : 0;
}

void seen_log_begin(int dir, struct seen_file *old, struct seen_log *log)
{
	*log = (struct seen_log){
		.dir = dir, .old = old, .fd = -1, .is_open = true
	};
	buf_init(&log->block,
		 CHUNK_SIZE + SEEN_PATH_MAX + sizeof(struct record));
}

static int open_log(struct seen_log *log)
{
	int r;

	if (log->fd >= 0)
		return 0;
	r = read_once(log->old);
	if (r < 0)
		return r;
	log->n = log->old->n;
	log->end = log->old->end;
	log->start = log->end;
	log->fd = sys_openat(log->dir, FILE_NAME, O_RDWR | O_CREAT | O_NOFOLLOW,
			     0600);
	if (log->fd < 0)
		return log->fd;
	/* What stands behind the last whole record would hide what follows. */
	r = sys_truncate(log->fd, log->end);
	if (r >= 0 && log->end == 0) {
		r = sys_pwrite_all(log->fd, &magic, sizeof(magic), 0);
		log->end = sizeof(magic);
		log->start = log->end;
	}
	/* Or the next call would go on behind a head that is not there. */
	if (r < 0)
		fd_closep(&log->fd);
	return r;
}

int seen_log_open(struct seen_log *log, uint64_t n_paths, struct hb_error *err)
{
	uint64_t room = n_paths * ROOM_PER_PATH + CHUNK_SIZE;
	int r;

	if (!log->is_open)
		return 0;
	r = open_log(log);
	if (r >= 0)
		r = sys_make_room(log->fd, log->end, room);
	/* Some file systems cannot; there it is as full as it gets. */
	if (r == -EOPNOTSUPP)
		r = 0;
	log->has_room = true;
	return r < 0 ? hb_fail(err, r, "cannot write the record of commits")
		     : 0;
}

/* Gives back what is left of it, which is worth no failure. */
static void trim(struct seen_log *log)
{
	if (log->fd >= 0 && log->has_room)
		(void)sys_truncate(log->fd, log->end);
	log->has_room = false;
}

static int flush(struct seen_log *log)
{
	int r;

	if (log->block.error < 0)
		return log->block.error;
	if (log->block.len == 0)
		return 0;
	r = sys_pwrite_all(log->fd, log->block.data, log->block.len, log->end);
	if (r < 0)
		return r;
	log->end += log->block.len;
	buf_cut(&log->block, 0);
	return 0;
}

int seen_log_add(struct seen_log *log, const struct seen *seen,
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
	size_t at = log->block.len;
	int r;

	if (!log->is_open ||
	    (record.path_len > SEEN_PATH_MAX && !seen->conflict))
		return 0;
	if (seen->layer_ino == 0) {
		record.layer_sec = seen->conflict;
		record.layer_nsec = 0;
	}
	r = open_log(log);
	if (r >= 0 && log->n >= SEEN_MAX && !seen->conflict)
		return 0;
	/* To forget a conflict is not safe. */
	if (r >= 0 && (log->n >= SEEN_MAX || record.path_len > SEEN_PATH_MAX))
		r = -E2BIG;
	log->n++;
	if (r >= 0)
		r = buf_add(&log->block, &record, sizeof(record));
	if (r >= 0)
		r = buf_add(&log->block, seen->path, (size_t)record.path_len);
	if (r >= 0)
		(void)sum_of(log->block.data + at, (size_t)record.path_len);
	if (r >= 0 && log->block.len >= CHUNK_SIZE)
		r = flush(log);
	if (r < 0)
		return hb_fail(err, r, "cannot write the record of commits");
	return 0;
}

static int copy_tail(struct seen_log *log)
{
	auto_fd int fd =
		sys_openat(log->dir, FILE_NEW,
			   O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	uint64_t to = sizeof(magic);
	char *block;
	ssize_t n = 0;
	int r;

	if (fd < 0)
		return fd;
	block = malloc(CHUNK_SIZE);
	if (!block)
		return -ENOMEM;
	r = sys_pwrite_all(fd, &magic, sizeof(magic), 0);
	for (uint64_t at = log->start; r >= 0 && at < log->end;
	     at += (size_t)n) {
		n = sys_pread_full(log->fd, block, CHUNK_SIZE, at);
		if (n <= 0) {
			r = n < 0 ? (int)n : -EIO;
			break;
		}
		r = sys_pwrite_all(fd, block, (size_t)n, to);
		to += (size_t)n;
	}
	free(block);
	if (r >= 0)
		r = sys_fsync(fd);
	if (r >= 0)
		r = sys_renameat(log->dir, FILE_NEW, log->dir, FILE_NAME);
	return r;
}

int seen_log_sync(struct seen_log *log, struct hb_error *err)
{
	int r;

	if (!log->is_open || log->fd < 0)
		return 0;
	r = flush(log);
	if (r >= 0)
		r = sys_fsync(log->fd);
	/* It may be new, and a file without a name is lost. */
	if (r >= 0)
		r = sys_fsync(log->dir);
	if (r < 0)
		return hb_fail(err, r, "cannot write the record of commits");
	return 0;
}

int seen_log_end(struct seen_log *log, bool drop_older, struct hb_error *err)
{
	int r;

	if (!log->is_open)
		return 0;
	/* A file that is not there has nothing older. */
	drop_older = drop_older && log->old->end > 0;
	r = drop_older ? open_log(log) : 0;
	drop_older = drop_older && log->start > sizeof(magic);
	if (r >= 0)
		r = flush(log);
	trim(log);
	if (r >= 0 && drop_older)
		r = copy_tail(log);
	else if (r >= 0 && log->fd >= 0)
		r = sys_fsync(log->fd);
	seen_log_done(log);
	if (r < 0)
		return hb_fail(err, r, "cannot write the record of commits");
	return 0;
}

void seen_log_done(struct seen_log *log)
{
	if (!log->is_open)
		return;
	trim(log);
	fd_closep(&log->fd);
	buf_done(&log->block);
	*log = (struct seen_log){ .fd = -1 };
}
