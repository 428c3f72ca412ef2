/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_LINES_H
#define HB_CLI_DIFF_LINES_H

#include <stdint.h>

struct hb_error;
struct paint;
struct sides;

/* Lines that are new and lines that are gone. */
struct lines {
	uint64_t plus, minus;
};

/*
 * Compares two texts, of which one may not be there, line by line: paints the
 * parts that differ unless `paint` is NULL, and counts them.  The sides are
 * text: sides_are_text().
 */
int lines_compare(const struct sides *s, struct paint *paint,
		  struct lines *ret_lines, struct hb_error *err);

#endif
