/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_SALVAGE_H
#define HB_TXN_SALVAGE_H

#include "tree/entry.h"

#include <stddef.h>

/*
 * The files that a transaction in flight has put aside under numbers.  They get
 * the names that its journal gives them, as far as that is whole.  Nothing is
 * changed.
 */
enum salvaged_version {
	SALVAGED_BEFORE,  /* was in the base */
	SALVAGED_PENDING, /* was in the upper */
	SALVAGED_NEW,	  /* was on its way into the base */
	SALVAGED_VERSIONS
};

struct salvaged {
	size_t resource;
	const char *path; /* "" is the resource; NULL: no record names it */
	enum salvaged_version version;
	const char *place; /* in the resource's directory: undo/ID/SLOT */
	int dir;	   /* `name` lies in it */
	const char *name;
	struct entry entry;
};

typedef int (*salvaged_fn)(void *ctx, const struct salvaged *salvaged,
			   struct hb_error *err);

/*
 * Tells of each, those without a name last.  `dirs` are the directories of the
 * resources in the store; -1: that one is gone.  A record names an object only
 * if that is the very one it was written for.
 */
int salvage_each(int session, const int *dirs, size_t n, salvaged_fn fn,
		 void *ctx, struct hb_error *err);

/*
 * Copies it, a directory with what it holds, to `path` below `to`, where
 * missing directories are made; nothing that is there is overwritten: -EEXIST.
 * Files, directories and links alone, without the setuid and setgid bits. After
 * a failure inside a directory the rest of it is there.
 */
int salvage_copy(const struct salvaged *salvaged, int to, const char *path,
		 struct hb_error *err);

#endif
