/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/report.h"
#include "base/sha256.h"
#include "review/changeset.h"
#include "review/database/database_delivery.h"
#include "review/found.h"
#include "review/gate.h"
#include "review/git/as_branch.h"
#include "review/git/deliveries.h"
#include "review/git/deliveries_told.h"
#include "review/git/merge/merge.h"
#include "review/stack.h"
#include "review/wanted.h"
#include "session/alike_notes.h"
#include "session/git/indexes.h"
#include "session/git/own_branch.h"
#include "session/git/own_end.h"
#include "session/git/own_record.h"
#include "session/gone.h"
#include "session/live/lapsed.h"
#include "session/live/take.h"
#include "session/live/taken.h"
#include "session/live/unmark.h"
#include "session/open.h"
#include "session/session.h"
#include "session/settle.h"
#include "session/state.h"
#include "session/told.h"
#include "store/progress.h"
#include "store/store.h"
#include "sys/place.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 * Commit, undo and redo of a session: the work of src/txn, between the locks
 * and the facts that the session has to remember.
 *
 * T0 moves only when nothing is pending afterwards, and to a time before the
 * apply.  So a change which another program makes meanwhile is still later.
 * The record has it before what was seen is dropped: in between both are true.
 */

#define IN_PLACE "the changes are in place"

/* git writes an index anew at each look for up to a second after an edit. */
#define LATE_TRIES 40
#define LATE_PAUSE 50 /* ms */

/* Files of a live session that come and go: then it waits for the commit. */
#define STILL_AFTER 2

/* What every one of these begins with. */
static int begin(struct hb_session *s, struct txn **ret_txn,
		 struct hb_error *err)
{
	int r;

	r = session_needs_lock(s, err);
	if (r >= 0)
		/* Before T0 moves: an edit that it hides would be older. */
		r = session_drop_alike(s, err);
	if (r >= 0)
		r = session_txn(s, ret_txn, err);
	if (r < 0)
		return r;
	session_remember(s);
	return 0;
}

static void set_since(struct hb_session *s, const struct timespec *times)
{
	for (size_t i = 0; i < s->record.n_resources; i++)
		s->resources[i].since = times[i];
}

/*
 * An entry that fits neither side is for the user: the session is broken until
 * he says that he has seen it.  All else is as it was; or the journal is still
 * there, and recovery is the first thing of the next command.
 */
static int failed(struct hb_session *s, int r, struct hb_error *err)
{
	if (s->txn.n_left > 0)
		session_leave(s, err);
	session_close_resources(s);
	return r;
}

/* It is done: what is lost is only what we remember. */
static void say_unrecorded(const struct hb_session *s,
			   const struct hb_error *why)
{
	store_say(s->store,
		  "session '%s': " IN_PLACE
		  "; the record of them could not be written (%s: %s), "
		  "and some may show as conflicts",
		  s->record.name, why->text, hb_strerror(why->code));
}

static void fill_summary(const struct changes_summary *from,
			 struct hb_summary *ret)
{
	*ret = (struct hb_summary){
		.n_changed = from->n_modified + from->n_type +
			     from->n_attributes - from->n_dirs_changed,
		.n_added = from->n_added - from->n_dirs_added,
		.n_deleted = from->n_deleted - from->n_dirs_deleted,
		.n_renamed = from->n_renamed,
		.n_directories = from->n_dirs_added + from->n_dirs_deleted +
				 from->n_dirs_changed,
		.n_times = from->n_times,
		.n_git = from->n_git,
		.n_conflicts = from->n_conflicts,
		.bytes = from->bytes,
		.n_ignored = from->n_ignored,
		.ignored_bytes = from->ignored_bytes,
		.n_ignored_directories = from->n_dirs_ignored,
		.n_locks = from->n_locks,
		.n_unjudged = from->n_unjudged,
	};
	ret->n_files =
		ret->n_changed + ret->n_added + ret->n_deleted + ret->n_renamed;
	/* The caller did not ask for one: then there is none. */
	if (memcmp(from->hash, (uint8_t[SHA256_SIZE]){ 0 }, SHA256_SIZE) != 0)
		sha256_hex(from->hash, ret->hash);
}

static void fill_result(const struct txn_result *from,
			struct hb_commit_result *ret)
{
	*ret = (struct hb_commit_result){
		.n_operations = from->n_operations,
		.n_kept = from->n_kept,
		.has_rest = from->has_rest,
		.undo_bytes = from->undo_bytes,
	};
	fill_summary(&from->summary, &ret->summary);
}

/* What the options of a transaction point to. */
struct pointed_to {
	uint8_t expect[SHA256_SIZE];
	struct wanted wanted;
	struct txn_review review;
	uint8_t reviewed[SHA256_SIZE];
};

static void pointed_to_done(struct pointed_to *to)
{
	wanted_done(&to->wanted);
}
#define auto_pointed_to __attribute__((cleanup(pointed_to_done)))

/* Without one, or where that is of something else, all is looked at anew. */
static void set_review(const struct hb_commit_options *from,
		       struct pointed_to *to, struct txn_options *options)
{
	struct txn_review *review = &to->review;
	const char *hash;

	if (!from->reviewed ||
	    !session_changes_review(from->reviewed, &options->choice.filter,
				    &review->changes, &hash) ||
	    sha256_from_hex(hash, to->reviewed) < 0)
		return;
	review->hash = to->reviewed;
	review->gate = session_changes_found(from->reviewed)->is_whole
			       ? session_gate_recall
			       : NULL;
	options->review = review;
}

/* A session on a branch of its own comes back whole, and by a merge. */
static int need_own(struct hb_session *s, const struct hb_commit_options *from,
		    const struct txn_options *options, struct deliver *deliver,
		    struct hb_error *err)
{
	if (from->git != HB_GIT_USUAL && from->git != HB_GIT_MERGE) {
		hb_fix(err, "commit without --git");
		return hb_fail(err, -HB_E_USAGE,
			       "session '%s' is on a branch of its own and "
			       "comes back by a merge",
			       s->record.name);
	}
	if (changes_filter_is_partial(&options->choice.filter) ||
	    options->choice.filter.resources || options->choice.n_ours > 0 ||
	    options->choice.n_theirs > 0) {
		hb_fix(err, "commit all of it; git takes a part back later");
		return hb_fail(err, -HB_E_USAGE,
			       "session '%s' is on a branch of its own and "
			       "comes back as a whole",
			       s->record.name);
	}
	deliver->asked = HB_GIT_MERGE;
	return own_branch_need_quiet(s, err);
}

/* A branch with all commits, and nothing else. */
static int need_named(const struct hb_commit_options *from,
		      const struct txn_options *options,
		      struct deliver *deliver, struct hb_error *err)
{
	if (from->git != HB_GIT_USUAL ||
	    changes_filter_is_partial(&options->choice.filter) ||
	    options->choice.filter.resources || options->choice.n_ours > 0 ||
	    options->choice.n_theirs > 0)
		return hb_fail(err, -HB_E_USAGE,
			       "--as-branch takes all commits of the session, "
			       "and no other option chooses among them");
	deliver->as_branch = from->as_branch;
	deliver->asked = HB_GIT_BRANCH;
	return as_branch_need_name(from->as_branch, err);
}

/* Before anything else is open, as the check command. */
static int make_merge(struct merge *merge, struct hb_session *s,
		      const struct hb_commit_options *from,
		      const struct txn_options *options,
		      struct deliver *deliver, struct hb_error *err)
{
	int r = 0;

	deliver->asked = from->git;
	if (from->as_branch)
		r = need_named(from, options, deliver, err);
	else if (deliver->asked == HB_GIT_USUAL)
		r = hb_session_git_mode(s, NULL, &deliver->asked, err);
	if (r >= 0 && own_branch_is_any(&s->record))
		r = need_own(s, from, options, deliver, err);
	if (r < 0 || deliver->asked != HB_GIT_MERGE)
		return r;
	if (s->taken) {
		hb_fix(err, "holdback stop @%s", s->record.name);
		return hb_fail(err, -HB_E_BUSY,
			       "session '%s' is live, and git can merge it "
			       "when its command has ended",
			       s->record.name);
	}
	deliver->merge = merge;
	merge->merges = !from->as_branch;
	merge->gate = from->without_gate ? NULL : &from->gate;
	merge->listener = s->store->listener;
	return merge_make(merge, s, &options->choice.filter,
			  options->with_ignored, err);
}

static int read_options(const struct hb_session *s,
			const struct hb_commit_options *from,
			struct pointed_to *to, struct txn_options *ret,
			struct hb_error *err)
{
	struct changes_filter filter;
	const struct hb_filter marks = { .only = from->ours,
					 .n_only = from->n_ours,
					 .except = from->theirs,
					 .n_except = from->n_theirs };
	int r;

	r = wanted_filter(s, &marks, &to->wanted, &filter, err);
	if (r >= 0)
		r = wanted_filter(s, &from->filter, &to->wanted, &filter, err);
	if (r < 0)
		return r;
	*ret = (struct txn_options){
		.choice = { .filter = filter,
			    .ours = from->ours,
			    .n_ours = from->n_ours,
			    .theirs = from->theirs,
			    .n_theirs = from->n_theirs },
		.dry_run = from->dry_run,
		.with_special = from->with_special,
		.with_setid = from->with_setid,
		.with_ignored = from->with_ignored,
	};
	set_review(from, to, ret);
	if (!from->expect)
		return 0;
	if (sha256_from_hex(from->expect, to->expect) < 0) {
		hb_fix(err, "holdback status --json has the hash");
		return hb_fail(err, -HB_E_USAGE,
			       "'%.80s' is not the hash of a change set",
			       from->expect);
	}
	ret->expect = to->expect;
	return 0;
}

/* The record says what is true now; then what was seen before can go. */
static int conclude(struct hb_session *s, const struct txn_result *result,
		    const struct deliver *deliver, const struct timespec *times,
		    struct hb_error *err)
{
	/* Else the upper has all of it still, also when its box has ended. */
	bool is_whole = !result->has_rest && !unmark_was_begun(s);
	int r;

	for (size_t i = 0; is_whole && i < s->record.n_resources; i++) {
		/* Pending there is what was. */
		if (s->resources[i].is_gone)
			continue;
		s->record.resources[i].t0 = times[i];
		/* With nothing done, a rollback can still be undone. */
		if (result->n_operations > 0)
			s->record.resources[i].t0_before =
				(struct timespec){ 0 };
	}
	if (is_whole && !session_has_gone(s))
		s->record.has_lost = false;
	s->record.used = sys_now();
	s->record.undo_bytes = result->undo_bytes;
	r = session_save(s, err);
	if (r >= 0)
		r = session_remembered(s, is_whole, err);
	if (r >= 0)
		indexes_keep(s);
	if (r >= 0 && result->n_operations > 0)
		placed_index_keep(deliver);
	if (r >= 0 && result->n_operations > 0)
		indexes_confirm(s, deliver->n > 0);
	return r;
}

static bool is_partial(const struct txn_options *options)
{
	const struct changes_choice *c = &options->choice;

	return !options->dry_run &&
	       (changes_filter_is_partial(&c->filter) || c->filter.resources ||
		c->n_ours > 0 || !options->with_ignored);
}

static int commit_stack(struct hb_session *s, struct txn *txn,
			const struct txn_options *options,
			struct session_gate *gate, struct txn_result *result,
			struct hb_error *err)
{
	struct deliver *deliver = options->deliver_ctx;
	struct stack_change stack = { 0 };
	struct lapsed lapsed = { 0 };
	int r;

	r = gone_check_layers(s, NULL, err);
	if (r < 0)
		return r;
	r = stack_begin(&stack, s, txn, is_partial(options), err);
	if (r >= 0) {
		allowed_attach(&gate->allowed, txn);
		deliver_attach(deliver, txn);
		if (s->taken)
			lapsed_attach(&lapsed, s, txn);
		r = txn_commit(txn, options,
			       s->taken ? lapsed_applied : session_applied, s,
			       result, err);
		taken_thaw(s);
	}
	stack_end(&stack);
	return r;
}

/* The gate is asked by the transaction, about what that is going to apply. */
static int set_gate(struct session_gate *gate, struct hb_session *s,
		    const struct hb_commit_options *from,
		    const struct hb_gate_check *check,
		    struct txn_options *options, struct hb_error *err)
{
	int r;

	if (from->without_gate) {
		gate->allowed.session = s;
		gate->allowed.without_gate = true;
		return 0;
	}
	gate->with_special = from->with_special;
	gate->with_setid = from->with_setid;
	options->gate = session_gate_look;
	options->gate_ctx = gate;
	if (options->review && options->review->gate)
		gate->found = session_changes_found(from->reviewed);
	r = session_gate_begin(gate, s, &from->gate, err);
	return r < 0 ? r : session_gate_check(gate, check, err);
}

/* Before anything else is open: it works on a fork, which closes all that. */
static int run_check(struct hb_session *s,
		     const struct hb_commit_options *options,
		     struct hb_gate_check *ret_check, struct hb_error *err)
{
	*ret_check = (struct hb_gate_check){ 0 };
	if (options->without_gate)
		return 0;
	if (options->gate.check) {
		*ret_check = *options->gate.check;
		return 0;
	}
	return hb_session_gate_check(s, options->gate.run, ret_check, err);
}

/* What stays because its directory is gone; that alone is no commit. */
static int tell_gone(const struct hb_session *s,
		     const struct txn_result *result, struct hb_error *err)
{
	if (gone_say_pending(s) == 0 || result->n_operations > 0)
		return 0;
	return gone_refuse(s, "nothing else is pending", err);
}

static void set_deliver(struct deliver *deliver,
			const struct hb_commit_options *from,
			struct txn_options *options)
{
	deliver->is_ahead = from->dry_run;
	options->deliver = deliver_decide;
	options->deliver_ctx = deliver;
}

/* Without memory for the words the commit is no less done. */
static void tell_deliveries(const struct deliver *deliver,
			    struct hb_commit_result *ret)
{
	(void)deliver_tell(deliver);
	ret->git = deliver->session->deliveries;
	ret->n_git = deliver->session->n_deliveries;
}

/* As failed(); and whether it can be tried again at once. */
static int failed_late(struct hb_session *s, const struct deliver *deliver,
		       int r, bool *ret_late, struct hb_error *err)
{
	*ret_late = s->taken && s->taken->has_lapsed;
	if (*ret_late)
		return failed(s, r, err);
	*ret_late = (r == -HB_E_CONFLICT || r == -HB_E_BUSY) &&
		    s->txn.n_left == 0 && placed_index_is_late(deliver);
	return failed(s, r, err);
}

/* The check command and git, before anything of the session is open. */
static int use_boxes(struct hb_session *s, const struct hb_commit_options *from,
		     const struct txn_options *options,
		     struct hb_gate_check *check, struct merge *merge,
		     struct deliver *deliver, struct hb_error *err)
{
	int r = run_check(s, from, check, err);

	return r < 0 ? r : make_merge(merge, s, from, options, deliver, err);
}

static const char *work_of(const struct hb_commit_options *options)
{
	return options->dry_run ? "checking the changes" : "committing";
}

static int commit(struct hb_session *session,
		  const struct hb_commit_options *options,
		  struct hb_commit_result *ret_result, bool *ret_late,
		  struct hb_error *err)
{
	auto_progress struct progress progress = PROGRESS_NONE;
	struct timespec times[RECORD_RESOURCES_MAX];
	struct session_gate gate = { 0 };
	auto_deliver struct deliver deliver = { .session = session };
	auto_merge struct merge merge = { 0 };
	struct hb_gate_check check;
	struct hb_gate_result found;
	struct txn_options txn_options;
	auto_pointed_to struct pointed_to pointed_to = { 0 };
	struct txn_result result = { 0 };
	struct hb_error local = { 0 };
	struct txn *txn = NULL;
	bool is_complete;
	int r;

	r = read_options(session, options, &pointed_to, &txn_options, err);
	if (r >= 0)
		r = use_boxes(session, options, &txn_options, &check, &merge,
			      &deliver, err);
	if (r >= 0)
		r = begin(session, &txn, err);
	if (r >= 0)
		r = session_clock(session, times, err);
	if (r < 0)
		return r;
	set_since(session, times);
	set_deliver(&deliver, options, &txn_options);
	progress_begin(&progress, session->store, work_of(options));
	r = set_gate(&gate, session, options, &check, &txn_options, err);
	if (r >= 0)
		r = commit_stack(session, txn, &txn_options, &gate, &result,
				 err);
	progress_end(&progress);
	found = gate.result;
	session_gate_done(&gate);
	if (r < 0)
		return failed_late(session, &deliver, r, ret_late, err);
	is_complete = session_finish(session, IN_PLACE);
	/* T0 stays: before it is filed it may be taken back. */
	if (!options->dry_run && is_complete &&
	    conclude(session, &result, &deliver, times, &local) < 0)
		say_unrecorded(session, &local);
	r = tell_gone(session, &result, err);
	session_close_resources(session);
	if (r < 0)
		return r;
	if (!options->dry_run && is_complete && result.n_operations > 0)
		session_note_alike(session, !result.has_rest);
	session_close_resources(session);
	fill_result(&result, ret_result);
	ret_result->is_complete = is_complete;
	ret_result->gate = found;
	tell_deliveries(&deliver, ret_result);
	return 0;
}

/* Before the next try: the same again, or with a newer copy of a live upper. */
static int wait_late(struct hb_session *s, int i,
		     struct hb_commit_options *options, struct hb_error *err)
{
	if (!s->taken) {
		sys_pause(LATE_PAUSE);
		return 0;
	}
	options->reviewed = NULL;
	if (options->follows)
		options->expect = NULL;
	return taken_again(s, i >= STILL_AFTER, err);
}

static int fail_unexpected(const struct hb_session *s, struct hb_error *err)
{
	*err = (struct hb_error){ 0 };
	hb_fix(err, "look at the changes again");
	return hb_fail(
		err, -HB_E_BUSY,
		"session '%s' is live, and its changes are others by now",
		s->record.name);
}

int hb_session_commit(struct hb_session *session,
		      const struct hb_commit_options *options,
		      struct hb_commit_result *ret_result, struct hb_error *err)
{
	const char *what = options->command ? options->command : "commit";
	struct hb_commit_options again = *options;
	struct hb_error local = { 0 };
	struct database_delivery delivery = DATABASE_DELIVERY_NONE;
	bool is_late;
	int r = 0;

	err = err ? err : &local;
	if (!options->dry_run)
		told_begin(session, what);
	if (!options->dry_run)
		r = delivery_begin(&delivery, session, options, err);
	is_late = r >= 0;
	/* Nothing was changed, and all is decided again. */
	for (int i = 0; is_late && i < LATE_TRIES; i++) {
		*err = (struct hb_error){ 0 };
		is_late = false;
		if (i > 0)
			r = wait_late(session, i, &again, err);
		else
			r = 0;
		if (r >= 0)
			r = commit(session, &again, ret_result, &is_late, err);
		if (i > 0 && r == -HB_E_CONFLICT && session->taken &&
		    again.expect)
			r = fail_unexpected(session, err);
	}
	if (!options->dry_run) {
		int ended = delivery_end(&delivery, session, r >= 0,
					 r < 0 ? NULL : err);

		r = r < 0 ? r : ended;
	}
	return options->dry_run
		       ? r
		       : told_end(session, what, r,
				  r < 0 ? 0 : ret_result->n_operations, err);
}

/* Undo and redo: the clock stays, because things are pending again. */
static int reverse(struct hb_session *s,
		   int (*how)(struct txn *, struct txn_result *,
			      struct hb_error *),
		   struct hb_commit_result *ret_result, struct hb_error *err)
{
	auto_progress struct progress progress = PROGRESS_NONE;
	struct timespec times[RECORD_RESOURCES_MAX];
	struct txn_result result = { 0 };
	struct hb_error local = { 0 };
	struct txn *txn = NULL;
	bool is_complete;
	int r;

	r = begin(s, &txn, err);
	/* What is in the upper gets other attributes, and base and upper part.
	 */
	if (r >= 0)
		r = session_forget_alike(s, err);
	if (r >= 0)
		r = session_clock(s, times, err);
	if (r < 0)
		return r;
	set_since(s, times);
	progress_begin(&progress, s->store, "changing the real directories");
	r = how(txn, &result, err);
	progress_end(&progress);
	if (r < 0)
		return failed(s, r, err);
	is_complete = session_finish(s, IN_PLACE);
	s->record.used = sys_now();
	r = session_remembered(s, false, &local);
	if (r >= 0)
		r = session_save(s, &local);
	if (r < 0)
		say_unrecorded(s, &local);
	else
		indexes_keep(s);
	indexes_restore(s);
	session_close_resources(s);
	if (is_complete)
		session_note_alike(s, false);
	session_close_resources(s);
	fill_result(&result, ret_result);
	ret_result->is_complete = is_complete;
	return 0;
}

static int undo(struct hb_session *session, struct hb_commit_result *ret_result,
		struct hb_error *err)
{
	bool has_older = false;
	int r;

	r = session_needs_lock(session, err);
	if (r >= 0)
		r = own_end(session, true, err);
	if (r >= 0)
		r = stack_check_undo(session, err);
	if (r >= 0)
		r = session_open_resources(session, err);
	if (r >= 0)
		r = gone_check_last(session, false, err);
	if (r < 0)
		return r;
	/*
	 * A rollback that is undone brings changes back which are older than
	 * T0 is now.  Before it happens: an earlier T0 only finds more.
	 */
	for (size_t i = 0; i < session->record.n_resources; i++) {
		struct record_resource *resource =
			&session->record.resources[i];

		if (resource->t0_before.tv_sec == 0)
			continue;
		resource->t0 = resource->t0_before;
		resource->t0_before = (struct timespec){ 0 };
		has_older = true;
	}
	if (has_older) {
		r = session_save(session, err);
		if (r < 0)
			return r;
	}
	return reverse(session, txn_undo, ret_result, err);
}

int hb_session_undo(struct hb_session *session,
		    struct hb_commit_result *ret_result, struct hb_error *err)
{
	struct hb_error local = { 0 };
	int r;

	err = err ? err : &local;
	told_begin(session, "undo");
	r = undo(session, ret_result, err);
	return told_end(session, "undo", r,
			r < 0 ? 0 : ret_result->n_operations, err);
}

int hb_session_redo(struct hb_session *session,
		    struct hb_commit_result *ret_result, struct hb_error *err)
{
	struct hb_error local = { 0 };
	int r;

	err = err ? err : &local;
	told_begin(session, "redo");
	r = session_needs_lock(session, err);
	if (r >= 0)
		r = own_end(session, false, err);
	if (r >= 0)
		r = session_open_resources(session, err);
	if (r >= 0)
		r = gone_check_last(session, true, err);
	if (r >= 0)
		r = reverse(session, txn_redo, ret_result, err);
	return told_end(session, "redo", r,
			r < 0 ? 0 : ret_result->n_operations, err);
}

static int recover(struct hb_session *session, bool back,
		   enum hb_recovered *ret_what, struct hb_error *err)
{
	enum txn_recovered what = RECOVERED_NOTHING;
	int r;

	r = session_needs_lock(session, err);
	if (r >= 0)
		r = session_settle_journal(session, back, &what, err);
	if (r < 0)
		return r;
	if (session->record.state == SESSION_BROKEN) {
		r = session_mend(session, err);
		if (r < 0)
			return r;
	}
	*ret_what = (enum hb_recovered)what;
	return 0;
}

int hb_session_recover(struct hb_session *session, bool back,
		       enum hb_recovered *ret_what, struct hb_error *err)
{
	struct hb_error local = { 0 };

	err = err ? err : &local;
	told_begin(session, "recover");
	return told_end(session, "recover",
			recover(session, back, ret_what, err), 0, err);
}
