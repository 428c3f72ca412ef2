/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_DECIDING_H
#define HB_REVIEW_GIT_DECIDING_H

#include "review/git/base_files.h"
#include "review/git/deliveries.h"
#include "review/git/units.h"

#include <limits.h>

struct changes;
struct delivered;
struct objectstore;

/* One repository while it is decided about; private to review/git. */
struct deciding {
	const struct hb_session *session;
	const struct resource *resource;
	const struct units *units;
	const struct unit *unit;
	struct base_files files;
	/* The work tree: its resource, and its path in that. */
	size_t tree;
	char *below; /* "" or "sub/"; NULL: it is not known */
	bool is_module;
	char desk[NAME_MAX + sizeof("worktrees/")];
	struct deliver_repo *repo;
	struct delivery *delivery; /* of that */
	struct delivered *lists;
	/*
	 * The last layer of `resource` is that of a merge.  It was made from
	 * the base's index, which so is the one of T0 as well.
	 */
	bool has_merge;
};

/* Asks delivery_decide(). */
int deciding_ask(struct deciding *d, const struct deliver *deliver,
		 const struct kept_refs *kept, struct hb_error *err);

/* Adds what was decided to the lists, but for the work tree. */
int deciding_add_items(struct deciding *d, struct changes *const *changes,
		       struct hb_error *err);

/*
 * What the session has at a path of the git directory that it changed, with a
 * NUL.  -ENOENT: it did not, or has none; -EFBIG.
 */
int deciding_read(const struct deciding *d, const char *path, size_t max,
		  char **ret_data, size_t *ret_len);

/* All objects that the session's layers and the base have. */
int deciding_objects(const struct deciding *d,
		     struct objectstore **ret_objects);

/* Whether a path of a change set lies in that directory. */
bool deciding_is_below(const char *path, const char *dir);

/* The largest file that a commit makes. */
#define DELIVERED_MAX ((size_t)64 << 20)

#endif
