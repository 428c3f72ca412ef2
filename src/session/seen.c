/* SPDX-License-Identifier: Apache-2.0 */
#include "session/seen.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/sha256.h"
#include "sys/attr.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 * The file: a magic number, then records, each with a hash over itself.
 *
 * (a) Reading ends at the first record that is not whole: what a crash or a
 *     flipped byte left behind it is as if never written.
 * (b) To forget a record, or all, is safe at any time: a path that is not
 *     found counts as changed by somebody else.
 *
 * t_seen holds these.
 */

#define FILE_NAME  "seen"
#define FILE_NEW   "seen.new"
#define CHUNK_SIZE 65536

/* In the byte order of the machine: a file of another is not ours. */
static const uint64_t magic = 0x31306e6565734268ULL;

struct record {
	uint64_t path_len;
	uint64_t base_ino, layer_ino;
	int64_t base_sec, layer_sec;
	int64_t base_nsec, layer_nsec;
	uint64_t sum; /* the first bytes of the hash of all this and the path */
};

static uint64_t first_bytes(struct sha256 *h)
{
	uint8_t digest[SHA256_SIZE];
	uint64_t hash;

	sha256_end(h, digest);
	memcpy(&hash, digest, sizeof(hash));
	return hash;
}

static uint64_t hash_path(const char *path)
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, path, strlen(path));
	return first_bytes(&h);
}

static uint64_t hash_record(const struct record *record, const char *path)
{
	struct record copy = *record;
	struct sha256 h;

	copy.sum = 0;
	sha256_init(&h);
	sha256_add(&h, &copy, sizeof(copy));
	sha256_add(&h, path, (size_t)record->path_len);
	return first_bytes(&h);
}

static bool grow_path(struct seen_file *seen, size_t len)
{
	char *grown;

	if (len < seen->path_room)
		return true;
	grown = realloc(seen->path, len + 1);
	if (!grown)
		return false;
	seen->path = grown;
	seen->path_room = len + 1;
	return true;
}

/* Reads a record whole; seen->path is its path. */
static bool read_record(struct seen_file *seen, uint64_t offset,
			struct record *record)
{
	if (sys_pread_full(seen->fd, record, sizeof(*record), offset) !=
		    (ssize_t)sizeof(*record) ||
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

static int add_slot(struct seen_file *seen, uint64_t hash, uint64_t offset)
{
	if (seen->n == seen->room) {
		size_t room = seen->room ? 2 * seen->room : 256;
		struct seen_slot *grown =
			reallocarray(seen->slots, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		seen->slots = grown;
		seen->room = room;
	}
	seen->slots[seen->n++] = (struct seen_slot){ hash, offset };
	return 0;
}

static int compare_slots(const void *a, const void *b)
{
	const struct seen_slot *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int read_all(struct seen_file *seen)
{
	struct record record;
	uint64_t found = 0;
	ssize_t n;
	int r;

	n = sys_pread_full(seen->fd, &found, sizeof(found), 0);
	if (n < 0)
		return (int)n;
	/* Begun, and the power went before its first block was on disk. */
	if (n == 0 || (n == (ssize_t)sizeof(found) && found == 0))
		return 0;
	if (n != (ssize_t)sizeof(found) || found != magic)
		return -HB_E_CORRUPT;
	seen->end = sizeof(magic);
	while (seen->n < SEEN_MAX && read_record(seen, seen->end, &record)) {
		r = add_slot(seen, hash_path(seen->path), seen->end);
		if (r < 0)
			return r;
		seen->end += sizeof(record) + record.path_len;
	}
	if (seen->n > 1)
		qsort(seen->slots, seen->n, sizeof(*seen->slots),
		      compare_slots);
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
	r = seen->fd < 0 ? seen->fd : read_all(seen);
	if (r < 0) {
		seen_done(seen);
		return hb_fail(err, r,
			       "cannot read the record of what was committed");
	}
	return 0;
}

void seen_done(struct seen_file *seen)
{
	fd_closep(&seen->fd);
	free(seen->slots);
	free(seen->path);
	*seen = (struct seen_file){ .fd = -1 };
}

bool seen_find(void *ctx, const char *path, struct seen *ret_seen)
{
	struct seen_file *seen = ctx;
	struct record record;
	size_t low = 0, high = seen->n;
	uint64_t hash;

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
		*ret_seen = (struct seen){
			.path = path,
			.base_ino = record.base_ino,
			.base_ctime = { record.base_sec, record.base_nsec },
			.layer_ino = record.layer_ino,
			.layer_ctime = { record.layer_sec, record.layer_nsec },
		};
		return true;
	}
	return false;
}

void seen_log_begin(int dir, const struct seen_file *old, struct seen_log *log)
{
	*log = (struct seen_log){ .dir = dir, .fd = -1, .is_open = true };
	buf_init(&log->block,
		 CHUNK_SIZE + SEEN_PATH_MAX + sizeof(struct record));
	log->n = old->n;
	log->end = old->fd < 0 ? 0 : old->end;
	log->start = log->end;
}

static int open_log(struct seen_log *log)
{
	int r;

	if (log->fd >= 0)
		return 0;
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
	return r;
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
	int r;

	if (!log->is_open || log->n >= SEEN_MAX ||
	    record.path_len > SEEN_PATH_MAX)
		return 0;
	log->n++;
	record.sum = hash_record(&record, seen->path);
	r = open_log(log);
	if (r >= 0)
		r = buf_add(&log->block, &record, sizeof(record));
	if (r >= 0)
		r = buf_add(&log->block, seen->path, (size_t)record.path_len);
	if (r >= 0 && log->block.len >= CHUNK_SIZE)
		r = flush(log);
	if (r < 0)
		return hb_fail(err, r, "cannot record what is committed");
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
		return hb_fail(err, r, "cannot record what is committed");
	return 0;
}

int seen_log_end(struct seen_log *log, bool drop_older, struct hb_error *err)
{
	int r;

	if (!log->is_open)
		return 0;
	drop_older = drop_older && log->start > sizeof(magic);
	r = drop_older ? open_log(log) : 0;
	if (r >= 0)
		r = flush(log);
	if (r >= 0 && drop_older)
		r = copy_tail(log);
	else if (r >= 0 && log->fd >= 0)
		r = sys_fsync(log->fd);
	seen_log_done(log);
	if (r < 0)
		return hb_fail(err, r, "cannot record what is committed");
	return 0;
}

void seen_log_done(struct seen_log *log)
{
	if (!log->is_open)
		return;
	fd_closep(&log->fd);
	buf_done(&log->block);
	*log = (struct seen_log){ .fd = -1 };
}
