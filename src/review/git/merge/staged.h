/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGE_STAGED_H
#define HB_REVIEW_GIT_MERGE_STAGED_H

#include "git/gitobject.h"
#include "git/gittree.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct hb_session;
struct resource;
struct unit;

/* The index of a session, in memory. */
struct staged_entry {
	char *path;
	struct git_id id;
	enum gittree_mode mode;
	bool is_skipped; /* git does not expect its file in the work tree */
};

struct staged {
	struct staged_entry *entries; /* sorted by path, as strcmp() does */
	size_t n;
};

/*
 * That of the session's repository, or of the base if the session's has the
 * same entries.  `digits` of an object's name.  -HB_E_CONFLICT: it cannot be
 * read, or a path is not merged.  staged_done() in any case.
 */
int staged_load(const struct unit *unit, const struct hb_session *s,
		size_t digits, struct staged *ret, struct hb_error *err);
void staged_done(struct staged *staged);
#define auto_staged __attribute__((cleanup(staged_done)))

/* That of the user, at a path from the base on; without one it is empty. */
int staged_load_base(const struct hb_session *s, int base, const char *path,
		     size_t digits, struct staged *ret, struct hb_error *err);

/* NULL: it is not in there. */
const struct staged_entry *staged_find(const struct staged *staged,
				       const char *path);

#endif
