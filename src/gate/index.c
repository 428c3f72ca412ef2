/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/index.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/grow.h"
#include "gate/rules.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each pattern has an anchor.  It is the last component without a wildcard, the
 * end of the last component after its last dot, or the first HEAD bytes of it.
 * A path can only match if one of its names, its ending or its beginning is
 * that anchor.  Patterns without one are tried on every path.
 *
 * A rule's pattern with a slash also gives patterns for the directories on the
 * way to what it is about.
 */
#define BUCKETS 2048 /* a power of two, larger than the built-in patterns */
#define LOOSE	BUCKETS
#define HEAD	4

struct glob {
	const char *pattern;
	char *copy; /* if the pattern is a part of the rule's */
	size_t rule;
	unsigned short path; /* of the rule's */
	bool is_whole;
	enum gate_hit hit;
	size_t next; /* in its bucket, plus 1; 0: the last */
};

struct gate_index {
	struct glob *globs;
	size_t n;
	size_t buckets[BUCKETS + 1]; /* as `next` */
};

static uint32_t hash_folded(const char *s, size_t n, uint32_t h)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		h = (h ^ c) * 0x01000193U;
	}
	return h ^ h >> 15;
}

#define NAME_SEED   0x811c9dc5U
#define ENDING_SEED 0x5bd1e995U
#define HEAD_SEED   0x1b873593U

static size_t bucket_of_name(const char *s, size_t n)
{
	return hash_folded(s, n, NAME_SEED) & (BUCKETS - 1);
}

static size_t bucket_of_ending(const char *s, size_t n)
{
	return hash_folded(s, n, ENDING_SEED) & (BUCKETS - 1);
}

static size_t bucket_of_head(const char *s)
{
	return hash_folded(s, HEAD, HEAD_SEED) & (BUCKETS - 1);
}

static bool has_wildcard(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == '*' || s[i] == '?' || s[i] == '[' || s[i] == '\\')
			return true;
	return false;
}

/*
 * Components from the end; the last may have an ending without wildcard, or
 * such a beginning.
 */
static size_t bucket_of(const char *pattern)
{
	const char *end = pattern + strlen(pattern);
	const char *dot = memrchr(pattern, '.', (size_t)(end - pattern));
	const char *slash = strrchr(pattern, '/'), *last;

	for (const char *to = end; to > pattern;) {
		const char *from =
			memrchr(pattern, '/', (size_t)(to - pattern));

		from = from ? from + 1 : pattern;
		if (from < to && !has_wildcard(from, (size_t)(to - from)))
			return bucket_of_name(from, (size_t)(to - from));
		if (from == pattern)
			break;
		to = from - 1;
	}
	if (dot && (!slash || dot > slash) && end[-1] != '/' &&
	    !has_wildcard(dot, (size_t)(end - dot)))
		return bucket_of_ending(dot, (size_t)(end - dot));
	last = slash ? slash + 1 : pattern;
	if (end - last >= HEAD && end[-1] != '/' && !has_wildcard(last, HEAD))
		return bucket_of_head(last);
	return LOOSE;
}

static int add(struct gate_index *index, const struct glob *like, size_t len,
	       struct hb_error *err)
{
	struct glob *g;
	size_t at;

	if (grow(index->globs, index->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep the rules");
	g = &index->globs[index->n];
	*g = *like;
	if (like->pattern[len]) {
		g->copy = strndup(like->pattern, len);
		if (!g->copy)
			return hb_fail(err, -ENOMEM, "cannot keep the rules");
		g->pattern = g->copy;
	}
	at = bucket_of(g->pattern);
	g->next = index->buckets[at];
	index->buckets[at] = ++index->n;
	return 0;
}

static bool is_stars(const char *s, size_t n)
{
	return n == 2 && s[0] == '*' && s[1] == '*';
}

/* "**" / "a/b/c" also gives "**" / "a" and "**" / "a/b". */
static int add_with_above(struct gate_index *index, struct glob *like,
			  struct hb_error *err)
{
	const char *pattern = like->pattern, *slash = pattern;
	size_t start = 0;
	int r;

	like->hit = GATE_HIT_PATH;
	r = add(index, like, strlen(pattern), err);
	like->hit = GATE_HIT_ABOVE;
	while (r >= 0 && (slash = strchr(slash, '/'))) {
		size_t len = (size_t)(slash - pattern);

		if (len > start && !is_stars(pattern + start, len - start))
			r = add(index, like, len, err);
		slash++;
		start = (size_t)(slash - pattern);
	}
	return r;
}

int gate_index_new(const struct gate_rules *rules,
		   struct gate_index **ret_index, struct hb_error *err)
{
	struct gate_index *index = calloc(1, sizeof(*index));
	int r = 0;

	if (!index)
		return hb_fail(err, -ENOMEM, "cannot keep the rules");
	for (size_t i = 0; r >= 0 && i < rules->n; i++) {
		const struct gate_rule *rule = &rules->rules[i];

		for (size_t k = 0; r >= 0 && k < rule->n_paths; k++) {
			struct glob like = {
				.pattern = rule->paths[k].pattern,
				.rule = i,
				.path = (unsigned short)k,
				.is_whole = rule->paths[k].is_whole,
			};

			r = add_with_above(index, &like, err);
		}
	}
	if (r < 0) {
		gate_index_free(index);
		return r;
	}
	*ret_index = index;
	return 0;
}

void gate_index_free(struct gate_index *index)
{
	for (size_t i = 0; index && i < index->n; i++)
		free(index->globs[i].copy);
	if (index)
		free(index->globs);
	free(index);
}

/* A path that is looked up. */
struct lookup {
	const struct gate_index *index;
	const char *whole, *path;
	struct gate_seen *seen;
	uint64_t done[BUCKETS / 64]; /* a bit per bucket */
};

static bool look_in(struct lookup *l, size_t bucket)
{
	bool is_any = false;

	for (size_t at = l->index->buckets[bucket]; at > 0;) {
		const struct glob *g = &l->index->globs[at - 1];
		struct gate_seen *seen = &l->seen[g->rule];

		at = g->next;
		if ((seen->hits & g->hit) ||
		    !glob_match(g->pattern, g->is_whole ? l->whole : l->path,
				GLOB_FOLD))
			continue;
		seen->hits |= (unsigned char)g->hit;
		if (g->hit == GATE_HIT_PATH)
			seen->path = g->path;
		is_any = true;
	}
	return is_any;
}

/* A name may come again and again in a path, and its patterns match or not. */
static bool look_once(struct lookup *l, size_t bucket)
{
	uint64_t bit = (uint64_t)1 << bucket % 64;

	if (l->done[bucket / 64] & bit)
		return false;
	l->done[bucket / 64] |= bit;
	return look_in(l, bucket);
}

bool gate_index_find(const struct gate_index *index, const char *whole,
		     size_t above, struct gate_seen *ret_seen)
{
	struct lookup l = { .index = index,
			    .whole = whole,
			    .path = whole + above,
			    .seen = ret_seen };
	bool is_any = look_in(&l, LOOSE);
	const char *name = whole, *dot;

	for (;;) {
		size_t n = strcspn(name, "/");

		is_any |= look_once(&l, bucket_of_name(name, n));
		if (!name[n])
			break;
		name += n + 1;
	}
	dot = strrchr(name, '.');
	if (dot)
		is_any |= look_once(&l, bucket_of_ending(dot, strlen(dot)));
	if (strnlen(name, HEAD) == HEAD)
		is_any |= look_once(&l, bucket_of_head(name));
	return is_any;
}
