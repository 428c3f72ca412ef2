/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_GIT_DELIVERED_H
#define HB_CHANGES_GIT_DELIVERED_H

#include "tree/entry.h"

#include <stdbool.h>
#include <stddef.h>

struct change;
struct changes;

/*
 * A repository's files are not copied into the base: a commit delivers what
 * they say.  So some paths get a content that the commit makes, and the files
 * of the layer go without being moved.  This is a change set in which such
 * paths take the place of the session's own changes.
 */
enum delivered_how {
	/* The base gets `data`, and the layer's object leaves the layer. */
	DELIVERED_MADE,
	/* The base's object goes, and so does the layer's. */
	DELIVERED_GONE,
	/* The base stays as it is, and the layer's object goes: no difference
	 * of meaning is left. */
	DELIVERED_SETTLED,
	/* Neither is touched: it is pending after the commit as before. */
	DELIVERED_HELD,
};

/*
 * In which order a commit makes operations: all of a turn before the next one.
 * A reference is never there before the objects it names, and the index is the
 * last of all.
 */
enum delivered_turn {
	TURN_FILES, /* all that no item is about: objects as well */
	TURN_LOGS,
	TURN_REFS,
	TURN_GONE, /* references that go, after packed-refs has lost them */
	TURN_HEAD,
	TURN_REST,
	TURN_INDEX,
	TURNS /* one past the last */
};

struct delivered_item {
	char *path; /* from the resource's root; owned */
	enum delivered_how how;
	enum delivered_turn turn;
	char *data; /* DELIVERED_MADE: owned; NULL for an empty file */
	size_t size;
	struct timespec mtime; /* of what is made; zero: the present */
	/*
	 * The base's object that the decision was made by, which the operation
	 * has to find again; without `has_old` the present object.
	 */
	struct entry old;
	bool has_old;
	bool is_locked; /* git has a lock for this path, which is taken */
	/*
	 * A reference or a HEAD: its value by which was decided, and the one of
	 * after; "": there is none.  Owned; NULL: it is no such thing.  `unit`
	 * is how much of the path is the git directory.
	 */
	char *then, *next;
	size_t unit;
	/* MADE: what the layer has there stays, and is pending. */
	bool keeps_layer;
	bool is_dir; /* MADE: a directory, by changes_deliver() */
	/* MADE, of the work tree and no part of a repository's unit. */
	bool is_tree;
	bool is_link; /* `data` is the target of a symbolic link */
	mode_t mode;  /* with is_tree */
};

struct delivered {
	struct delivered_item *items; /* owned */
	size_t n;
};

void delivered_done(struct delivered *delivered);
#define auto_delivered __attribute__((cleanup(delivered_done)))

/*
 * Adds an item with a copy of the path.  The rest is zero and for the caller to
 * fill in; valid until the next call.  NULL: no memory.
 */
struct delivered_item *delivered_add(struct delivered *delivered,
				     const char *path, enum delivered_how how);

/* In path order, which the two below need. */
void delivered_sort(struct delivered *delivered);

/* NULL: there is none. */
const struct delivered_item *delivered_find(const struct delivered *delivered,
					    const char *path);

/* For changes_next(): which item is about the change, if one is. */
void delivered_lay_over(struct changes *changes, struct change *change);

#endif
