/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_INDEX_H
#define HB_GATE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

struct gate_index;
struct gate_rules;
struct hb_error;

/*
 * Which rules are about a path.  A change set may have many paths, and the
 * rules have hundreds of patterns.  Nearly all want a certain name somewhere in
 * the path, so a path is looked up by its names.  The rules outlive it.
 */
int gate_index_new(const struct gate_rules *rules,
		   struct gate_index **ret_index, struct hb_error *err);
void gate_index_free(struct gate_index *index);

/* How a rule is about a path. */
enum gate_hit {
	GATE_HIT_PATH = 1 << 0, /* the path itself */
	/*
	 * What the rule is about lies below it, if it is a directory: a link
	 * there decides what is found.
	 */
	GATE_HIT_ABOVE = 1 << 1,
};

/* Of one rule and one path. */
struct gate_seen {
	unsigned char hits;  /* enum gate_hit */
	unsigned short path; /* with GATE_HIT_PATH: which of the rule's */
};

/*
 * Adds to ret_seen[i] what holds for the rule number i; only rules that have
 * paths are looked at.  The path of a change
 * begins `above` bytes into `whole`; patterns with `is_whole` are about the
 * names before it as well.  Returns whether there is any.
 */
bool gate_index_find(const struct gate_index *index, const char *whole,
		     size_t above, struct gate_seen *ret_seen);

#endif
