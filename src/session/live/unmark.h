/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_UNMARK_H
#define HB_SESSION_LIVE_UNMARK_H

#include <stddef.h>

struct hb_error;
struct resource;
struct seen_file;

/*
 * Directories of an upper that are marked OVERLAY_TAKEN.  What a box removes in
 * them leaves no whiteout.  A path below that was committed from there, and
 * that the upper has no more, is a deletion.  Anything else that the base has
 * there is another program's.
 */
struct unmark {
	char **dirs; /* paths, sorted by unmark_sort() */
	size_t n;
};

int unmark_add(struct unmark *u, const char *path, struct hb_error *err);
void unmark_sort(struct unmark *u);
void unmark_done(struct unmark *u);

/*
 * Makes these deletions whiteouts in `into`: the upper itself, or a copy of it.
 * A deletion that is there already is none the second time.
 */
int unmark_delete(const struct unmark *u, struct seen_file *seen, int upper,
		  int into, struct hb_error *err);

/*
 * When the box has ended: the upper of the resource gets whiteouts for its
 * deletions, and the marks go.  Can be killed and called again.
 */
int unmark_settle(const struct resource *resource, struct hb_error *err);

#endif
