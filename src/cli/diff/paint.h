/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_PAINT_H
#define HB_CLI_DIFF_PAINT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_error;

/*
 * What goes to stdout, line by line, with git's colours.  Contents are bytes of
 * a stranger: no byte that could speak to a terminal reaches it.  Elsewhere
 * they are what they are, so that a patch can be applied.
 */
enum paint_kind {
	PAINT_PLAIN, /* context */
	PAINT_META,  /* what is about a file */
	PAINT_HUNK,
	PAINT_OLD,
	PAINT_NEW,
	PAINT_COMMIT, /* the name of a commit */
};

struct paint {
	struct buf out;
	struct hb_pager *pager; /* who reads stdout, if it is one; borrowed */
	bool has_colour;
	bool is_for_terminal;
	bool is_begun; /* something was written */
};

void paint_init(struct paint *p, bool has_colour, bool is_for_terminal);
void paint_done(struct paint *p);

/* One line of our own words, without its end. */
void paint_words(struct paint *p, enum paint_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * A line of content behind `sign`, with its end if the bytes have it.  The end
 * is written in any case.
 */
void paint_content(struct paint *p, enum paint_kind kind, char sign,
		   const char *bytes, size_t n);

/* The same behind words of our own. */
void paint_text(struct paint *p, enum paint_kind kind, const char *before,
		const char *bytes, size_t n);

/* The line between parts of a file: "@@ -1,2 +1,2 @@" and content behind it. */
void paint_hunk(struct paint *p, const char *head, size_t n);

/* `n` times the same character. */
void paint_fill(struct paint *p, enum paint_kind kind, char c, size_t n);

/* Bytes of our own as they are, colourless. */
void paint_raw(struct paint *p, const char *bytes, size_t n);

/*
 * Writes what there is: the first time at once, then if it is much.  -EPIPE if
 * the reader is gone.
 */
int paint_flow(struct paint *p, struct hb_error *err);
int paint_end(struct paint *p, struct hb_error *err);

#endif
