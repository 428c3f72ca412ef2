/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SCAN_SCAN_PATTERN_H
#define HB_GATE_SCAN_SCAN_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * One format of data/secrets.rules, which has the grammar.
 *
 * No atom ever gives bytes back.  So a match takes time in proportion to its
 * length, which has a limit, and needs no memory.
 */
#define SCAN_SPAN_MAX ((size_t)8192) /* bytes that a match may look at */

/* How much of a stream is in memory, with what is kept of what was before. */
#define SCAN_KEEP   ((size_t)128)
#define SCAN_BEHIND ((size_t)40) /* bytes that a match may look back */
#define SCAN_WINDOW (SCAN_KEEP + 2 * SCAN_SPAN_MAX + ((size_t)128 << 10))

struct scan_set {
	uint64_t bits[4];
};

struct scan_atom {
	struct scan_set set;
	uint16_t min, max;
};

struct scan_pattern {
	struct scan_atom *atoms;
	size_t count;
	size_t from, to; /* the atoms that are the secret */
};

/* What is known of a stream at the moment. */
struct scan_text {
	const uint8_t *bytes;
	size_t len;
	bool is_all; /* nothing comes after these */
};

enum scan_answer {
	SCAN_NO,
	SCAN_YES,
	SCAN_MORE, /* cannot be told without what comes next */
};

/* Offsets in the text. */
struct scan_match {
	size_t start, end;
	size_t from, to; /* the secret */
	bool is_quoted;	 /* what was assigned stood in quotes */
};

static inline bool set_has(const struct scan_set *set, uint8_t byte)
{
	return set->bits[byte >> 6] >> (byte & 63) & 1;
}

static inline void set_add(struct scan_set *set, uint8_t byte)
{
	set->bits[byte >> 6] |= (uint64_t)1 << (byte & 63);
}

/* a to z, A to Z, 0 to 9 and the underscore. */
bool is_word_byte(uint8_t byte);

/*
 * With `any_case` letters outside of classes stand for both.  Fails with
 * -HB_E_CONFIG and words, or -ENOMEM; the caller frees with pattern_done() in
 * any case.
 */
int pattern_parse(struct scan_pattern *p, const char *text, bool any_case,
		  struct hb_error *err);
void pattern_done(struct scan_pattern *p);

/*
 * Whether it stands at `at`, with any bytes before and after it.  A yes fills
 * all of `ret`.
 */
enum scan_answer pattern_here(const struct scan_pattern *p,
			      const struct scan_text *t, size_t at,
			      struct scan_match *ret);

/* Whether what follows the match could belong to it. */
enum scan_answer pattern_goes_on(const struct scan_pattern *p,
				 const struct scan_text *t,
				 const struct scan_match *m);

/* Whether a word may begin at `at`. */
bool text_is_boundary(const struct scan_text *t, size_t at);

/*
 * The bytes that may stand `i` bytes after the start of every match; NULL where
 * that is not certain.
 */
const struct scan_set *pattern_at(const struct scan_pattern *p, size_t i);

#endif
