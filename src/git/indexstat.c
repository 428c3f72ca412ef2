/* SPDX-License-Identifier: Apache-2.0 */
#include "git/indexstat.h"

#include "base/auto.h"
#include "git/githash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODE_AT	  24
#define MODE_SIZE 4

struct memory {
	const char *data;
	size_t len;
};

/* Of type gitindex_read_fn. */
static ssize_t read_memory(void *ctx, void *to, size_t size, uint64_t offset)
{
	const struct memory *m = ctx;
	size_t n = offset < m->len ? m->len - (size_t)offset : 0;

	n = n > size ? size : n;
	memcpy(to, m->data + (n > 0 ? offset : 0), n);
	return (ssize_t)n;
}

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void make_sum(const char *data, size_t len, size_t id_size, char *ret)
{
	struct githash hash;
	struct git_id id;

	githash_init(&hash, 2 * id_size);
	githash_add(&hash, data, len - id_size);
	githash_end(&hash, &id);
	for (size_t i = 0; i < id_size; i++)
		ret[i] = (char)(digit(id.hex[2 * i]) << 4 |
				digit(id.hex[2 * i + 1]));
}

static bool has_sum(const char *data, size_t len, size_t id_size)
{
	char sum[SHA256_SIZE];

	make_sum(data, len, id_size, sum);
	return memcmp(data + len - id_size, sum, id_size) == 0;
}

/* All numbers but the mode, which is no number of a file. */
static bool is_blank(const unsigned char *stat)
{
	for (size_t i = 0; i < GITINDEX_STAT_SIZE; i++)
		if ((i < MODE_AT || i >= MODE_AT + MODE_SIZE) && stat[i] != 0)
			return false;
	return true;
}

static void make_blank(char *stat)
{
	char mode[MODE_SIZE];

	memcpy(mode, stat + MODE_AT, sizeof(mode));
	memset(stat, 0, GITINDEX_STAT_SIZE);
	memcpy(stat + MODE_AT, mode, sizeof(mode));
}

static int fill(const struct indexstat_request *q, struct gitindex *x,
		size_t id_size, bool is_torn)
{
	bool is_changed = is_torn;
	int r;

	for (;;) {
		struct gitindex_entry entry;
		struct indexmerge_stat st;
		char *at = q->data + x->at;

		r = gitindex_next(x, &entry);
		if (r <= 0)
			break;
		if (is_torn)
			make_blank(at);
		else if (!is_blank(entry.stat))
			continue;
		r = (q->look)(q->ctx, &entry, id_size, &st);
		if (r < 0)
			return r;
		if (r > 0)
			indexmerge_put_stat(&st, entry.mode,
					    (unsigned char *)at);
		is_changed |= r > 0;
	}
	return r < 0 ? r : is_changed;
}

int indexstat_fill(const struct indexstat_request *q)
{
	static const size_t sizes[] = { SHA1_SIZE, SHA256_SIZE };
	auto_free struct gitindex *x = malloc(sizeof(*x));
	struct memory memory = { q->data, q->len };
	size_t id_size = 0;
	bool is_torn;
	int r = -EBADMSG;

	if (!x)
		return -ENOMEM;
	/* The wrong size finds no end of the entries. */
	for (size_t i = 0; i < 2 && r < 0 && q->len > sizes[i]; i++) {
		struct gitindex_entry entry;

		id_size = sizes[i];
		r = gitindex_open(x, read_memory, &memory, q->len, id_size);
		while (r >= 0 && (r = gitindex_next(x, &entry)) > 0)
			continue;
	}
	if (r < 0 || x->version > 3 ||
	    gitindex_open(x, read_memory, &memory, q->len, id_size) < 0)
		return -EBADMSG;
	is_torn = !has_sum(q->data, q->len, id_size);
	r = fill(q, x, id_size, is_torn);
	if (r > 0)
		make_sum(q->data, q->len, id_size, q->data + q->len - id_size);
	return r;
}
