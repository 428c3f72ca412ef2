/* SPDX-License-Identifier: Apache-2.0 */
#include "review/stack.h"

#include "base/auto.h"
#include "base/error.h"
#include "session/freeze.h"
#include "session/layers.h"
#include "session/state.h"
#include "txn/history.h"
#include "txn/journal.h"

#include <string.h>

static bool ends(const struct stack_change *change, bool is_above)
{
	return !change->is_rollback || is_above;
}

/* Of type txn_publishing_fn. */
static int publish(void *ctx, uint64_t id, bool has_rest, struct hb_error *err)
{
	struct stack_change *change = ctx;
	struct hb_session *s = change->session;
	struct record_layer rest = { .from = id };
	bool is_above = change->keep == NULL;
	size_t n = 0;
	int r;

	if (s->record.n_layers == 0)
		return 0;
	r = session_last_done(s, &rest.after, err);
	if (r < 0)
		return r;
	/*
	 * A redo goes by what the layers say of it.  From now on that would be
	 * read as something else: their numbers are below ours.
	 */
	if (session_drop_undone(s, rest.after))
		r = history_forget_undone(s->dir, err);
	if (r >= 0)
		r = session_count_layers(s, &n, err);
	/* A rollback takes the upper away by itself. */
	if (r >= 0 && n > 0 && !change->is_rollback) {
		r = session_has_upper(s, err);
		if (r > 0)
			r = session_freeze(s, "", err);
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->record.n_layers; i++) {
		struct record_layer *layer = &s->record.layers[i];

		if (ends(change, is_above) && layer_is_there(layer, rest.after))
			layer->until = id;
		if (!change->keep || strcmp(layer->id, change->keep) != 0)
			continue;
		is_above = true;
		/* A copy lies over those that it was made over. */
		if (!layer_counts(layer, rest.after))
			layer->from = id;
	}
	if (has_rest && change->has_rest_layer) {
		memcpy(rest.id, change->rest, sizeof(rest.id));
		r = record_add_layer(&s->record, &rest, err);
		if (r < 0)
			return r;
	}
	return session_save_durably(s, err);
}

/* A copy is not among the layers that are open. */
static int be_like_copy(struct stack_change *change, struct txn *txn,
			struct hb_error *err)
{
	for (size_t i = 0; i < txn->n_resources; i++) {
		change->rest_dirs[i] =
			layers_open_one(change->session, change->keep, i, err);
		if (change->rest_dirs[i] < 0)
			return change->rest_dirs[i];
		txn->resources[i].like = change->rest_dirs[i];
	}
	return 0;
}

/* The view's top is the upper's: a new one has that of what stays below. */
static int set_likeness(struct stack_change *change, struct txn *txn,
			struct hb_error *err)
{
	struct hb_session *s = change->session;
	uint64_t done = 0;
	size_t at = 1;
	int r;

	r = session_last_done(s, &done, err);
	if (r < 0)
		return r;
	for (size_t i = s->record.n_layers; i > 0; i--) {
		const struct record_layer *layer = &s->record.layers[i - 1];

		if (strcmp(layer->id, change->keep) == 0 &&
		    !layer_counts(layer, done))
			return be_like_copy(change, txn, err);
		if (strcmp(layer->id, change->keep) == 0)
			break;
		at += layer_counts(layer, done);
	}
	for (size_t i = 0; i < txn->n_resources; i++)
		if (at < s->resources[i].n_layers)
			txn->resources[i].like = s->resources[i].layers[at];
	return 0;
}

int stack_begin(struct stack_change *change, struct hb_session *s,
		struct txn *txn, bool is_partial, struct hb_error *err)
{
	size_t n = 0;
	int r;

	change->session = s;
	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++)
		change->rest_dirs[i] = -1;
	txn->publishing = publish;
	txn->publishing_ctx = change;
	if (change->keep)
		return set_likeness(change, txn, err);
	r = session_count_layers(s, &n, err);
	if (r < 0 || n == 0 || !is_partial)
		return r;
	r = session_lock_family(s, err);
	if (r < 0)
		return r;
	change->has_rest_layer = true;
	r = session_make_layer(s, change->rest, change->rest_dirs, err);
	for (size_t i = 0; r >= 0 && i < txn->n_resources; i++)
		txn->resources[i].rest = change->rest_dirs[i];
	return r;
}

void stack_end(struct stack_change *change)
{
	struct layers_freed freed = { 0 };

	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++)
		fd_closep(&change->rest_dirs[i]);
	if (!change->has_rest_layer)
		return;
	session_unlock_family(change->session);
	/* No session names it if nothing was left out. */
	(void)layers_collect(change->session->store,
			     change->session->record.family, false, &freed,
			     NULL);
}

static int is_commit(const struct hb_session *s, uint64_t id,
		     struct hb_error *err)
{
	struct journal *journal = NULL;
	int r = history_open(s->dir, HISTORY_DONE, id, &journal, err);

	if (r < 0)
		return r;
	r = journal_head(journal)->kind != JOURNAL_ROLLBACK;
	journal_free(journal);
	return r;
}

int stack_check_undo(struct hb_session *s, struct hb_error *err)
{
	const struct record_layer *later = NULL;
	bool has_own = false;
	uint64_t done = 0;
	int r;

	r = s->record.n_layers > 0 ? session_last_done(s, &done, err) : 0;
	if (r < 0 || done == 0)
		return r;
	for (size_t i = 0; i < s->record.n_layers; i++) {
		const struct record_layer *layer = &s->record.layers[i];

		/* A mere copy is there again with the redo of it. */
		if (layer->is_copy && layer->from == 0)
			continue;
		has_own = has_own || layer->until == done;
		if (layer_counts(layer, done) && layer->after >= done)
			later = layer;
	}
	if (!later)
		return 0;
	/*
	 * What a commit took from layers comes back as these layers, below
	 * those made since.  What it moved out of the upper, or a rollback took
	 * away, comes back on top of them, where it does not belong.
	 */
	r = has_own ? is_commit(s, done, err) : 0;
	if (r != 0)
		return r < 0 ? r : 0;
	hb_fix(err, "holdback commit, then undo twice");
	/* A fork freezes the upper without a name for it. */
	if (later->mark[0] == '\0')
		return hb_fail(
			err, -HB_E_STATE,
			"a fork was made after the commit that undo would "
			"take back");
	return hb_fail(err, -HB_E_STATE,
		       "mark '%s' was made after the commit that undo would "
		       "take back",
		       later->mark);
}
