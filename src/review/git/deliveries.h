/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_DELIVERIES_H
#define HB_REVIEW_GIT_DELIVERIES_H

#include "git/delivery.h"
#include "holdback/delivery.h"
#include "review/git/placed_index.h"
#include "review/git/standing.h"
#include "txn/txn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_session;
struct merge;

/* What a commit is going to do with one repository. */
struct deliver_repo {
	size_t resource;
	char *prefix;	       /* its git directory, from the resource on */
	struct kept_refs kept; /* what counts now; without any: no record */
	struct delivery delivery;
	/* Instead of the words of `delivery`; NULL: there are none. */
	const char *why_files;
	char *why_refused;
	struct placed_index index;
	struct standing standing;
	char *merged; /* its commits are merged, or are going to be */
	bool is_own;  /* it is on a branch of its own: own_branch.h */
	/* Of the latter: the resource of the work tree, and its path there. */
	size_t tree;
	char *below;
};

/* A commit's deliveries; they begin with session, asked and is_ahead. */
struct deliver {
	struct hb_session *session;
	enum hb_git_mode asked;
	/* The words are about a commit to come: all repositories are told. */
	bool is_ahead;
	/* A branch of the session's that is none of the user's; or NULL. */
	const char *without;
	/*
	 * as_branch.h: the name of the only branch that is delivered, and the
	 * commit that it gets; NULL: all is, and the session's own.
	 */
	const char *as_branch, *as_commit;
	/* With is_ahead: what git ignores is going to be committed as well. */
	bool with_ignored;
	/* HB_GIT_MERGE: what was merged; NULL: it is only told. */
	struct merge *merge;
	enum delivery_mode mode; /* of deliver_decide() */
	struct deliver_repo *repos;
	size_t n;
	/* of deliver_attach() */
	txn_publishing_fn publishing;
	void *publishing_ctx;
};

void deliver_done(struct deliver *deliver);
#define auto_deliver __attribute__((cleanup(deliver_done)))

/*
 * Of type txn_deliver_fn, with a struct deliver as its context: decides about
 * every repository that the session changed and of which T0 has a record.
 * -HB_E_CONFLICT: a repository may not be delivered at all.  Then too
 * deliver_tell() may be called.
 */
int deliver_decide(void *ctx, struct changes *const *changes,
		   const struct changes_choice *choice, struct delivered *lists,
		   struct hb_error *err);

/*
 * Before the transaction is in effect, writes down what the session's values
 * are based on from then on.  Undo returns to what counted before.
 */
void deliver_attach(struct deliver *deliver, struct txn *txn);

#endif
