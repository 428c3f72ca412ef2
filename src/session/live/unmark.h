/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_UNMARK_H
#define HB_SESSION_LIVE_UNMARK_H

#include <stdbool.h>
#include <stddef.h>

struct entry;
struct hb_error;
struct hb_session;
struct resource;
struct seen_file;
struct tree_visit;

/*
 * Directories of an upper that are marked OVERLAY_TAKEN.  What a box removes in
 * them leaves no whiteout.  A path below that was committed from there, and
 * that the upper has no more, is a deletion.  Anything else that the base has
 * there is another program's.
 *
 * So it is with SEEN_APART anywhere.
 */
struct unmark {
	char **dirs; /* paths, sorted by unmark_sort() */
	size_t n;
};

int unmark_add(struct unmark *u, const char *path, struct hb_error *err);
void unmark_sort(struct unmark *u);
void unmark_done(struct unmark *u);

/* Whether the base has a directory there; if in doubt it has. */
bool unmark_has_base(const struct resource *resource, const char *path);

/*
 * Whether the mark of a directory counts at this path.  If not, it came here by
 * a rename, and `opaque` beside it is the kernel's.
 */
bool unmark_counts(const struct resource *resource, const char *path,
		   const struct entry *entry);

/*
 * A copy of a directory has no mark of ours; with `is_ours` neither that for
 * the kernel.  `name` lies in `dir`.
 */
int unmark_strip(int dir, const char *name, bool is_ours, struct hb_error *err);

/*
 * Makes these deletions whiteouts in `into`: the upper itself, or a copy of it.
 * A deletion that is there already is none the second time.
 */
int unmark_delete(const struct unmark *u, struct seen_file *seen, int upper,
		  int into, struct hb_error *err);

/* Before the first mark: then unmark_settle() has something to do. */
int unmark_begin(const struct hb_session *s, struct hb_error *err);

/* Whether unmark_settle() has something to do, or a box is there. */
bool unmark_is_due(const struct hb_session *s);

/*
 * Whether changes were ever taken while a command ran.  Then the upper still
 * has what was committed, and an undo makes that pending again.  So none of it
 * may go as a copy that says nothing.  And `seen` has to remember it: a later
 * commit would replace the user's edit of such a file.
 */
bool unmark_was_begun(const struct hb_session *s);

/*
 * When the box has ended, and its last commit has: the uppers get whiteouts for
 * the deletions, and the marks go.  Can be killed and called again.
 */
int unmark_settle(struct hb_session *s, struct hb_error *err);

#endif
