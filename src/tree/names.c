/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/names.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/scratch.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/*
 * How a directory is sorted
 * -------------------------
 *
 *	1. names are collected up to `max_sort` bytes, sorted, and written to
 *	   the pool's file as a run when there are more
 *	2. runs are merged, MERGE_MAX at a time, until there is one
 *	3. a list that is one short run never leaves the memory
 *
 * In a run a name is one byte with its length, and its bytes.  Equal names,
 * which several directories may have, are dropped in both steps.
 */
#define SORT_MAX  ((size_t)8 << 20)
#define KEEP_MAX  ((size_t)64 << 10) /* one list in memory */
#define HELD_MAX  ((size_t)8 << 20)  /* all of them */
#define MERGE_MAX 64
#define MERGE_BUF ((size_t)16 << 10)
#define BLOCK_MAX ((size_t)16 << 10)
#define RUNS_MAX  65536

struct run {
	uint64_t start, end;
};

struct collector {
	struct names_pool *pool;
	char *text;
	size_t len, room;
	uint32_t *offsets;
	size_t n;
	struct run *runs;
	size_t n_runs;
};

/* Appends names to the pool's file through a buffer. */
struct writer {
	struct names_pool *pool;
	char *buf;
	size_t used;
	char last[NAME_MAX + 1];
	bool has_last;
};

struct reader {
	uint64_t next, end;
	char *buf;
	size_t have, at;
	char name[NAME_MAX + 1];
	bool is_over;
};

void names_pool_init(struct names_pool *pool, int dir)
{
	*pool = (struct names_pool){
		.dir = dir,
		.file = -1,
		.max_sort = SORT_MAX,
	};
}

void names_pool_done(struct names_pool *pool)
{
	if (pool->file >= 0)
		sys_close(pool->file);
	free(pool->block);
	pool->file = -1;
	pool->block = NULL;
}

static int need_file(struct names_pool *pool, struct hb_error *err)
{
	int fd;

	if (pool->file >= 0)
		return 0;
	fd = scratch_open(pool->dir);
	if (fd < 0)
		return hb_fail(err, fd, "cannot create a file to sort names");
	pool->file = fd;
	return 0;
}

static int out_of_memory(struct hb_error *err)
{
	return hb_fail(err, -ENOMEM, "cannot sort names");
}

static int flush(struct writer *w, struct hb_error *err)
{
	struct names_pool *pool = w->pool;
	int r;

	r = scratch_write(&pool->file, w->buf, w->used, pool->end);
	if (r < 0)
		return hb_fail(err, r, "cannot write names to sort");
	/* The block may show what lay here before. */
	pool->n_block = 0;
	pool->end += w->used;
	w->used = 0;
	return 0;
}

static int write_name(struct writer *w, const char *name, struct hb_error *err)
{
	size_t n = strlen(name);
	int r;

	if (w->has_last && strcmp(w->last, name) == 0)
		return 0;
	if (w->used + 1 + n > MERGE_BUF) {
		r = flush(w, err);
		if (r < 0)
			return r;
	}
	w->buf[w->used++] = (char)(unsigned char)n;
	memcpy(w->buf + w->used, name, n);
	w->used += n;
	memcpy(w->last, name, n + 1);
	w->has_last = true;
	return 0;
}

static int compare_names(const void *a, const void *b, void *text)
{
	const char *t = text;

	return strcmp(t + *(const uint32_t *)a, t + *(const uint32_t *)b);
}

static int add_run(struct collector *c, struct run run, struct hb_error *err)
{
	if (c->n_runs == RUNS_MAX)
		return hb_fail(err, -E2BIG, "too many names in a directory");
	if (grow(c->runs, c->n_runs) < 0)
		return out_of_memory(err);
	c->runs[c->n_runs++] = run;
	return 0;
}

static void sort(struct collector *c)
{
	if (c->n > 1)
		qsort_r(c->offsets, c->n, sizeof(*c->offsets), compare_names,
			c->text);
}

/* Turns what was collected into a run and starts over. */
static int write_run(struct collector *c, struct hb_error *err)
{
	auto_free char *buf = malloc(MERGE_BUF);
	struct writer w = { .pool = c->pool, .buf = buf };
	struct run run;
	int r;

	if (!buf)
		return out_of_memory(err);
	r = need_file(c->pool, err);
	if (r < 0)
		return r;
	sort(c);
	run.start = c->pool->end;
	for (size_t i = 0; i < c->n; i++) {
		r = write_name(&w, c->text + c->offsets[i], err);
		if (r < 0)
			return r;
	}
	r = flush(&w, err);
	if (r < 0)
		return r;
	run.end = c->pool->end;
	c->len = 0;
	c->n = 0;
	return add_run(c, run, err);
}

static int grow_text(struct collector *c, size_t need)
{
	size_t to = c->room ? c->room : 256;
	char *larger;

	if (need <= c->room)
		return 0;
	while (to < need)
		to *= 2;
	larger = realloc(c->text, to);
	if (!larger)
		return -ENOMEM;
	c->text = larger;
	c->room = to;
	return 0;
}

static int collect(struct collector *c, const char *name, struct hb_error *err)
{
	size_t n = strlen(name) + 1;
	int r;

	if (c->n > 0 &&
	    c->len + n + (c->n + 1) * sizeof(*c->offsets) > c->pool->max_sort) {
		r = write_run(c, err);
		if (r < 0)
			return r;
	}
	if (grow_text(c, c->len + n) < 0 || grow(c->offsets, c->n) < 0)
		return out_of_memory(err);
	memcpy(c->text + c->len, name, n);
	c->offsets[c->n++] = (uint32_t)c->len;
	c->len += n;
	return 0;
}

static int collect_dir(struct collector *c, int dir, char *block,
		       struct hb_error *err)
{
	ssize_t n;
	int r;

	while ((n = sys_getdents(dir, block, BLOCK_MAX)) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (path_is_dots(e->name))
				continue;
			/* Longer ones exist on no file system we know. */
			if (strlen(e->name) > NAME_MAX)
				return hb_fail(err, -ENAMETOOLONG,
					       "a name is too long");
			r = collect(c, e->name, err);
			if (r < 0)
				return r;
		}
	}
	if (n < 0)
		return hb_fail(err, (int)n, "cannot list a directory");
	return 0;
}

/* Moves the reader to its next name. */
static int advance(struct reader *rd, int file, struct hb_error *err)
{
	size_t left = rd->have - rd->at;
	size_t n;

	if (left < NAME_MAX + 1 && rd->next < rd->end) {
		uint64_t want = rd->end - rd->next;
		ssize_t got;

		memmove(rd->buf, rd->buf + rd->at, left);
		if (want > MERGE_BUF - left)
			want = MERGE_BUF - left;
		got = sys_pread_full(file, rd->buf + left, (size_t)want,
				     rd->next);
		if (got < 0 || (size_t)got != want)
			return hb_fail(err, got < 0 ? (int)got : -EIO,
				       "cannot read sorted names");
		rd->next += want;
		rd->at = 0;
		rd->have = left + (size_t)want;
		left = rd->have;
	}
	if (left == 0) {
		rd->is_over = true;
		return 0;
	}
	n = (unsigned char)rd->buf[rd->at];
	assert(n > 0 && n < left);
	memcpy(rd->name, rd->buf + rd->at + 1, n);
	rd->name[n] = '\0';
	rd->at += n + 1;
	return 0;
}

static struct reader *least(struct reader *readers, size_t n)
{
	struct reader *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (!readers[i].is_over &&
		    (!best || strcmp(readers[i].name, best->name) < 0))
			best = &readers[i];
	return best;
}

/* Merges the first `n` runs into a new one behind the others. */
static int merge(struct collector *c, size_t n, struct hb_error *err)
{
	auto_free struct reader *readers = calloc(n, sizeof(*readers));
	auto_free char *bufs = malloc((n + 1) * MERGE_BUF);
	struct writer w = { .pool = c->pool };
	struct run run = { .start = c->pool->end };
	struct reader *rd;
	int r;

	if (!readers || !bufs)
		return out_of_memory(err);
	w.buf = bufs + n * MERGE_BUF;
	for (size_t i = 0; i < n; i++) {
		readers[i] = (struct reader){
			.next = c->runs[i].start,
			.end = c->runs[i].end,
			.buf = bufs + i * MERGE_BUF,
		};
		r = advance(&readers[i], c->pool->file, err);
		if (r < 0)
			return r;
	}
	while ((rd = least(readers, n))) {
		r = write_name(&w, rd->name, err);
		if (r < 0)
			return r;
		r = advance(rd, c->pool->file, err);
		if (r < 0)
			return r;
	}
	r = flush(&w, err);
	if (r < 0)
		return r;
	run.end = c->pool->end;
	memmove(c->runs, c->runs + n, (c->n_runs - n) * sizeof(run));
	c->n_runs -= n;
	return add_run(c, run, err);
}

static int keep_in_memory(struct collector *c, struct names *names,
			  struct hb_error *err)
{
	const char *last = NULL;
	char *text = malloc(c->len ? c->len : 1);
	size_t used = 0;

	if (!text)
		return out_of_memory(err);
	sort(c);
	for (size_t i = 0; i < c->n; i++) {
		const char *name = c->text + c->offsets[i];
		size_t n = strlen(name) + 1;

		if (last && strcmp(last, name) == 0)
			continue;
		memcpy(text + used, name, n);
		used += n;
		last = name;
	}
	names->text = text;
	names->len = used;
	names->pool->held += used;
	return 0;
}

static int settle(struct collector *c, struct names *names,
		  struct hb_error *err)
{
	size_t n;
	int r;

	if (c->n_runs == 0 && c->len <= KEEP_MAX &&
	    c->len <= c->pool->max_sort && c->pool->held + c->len <= HELD_MAX)
		return keep_in_memory(c, names, err);

	r = write_run(c, err);
	if (r < 0)
		return r;
	while (c->n_runs > 1) {
		n = c->n_runs < MERGE_MAX ? c->n_runs : MERGE_MAX;
		r = merge(c, n, err);
		if (r < 0)
			return r;
	}
	assert(c->runs && c->n_runs == 1);
	names->next = c->runs[0].start;
	names->end = c->runs[0].end;
	return 0;
}

int names_read(struct names_pool *pool, const int *dirs, size_t n,
	       struct names *ret_names, struct hb_error *err)
{
	auto_free char *block = malloc(BLOCK_MAX);
	struct names names = { .pool = pool, .bottom = pool->end };
	struct collector c = { .pool = pool };
	int r = 0;

	if (!block)
		return out_of_memory(err);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = collect_dir(&c, dirs[i], block, err);
	if (r >= 0)
		r = settle(&c, &names, err);
	free(c.text);
	free(c.offsets);
	free(c.runs);
	if (r < 0) {
		pool->end = names.bottom;
		return r;
	}
	*ret_names = names;
	return 0;
}

void names_done(struct names *names)
{
	if (!names->pool)
		return;
	if (names->text)
		names->pool->held -= names->len;
	else
		names->pool->end = names->bottom;
	free(names->text);
	*names = (struct names){ 0 };
}

/* Gives `n` bytes at the offset out of the pool's block. */
static int fetch(struct names *names, size_t n, const char **ret,
		 struct hb_error *err)
{
	struct names_pool *pool = names->pool;
	uint64_t want = names->end - names->next;
	ssize_t got;

	if (pool->n_block && names->next >= pool->at &&
	    names->next + n <= pool->at + pool->n_block) {
		*ret = pool->block + (names->next - pool->at);
		return 0;
	}
	if (!pool->block) {
		pool->block = malloc(BLOCK_MAX);
		if (!pool->block)
			return out_of_memory(err);
	}
	if (want > BLOCK_MAX)
		want = BLOCK_MAX;
	got = sys_pread_full(pool->file, pool->block, (size_t)want,
			     names->next);
	pool->n_block = 0;
	if (got < 0 || (size_t)got < n)
		return hb_fail(err, got < 0 ? (int)got : -EIO,
			       "cannot read sorted names");
	pool->at = names->next;
	pool->n_block = (size_t)got;
	*ret = pool->block;
	return 0;
}

static int next_in_file(struct names *names, const char **ret_name,
			struct hb_error *err)
{
	const char *p = NULL;
	size_t n;
	int r;

	if (names->next == names->end)
		return 0;
	r = fetch(names, 1, &p, err);
	if (r < 0)
		return r;
	assert(p);
	n = (unsigned char)*p;
	r = fetch(names, n + 1, &p, err);
	if (r < 0)
		return r;
	memcpy(names->pool->name, p + 1, n);
	names->pool->name[n] = '\0';
	names->next += n + 1;
	*ret_name = names->pool->name;
	return 1;
}

int names_next(struct names *names, const char **ret_name, struct hb_error *err)
{
	if (!names->text)
		return next_in_file(names, ret_name, err);
	if (names->pos == names->len)
		return 0;
	*ret_name = names->text + names->pos;
	names->pos += strlen(*ret_name) + 1;
	return 1;
}
