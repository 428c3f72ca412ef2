/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGE_OWN_FILES_H
#define HB_REVIEW_GIT_MERGE_OWN_FILES_H

#include <stdbool.h>

struct change;
struct entry;
struct hb_error;
struct merging_tree;

/*
 * The files of a session on a branch of its own, when they come back:
 * docs/decisions/0080.
 */

/* What a path that is in the commit of the session's changes has. */
struct own_file {
	bool is_raw;	/* the session's very bytes are in that commit */
	bool is_result; /* the merge has the object of that commit */
};

/*
 * -HB_E_CONFLICT: a filter made something else of the session's bytes, and the
 * session has no commit of that.
 */
int own_file_look(const struct merging_tree *t, const struct change *c,
		  struct own_file *ret, struct hb_error *err);

/* The error if the bytes of the session are in no commit, and a merge of
 * something else would take their place. */
int own_file_need_raw(const struct merging_tree *t, const struct change *c,
		      const struct own_file *file, struct hb_error *err);

/*
 * Before a commit writes or removes a path of the work tree.  `old` is what the
 * base has.  -HB_E_CONFLICT: the session began with another file there than
 * that of the user, which is in no commit.
 */
int own_file_guard(const struct merging_tree *t, const char *path,
		   const struct entry *old, struct hb_error *err);

#endif
