/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SCAN_SCAN_FILTER_H
#define HB_GATE_SCAN_SCAN_FILTER_H

#include "gate/scan/scan_rules.h"

/*
 * Finds in one pass where any of the formats may stand.
 *
 * Every second position is looked at, three bytes from there, in any letter
 * case.  One look-up in a table of bits, which stays in the first cache, tells
 * that nothing begins around here.  So each format has two threes in the table,
 * one byte apart: one of them is met from every start.  They are the two that
 * source code has least often.
 */
#define FILTER_STEP   ((size_t)2)
#define FILTER_LOOK   ((size_t)3) /* bytes of one look */
#define FILTER_BEFORE 56 /* bytes at most from a match's start to its three */
#define FILTER_PAD    8	 /* readable bytes that are owed behind the text */

#define FILTER_BITS  15
#define FILTER_SLOTS ((size_t)1 << FILTER_BITS)

struct filter_entry {
	uint32_t three; /* in lower case, the first byte lowest */
	uint16_t format;
	uint16_t offset; /* of the three in the format */
};

struct scan_filter {
	uint64_t bits[FILTER_SLOTS / 64];
	uint16_t first[FILTER_SLOTS]; /* of the entries with this hash */
	struct filter_entry *entries; /* in order of their hashes */
	size_t count;
};

/*
 * Made for these formats.  -HB_E_CONFIG: one of them begins with so much that
 * nothing is rare.  The caller releases with filter_done() in any case.
 */
int filter_init(struct scan_filter *f, const struct scan_rules *rules,
		struct hb_error *err);
void filter_done(struct scan_filter *f);

/*
 * The first position of `at`, `at` + FILTER_STEP and so on where a secret may
 * be, with three bytes before `end`.  Else the first position that has fewer.
 */
size_t filter_next(const struct scan_filter *f, const uint8_t *bytes, size_t at,
		   size_t end);

/*
 * The formats that have the three bytes at `at`: the `*i`th, from 0, or the
 * next that exists, whose number `*i` is then.  NULL: no more.
 */
const struct filter_entry *filter_entry(const struct scan_filter *f,
					const uint8_t *at, size_t *i);

#endif
