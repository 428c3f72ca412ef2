/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_GITINDEX_H
#define HB_GIT_GITINDEX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A repository's index (git's Documentation/gitformat-index: versions 2, 3 and
 * 4), read for its entries alone.  The writer is hostile: memory is fixed,
 * every length is checked, and an index that cannot be read differs from every
 * other.
 */
#define GITINDEX_PATH_MAX 4096
#define GITINDEX_BUFFER	  ((size_t)32 << 10)

/* Of the flags of an entry. */
#define GITINDEX_ASSUME_VALID ((uint32_t)0x8000 << 16)
#define GITINDEX_STAGE	      ((uint32_t)0x3000 << 16)
#define GITINDEX_EXTENDED     ((uint32_t)0xffff)

/* Reads up to `size` bytes at `offset`: the number, 0 at the end, -errno. */
typedef ssize_t (*gitindex_read_fn)(void *ctx, void *buf, size_t size,
				    uint64_t offset);

struct gitindex {
	gitindex_read_fn read;
	void *ctx;
	uint64_t size; /* of the file */

	size_t id_size; /* 20: SHA-1, 32: SHA-256 */
	uint32_t version;
	uint32_t n_left; /* entries not yet read */
	uint64_t at;	 /* offset of the next byte */
	char path[GITINDEX_PATH_MAX + 1];
	size_t path_len;

	uint64_t buf_at; /* offset of what is in `buf` */
	size_t buf_len;
	unsigned char buf[GITINDEX_BUFFER];
};

#define GITINDEX_STAT_SIZE 40

struct gitindex_entry {
	unsigned char stat[GITINDEX_STAT_SIZE]; /* as it is in the file */
	uint32_t mode;
	uint32_t flags; /* GITINDEX_*, and the extended ones below */
	unsigned char id[32];
	const char *path; /* in the index's struct */
	size_t path_len;
};

/* Returns 0, or -EBADMSG for what is not an index, or the reader's error. */
int gitindex_open(struct gitindex *index, gitindex_read_fn read, void *ctx,
		  uint64_t size, size_t id_size);

/*
 * 1: an entry; 0: that was the last one and all that follows is in order;
 * -EBADMSG as above.
 */
int gitindex_next(struct gitindex *index, struct gitindex_entry *ret_entry);

/*
 * 1: both are indexes with the same entries (mode, id, stage and flags, path).
 * 0: they differ or cannot be understood.  -errno: reading failed.
 */
int gitindex_is_same(gitindex_read_fn read, void *a, uint64_t size_a, void *b,
		     uint64_t size_b);

/*
 * Names the entries: those of another index of the same name are the same.
 * Never 0.  -EBADMSG: it cannot be understood.
 */
int gitindex_name(gitindex_read_fn read, void *ctx, uint64_t size,
		  uint64_t *ret_name);

#endif
