/* SPDX-License-Identifier: Apache-2.0 */
#include "git/gitindex.h"

#include "base/auto.h"
#include "base/sha256.h"
#include "tree/bytes.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/*
 * The file has a header of 12 bytes (DIRC, version, number of entries), the
 * entries, extensions (four letters, a length, bytes) and a hash.
 *
 * An entry has 40 bytes of stat data of which only the mode is not volatile,
 * the object's id, flags, and the path.  Up to version 3 the path is padded
 * with NULs to a multiple of eight.  In version 4 it is the number of bytes to
 * cut from the path before, and the bytes to add.
 *
 * The file does not say how long ids are.  Read with the wrong length, entries
 * and extensions do not end where the hash begins, which is checked.
 */
#define HEADER_SIZE 12
#define STAT_SIZE   GITINDEX_STAT_SIZE
#define MODE_AT	    24

#define FLAG_ASSUME_VALID 0x8000U
#define FLAG_EXTENDED	  0x4000U
#define FLAG_STAGE	  0x3000U

/* skip-worktree and intent-to-add; the others are reserved. */
#define EXTENDED_KNOWN 0x6000U

static const size_t id_sizes[] = { 20, 32 };

/* `n` bytes, which must be there before the hash, without moving on. */
static int peek(struct gitindex *x, size_t n, const unsigned char **ret)
{
	ssize_t got;

	if (x->at > x->size - x->id_size || n > x->size - x->id_size - x->at ||
	    n > sizeof(x->buf))
		return -EBADMSG;
	if (x->at < x->buf_at || x->at + n > x->buf_at + x->buf_len) {
		got = x->read(x->ctx, x->buf, sizeof(x->buf), x->at);
		if (got < 0)
			return (int)got;
		x->buf_at = x->at;
		x->buf_len = (size_t)got;
		if ((size_t)got < n)
			return -EBADMSG;
	}
	*ret = x->buf + (x->at - x->buf_at);
	return 0;
}

static int take(struct gitindex *x, size_t n, const unsigned char **ret)
{
	int r = peek(x, n, ret);

	if (r >= 0)
		x->at += n;
	return r;
}

static uint32_t number(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

int gitindex_open(struct gitindex *x, gitindex_read_fn read, void *ctx,
		  uint64_t size, size_t id_size)
{
	const unsigned char *p;
	int r;

	x->read = read;
	x->ctx = ctx;
	x->size = size;
	x->id_size = id_size;
	x->at = 0;
	x->path_len = 0;
	x->buf_at = 0;
	x->buf_len = 0;
	if (size < HEADER_SIZE + id_size)
		return -EBADMSG;
	r = take(x, HEADER_SIZE, &p);
	if (r < 0)
		return r;
	x->version = number(p + 4);
	x->n_left = number(p + 8);
	if (memcmp(p, "DIRC", 4) != 0 || x->version < 2 || x->version > 4)
		return -EBADMSG;
	return 0;
}

/* The number of bytes to cut in version 4, as git's pack files have offsets. */
static int read_cut(struct gitindex *x, size_t *ret_cut)
{
	const unsigned char *p;
	size_t n = 0;
	int r;

	for (int i = 0; i < 4; i++) {
		r = take(x, 1, &p);
		if (r < 0)
			return r;
		n = n << 7 | (*p & 0x7f);
		if (!(*p & 0x80)) {
			*ret_cut = n;
			return 0;
		}
		n++;
	}
	return -EBADMSG;
}

/* Reads a path up to its NUL, behind the first `keep` bytes of the last. */
static int read_path(struct gitindex *x, size_t keep)
{
	const unsigned char *p;
	size_t n = keep;
	int r;

	for (;;) {
		r = take(x, 1, &p);
		if (r < 0)
			return r;
		if (*p == '\0')
			break;
		if (n == GITINDEX_PATH_MAX)
			return -EBADMSG;
		x->path[n++] = (char)*p;
	}
	x->path[n] = '\0';
	x->path_len = n;
	return n == 0 ? -EBADMSG : 0;
}

static int skip_padding(struct gitindex *x, uint64_t start)
{
	const unsigned char *p;
	uint64_t used = x->at - start;
	int r;

	for (; used % 8 != 0; used++) {
		r = take(x, 1, &p);
		if (r < 0)
			return r;
		if (*p != '\0')
			return -EBADMSG;
	}
	return 0;
}

static int read_flags(struct gitindex *x, uint32_t *ret_flags)
{
	const unsigned char *p;
	uint32_t flags, extended = 0;
	int r;

	r = take(x, 2, &p);
	if (r < 0)
		return r;
	flags = (uint32_t)p[0] << 8 | p[1];
	if (flags & FLAG_EXTENDED) {
		if (x->version < 3)
			return -EBADMSG;
		r = take(x, 2, &p);
		if (r < 0)
			return r;
		extended = (uint32_t)p[0] << 8 | p[1];
		if (extended & ~EXTENDED_KNOWN)
			return -EBADMSG;
	}
	*ret_flags =
		(flags & (FLAG_ASSUME_VALID | FLAG_STAGE)) << 16 | extended;
	return 0;
}

/*
 * By the format's own rule, extensions in capitals may be ignored.  Any other,
 * such as the link of a split index, changes the meaning of the entries.
 */
static int check_rest(struct gitindex *x)
{
	const unsigned char *p;
	uint32_t len;
	int r;

	while (x->at < x->size - x->id_size) {
		r = take(x, 8, &p);
		if (r < 0)
			return r;
		len = number(p + 4);
		if (p[0] < 'A' || p[0] > 'Z')
			return -EBADMSG;
		if (len > x->size - x->id_size - x->at)
			return -EBADMSG;
		x->at += len;
	}
	return 0;
}

int gitindex_next(struct gitindex *x, struct gitindex_entry *ret_entry)
{
	struct gitindex_entry e = { 0 };
	const unsigned char *p;
	uint64_t start = x->at;
	size_t cut = x->path_len;
	int r;

	if (x->n_left == 0)
		return check_rest(x);
	r = take(x, STAT_SIZE + x->id_size, &p);
	if (r < 0)
		return r;
	memcpy(e.stat, p, STAT_SIZE);
	e.mode = number(p + MODE_AT);
	memcpy(e.id, p + STAT_SIZE, x->id_size);
	r = read_flags(x, &e.flags);
	if (r < 0)
		return r;
	if (x->version == 4) {
		r = read_cut(x, &cut);
		if (r < 0)
			return r;
		if (cut > x->path_len)
			return -EBADMSG;
	}
	r = read_path(x, x->path_len - cut);
	if (r < 0)
		return r;
	if (x->version < 4) {
		r = skip_padding(x, start);
		if (r < 0)
			return r;
	}
	x->n_left--;
	e.path = x->path;
	e.path_len = x->path_len;
	*ret_entry = e;
	return 1;
}

/* Of the entries that were just read. */
static bool is_same_entry(const struct gitindex *x,
			  const struct gitindex_entry *a,
			  const struct gitindex *y,
			  const struct gitindex_entry *b)
{
	return a->mode == b->mode && a->flags == b->flags &&
	       memcmp(a->id, b->id, sizeof(a->id)) == 0 &&
	       x->path_len == y->path_len &&
	       memcmp(x->path, y->path, x->path_len) == 0;
}

/* As gitindex_is_same(), with -EBADMSG if one could not be understood. */
static int compare(struct gitindex *a, struct gitindex *b)
{
	struct gitindex_entry e = { 0 }, f = { 0 };
	int r, s;

	if (a->n_left != b->n_left)
		return 0;
	for (;;) {
		r = gitindex_next(a, &e);
		if (r < 0)
			return r;
		s = gitindex_next(b, &f);
		if (s < 0)
			return s;
		if (r != s)
			return 0;
		if (r == 0)
			return 1;
		if (!is_same_entry(a, &e, b, &f))
			return 0;
	}
}

int gitindex_is_same(gitindex_read_fn read, void *a, uint64_t size_a, void *b,
		     uint64_t size_b)
{
	auto_free struct gitindex *x = malloc(sizeof(*x));
	auto_free struct gitindex *y = malloc(sizeof(*y));
	int r = -EBADMSG;

	if (!x || !y)
		return -ENOMEM;
	for (int i = 0; i < 2 && r == -EBADMSG; i++) {
		r = gitindex_open(x, read, a, size_a, id_sizes[i]);
		if (r >= 0)
			r = gitindex_open(y, read, b, size_b, id_sizes[i]);
		if (r >= 0)
			r = compare(x, y);
	}
	return r == -EBADMSG ? 0 : r;
}

static int add_entries(struct gitindex *x, struct sha256 *hash)
{
	struct gitindex_entry e = { 0 };
	int r;

	while ((r = gitindex_next(x, &e)) == 1) {
		uint8_t numbers[16];

		bytes_put32(numbers, e.mode);
		bytes_put32(numbers + 4, e.flags);
		bytes_put64(numbers + 8, e.path_len);
		sha256_add(hash, numbers, sizeof(numbers));
		sha256_add(hash, e.id, sizeof(e.id));
		sha256_add(hash, e.path, e.path_len);
	}
	return r;
}

int gitindex_name(gitindex_read_fn read, void *ctx, uint64_t size,
		  uint64_t *ret_name)
{
	auto_free struct gitindex *x = malloc(sizeof(*x));
	uint8_t digest[SHA256_SIZE];
	struct sha256 hash;
	uint64_t name;
	int r = -EBADMSG;

	if (!x)
		return -ENOMEM;
	for (int i = 0; i < 2 && r == -EBADMSG; i++) {
		sha256_init(&hash);
		r = gitindex_open(x, read, ctx, size, id_sizes[i]);
		if (r >= 0)
			r = add_entries(x, &hash);
	}
	if (r < 0)
		return r;
	sha256_end(&hash, digest);
	name = bytes_get64(digest);
	*ret_name = name ? name : 1;
	return 0;
}
