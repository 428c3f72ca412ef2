/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_UNITS_H
#define HB_REVIEW_GIT_UNITS_H

#include "changes/changes.h"
#include "tree/entry.h"

#include <stdbool.h>
#include <stddef.h>

struct changes_choice;
struct hb_error;
struct hb_session;

/* A path of a repository's unit that the session changed. */
struct unit_file {
	char *path;  /* from the git directory on */
	char *whole; /* from the resource on */
	size_t layer;
	struct entry new;
	unsigned flags; /* of the change */
	bool is_gone;	/* no file of the session is there */
	bool is_newer;	/* the base's changed since T0, by its times */
};

struct unit {
	size_t resource;
	char *prefix; /* the git directory, from the resource on; "": that */
	struct unit_file *files; /* sorted by path, as strcmp() does */
	size_t n;
	struct unit_file *dirs; /* that appear, vanish or are replaced */
	size_t n_dirs;
	bool is_left; /* the choice leaves all of it where it is */
};

/* A path outside of repositories that a commit leaves where it is. */
struct unit_left {
	size_t resource;
	char *path;
};

struct units {
	struct unit *list;
	size_t n;
	struct unit_left *left; /* sorted */
	size_t n_left;
};

/*
 * The repositories that change sets touch, one set for each resource of the
 * session.  Linked worktrees belong to the repository that they lie in.
 */
int units_find(struct hb_session *s, struct changes *const *changes,
	       const struct changes_choice *choice, struct units *ret,
	       struct hb_error *err);
void units_done(struct units *units);
#define auto_units __attribute__((cleanup(units_done)))

/* NULL: the session did not change it. */
const struct unit_file *unit_find(const struct unit *unit, const char *path);

/* Whether a commit leaves the path where it is. */
bool units_leave(const struct units *units, size_t resource, const char *path);

#endif
