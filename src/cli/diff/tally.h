/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_TALLY_H
#define HB_CLI_DIFF_TALLY_H

#include "cli/show/show.h"
#include "holdback/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct paint;

/*
 * How many lines each change adds and removes.  Counted first, because the
 * columns depend on all of them: eight bytes are kept for each.
 */
struct tally_row {
	uint32_t plus, minus; /* TALLY_NO_LINES: it has none to be counted */
};
#define TALLY_NO_LINES UINT32_MAX

struct tally {
	const struct hb_session_info *info;
	struct hb_changes *changes;
	bool with_times;
	struct tally_row *rows;
	size_t n;
	struct show_lines lines; /* of all */
	size_t name_width;
	uint32_t most; /* lines of one change */
};

void tally_init(struct tally *s, const struct hb_session_info *info,
		struct hb_changes *changes, bool with_times);
void tally_done(struct tally *s);

/* Reads all changes, and rewinds them. */
int tally_count(struct tally *s, struct hb_error *err);

/* One line for each, in so many columns. */
int tally_paint(struct tally *s, unsigned columns, struct paint *paint,
		struct hb_error *err);

/* The array "changes" of the document; with the lines themselves, or not. */
int tally_json(struct tally *s, bool with_hunks, struct doc *doc,
	       struct hb_error *err);

#endif
