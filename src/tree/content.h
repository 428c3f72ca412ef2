/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_CONTENT_H
#define HB_TREE_CONTENT_H

#include "base/buf.h"
#include "tree/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * What one object of a change set holds, opened after the walk is over.  The
 * tree may have changed since, and the agent chose every name in it.  Only the
 * very object that the walk saw is opened, and only a regular file.
 */
struct content_place {
	int root;	  /* of a layer or of the base */
	bool in_layer;	  /* `root` is a layer's */
	const char *path; /* below it, of any length */
	const struct entry *entry;
};

/* The directory that an object is in. */
struct content_dir {
	int fd; /* -1 before it is opened */
	struct entry entry;
	bool was_closed; /* has to get its mode back */
};

/*
 * Opens it for looking names up; the object's name in it.  One of a layer that
 * its owner cannot search is open to him until content_leave(), which the
 * caller owes in any case.
 */
int content_enter(const struct content_place *place, struct content_dir *d,
		  const char **ret_name, struct hb_error *err);
int content_leave(struct content_dir *d, struct hb_error *err);

/*
 * A directory of a layer by its path, O_PATH, with any modes above it; "" is
 * the root.
 */
int content_find_dir(int root, const char *path, size_t len,
		     struct hb_error *err);

/*
 * The directory of one object after the other, for a reader of the stream.  It
 * is opened anew only where it is another directory.
 */
struct content_walk {
	struct content_dir dir;
	struct buf path; /* with its slash */
	int root;
};
void content_walk_init(struct content_walk *walk);

/* As content_enter(); the directory stays open until the next call. */
int content_walk_enter(struct content_walk *walk,
		       const struct content_place *place, const char **ret_name,
		       struct hb_error *err);

/* Owed in any case; can be done again. */
int content_walk_leave(struct content_walk *walk, struct hb_error *err);
void content_walk_done(struct content_walk *walk);

/* As content_open(), below. */
int content_walk_open(struct content_walk *walk,
		      const struct content_place *place, struct hb_error *err);

/*
 * Opens a regular file for reading; the caller closes.  -EINVAL: it is none.
 * -HB_E_BUSY: it is another object by now.  -EACCES: it is the base's, and not
 * for us to read; in a layer permissions are helped, as access.h says.
 */
int content_open(const struct content_place *place, struct hb_error *err);

/* The target of a symbolic link, terminated; its length.  Fails likewise. */
ssize_t content_target(const struct content_place *place, char *buf,
		       size_t size, struct hb_error *err);

#endif
