/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_SUGGEST_H
#define HB_BASE_SUGGEST_H

/* Words longer than this are never suggested nor find anything. */
#define SUGGEST_MAX 64

/*
 * Looks for what a mistyped word may have meant.  Offer each candidate; `best`
 * is then the nearest that is near enough, the first of several, or NULL.
 */
struct suggestion {
	const char *word;
	const char *best;  /* borrowed from the caller */
	unsigned int cost; /* of `best` */
};

void suggestion_init(struct suggestion *s, const char *word);
void suggestion_offer(struct suggestion *s, const char *candidate);

/*
 * The number of single-letter changes (insert, delete, replace, swap two
 * neighbours) from one word to the other; UINT_MAX when one is too long.
 */
unsigned int edit_distance(const char *a, const char *b);

#endif
