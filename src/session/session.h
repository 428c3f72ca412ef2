/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_SESSION_H
#define HB_SESSION_SESSION_H

#include "changes/begun/begun.h"
#include "changes/database.h"
#include "changes/resource.h"
#include "git/ignore/ignored.h"
#include "holdback/session.h"
#include "session/live/outdated.h"
#include "session/peers.h"
#include "store/record.h"
#include "store/seen.h"
#include "txn/txn.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * One session that is open.  Private to src/session.
 *
 * (a) Only who holds the lock changes anything.
 * (b) What the record says is on disk; where a write of it failed, the session
 *     is left as the disk has it.
 * (c) No resource is touched before its identity was verified.
 */
/*
 * The box of a session that is live and was lent to us (run/lent.c): how it
 * is kept still for a moment.  Any of these may take a while.
 */
struct session_box {
	/* Nothing in it runs from then on.  -HB_E_BUSY: it cannot be stopped.
	 */
	int (*freeze)(struct session_box *box, struct hb_error *err);
	/* 1: nothing ran since; 0: something did. */
	int (*check)(struct session_box *box, struct hb_error *err);
	/* It goes on; also if it was not frozen. */
	void (*thaw)(struct session_box *box);
	/* The same, and the lock goes back to its owner. */
	void (*free)(struct session_box *box);
};

/* The memory of an open session about one resource. */
struct session_memory {
	struct peers peers;	    /* who shares its layers */
	struct ignored_outside git; /* of a worktree, once asked for; or -1 */
	struct database_list databases; /* committed by rows */
	struct begun begun;		/* has_begun */
	bool has_begun;
	struct seen_file seen; /* has_seen */
	bool has_seen;
	struct seen_log log;	  /* while a transaction is under way */
	struct outdated outdated; /* likewise */
};

struct hb_session {
	const struct hb_store *store;
	int dir;
	int lock;
	bool has_lock;
	bool is_look;	  /* nothing has to be made for it */
	bool is_given_up; /* HB_OPEN_GIVE_UP: the same */
	/* A look that has settled: a directory that is gone is left out. */
	bool leaves_out;
	/*
	 * A run has made it a moment ago.  Nothing is in it that a power cut
	 * could take, and so its record need not be on disk before the box.
	 */
	bool is_fresh;
	/* git's files of T0 are kept while the box is built. */
	bool owes_git;
	int door; /* of a fresh session that began when it was made; -1 */
	/* Owned; the layers are mounted, and the lock is lent.  NULL: none. */
	struct session_box *box;
	struct taken *taken; /* its changes, as live/taken.h says; NULL */
	int family_lock;     /* family_depth: layers.h */
	unsigned family_depth;
	struct session_record record;
	struct resource *resources;	 /* record.n_resources */
	struct session_memory *memories; /* likewise */
	bool has_resources;		 /* they are open */

	struct txn txn;		   /* filled by session_txn() */
	struct hb_listener of_txn; /* its listener */
	void **seen_ctx;

	struct hb_delivery *deliveries; /* of the last look, or commit */
	size_t n_deliveries;

	struct hb_session_info info;
	struct hb_resource *infos; /* info.resources */
};

/*
 * Opens a session as it is, for who settles and recovers nothing: has_lock says
 * whether another process works on it.
 */
int session_open_unsettled(const struct hb_store *store, const char *name,
			   struct hb_session **ret_session,
			   struct hb_error *err);

/*
 * The object of a session of which directory and lock are open: takes both, and
 * what the record owns, which is zero afterwards.  On failure takes nothing.
 */
int session_adopt(const struct hb_store *store, struct session_record *record,
		  int *dir, int *lock, struct hb_session **ret_session,
		  struct hb_error *err);

/*
 * The object of a session that is live in another process, which lent us its
 * lock: takes that, also on failure.  Nothing is settled.  -EAGAIN without
 * words: it is not live any more.
 */
int session_open_lent(const struct hb_store *store, const char *name, int lock,
		      struct hb_session **ret_session, struct hb_error *err);

/*
 * After a loan: takes over into memory what the other process may have changed
 * in the record, which are layers, times and sizes.
 */
int session_take_back(struct hb_session *s, struct hb_error *err);

/* What was told about repositories is true no more. */
void session_drop_deliveries(struct hb_session *s);

/*
 * Whether there is something to be done before or after a box that the run path
 * leaves to the program behind it.
 */
bool session_needs_more(const struct hb_session *s);

#endif
