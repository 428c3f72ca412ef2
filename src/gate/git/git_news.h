/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GIT_GIT_NEWS_H
#define HB_GATE_GIT_GIT_NEWS_H

#include "git/treediff.h"

#include <stdbool.h>

struct hb_error;
struct objectstore;
struct repo;
struct resource;

/*
 * What a session put into a repository, path by path:
 *
 * (a) Each commit that the session reaches by a reference, a HEAD or a stash,
 *     and the real repository does not.  It is compared with its parents: a
 *     file that the next commit removes is pushed all the same.
 * (b) The last commit of each reference that moved, compared with that before.
 *     So a commit that was there is told where it comes to another branch.
 * (c) Each index, compared with the index before: what is there is committed
 *     next, and the work tree need not have it.
 *
 * A path with the same object is told once.  docs/decisions/0036 has the
 * reasons.
 */
struct history_entry {
	const char *path; /* in the work tree, any bytes but NUL */
	struct treediff_side old, new;
	const char *commit; /* its id; NULL: of the index */
	const char *ref;    /* "refs/heads/main", "HEAD" or "index" */
	bool is_hidden;	    /* git status does not look at the file any more */
};

struct history_request {
	const struct resource *resource;
	struct repo *repo;
	/* As gate_request has it. */
	int (*objects)(const struct resource *resource, const char *prefix,
		       struct objectstore **ret_objects);
	/* A negated code ends the look. */
	int (*look)(void *ctx, const struct history_entry *entry,
		    struct objectstore *objects, struct hb_error *err);
	/*
	 * Not all of it could be looked at, for this reason; the reference and
	 * the commit may be NULL.
	 */
	int (*unread)(void *ctx, const char *words, const char *ref,
		      const char *commit, struct hb_error *err);
	/* Two trees or indexes were compared: no more of that commit. */
	int (*end)(void *ctx, struct hb_error *err);
	void *ctx;
};

/*
 * Everything in one repository.  What is missing, malformed or too much is
 * told by `unread`, once for each reason.
 */
int history_look(const struct history_request *request, struct hb_error *err);

#endif
