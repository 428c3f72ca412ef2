/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan_filter.h"

#include "base/error.h"
#include "base/grow.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THREES_MAX 2048 /* of one format at one place */

/*
 * Bytes of source code, the most frequent first.  What is not in it is rare.
 */
static const char frequent[] =
	" etaoinsrlcdpumfhg_\n\t,.()\"-=;:/'*>01b2y{}kxvw3#[]4<5&q86j79z+\\|$@!%"
	"`~^?";

static uint32_t fold(uint8_t byte)
{
	return byte | 0x20;
}

/* What is known of the bytes at one place of a format. */
struct place {
	uint64_t frequency; /* of any of them, in thousandths of sorts */
	size_t different;   /* in any letter case; 0: nothing is certain */
};

static struct place place_of(const struct scan_set *set,
			     const uint16_t frequencies[256])
{
	struct place place = { 0 };

	for (unsigned b = 0; b < 256; b++) {
		if (!set_has(set, (uint8_t)b))
			continue;
		place.frequency += frequencies[b];
		place.different += fold((uint8_t)b) == b ||
				   !set_has(set, (uint8_t)fold((uint8_t)b));
	}
	return place;
}

static void find_frequencies(uint16_t frequencies[256])
{
	for (unsigned b = 0; b < 256; b++)
		frequencies[b] = 1;
	for (unsigned i = 0; i < sizeof(frequent) - 1; i++) {
		uint8_t b = (uint8_t)frequent[i];
		uint16_t f = (uint16_t)(1 + 300 / (i + 4));

		frequencies[b] = f;
		if (b >= 'a' && b <= 'z')
			frequencies[b & ~0x20] = f;
	}
}

/* What the three there costs; 0: there is none. */
static uint64_t cost_of(const struct place *p)
{
	size_t threes = p[0].different * p[1].different * p[2].different;

	if (threes == 0 || threes > THREES_MAX)
		return 0;
	return p[0].frequency * p[1].frequency * p[2].frequency;
}

/* Where the rarest two threes are; -1: nowhere. */
static int best_offset(const struct scan_pattern *p,
		       const uint16_t frequencies[256])
{
	struct place places[FILTER_BEFORE + FILTER_LOOK + 1] = { 0 };
	const struct scan_set *set, *before = NULL;
	uint64_t best = UINT64_MAX;
	int found = -1;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		set = pattern_at(p, i);
		if (!set)
			break;
		places[i] = set == before ? places[i - 1]
					  : place_of(set, frequencies);
		before = set;
	}
	for (size_t o = 0; o < FILTER_BEFORE; o++) {
		uint64_t a = cost_of(places + o), b = cost_of(places + o + 1);

		if (a == 0 || b == 0 || a + b >= best)
			continue;
		best = a + b;
		found = (int)o;
	}
	return found;
}

static inline size_t hash_of(uint32_t three)
{
	/* The factor's low byte is 0: what is above three bytes has no say. */
	return (uint32_t)(three * 0x9e37b100U) >> (32 - FILTER_BITS);
}

static inline uint32_t three_at(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return le32toh(v) | 0x20202020U;
}

static int add_entry(struct scan_filter *f, uint32_t three, size_t format,
		     size_t offset)
{
	if (f->count == UINT16_MAX)
		return -E2BIG;
	if (grow(f->entries, f->count) < 0)
		return -ENOMEM;
	f->entries[f->count++] = (struct filter_entry){ three, (uint16_t)format,
							(uint16_t)offset };
	return 0;
}

/* The bytes of a set in lower case, each once: their number. */
static size_t list_set(const struct scan_set *set, uint8_t list[256])
{
	bool seen[256] = { false };
	size_t n = 0;

	for (unsigned b = 0; b < 256; b++) {
		uint8_t c = (uint8_t)fold((uint8_t)b);

		if (!set_has(set, (uint8_t)b) || seen[c])
			continue;
		seen[c] = true;
		list[n++] = c;
	}
	return n;
}

static int add_threes(struct scan_filter *f, const struct scan_pattern *p,
		      size_t format, size_t offset)
{
	uint8_t lists[FILTER_LOOK][256];
	size_t n[FILTER_LOOK], all;
	int r;

	for (size_t i = 0; i < FILTER_LOOK; i++)
		n[i] = list_set(pattern_at(p, offset + i), lists[i]);
	all = n[0] * n[1] * n[2];
	for (size_t i = 0; i < all; i++) {
		uint32_t three = lists[0][i % n[0]];

		three |= (uint32_t)lists[1][i / n[0] % n[1]] << 8;
		three |= (uint32_t)lists[2][i / n[0] / n[1]] << 16;
		r = add_entry(f, three, format, offset);
		if (r < 0)
			return r;
	}
	return 0;
}

static int by_hash(const void *a, const void *b)
{
	const struct filter_entry *x = a, *y = b;
	size_t h = hash_of(x->three), k = hash_of(y->three);

	if (h != k)
		return h < k ? -1 : 1;
	if (x->format != y->format)
		return x->format < y->format ? -1 : 1;
	return x->three < y->three ? -1 : x->three > y->three;
}

static void index_entries(struct scan_filter *f)
{
	if (f->count)
		qsort(f->entries, f->count, sizeof(*f->entries), by_hash);
	for (size_t i = f->count; i-- > 0;) {
		size_t h = hash_of(f->entries[i].three);

		f->bits[h / 64] |= (uint64_t)1 << h % 64;
		f->first[h] = (uint16_t)i;
	}
}

int filter_init(struct scan_filter *f, const struct scan_rules *rules,
		struct hb_error *err)
{
	uint16_t frequencies[256];

	memset(f, 0, sizeof(*f));
	find_frequencies(frequencies);
	for (size_t i = 0; i < rules->format_count; i++) {
		const struct rule_format *format = &rules->formats[i];
		int offset = best_offset(&format->pattern, frequencies);
		int r;

		if (offset < 0)
			return hb_fail(err, -HB_E_CONFIG,
				       "a format of '%s' begins like anything",
				       rules->kinds[format->kind].public.id);
		r = add_threes(f, &format->pattern, i, (size_t)offset);
		if (r >= 0)
			r = add_threes(f, &format->pattern, i,
				       (size_t)offset + 1);
		if (r < 0)
			return hb_fail(err, r, "cannot keep the rules");
	}
	index_entries(f);
	return 0;
}

void filter_done(struct scan_filter *f)
{
	free(f->entries);
	f->entries = NULL;
	f->count = 0;
}

static inline uint64_t may_be(const struct scan_filter *f, const uint8_t *at)
{
	size_t h = hash_of(three_at(at));

	return f->bits[h / 64] >> h % 64 & 1;
}

size_t filter_next(const struct scan_filter *f, const uint8_t *bytes, size_t at,
		   size_t end)
{
	/* Four looks for one jump: they do not wait for each other. */
	for (; at + 3 * FILTER_STEP + FILTER_LOOK <= end;
	     at += 4 * FILTER_STEP) {
		const uint8_t *p = bytes + at;

		if (may_be(f, p) | may_be(f, p + FILTER_STEP) |
		    may_be(f, p + 2 * FILTER_STEP) |
		    may_be(f, p + 3 * FILTER_STEP))
			break;
	}
	while (at + FILTER_LOOK <= end && !may_be(f, bytes + at))
		at += FILTER_STEP;
	return at;
}

const struct filter_entry *filter_entry(const struct scan_filter *f,
					const uint8_t *at, size_t *i)
{
	uint32_t three = three_at(at);
	size_t h = hash_of(three);

	for (;; (*i)++) {
		const struct filter_entry *e = &f->entries[f->first[h] + *i];

		if (e >= f->entries + f->count || hash_of(e->three) != h)
			return NULL;
		if (e->three == (three & 0xffffffU))
			return e;
	}
}
