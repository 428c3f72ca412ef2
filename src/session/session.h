/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_SESSION_H
#define HB_SESSION_SESSION_H

#include "git/ignored.h"
#include "holdback/session.h"
#include "session/peers.h"
#include "store/record.h"
#include "store/seen.h"
#include "txn/txn.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_store;

/*
 * One session that is open.  Private to src/session.
 *
 * (a) Only who holds the lock changes anything.
 * (b) What the record says is on disk; where a write of it failed, the session
 *     is left as the disk has it.
 * (c) No resource is touched before its identity was verified.
 */
struct session_resource {
	int base;	 /* the real directory, verified; -1 before */
	int dir;	 /* rN in the store, or in a berth */
	int upper;	 /* dir/upper; -1 while it is being frozen */
	int top;	 /* dir/top: changes/top.h; -1: there is none */
	int *layers;	 /* session_open_layers(): [0] is `upper` */
	bool *is_shared; /* by layer: what is frozen may have others */
	size_t n_layers;
	struct peers peers;	    /* who shares these */
	struct ignored_outside git; /* of a worktree, once asked for; or -1 */
	struct seen_file seen;	    /* has_seen */
	bool has_seen;
	bool is_gone;	     /* all of these are a stand-in's: gone.h */
	struct seen_log log; /* while a transaction is under way */
};

struct hb_session {
	const struct hb_store *store;
	int dir;
	int lock;
	bool has_lock;
	bool is_look; /* nothing has to be made for it */
	/*
	 * A run has made it a moment ago: nothing is in it that a power cut
	 * could take, and so its record need not be on disk before the box.
	 */
	bool is_fresh;
	int door; /* that of a fresh one that was begun when it was made; -1 */
	int family_lock; /* family_depth: layers.h */
	unsigned family_depth;
	struct session_record record;
	struct session_resource *resources; /* record.n_resources */
	bool has_resources;		    /* they are open */

	struct txn txn; /* filled by session_txn() */
	struct txn_resource *txn_resources;
	void **seen_ctx;

	struct hb_session_info info;
	const char **sources, **insides, **strategies, **effectives;
	bool *gones; /* info.gones, once the resources were open */
};

/*
 * Opens every resource and its store, and verifies that the real directory is
 * the one the session was made for; gone.h has what is opened where one is not
 * and others are.  Does nothing the second time.
 */
int session_open_resources(struct hb_session *s, struct hb_error *err);
void session_close_resources(struct hb_session *s);

/* The store of one resource: rN, or .holdback-ID in the real directory. */
int session_open_store(const struct hb_session *s, size_t number,
		       struct hb_error *err);

/*
 * Whether hb_session_empty() was interrupted, told by a resource's store that
 * has no upper; and what finishes it, with the lock.
 */
bool session_is_emptying(int dir);
int session_finish_emptying(struct hb_session *s, struct hb_error *err);

/*
 * A command may leave the view's root closed to its owner, and what it wrote
 * could not be read any more: opens the upper's as far as that needs.
 */
int session_open_top(const struct session_resource *resource);

/* A transaction on the session, which owns it; opens the resources. */
int session_txn(struct hb_session *s, struct txn **ret_txn,
		struct hb_error *err);

/* The path of a resource's store, for what can only be told by path. */
int session_store_path(const struct hb_session *s, size_t number,
		       const char *below, char *ret, size_t size,
		       struct hb_error *err);

/*
 * The resource that a path of the caller's is in, on the host or in the view,
 * and what is left of it below that: `ret_rest` has PATH_MAX bytes.  Text
 * alone decides.  -HB_E_USAGE: it is in none.
 */
int session_find_path(const struct hb_session *s, const char *path,
		      size_t *ret_resource, char *ret_rest,
		      struct hb_error *err);

/* -HB_E_BUSY unless we hold the lock. */
int session_needs_lock(const struct hb_session *s, struct hb_error *err);

/* Whether the layers have to be prepared for the sake of groups. */
bool session_has_groups(const struct hb_session *s);

/* Whether a change may have been interrupted. */
bool session_has_journal(const struct hb_session *s);

/* What was, by its name, or NULL; damaged: it cannot be finished as it is. */
const char *session_interrupted(const struct hb_session *s, bool *ret_damaged);

/*
 * Whether who throws changes away has to reverse it: its end would bring them
 * to the real directory.
 */
bool session_goes_back(const struct hb_session *s);

/* -HB_E_STATE, for who was to look at it. */
int session_fail_interrupted(const struct hb_session *s, struct hb_error *err);

/*
 * Finishes or reverses what a crash interrupted, and says so.  With `back`
 * reverses.
 */
int session_settle_journal(struct hb_session *s, bool back,
			   enum txn_recovered *ret_what, struct hb_error *err);

/*
 * After a transaction that succeeded: files its journal if it could not be
 * before.  False: it still cannot, and the user was told that it is all there,
 * in the words `in_place`.
 */
bool session_finish(struct hb_session *s, const char *in_place);

/*
 * A transaction has left entries to the user: breaks the session, so that this
 * is not overlooked, and says what mends it.
 */
void session_leave(struct hb_session *s, struct hb_error *err);

/* Of type txn_left_fn: says which, and where the version before is. */
void session_left(void *ctx, const struct txn_left *left);

/* How a box came to its end. */
enum settle_how {
	SETTLE_ENDED,
	SETTLE_OR_DROP, /* the same, of a session that may be dropped */
	SETTLE_CRASHED, /* not by itself */
};

/*
 * What a box that ended owes: sees to it that its writes are on disk, and
 * records that.  1 for SETTLE_OR_DROP alone: the session is void; nothing was
 * written or synced, and the caller drops it.
 */
int session_settle_box(struct hb_session *s, enum settle_how how,
		       struct hb_error *err);

/* The sync that was cut short by an interrupt, or by the end of the machine. */
int session_settle_sync(struct hb_session *s, struct hb_error *err);

/*
 * As hb_session_fork() of now, for a check command: the fork's record says so,
 * and gc_remove_checks() finds it if nobody else removes it.
 */
int session_fork_for_check(struct hb_session *s, const char *name,
			   struct hb_error *err);

/*
 * What the change set goes by; -HB_E_USAGE for a pattern that is malformed and
 * for a directory that is no resource.  Borrows the words, and `chosen`, which
 * has room for every resource.
 */
int session_make_filter(const struct hb_session *s,
			const struct hb_filter *filter, bool *chosen,
			struct changes_filter *ret, struct hb_error *err);

/* The change set of one resource; NULL: it is one of `since`. */
struct changes *session_changes_of(struct hb_changes *changes, size_t resource);

/* What the gate has found in it, which hb_session_gate() fills. */
struct found *session_changes_found(struct hb_changes *changes);

/*
 * The change sets of all resources as a transaction with this filter may take
 * them for reviewed, and their hash; false: it may not.
 */
bool session_changes_review(struct hb_changes *changes,
			    const struct changes_filter *filter,
			    struct changes *const **ret_changes,
			    const char **ret_hash);

/* The filter that a change set was made with. */
const struct changes_filter *
session_changes_filter(const struct hb_changes *changes);

/* Puts the work directories of ended boxes away. */
int session_drop_work(struct hb_session *s, struct hb_error *err);

/* What groups.h does, for all resources that need it. */
int session_prepare_groups(struct hb_session *s, struct hb_error *err);
int session_settle_groups(struct hb_session *s, struct hb_error *err);

/*
 * What changes/alike.h does, for all resources; nothing may be mounted.  Noting
 * is as good as it can be: what is not noted is a conflict later on.
 */
void session_note_alike(struct hb_session *s, bool is_committed);
int session_drop_alike(struct hb_session *s, struct hb_error *err);
int session_drop_alike_before_box(struct hb_session *s, struct hb_error *err);
int session_forget_alike(struct hb_session *s, struct hb_error *err);

/* Syncs what the upper layers hold. */
int session_sync_layers(struct hb_session *s, struct hb_error *err);

/*
 * The transitions between states, one function each.  Each checks the table,
 * writes the record and only then changes what is in memory.
 */
int session_begin(struct hb_session *s, struct hb_error *err);
int session_end(struct hb_session *s, struct hb_error *err);
int session_break(struct hb_session *s, struct hb_error *err);
int session_mend(struct hb_session *s, struct hb_error *err);
int session_retire(struct hb_session *s, struct hb_error *err);

/* Writes the record as it is: no transition. */
int session_save(struct hb_session *s, struct hb_error *err);

/*
 * The time on each resource's file system: what changes from now on has a ctime
 * that is not before it.  `ret_times` has room for all resources.
 */
int session_clock(struct hb_session *s, struct timespec *ret_times,
		  struct hb_error *err);

/*
 * Remembers what a transaction applied: begins before it, is told by
 * session_applied() meanwhile, and ends after it.  With `drop_older` all that
 * was remembered before is forgotten.
 */
void session_remember(struct hb_session *s);
int session_applying(void *ctx, size_t resource, uint64_t n_paths,
		     struct hb_error *err);
int session_applied(void *ctx, size_t resource, const struct seen *seen,
		    struct hb_error *err);
int session_remembered(struct hb_session *s, bool drop_older,
		       struct hb_error *err);

/* -HB_E_STATE if there is a session of that name, -HB_E_USAGE if none may be.
 */
int session_check_new(const struct hb_store *store, const char *name,
		      struct hb_error *err);

/*
 * What a session is made from that does not begin empty: `fill` gets the
 * directories of each resource's store, where `upper` is still missing what it
 * is to look like, and may put T0 back to what is known about the base.
 */
struct session_origin {
	int (*fill)(void *ctx, size_t number, int dir,
		    struct record_resource *resource, struct hb_error *err);
	void *ctx;
};

/* Says which resources have what is pending in themselves. */
void session_say_inside(const struct hb_store *store,
			const struct session_record *record);

/*
 * Makes the session of the record, which gets its id; `origin` NULL: an empty
 * one, as it was asked for.  On failure nothing is left.  Without `ret_session`
 * it is on disk when this returns.  With it nothing is synced, and the session
 * stays open, fresh and with the lock that it was made under, and has taken
 * what the record owned.  One that a run makes for itself has begun then,
 * unless session_needs_more() says that it cannot yet.
 */
int session_make(const struct hb_store *store, struct session_record *record,
		 const struct session_origin *origin,
		 const struct hb_create_options *asked,
		 struct hb_session **ret_session, struct hb_error *err);

/*
 * The object of a session of which directory and lock are open: takes both, and
 * what the record owns, which is zero afterwards.  On failure takes nothing.
 */
int session_adopt(const struct hb_store *store, struct session_record *record,
		  int *dir, int *lock, struct hb_session **ret_session,
		  struct hb_error *err);

/* hb_session_changes() without another try where a command moves names. */
int session_look_once(struct hb_session *session,
		      const struct hb_changes_options *options,
		      struct hb_changes **ret_changes, struct hb_error *err);

/*
 * Whether there is something to be done before or after a box that the run path
 * leaves to the program behind it.
 */
bool session_needs_more(const struct hb_session *s);

/*
 * Removes the directory `gone` of the store, which is no session any more or
 * not yet, and what of it lies in its resources: by the record, or without one
 * by what the two places say of each other.
 */
int session_remove_gone(const struct hb_store *store, const char *gone,
			const struct session_record *record,
			struct hb_error *err);

/*
 * Removes a session that holds nothing, without a sync: if that is interrupted
 * there is one more that holds nothing.  The object can only be freed then.
 */
int session_drop(struct hb_session *s, struct hb_error *err);

/*
 * Whether nothing would be missed if the session were gone: `run` made it,
 * nothing is pending in it and nothing was committed from it.
 */
int session_is_void(struct hb_session *s, struct hb_error *err);

/*
 * Removes what of the session lies in berths: by its record, and by the notes
 * in its directory `gone` of the store.
 */
void session_remove_berths(const struct hb_store *store,
			   const struct session_record *record);
void session_remove_noted(const struct hb_store *store, const char *gone);

/*
 * Puts into words why a command could not be executed: the number tells which
 * way.
 */
int session_explain_exec(char *const *argv, char *const *envp,
			 struct hb_error *err);

/* The id of this boot. */
int session_boot_id(char ret[RECORD_BOOT_SIZE], struct hb_error *err);

#endif
