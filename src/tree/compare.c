/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/compare.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/overlay.h"
#include "tree/xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define CHUNK ((size_t)128 << 10)
#define SMALL ((size_t)16 << 10) /* compared without asking for holes */

/* What zeroes are digested in; part of what the digest is. */
#define DIGEST_BLOCK ((size_t)64 << 10)

/* A name of an extended attribute as commit will write it. */
struct xname {
	const char *raw;
	const char *tail; /* behind "user.", or all */
	bool is_user;
};

static bool is_carried(const char *raw, struct xname *ret)
{
	*ret = (struct xname){ .raw = raw, .tail = raw };
	if (overlay_is_reserved(raw))
		return false;
	if (strncmp(raw, "user.", strlen("user.")) == 0) {
		ret->is_user = true;
		ret->tail = raw + strlen("user.");
		return true;
	}
	return strcmp(raw, "security.capability") == 0 ||
	       strcmp(raw, "system.posix_acl_access") == 0 ||
	       strcmp(raw, "system.posix_acl_default") == 0;
}

/* In a layer of ours the overlay's own marks are not the view's. */
static bool is_kept_back(const char *raw, bool in_layer)
{
	return overlay_is_reserved(raw) && !(in_layer && overlay_is_mark(raw));
}

static int compare_xnames(const void *a, const void *b)
{
	const struct xname *x = a, *y = b;

	if (x->is_user != y->is_user)
		return x->is_user ? 1 : -1;
	return strcmp(x->tail, y->tail);
}

static void add_sized(struct sha256 *h, const void *bytes, size_t n)
{
	uint8_t len[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16),
			   (uint8_t)(n >> 8), (uint8_t)n };

	sha256_add(h, len, sizeof(len));
	sha256_add(h, bytes, n);
}

static int digest_xattrs(const struct side *side, int fd, struct xname *names,
			 size_t n, struct xattrs *ret, struct hb_error *err)
{
	auto_free char *value = malloc(OVERLAY_VALUE_MAX);
	struct sha256 h;

	if (!value)
		return hb_fail(err, -ENOMEM, "cannot compare attributes");
	qsort(names, n, sizeof(*names), compare_xnames);
	sha256_init(&h);
	for (size_t i = 0; i < n; i++) {
		ssize_t len;

		if (side->in_layer)
			len = access_get_xattr(fd, side->entry, names[i].raw,
					       value, OVERLAY_VALUE_MAX);
		else
			len = sys_get_xattr(fd, names[i].raw, value,
					    OVERLAY_VALUE_MAX);
		/* What may not be read is there, and like nothing we have. */
		if (len == -EACCES && !side->in_layer) {
			sha256_add(&h, "?", 1);
			len = 0;
		}
		if (len == -ENODATA)
			continue;
		if (len < 0)
			return hb_fail_at(err, (int)len, side->name,
					  "cannot read");
		add_sized(&h, names[i].is_user ? "user." : "",
			  names[i].is_user ? 5 : 0);
		add_sized(&h, names[i].tail, strlen(names[i].tail));
		add_sized(&h, value, (size_t)len);
		if (strcmp(names[i].raw, "security.capability") == 0)
			ret->has_capability = true;
	}
	sha256_end(&h, ret->digest);
	return 0;
}

static int digest_listed(const struct side *side, const char *list, int len,
			 struct xattrs *x, struct hb_error *err)
{
	auto_free struct xname *names = NULL;
	auto_fd int fd = -1;
	size_t n = 0;

	/* The shortest name with its NUL has more than four bytes. */
	names = malloc(((size_t)len / 4 + 1) * sizeof(*names));
	if (!names)
		return hb_fail(err, -ENOMEM, "cannot list attributes");
	for (int at = 0; at < len; at += (int)strlen(list + at) + 1) {
		x->has_reserved |= is_kept_back(list + at, side->in_layer);
		if (is_carried(list + at, &names[n]))
			n++;
	}
	if (n == 0)
		return 0;
	fd = sys_openat(side->dir, side->name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return hb_fail_at(err, fd, side->name, "cannot read");
	return digest_xattrs(side, fd, names, n, x, err);
}

int side_xattrs(const struct side *side, struct xattrs *ret_xattrs,
		struct hb_error *err)
{
	auto_xattr_names struct xattr_names names = { 0 };
	struct xattrs x = { 0 };
	int r;

	*ret_xattrs = x;
	/* Most have none, and the look at a layer's entry has told so. */
	if (side->in_layer && !side->entry->has_xattrs)
		return 0;
	r = xattr_names_read(&names, side->dir, side->name);
	if (r < 0)
		return hb_fail_at(err, r, side->name, "cannot read");
	if (names.size == 0)
		return 0;
	r = digest_listed(side, names.list, (int)names.size, &x, err);
	if (r < 0)
		return r;
	*ret_xattrs = x;
	return 0;
}

static int compare_at(int a, int b, char *bytes, size_t chunk, uint64_t at)
{
	ssize_t n, m;

	n = sys_pread_full(a, bytes, chunk, at);
	if (n < 0)
		return (int)n;
	m = sys_pread_full(b, bytes + chunk, chunk, at);
	if (m < 0)
		return (int)m;
	/* Shorter than it was: a program writes to it, so not the same. */
	return n > 0 && n == m && memcmp(bytes, bytes + chunk, (size_t)n) == 0;
}

/*
 * All of two small files, and one byte more: they are the same only with that
 * size and the same bytes.
 */
static int compare_small(int a, int b, size_t size)
{
	char bytes[2][SMALL + 1];
	int fds[2] = { a, b };

	for (int i = 0; i < 2; i++) {
		ssize_t n = sys_pread(fds[i], bytes[i], size + 1, 0);

		/* Nothing that bytes are read from took its place. */
		if (n == -ESPIPE || n == -EISDIR)
			return -HB_E_BUSY;
		if (n < 0)
			return (int)n;
		if ((size_t)n != size)
			return 0;
	}
	return memcmp(bytes[0], bytes[1], size) == 0;
}

static int compare_open_files(int a, int b, uint64_t size)
{
	auto_free char *bytes = NULL;
	uint64_t at = 0;
	int r;

	bytes = malloc(2 * CHUNK);
	if (!bytes)
		return -ENOMEM;
	for (; at < size; at += CHUNK) {
		uint64_t next_a = sys_next_data(a, at, size);
		uint64_t next_b = sys_next_data(b, at, size);

		at = next_a < next_b ? next_a : next_b;
		if (at >= size)
			break;
		r = compare_at(a, b, bytes, CHUNK, at);
		if (r <= 0)
			return r;
	}
	return 1;
}

int side_same_content(const struct side *a, const struct side *b,
		      struct hb_error *err)
{
	const struct side *sides[2] = { a, b };
	auto_fd int first = -1;
	auto_fd int second = -1;
	int *fds[2] = { &first, &second };
	bool is_small = a->entry->size <= SMALL;
	int r;

	if (a->entry->size != b->entry->size)
		return 0;
	if (a->entry->size == 0)
		return 1;
	for (int i = 0; i < 2; i++) {
		struct hb_error why = { 0 };

		*fds[i] = (is_small ? access_open_quick : access_open_file)(
			sides[i]->dir, sides[i]->name, sides[i]->entry,
			sides[i]->in_layer, &why);
		if (*fds[i] == -EACCES && !sides[i]->in_layer)
			return 0;
		if (*fds[i] < 0) {
			if (err)
				*err = why;
			return *fds[i];
		}
	}
	r = is_small ? compare_small(first, second, (size_t)a->entry->size)
		     : compare_open_files(first, second, a->entry->size);
	return r < 0 ? hb_fail_at(err, r, a->name, "cannot read") : r;
}

int side_same_target(const struct side *a, const struct side *b,
		     struct hb_error *err)
{
	char first[PATH_MAX + 1], second[PATH_MAX + 1];
	ssize_t n;

	n = access_read_target(a->dir, a->name, a->entry, first, sizeof(first),
			       err);
	if (n < 0)
		return (int)n;
	n = access_read_target(b->dir, b->name, b->entry, second,
			       sizeof(second), err);
	if (n < 0)
		return (int)n;
	return strcmp(first, second) == 0;
}

static bool is_zero(const char *bytes, size_t n)
{
	return n == 0 ||
	       (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

static void add_number(struct sha256 *h, uint64_t number)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (56 - 8 * i));
	sha256_add(h, bytes, sizeof(bytes));
}

/*
 * The size, then each block that is not all zeroes with its place.  A block is
 * looked at from its own start, wherever the data in it begins.
 */
static int digest_file(int fd, uint64_t size, uint8_t digest[SHA256_SIZE])
{
	auto_free char *block = malloc(DIGEST_BLOCK);
	struct sha256 h;
	uint64_t at = 0;

	if (!block)
		return -ENOMEM;
	sha256_init(&h);
	add_number(&h, size);
	while (at < size) {
		ssize_t n;

		at = sys_next_data(fd, at, size);
		if (at >= size)
			break;
		at -= at % DIGEST_BLOCK;
		n = sys_pread_full(fd, block, DIGEST_BLOCK, at);
		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		if (!is_zero(block, (size_t)n)) {
			add_number(&h, at);
			add_number(&h, (uint64_t)n);
			sha256_add(&h, block, (size_t)n);
		}
		at += DIGEST_BLOCK;
	}
	sha256_end(&h, digest);
	return 0;
}

int side_content(const struct side *side, uint8_t ret_digest[SHA256_SIZE],
		 struct hb_error *err)
{
	char target[PATH_MAX + 1];
	auto_fd int fd = -1;
	ssize_t n;
	int r;

	memset(ret_digest, 0, SHA256_SIZE);
	if (side->entry->type == ENTRY_LINK) {
		n = access_read_target(side->dir, side->name, side->entry,
				       target, sizeof(target), err);
		if (n < 0)
			return (int)n;
		sha256_of(target, (size_t)n, ret_digest);
		return 0;
	}
	if (side->entry->type != ENTRY_FILE)
		return 0;
	fd = access_open_file(side->dir, side->name, side->entry,
			      side->in_layer, err);
	if (fd < 0)
		return fd;
	r = digest_file(fd, side->entry->size, ret_digest);
	return r < 0 ? hb_fail_at(err, r, side->name, "cannot read") : 0;
}

int side_same_bytes(const struct side *a, const struct side *b,
		    struct hb_error *err)
{
	if (a->entry->type == ENTRY_FILE)
		return side_same_content(a, b, err);
	return a->entry->type == ENTRY_LINK ? side_same_target(a, b, err) : 1;
}
