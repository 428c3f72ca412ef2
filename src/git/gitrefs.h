/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_GITREFS_H
#define HB_GIT_GITREFS_H

#include "git/gitobject.h"

/*
 * The references of a repository by value: one file each below refs/, and the
 * lines of packed-refs.  Names are any bytes that a file's name may have, so
 * they are quoted where they are shown.
 */
#define GITREFS_MAX	   ((size_t)1 << 16)
#define GITREFS_PACKED_MAX ((size_t)16 << 20)
#define GITREFS_NAME_MAX   1024
#define GITREFS_FILE_MAX   2048 /* of one reference */

struct gitref {
	char *name; /* "refs/heads/main" */
	struct git_id id;
};

struct gitrefs {
	struct gitref *refs; /* sorted by gitrefs_sort() */
	size_t n;
};

void gitrefs_done(struct gitrefs *refs);
#define auto_gitrefs __attribute__((cleanup(gitrefs_done)))

/* -EFBIG: there are too many; -ENOMEM. */
int gitrefs_add(struct gitrefs *refs, const char *name,
		const struct git_id *id);

/* The text of a packed-refs; lines that are none are passed over. */
int gitrefs_add_packed(struct gitrefs *refs, const char *text);

/*
 * The files below refs/ of the git directory `prefix`, below `root`; "" is the
 * root itself.  Those that name another reference are passed over.
 */
int gitrefs_add_loose(struct gitrefs *refs, int root, const char *prefix);

/* Opens a directory of that git directory; no link is followed. */
int gitrefs_open_below(int root, const char *prefix, const char *name);

/*
 * HEAD there, and that of each worktree as "worktrees/NAME/HEAD", if it is
 * detached: it holds an id, which no reference below refs/ need have.
 */
int gitrefs_add_heads(struct gitrefs *refs, int root, const char *prefix);

/* The same of packed-refs there. */
int gitrefs_add_packed_file(struct gitrefs *refs, int root, const char *prefix);

void gitrefs_sort(struct gitrefs *refs);

/* NULL: there is none. */
const struct gitref *gitrefs_find(const struct gitrefs *refs, const char *name);

/* What a session did to the files of a repository's references. */
struct gitrefs_session {
	const struct gitrefs *touched; /* in order; without an id: gone */
	/* Likewise its HEADs; without an id: it is on a branch. */
	const struct gitrefs *heads;
	const char *packed; /* its packed-refs, or NULL */
	bool has_packed;    /* it has one of its own, or took it */
};

/*
 * Adds all references of the real repository and all of the session, in order.
 * Files count before lines of packed-refs.  A HEAD that is detached counts as a
 * reference of that name.  As gitrefs_add().
 */
int gitrefs_sides(const struct gitrefs_session *session, int base,
		  const char *prefix, struct gitrefs *ret_old,
		  struct gitrefs *ret_new);

/*
 * Reads the text of a reference.  1: it is an id.  2: it is the name of another
 * reference, which lies in the text and is terminated there.  0: neither.
 */
int gitref_parse(char *text, struct git_id *ret_id, const char **ret_name);

/* The file `prefix`/`name` below `root`, with a NUL.  -ENOENT, -EFBIG. */
int gitref_read_file(int root, const char *prefix, const char *name, size_t max,
		     char **ret_text);

#endif
