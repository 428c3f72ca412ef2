/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGE_H
#define HB_REVIEW_GIT_MERGE_H

#include "changes/filter.h"
#include "git/gitobject.h"
#include "review/git/merge/path_list.h"
#include "review/git/units.h"
#include "store/record.h"
#include "store/store.h"

#include <string.h>

struct changes;
struct hb_gate_options;
struct hb_listener;
struct hb_session;

/*
 * A merge of the session's commits into the user's branch, which git makes in a
 * box.  The box is over the base as it is now, and not over the session.  So
 * the result is that of `git merge` by the user, but for hooks, which do not
 * run.  The session's new objects are copied there before.
 *
 * The session that is made for it, aside, has the result as pending changes.
 * Nothing of these is believed because git wrote it: merging.h decides by
 * value, and takes files that differ between the two commits alone.
 */

/* A repository whose commits have to be merged. */
struct merge_repo {
	size_t resource;
	char *prefix;	    /* its git directory */
	size_t tree;	    /* the resource of its work tree */
	char *below;	    /* the work tree in that: "" or "sub/" */
	char *branch;	    /* the name that the commits have meanwhile */
	bool is_own;	    /* the session is on a branch of its own */
	struct git_id from; /* is_own: of the session */
	/* Of the session; is_own: with all that it had not committed. */
	struct git_id tip;
	struct git_id into; /* the user's commit; it need not be a parent */
	struct git_id result;
	/*
	 * is_own: paths of the commit that is made of the session's changes,
	 * but for `ignored`.  `stays`: the session does not track them any
	 * more, and still has them.
	 */
	struct path_list taken, ignored, stays;
};

struct merge {
	struct merge_repo *repos;
	size_t n;
	struct hb_store store;	  /* of the session aside; it hears nothing */
	char name[64];		  /* of that session; "": there is none */
	struct hb_session *aside; /* NULL: nothing has to be merged */
	struct changes *changes[RECORD_RESOURCES_MAX]; /* of that */
	struct units units;			       /* likewise */
	/* Else commits are made of changes, and stay apart. */
	bool merges;
	/* Of the commit; NULL: the gate is not asked. */
	const struct hb_gate_options *gate;
	const struct hb_listener *listener; /* for that */
	/*
	 * Of merge_make(): asks the gate about paths of a resource that the
	 * merge changes and the session does not.  The user renamed a file that
	 * the session edited.  -HB_E_DENIED: it does not let them pass.
	 */
	int (*judge)(struct merge *merge, size_t resource, char *const *paths,
		     size_t n, struct hb_error *err);
};

/* NULL: there is none for that repository. */
static inline const struct merge_repo *
merge_find(const struct merge *merge, size_t resource, const char *prefix)
{
	for (size_t i = 0; i < merge->n; i++)
		if (merge->repos[i].resource == resource &&
		    strcmp(merge->repos[i].prefix, prefix) == 0)
			return &merge->repos[i];
	return NULL;
}

/*
 * Makes the merges that a commit with this filter needs, if any.  Needs the
 * session's lock; change sets made before are void.  -HB_E_CONFLICT: git cannot
 * merge, and the error has the paths.  merge_done() in any case, which leaves
 * nothing behind.  After a crash gc_remove_checks() does.
 */
int merge_make(struct merge *merge, struct hb_session *s,
	       const struct changes_filter *filter, bool with_ignored,
	       struct hb_error *err);
void merge_done(struct merge *merge);
#define auto_merge __attribute__((cleanup(merge_done)))

#endif
