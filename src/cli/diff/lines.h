/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_LINES_H
#define HB_CLI_DIFF_LINES_H

#include <stdint.h>

struct doc;
struct hb_error;
struct paint;
struct sides;

/* Lines that are new and lines that are gone. */
struct lines {
	uint64_t plus, minus;
};

/* Told before the first part that differs: how git names the two contents. */
struct lines_names {
	void (*tell)(void *ctx, const char *old, const char *new);
	void *ctx;
};

/*
 * Compares two texts, of which one may not be there, line by line: paints the
 * parts that differ unless `paint` is NULL, and counts them.  The sides are
 * text: sides_are_text().  `names` may be NULL, and is told only of two texts
 * that differ: the caller has made the names already.
 */
int lines_compare(const struct sides *s, struct paint *paint,
		  const struct lines_names *names, struct lines *ret_lines,
		  struct hb_error *err);

/*
 * The same as the array "hunks" of the document: each part that differs with
 * its lines, which have their sign before them and no end.
 */
int lines_json(const struct sides *s, struct doc *doc, struct hb_error *err);

#endif
