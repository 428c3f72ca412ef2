/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_TREE_H
#define HB_TREE_TREE_H

#include "sys/attr.h"

struct hb_error;

/* The longest path below a directory that a walk keeps. */
#define TREE_PATH_MAX ((size_t)256 << 20)

/*
 * A walk through everything below one directory: by descriptor, never through a
 * link or across a mount.  Depth and size have no limit: one directory is open
 * at a time, and memory grows with the depth alone.
 */
enum tree_when {
	TREE_ENTER, /* any object; a directory before what is in it */
	TREE_LEAVE, /* a directory, after what is in it */
	TREE_SHUT,  /* TREE_PATIENT: a directory that could not be entered */
};

struct tree_visit {
	enum tree_when when;
	int dir; /* open for reading; `name` lies in it */
	const char *name;
	const char *path;     /* from where the walk began, without that name */
	struct sys_attr attr; /* as it was when it was entered */
};

/* Of a directory that is entered: what is in it is not visited. */
#define TREE_SKIP 1

/* TREE_SKIP or 0; below 0 ends the walk. */
typedef int (*tree_fn)(void *ctx, const struct tree_visit *visit,
		       struct hb_error *err);

enum tree_flag {
	/*
	 * The tree is ours: a directory that its owner may not read is opened
	 * by giving the permission, which is taken back on leaving.
	 */
	TREE_OURS = 1 << 0,
	/* The same without taking back, for what is about to go. */
	TREE_DOOMED = 1 << 1,
	/* Only what lies directly in the directory; nothing is left then. */
	TREE_FLAT = 1 << 2,
	/* A directory that cannot be opened is passed over, and not left. */
	TREE_LENIENT = 1 << 3,
	/*
	 * The same and what something is mounted on, told as TREE_SHUT.
	 */
	TREE_PATIENT = 1 << 4,
};

/*
 * Visits everything below `name` in `dirfd`, not that itself.  The visitor may
 * remove what it is given on entering a non-directory or leaving a directory.
 */
int tree_walk(int dirfd, const char *name, unsigned flags, tree_fn visit,
	      void *ctx, struct hb_error *err);

/* 1: there is nothing in the directory `name`; 0: there is.  `flags` as above.
 */
int tree_is_empty(int dirfd, const char *name, unsigned flags,
		  struct hb_error *err);

/*
 * Removes `name` and everything below, which are ours.  Can be killed and
 * called again; nothing there is success.  -EXDEV: something is mounted below.
 */
int tree_remove(int dirfd, const char *name, struct hb_error *err);

#endif
