/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_SHOW_H
#define HB_CLI_SHOW_SHOW_H

#include "cli/show/doc.h"
#include "holdback/session.h"

/* How sessions, changes and summaries look. */

/* "7 files: 4 changed, 2 added, 1 renamed", or "no changes". */
int show_summary(const struct hb_summary *summary, struct buf *out);
void show_summary_json(const struct hb_summary *summary, struct doc *doc);

/* Lines that are new, and lines that are gone. */
struct show_lines {
	uint64_t plus, minus;
};

/* The same with the lines: "7 files: 6 changed, 1 added · +120 -34". */
int show_summary_lines(const struct hb_summary *summary,
		       const struct show_lines *lines, struct buf *out);
void show_summary_lines_json(const struct hb_summary *summary,
			     const struct show_lines *lines, struct doc *doc);

/* "412 ignored (38 MB)", if anything is: one of the parts of a summary. */
int show_ignored_part(const struct hb_summary *summary, struct buf *out);

/* "node_modules/ (412 files, 38 MB)" */
int show_ignored_words(const struct hb_session_info *info,
		       const struct hb_ignored *ignored, struct buf *out);

/*
 * A line for each directory and file that git ignores, or the array "ignored"
 * of the document.
 */
int show_ignored(const struct hb_session_info *info, struct hb_changes *changes,
		 struct doc *doc, struct hb_error *err);

/* What `diff --exit-code` asks; times count only where they are shown. */
bool show_has_changes(const struct hb_summary *summary, bool with_times);

/* As members of the object that is open. */
void show_session_json(const struct hb_session_info *info, struct doc *doc);

/*
 * What stands before the paths of a resource: its directory, or NULL where
 * nothing has to.  The project is known without, and what an agent keeps
 * elsewhere is not.
 */
const char *show_root(const struct hb_session_info *info, size_t resource);

/* The path of a change as people know it, quoted. */
int show_path(const struct hb_session_info *info,
	      const struct hb_change *change, const char *path,
	      struct buf *out);

/* The same, with the times of both versions. */
int show_conflict(const struct hb_change *change, struct buf *out);

/* What stands against committing it unasked, in words; NULL: nothing. */
const char *show_asks(const struct hb_change *change);

enum show_as {
	SHOW_PLAIN, /* for a program: "M<TAB>PATH" */
	SHOW_WORDS, /* with what stands against it on lines of their own */
	SHOW_COLOURED,
};

int show_change(const struct hb_session_info *info,
		const struct hb_change *change, enum show_as as,
		struct buf *out);

/* A line below that of a change which is in conflict; of another nothing. */
int show_conflict_below(const struct hb_change *change, bool has_colour,
			struct buf *out);

/* One line with its size, that of a deleted one being what it was. */
int show_sized(const struct hb_session_info *info,
	       const struct hb_change *change, bool has_colour,
	       struct buf *out);

/* An object of its own; `lines` is NULL if they were not counted. */
void show_change_json(const struct hb_session_info *info,
		      const struct hb_change *change,
		      const struct show_lines *lines, struct doc *doc);

/* The same, as members of the object that is open. */
void show_change_members(const struct hb_session_info *info,
			 const struct hb_change *change,
			 const struct show_lines *lines, struct doc *doc);

/* "2026-11-15 09:36:15.123", local; "-" for none. */
int show_time(struct timespec when, struct buf *out);

/* "2026-11-15 09:36:15", local. */
int show_seconds(int64_t when, struct buf *out);

/* "5s", "14m", "3h", "12d": how long ago; "-" for never.  Returns `out`. */
const char *show_age(int64_t since, char *out, size_t size);

/* "12 kB" and the like. */
int show_size(uint64_t bytes, struct buf *out);

/* Walks through changes for showing: a repository's unit is one of them. */
struct show_walk {
	struct hb_changes *changes;
	struct buf unit; /* the repository that was shown last */
	size_t resource; /* which has it */
	bool with_times; /* also those that changed nothing else */
};

void show_walk_init(struct show_walk *walk, struct hb_changes *changes,
		    bool with_times);
void show_walk_done(struct show_walk *walk);
int show_walk_next(struct show_walk *walk, struct hb_change *ret_change,
		   struct hb_error *err);

#endif
