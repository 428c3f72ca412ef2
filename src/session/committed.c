/* SPDX-License-Identifier: Apache-2.0 */
#include "session/committed.h"

#include "base/grow.h"
#include "sys/place.h"
#include "txn/history.h"
#include "txn/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct load {
	struct committed *c;
	int session;
	size_t resource;
	uint64_t first;
};

static int add(struct committed *c, const struct op *op, uint64_t id)
{
	if (c->n == COMMITTED_MAX)
		return 0;
	if (grow(c->list, c->n) < 0)
		return -ENOMEM;
	c->list[c->n++] = (struct committed_path){
		.hash = siphash(&c->key, op->path, strlen(op->path)),
		.id = id,
		/* A directory that stays is there for the changes in it. */
		.is_whole = op->kind != OP_DIRECTORY,
	};
	return 0;
}

/* Of type history_fn. */
static int load_one(void *ctx, uint64_t id, struct hb_error *err)
{
	auto_journal struct journal *journal = NULL;
	const struct load *load = ctx;
	struct op op;
	int r = 0;

	(void)err;
	if (id < load->first ||
	    history_open(load->session, HISTORY_DONE, id, &journal, NULL) < 0 ||
	    journal_head(journal)->kind == JOURNAL_ROLLBACK)
		return 0;
	journal_to_start(journal);
	while (r >= 0 && journal_next(journal, &op, NULL) == 1)
		if (op.resource == load->resource &&
		    !(op.effect & (OP_UPPER | OP_IN_UPPER)) &&
		    op.kind != OP_LAYER)
			r = add(load->c, &op, id);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct committed_path *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->id == y->id ? 0 : x->id > y->id ? -1 : 1;
}

int committed_load(struct committed *c, int session, size_t resource,
		   uint64_t first)
{
	struct load load = { c, session, resource, first };
	int r;

	*c = (struct committed){ 0 };
	r = sys_random(&c->key, sizeof(c->key));
	if (r >= 0)
		r = history_each(session, HISTORY_DONE, load_one, &load, NULL);
	if (r < 0) {
		committed_done(c);
		return r;
	}
	if (c->n > 0)
		qsort(c->list, c->n, sizeof(*c->list), compare);
	return 0;
}

void committed_done(struct committed *c)
{
	free(c->list);
	*c = (struct committed){ 0 };
}

static bool has(const struct committed *c, const char *path, size_t len,
		uint64_t first, bool is_whole)
{
	uint64_t hash = siphash(&c->key, path, len);
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->list[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->n && c->list[low].hash == hash; low++)
		if (c->list[low].id >= first &&
		    (!is_whole || c->list[low].is_whole))
			return true;
	return false;
}

bool committed_since(const struct committed *c, const char *path,
		     uint64_t first)
{
	size_t len = strlen(path);

	if (c->n == 0)
		return false;
	if (has(c, path, len, first, false))
		return true;
	while (len > 0)
		if (path[--len] == '/' && has(c, path, len, first, true))
			return true;
	return false;
}
