/* SPDX-License-Identifier: Apache-2.0 */
#include "git/indexmerge.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/grow.h"
#include "base/sha1.h"
#include "base/sha256.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * All three are sorted by path and stage.  So they are read side by side, one
 * path with all of its stages at a time, and memory does not grow with them.
 * An order that is wrong could hide an entry, and is refused.
 */

#define HEADER_SIZE 12
#define MODE_AT	    24
#define MTIME_AT    8
#define STAGES	    4
#define NAME_MASK   0xfffU
#define EXTENDED    0x4000U
#define BLOCK	    ((size_t)32 << 10)

enum {
	THEN,
	BASE,
	SESSION,
	SIDES
};

struct reader {
	struct gitindex x;
	struct gitindex_entry next; /* its path is in `x` */
	bool has_next;
	/* The path that is looked at, with its stages. */
	char path[GITINDEX_PATH_MAX + 1];
	size_t path_len;
	struct gitindex_entry group[STAGES];
	size_t n; /* 0: this side does not have the path */
};

/* An entry that was written, as long as others may lie below it. */
struct above {
	char *path;
	size_t len;
};

struct merge {
	const struct indexmerge_request *q;
	struct buf *out;
	size_t start;
	struct indexmerge_result *result;
	struct reader *readers[SIDES];
	uint32_t n_written;
	bool needs_v3;
	struct above *above;
	size_t n_above;
};

static void put(unsigned char *to, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(n >> (24 - 8 * i));
}

static uint32_t get(const unsigned char *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 |
	       (uint32_t)from[2] << 8 | from[3];
}

/* A hash of either kind. */
struct sum {
	size_t size;
	struct sha1 sha1;
	struct sha256 sha256;
};

static void sum_init(struct sum *sum, size_t size)
{
	sum->size = size;
	sha1_init(&sum->sha1);
	sha256_init(&sum->sha256);
}

static void sum_add(struct sum *sum, const void *bytes, size_t n)
{
	if (sum->size == SHA1_SIZE)
		sha1_add(&sum->sha1, bytes, n);
	else
		sha256_add(&sum->sha256, bytes, n);
}

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void sum_end(struct sum *sum, unsigned char *ret)
{
	char hex[SHA1_HEX_SIZE];

	if (sum->size != SHA1_SIZE) {
		sha256_end(&sum->sha256, ret);
		return;
	}
	sha1_end_hex(&sum->sha1, hex);
	for (size_t i = 0; i < SHA1_SIZE; i++)
		ret[i] = (unsigned char)(digit(hex[2 * i]) << 4 |
					 digit(hex[2 * i + 1]));
}

/* git may leave the sum out, and writes zeros then. */
static int check_sum(const struct indexmerge_side *side, size_t id_size)
{
	static const unsigned char zeros[SHA256_SIZE];
	unsigned char want[SHA256_SIZE], got[SHA256_SIZE];
	auto_free unsigned char *block = malloc(BLOCK);
	uint64_t at = 0, end = side->size - id_size;
	struct sum sum;
	ssize_t n;

	if (!block)
		return -ENOMEM;
	sum_init(&sum, id_size);
	while (at < end) {
		size_t want_n = end - at < BLOCK ? (size_t)(end - at) : BLOCK;

		n = side->read(side->ctx, block, want_n, at);
		if (n <= 0)
			return n < 0 ? (int)n : -EBADMSG;
		sum_add(&sum, block, (size_t)n);
		at += (uint64_t)n;
	}
	sum_end(&sum, got);
	n = side->read(side->ctx, want, id_size, end);
	if (n < 0)
		return (int)n;
	return (size_t)n == id_size && (memcmp(want, got, id_size) == 0 ||
					memcmp(want, zeros, id_size) == 0)
		       ? 0
		       : -EBADMSG;
}

static int compare_paths(const char *a, size_t n, const char *b, size_t k)
{
	int order = memcmp(a, b, n < k ? n : k);

	return order != 0 ? order : n < k ? -1 : n > k;
}

/* Reads the next entry, which must lie behind the last one of the group. */
static int advance(struct reader *r)
{
	const struct gitindex_entry *last;
	int order, more = gitindex_next(&r->x, &r->next);

	r->has_next = more == 1;
	if (more != 1)
		return more;
	if (r->n == 0)
		return 1;
	last = &r->group[r->n - 1];
	order = compare_paths(r->path, r->path_len, r->x.path, r->x.path_len);
	if (order > 0 ||
	    (order == 0 && (last->flags & GITINDEX_STAGE) >=
				   (r->next.flags & GITINDEX_STAGE)))
		return -EBADMSG;
	return order == 0 ? 2 : 1;
}

/* Makes the next path the group. */
static int take_group(struct reader *r)
{
	int more = 2;

	r->n = 0;
	memcpy(r->path, r->x.path, r->x.path_len + 1);
	r->path_len = r->x.path_len;
	while (more == 2) {
		/* The order of stages leaves room for no more than four. */
		r->group[r->n++] = r->next;
		more = advance(r);
	}
	return more < 0 ? more : 0;
}

static int begin(struct merge *m, int side)
{
	const struct indexmerge_side *const sides[] = { &m->q->then,
							&m->q->base,
							&m->q->session };
	struct reader *r = calloc(1, sizeof(*r));
	int result;

	m->readers[side] = r;
	if (!r)
		return -ENOMEM;
	if (!sides[side]->read)
		return 0;
	result = gitindex_open(&r->x, sides[side]->read, sides[side]->ctx,
			       sides[side]->size, m->q->id_size);
	if (result >= 0)
		result = check_sum(sides[side], m->q->id_size);
	if (result >= 0)
		result = advance(r);
	return result < 0 ? result : 0;
}

static bool is_same_group(const struct reader *a, const struct reader *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->group[i].mode != b->group[i].mode ||
		    a->group[i].flags != b->group[i].flags ||
		    memcmp(a->group[i].id, b->group[i].id,
			   sizeof(a->group[i].id)) != 0)
			return false;
	return true;
}

/*
 * As git: its time is not before that of the index.  Most builds of git compare
 * whole seconds, and the new index has a later time, which would end the doubt.
 */
static bool is_racy(const struct merge *m, const unsigned char *stat)
{
	return get(stat + MTIME_AT) >= (uint32_t)m->q->base_mtime.tv_sec;
}

void indexmerge_put_stat(const struct indexmerge_stat *st, uint32_t mode,
			 unsigned char *ret)
{
	const uint32_t numbers[] = { (uint32_t)st->ctime.tv_sec,
				     (uint32_t)st->ctime.tv_nsec,
				     (uint32_t)st->mtime.tv_sec,
				     (uint32_t)st->mtime.tv_nsec,
				     (uint32_t)st->dev,
				     (uint32_t)st->ino,
				     mode,
				     st->uid,
				     st->gid,
				     (uint32_t)st->size };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		put(ret + 4 * i, numbers[i]);
}

/* Of the session's entries git looks at the file, or indexstat.h does. */
static void stat_of(const struct merge *m, int side,
		    const struct gitindex_entry *e, unsigned char *ret)
{
	memset(ret, 0, GITINDEX_STAT_SIZE);
	if (side == BASE && !is_racy(m, e->stat))
		memcpy(ret, e->stat, GITINDEX_STAT_SIZE);
	put(ret + MODE_AT, e->mode);
}

static int write_entry(struct merge *m, int side, const struct reader *r,
		       const struct gitindex_entry *e)
{
	unsigned char stat[GITINDEX_STAT_SIZE], flags[4];
	uint32_t extended = e->flags & GITINDEX_EXTENDED;
	uint32_t name =
		r->path_len < NAME_MASK ? (uint32_t)r->path_len : NAME_MASK;
	size_t start = m->out->len, used;

	stat_of(m, side, e, stat);
	put(flags, e->flags | name << 16 | (extended ? EXTENDED << 16 : 0));
	(void)buf_add(m->out, stat, sizeof(stat));
	(void)buf_add(m->out, e->id, m->q->id_size);
	(void)buf_add(m->out, flags, extended ? 4 : 2);
	(void)buf_add(m->out, r->path, r->path_len);
	used = m->out->len - start;
	m->needs_v3 |= extended != 0;
	m->n_written++;
	return buf_add_fill(m->out, '\0', 8 - used % 8);
}

static int conflict(struct merge *m, const char *path)
{
	m->result->n_conflicts++;
	return m->q->conflict ? m->q->conflict(m->q->ctx, path) : 0;
}

static void forget_above(struct merge *m, const char *path, size_t len)
{
	while (m->n_above > 0) {
		const struct above *top = &m->above[m->n_above - 1];

		if (top->len < len && memcmp(top->path, path, top->len) == 0)
			return;
		free(m->above[--m->n_above].path);
	}
}

/* What lies below an entry of the result makes it no index. */
static int check_above(struct merge *m, const struct reader *r)
{
	struct above *top;

	forget_above(m, r->path, r->path_len);
	for (size_t i = 0; i < m->n_above; i++)
		if (r->path[m->above[i].len] == '/')
			return conflict(m, r->path);
	if (grow(m->above, m->n_above) < 0)
		return -ENOMEM;
	top = &m->above[m->n_above];
	top->path = strdup(r->path);
	top->len = r->path_len;
	m->n_above += top->path != NULL;
	return top->path ? 0 : -ENOMEM;
}

static int by_moved(const void *key, const void *moved)
{
	return strcmp(key, ((const struct indexmerge_moved *)moved)->path);
}

static bool is_value(const struct merge *m, const struct reader *r,
		     const struct indexmerge_value *value)
{
	if (r->n == 0 || value->mode == 0)
		return r->n == 0 && value->mode == 0;
	return r->n == 1 && r->group[0].flags == 0 &&
	       r->group[0].mode == value->mode &&
	       memcmp(r->group[0].id, value->id, m->q->id_size) == 0;
}

/* Neither side has staged it: it moves forward with the commit. */
static bool is_moved(const struct merge *m, const char *path)
{
	const struct indexmerge_moved *moved =
		m->q->n_moved == 0 ? NULL
				   : bsearch(path, m->q->moved, m->q->n_moved,
					     sizeof(*moved), by_moved);

	return moved && is_value(m, m->readers[BASE], &moved->base) &&
	       is_value(m, m->readers[SESSION], &moved->session);
}

static int decide(struct merge *m, const char *path)
{
	struct reader *then = m->readers[THEN], *base = m->readers[BASE];
	struct reader *session = m->readers[SESSION], *from = base;
	bool moves = is_moved(m, path);
	int r;

	if ((moves || !is_same_group(session, then)) &&
	    !is_same_group(session, base)) {
		if (!moves && !is_same_group(base, then))
			return conflict(m, session->n > 0 ? session->path
					   : base->n > 0  ? base->path
							  : then->path);
		from = session;
		m->result->is_changed = true;
		m->result->n_taken++;
	}
	if (from->n == 0)
		return 0;
	r = check_above(m, from);
	for (size_t i = 0; r >= 0 && i < from->n; i++)
		r = write_entry(m, from == base ? BASE : SESSION, from,
				&from->group[i]);
	return r;
}

/* The first of the paths that come next; NULL: there is none. */
static const struct gitindex *first_of(struct merge *m)
{
	const struct gitindex *first = NULL;

	for (int i = 0; i < SIDES; i++) {
		const struct reader *r = m->readers[i];

		if (r->has_next &&
		    (!first || compare_paths(r->x.path, r->x.path_len,
					     first->path, first->path_len) < 0))
			first = &r->x;
	}
	return first;
}

static int merge_all(struct merge *m)
{
	char path[GITINDEX_PATH_MAX + 1];
	const struct gitindex *first;
	int r = 0;

	while (r >= 0 && (first = first_of(m)) != NULL) {
		size_t len = first->path_len;

		memcpy(path, first->path, len + 1);
		for (int i = 0; r >= 0 && i < SIDES; i++) {
			struct reader *reader = m->readers[i];

			if (reader->has_next &&
			    compare_paths(reader->x.path, reader->x.path_len,
					  path, len) == 0)
				r = take_group(reader);
			else
				reader->n = 0;
		}
		if (r >= 0)
			r = decide(m, path);
	}
	return r;
}

static int finish(struct merge *m)
{
	unsigned char digest[SHA256_SIZE], numbers[8];
	struct sum sum;

	if (m->out->error < 0)
		return m->out->error;
	put(numbers, m->needs_v3 ? 3 : 2);
	put(numbers + 4, m->n_written);
	memcpy(m->out->data + m->start + 4, numbers, sizeof(numbers));
	sum_init(&sum, m->q->id_size);
	sum_add(&sum, m->out->data + m->start, m->out->len - m->start);
	sum_end(&sum, digest);
	return buf_add(m->out, digest, m->q->id_size);
}

int indexmerge(const struct indexmerge_request *request, struct buf *out,
	       struct indexmerge_result *ret)
{
	struct merge m = {
		.q = request, .out = out, .start = out->len, .result = ret
	};
	int r = 0;

	*ret = (struct indexmerge_result){ 0 };
	for (int i = 0; r >= 0 && i < SIDES; i++)
		r = begin(&m, i);
	if (r >= 0)
		r = buf_add(out, "DIRC\0\0\0\2\0\0\0\0", HEADER_SIZE);
	if (r >= 0)
		r = merge_all(&m);
	if (r >= 0)
		r = finish(&m);
	forget_above(&m, "", 0);
	free(m.above);
	for (int i = 0; i < SIDES; i++)
		free(m.readers[i]);
	return r == -E2BIG ? -EFBIG : r;
}
