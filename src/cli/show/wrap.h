/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_WRAP_H
#define HB_CLI_SHOW_WRAP_H

#include <stddef.h>

struct buf;

/*
 * Text for a terminal, in lines that fit.  One place does it, for stdout and
 * for stderr.
 */

/* The columns of so many bytes; sequences that only paint have none. */
size_t wrap_width(const char *text, size_t n);

/*
 * The columns that the terminal on `fd` has for our lines; 0: it is none, does
 * not say, or is too narrow to be read.
 */
size_t wrap_columns(int fd);

/*
 * Adds a text of whole lines, broken at that many columns; 0 adds it as it is.
 * A part that fits in a line stays whole, such as a command to be typed, and so
 * does a word that does not.  What follows is indented by two more.  A line
 * with a tab is for a program, and is not broken.
 */
int wrap_text(const char *text, size_t n, size_t columns, struct buf *out);

/*
 * Adds a name in at most that many columns: its end counts, so that "…" stands
 * for its beginning.
 */
int wrap_cut(const char *name, size_t columns, struct buf *out);

/* The same of words, whose beginning counts. */
int wrap_cut_end(const char *words, size_t columns, struct buf *out);

#endif
