/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: git
 *
 * The input is cut into trees, which name each other by a digit.  Two of them
 * are compared, in both directions: the same number of paths differs, and one
 * that is added here is deleted there.  A tree is the same as itself.
 */
#include "fuzz.h"
#include "git/treediff.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define TREES 4

struct input {
	const uint8_t *data;
	size_t size;
};

struct seen {
	uint64_t n, n_added, n_deleted;
};

/* The last digit of a name says which part of the input is meant. */
static int read_part(void *ctx, const struct git_id *id, size_t max,
		     struct git_object *ret)
{
	const struct input *in = ctx;
	size_t n = strlen(id->hex);
	char digit = id->hex[n - 1];
	unsigned part = (unsigned)(digit <= '9' ? digit - '0' : digit - 'a') %
			(TREES + 1);
	size_t from = in->size / TREES * part;
	size_t to = part + 1 == TREES ? in->size : from + in->size / TREES;

	MUST(n == 40);
	if (part == TREES)
		return -ENOENT;
	MUST(to - from <= max);
	ret->type = GIT_TREE;
	ret->size = to - from;
	ret->data = malloc(ret->size + 1);
	MUST(ret->data);
	memcpy(ret->data, in->data + from, ret->size);
	ret->data[ret->size] = '\0';
	return 0;
}

static int look(void *ctx, const struct treediff_change *c)
{
	struct seen *seen = ctx;

	MUST(c->old.mode || c->new.mode);
	MUST(c->old.mode != GITTREE_DIR && c->new.mode != GITTREE_DIR);
	MUST(strlen(c->path) > 0 && strlen(c->path) <= TREEDIFF_PATH_MAX);
	MUST(c->old.mode != c->new.mode ||
	     strcmp(c->old.id.hex, c->new.id.hex));
	seen->n++;
	seen->n_added += !c->old.mode;
	seen->n_deleted += !c->new.mode;
	return 0;
}

static int run(struct input *in, const struct git_id *a, const struct git_id *b,
	       struct seen *seen)
{
	struct treediff diff = {
		.read = read_part, .ctx = in, .n_paths = 500, .n_trees = 500
	};
	int r = treediff_run(&diff, a, b, look, seen);

	MUST(r == 0 || r == -ENOENT || r == -EBADMSG || r == -EFBIG);
	MUST(seen->n + diff.n_paths == 500);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct git_id a = {
		"0000000000000000000000000000000000000000"
	};
	static const struct git_id b = {
		"0000000000000000000000000000000000000001"
	};
	struct input in = { data, size };
	struct seen there = { 0 }, back = { 0 }, same = { 0 };
	int r = run(&in, &a, &b, &there);

	/* Where one direction came to its end the other does. */
	if (r == 0) {
		MUST(run(&in, &b, &a, &back) == 0);
		MUST(there.n == back.n && there.n_added == back.n_deleted);
	}
	MUST(run(&in, &a, &a, &same) == 0 && same.n == 0);
	return 0;
}
