/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_ANCESTRY_H
#define HB_GIT_ANCESTRY_H

#include "git/gitobject.h"

#include <stdint.h>

struct objectstore;

/* One commit, as its text says; all points into that. */
struct git_commit {
	struct git_id tree;
	const char *parents; /* lines "parent ID", one behind the other */
	const char *author, *committer; /* behind the word, to the line's end */
	int64_t date;			/* of the committer; 0: none */
	const char *end;		/* of the headers: the empty line */
	const char *subject;		/* the first line of the message */
	size_t subject_len;
};

/*
 * Tree, parents, author and committer stand first and in this order, as git
 * writes them; other headers may follow.  -EBADMSG: they do not, there is a
 * NUL, or the object is no commit.
 */
int git_commit_parse(const struct git_object *object,
		     struct git_commit *ret_commit);

/*
 * Reads the next of the lines that `parents` points at, and goes behind it;
 * false: there is none.
 */
bool git_commit_parent(const char **at, struct git_id *ret_id);

/*
 * The commit that an id leads to, by way of tags or not.  -ENOENT: none;
 * -EFBIG, -ENOMEM as objectstore_read().
 */
int ancestry_peel(struct objectstore *store, const struct git_id *from,
		  struct git_id *ret);

/*
 * Commits that some references reach and others do not, as `git rev-list NEW
 * --not OLD`.  Both sides are read in the order of their dates until only old
 * ones are left.  So dates that are wrong by years can make it name too many.
 */
#define ANCESTRY_MAX ((size_t)1 << 16) /* commits that are looked at */

struct ancestry_item {
	struct git_id id;
	bool is_missing; /* it cannot be read */
	size_t tip;	 /* the first of the new ones that reached it */
};

struct ancestry {
	struct ancestry_item *items; /* a commit before its parents */
	size_t n;
};

/*
 * Tags on the way are followed to their commit; a name that leads to no commit
 * is passed over.  -EFBIG: that many commits were looked at, or too much was
 * read; -ENOMEM.  ancestry_done() in any case.
 */
int ancestry_find(struct objectstore *store, const struct git_id *new,
		  size_t n_new, const struct git_id *old, size_t n_old,
		  struct ancestry *ret_ancestry);
void ancestry_done(struct ancestry *ancestry);
#define auto_ancestry __attribute__((cleanup(ancestry_done)))

#endif
