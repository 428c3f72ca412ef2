/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "changes/git/deliver.h"
#include "changes/part.h"
#include "tree/syncer.h"
#include "txn/databases.h"
#include "txn/history.h"
#include "txn/journal.h"
#include "txn/late.h"
#include "txn/leftovers.h"
#include "txn/number.h"
#include "txn/ops.h"
#include "txn/parts.h"
#include "txn/rest.h"
#include "txn/run.h"
#include "txn/steady.h"
#include "txn/survey.h"
#include "txn/txn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Commit
 * ------
 *
 *	scan	the change sets; filters, conflicts, the expected hash, the gate
 *	plan	every operation is checked, copies are staged	[txn/ID]
 *	sync	what will move
 *	look	whether everything is still what was scanned
 *	publish	the journal: from here on it is all or nothing	[journal]
 *	apply	step by step, by identity			[base, undo/ID]
 *	report	who remembers what was seen
 *	sync	the bases
 *	done	the journal is filed				[done/ID]
 *
 * Before `publish` a failure, or a kill, leaves nothing but what
 * leftovers_sweep() removes.  After it a failure takes every step back, and a
 * kill leaves it to txn_recover().
 *
 * The crash loops of t_commit hold this.
 */

/* The share of one resource. */
struct share {
	struct changes *changes;
	struct changes *delivered; /* what is taken of them; NULL: as it is */
	struct survey survey;
	struct site site;
};

struct commit {
	struct txn *txn;
	const struct txn_options *options;
	struct share *parts;
	size_t n;
	uint64_t id;
	bool has_rest;
	bool is_reviewed; /* the review is about what is there now */
};

static void add_summary(struct changes_summary *to,
			const struct changes_summary *from)
{
	to->n_changes += from->n_changes;
	to->n_added += from->n_added;
	to->n_modified += from->n_modified;
	to->n_deleted += from->n_deleted;
	to->n_renamed += from->n_renamed;
	to->n_type += from->n_type;
	to->n_attributes += from->n_attributes;
	to->n_times += from->n_times;
	to->n_git += from->n_git;
	to->n_dirs_added += from->n_dirs_added;
	to->n_dirs_deleted += from->n_dirs_deleted;
	to->n_dirs_changed += from->n_dirs_changed;
	to->bytes += from->bytes;
	to->n_ignored += from->n_ignored;
	to->ignored_bytes += from->ignored_bytes;
	to->n_dirs_ignored += from->n_dirs_ignored;
	to->n_locks += from->n_locks;
	to->n_unjudged += from->n_unjudged;
}

/* What is going to happen, and not what the session did. */
static struct changes *taken(const struct share *part)
{
	return part->delivered ? part->delivered : part->changes;
}

static void drop_scan(struct share *part)
{
	changes_free(part->delivered);
	part->delivered = NULL;
	changes_free(part->changes);
	part->changes = NULL;
	survey_done(&part->survey);
}

static int scan_one(struct commit *c, size_t i, struct hb_error *err)
{
	const struct resource *res = &c->txn->resources[i];
	const struct conflict_rule rule = run_rule(c->txn, i);
	const struct changes_request request = {
		.resource = res,
		.spill_dir = c->txn->session,
		.seen = rule.seen,
		.seen_ctx = rule.seen_ctx,
		.ignores = !c->options->with_ignored,
		.with_renames = true,
		/* A dry run is where the hash comes from. */
		.without_hash = c->is_reviewed ||
				(!c->options->expect && !c->options->dry_run),
	};
	int r = part_of(res)->changes(&request, &c->parts[i].changes, err);

	return r < 0 ? r : 0;
}

/* What a commit makes of repositories takes the place of their files. */
static int deliver(struct commit *c, struct hb_error *err)
{
	auto_free struct changes **all = NULL;
	auto_free struct delivered *lists = NULL;
	int r;

	if (!c->options->deliver)
		return 0;
	all = calloc(c->n + 1, sizeof(struct changes *));
	lists = calloc(c->n + 1, sizeof(*lists));
	if (!all || !lists)
		return hb_fail(err, -ENOMEM, "cannot deliver a repository");
	for (size_t i = 0; i < c->n; i++)
		all[i] = c->parts[i].changes;
	r = c->options->deliver(c->options->deliver_ctx, all,
				&c->options->choice, lists, err);
	for (size_t i = 0; i < c->n; i++) {
		if (r >= 0 && lists[i].n > 0)
			r = changes_deliver(all[i], &c->txn->resources[i],
					    c->txn->session, &lists[i],
					    &c->parts[i].delivered, err);
		delivered_done(&lists[i]);
	}
	return r < 0 ? r : 0;
}

static int survey_all(struct commit *c, struct hb_error *err)
{
	int r = deliver(c, err);

	for (size_t i = 0; r >= 0 && i < c->n; i++)
		r = survey_run(&c->parts[i].survey, taken(&c->parts[i]),
			       c->options, err);
	return r;
}

/* Of one the hash is its own; of several that of all of theirs. */
static void set_hash(const struct commit *c, struct changes_summary *sum)
{
	struct sha256 h;

	if (c->n == 1) {
		memcpy(sum->hash, changes_summary(c->parts[0].changes)->hash,
		       sizeof(sum->hash));
		return;
	}
	sha256_init(&h);
	for (size_t i = 0; i < c->n; i++)
		sha256_add(&h, changes_summary(c->parts[i].changes)->hash,
			   SHA256_SIZE);
	sha256_end(&h, sum->hash);
}

static int pass_gate(struct commit *c, struct hb_error *err)
{
	const struct txn_review *review =
		c->is_reviewed ? c->options->review : NULL;
	txn_gate_fn gate =
		review && review->gate ? review->gate : c->options->gate;
	bool is_refused = false;

	for (size_t i = 0; c->options->gate && i < c->n; i++) {
		int r = gate(c->options->gate_ctx, i, c->parts[i].changes,
			     c->options, err);

		if (r < 0)
			return r;
		is_refused |= r > 0;
	}
	return is_refused ? hb_fail(err, -HB_E_DENIED,
				    "the gate does not let it pass")
			  : 0;
}

/* 1: it is; 0: it is not.  Lines have no object: their hash tells. */
static int is_as_reviewed(const struct commit *c, size_t i,
			  struct hb_error *err)
{
	struct changes *then = c->options->review->changes[i];
	struct changes *now = c->parts[i].changes;

	if (part_is_layers(&c->txn->resources[i]))
		return steady_compare(then, now, err);
	return memcmp(changes_summary(then)->hash, changes_summary(now)->hash,
		      SHA256_SIZE) == 0;
}

/*
 * What was reviewed is walked once more, for the base may have changed since.
 * If it is not what it was then, everything is looked at anew.
 */
static int scan_all(struct commit *c, struct hb_error *err)
{
	const struct txn_review *review = c->options->review;
	int r = 0;

	c->is_reviewed = review != NULL;
	for (size_t i = 0; i < c->n; i++) {
		r = scan_one(c, i, err);
		if (r >= 0 && c->is_reviewed)
			r = is_as_reviewed(c, i, err);
		if (r < 0)
			return r;
		if (!c->is_reviewed || r == 1)
			continue;
		c->is_reviewed = false;
		for (size_t k = 0; k <= i; k++)
			drop_scan(&c->parts[k]);
		i = (size_t)-1;
	}
	return 0;
}

/*
 * The list of all of them is for who looks again, and where the session has no
 * more than a copy that look finds none.  So one is named here.
 */
static int refuse(const struct commit *c, uint64_t n, struct hb_error *err)
{
	size_t i = 0;

	while (i + 1 < c->n && !c->parts[i].survey.conflict)
		i++;
	return hb_fail(
		err, -HB_E_CONFLICT, "the base has changed in %llu %s %s",
		(unsigned long long)n, n == 1 ? "place:" : "places, first in",
		quoted(c->parts[i].survey.conflict));
}

static int scan(struct commit *c, struct txn_result *result,
		struct hb_error *err)
{
	uint64_t n_denied = 0;
	int r;

	r = scan_all(c, err);
	if (r >= 0)
		r = survey_all(c, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < c->n; i++) {
		add_summary(&result->summary,
			    changes_summary(c->parts[i].changes));
		result->summary.n_deleted -= c->parts[i].survey.n_kept_deleted;
		result->summary.n_dirs_deleted -=
			c->parts[i].survey.n_kept_deleted;
		result->summary.n_type -= c->parts[i].survey.n_kept_replaced;
		result->summary.n_conflicts += c->parts[i].survey.n_conflicts;
		result->n_operations += c->parts[i].survey.n_taken;
		n_denied += c->parts[i].survey.n_denied;
		c->has_rest = c->has_rest || c->parts[i].survey.has_rest;
	}
	result->has_rest = c->has_rest;
	if (c->is_reviewed)
		memcpy(result->summary.hash, c->options->review->hash,
		       SHA256_SIZE);
	else
		set_hash(c, &result->summary);
	if (c->options->expect &&
	    memcmp(c->options->expect, result->summary.hash, SHA256_SIZE) !=
		    0) {
		hb_fix(err, "look at the changes again");
		return hb_fail(err, -HB_E_CONFLICT,
			       "the changes are not the expected ones");
	}
	if (result->summary.n_conflicts > 0)
		return refuse(c, result->summary.n_conflicts, err);
	r = pass_gate(c, err);
	if (r < 0)
		return r;
	if (n_denied > 0)
		return hb_fail(err, -HB_E_DENIED,
			       "%llu change%s of a kind that has to be asked "
			       "for",
			       (unsigned long long)n_denied,
			       n_denied == 1 ? " is" : "s are");
	return 0;
}

/* What is not taken of several layers has to leave them as well. */
static int write_rest(struct commit *c, struct share *part,
		      const struct resource *res, struct syncer *syncer,
		      struct hb_error *err)
{
	const struct rest_request q = {
		.options = c->options,
		.changes = taken(part),
		.survey = &part->survey,
		.resource = res,
		.scratch = part->site.dirs[SITE_DIR_TXN],
		.syncer = syncer,
	};

	return res->rest >= 0 && res->n_layers > 1 ? rest_write(&q, err) : 0;
}

static int plan(struct commit *c, struct journal_writer *w,
		struct syncer *syncers, struct hb_error *err)
{
	uint64_t slot = 1;
	int r;

	for (size_t i = 0; i < c->n; i++) {
		const struct resource *res = &c->txn->resources[i];
		struct ops_request q = {
			.txn = c->txn,
			.options = c->options,
			.changes = taken(&c->parts[i]),
			.survey = &c->parts[i].survey,
			.site = &c->parts[i].site,
			.resource = (uint32_t)i,
			.rule = run_rule(c->txn, i),
			.writer = w,
			.syncer = &syncers[i],
			.first_slot = slot,
		};

		r = site_open(&c->parts[i].site, res, c->id, err);
		if (r == 0)
			r = site_make(&c->parts[i].site, err);
		if (r == 0 && c->parts[i].survey.n_taken > 0)
			r = part_is_layers(res)
				    ? ops_write(&q, &slot, err)
				    : part_of(res)->prepare(
					      res, c->id, taken(&c->parts[i]),
					      &c->options->choice, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < c->n && c->has_rest; i++) {
		r = write_rest(c, &c->parts[i], &c->txn->resources[i],
			       &syncers[i], err);
		if (r < 0)
			return r;
	}
	/* Two rounds: what the first started is written while we planned. */
	for (size_t i = 0; i < c->n; i++) {
		const struct resource *res = &c->txn->resources[i];

		r = syncer_wait(&syncers[i], res->spot);
		if (r == 0 && !res->record->same_mount && syncers[i].is_all)
			r = syncer_wait(&syncers[i], res->dir);
		if (r < 0)
			return hb_fail(err, r,
				       "cannot sync the files that will move");
	}
	return 0;
}

static int write_journal(struct commit *c, struct hb_error *err)
{
	struct journal_head head = {
		.kind = JOURNAL_COMMIT,
		.flags = (c->has_rest ? JOURNAL_HAS_REST : 0) |
			 (parts_are_there(c->txn) ? JOURNAL_HAS_PARTS : 0) |
			 (c->txn->is_live ? JOURNAL_LIVE : 0),
		.n_resources = (uint32_t)c->n,
		.id = c->id,
		.since = late_since(c->txn),
	};
	auto_free struct syncer *syncers = calloc(c->n, sizeof(*syncers));
	struct journal_writer *w = NULL;
	bool is_uncertain = false;
	int r;

	if (!syncers)
		return hb_fail(err, -ENOMEM, "cannot plan the commit");
	for (size_t i = 0; i < c->n; i++)
		syncer_init(&syncers[i]);
	r = journal_begin(c->txn->session, JOURNAL_COMMIT, &w, err);
	if (r == 0)
		r = plan(c, w, syncers, err);
	if (c->txn->open_databases.n > 0)
		head.flags |= JOURNAL_DATABASES;
	for (size_t i = 0; r == 0 && c->txn->applying && i < c->n; i++)
		r = c->txn->applying(
			c->txn->applied_ctx, i,
			changes_summary(taken(&c->parts[i]))->n_changes, err);
	/* The last look: nothing that takes time may come after it. */
	for (size_t i = 0; r == 0 && i < c->n; i++)
		r = steady_check(&c->txn->resources[i], taken(&c->parts[i]),
				 c->options, err);
	if (r == 0 && c->txn->publishing)
		r = c->txn->publishing(c->txn->publishing_ctx, c->id,
				       c->has_rest, err);
	if (r == 0)
		r = journal_publish(w, &head, &is_uncertain, err);
	for (size_t i = 0; i < c->n; i++)
		syncer_done(&syncers[i]);
	journal_writer_free(w);
	if (r < 0)
		databases_drop(c->txn);
	if (r < 0 && !is_uncertain)
		(void)leftovers_sweep(c->txn, NULL);
	return r;
}

static int commit_run(struct commit *c, txn_applied_fn applied,
		      void *applied_ctx, struct txn_result *result,
		      struct hb_error *err)
{
	struct run_request run = { .txn = c->txn,
				   .applied = applied,
				   .applied_ctx = applied_ctx };
	int r;

	r = run_check_idle(c->txn, err);
	if (r == 0)
		r = scan(c, result, err);
	if (r < 0 || c->options->dry_run || result->n_operations == 0)
		return r;
	/* What a plan that was cut short has left has our number. */
	r = leftovers_sweep(c->txn, err);
	if (r == 0)
		r = number_choose(c->txn, &c->id, err);
	if (r == 0)
		r = write_journal(c, err);
	if (r < 0)
		return r;
	r = run_journal(&run, err);
	if (r < 0)
		return r;
	result->id = c->id;
	result->undo_bytes = run.undo_bytes;
	return 0;
}

int txn_commit(struct txn *txn, const struct txn_options *options,
	       txn_applied_fn applied, void *applied_ctx,
	       struct txn_result *ret_result, struct hb_error *err)
{
	struct commit c = { .txn = txn,
			    .options = options,
			    .n = txn->n_resources };
	struct txn_result result = { 0 };
	struct run_locks locks;
	int r;

	r = run_lock(&locks, txn, err);
	if (r < 0)
		return r;
	c.parts = calloc(c.n, sizeof(*c.parts));
	r = c.parts ? commit_run(&c, applied, applied_ctx, &result, err)
		    : hb_fail(err, -ENOMEM, "cannot commit");
	for (size_t i = 0; c.parts && i < c.n; i++) {
		drop_scan(&c.parts[i]);
		site_close(&c.parts[i].site);
	}
	free(c.parts);
	run_unlock(&locks);
	/* A conflict is told with its numbers. */
	if (r == 0 || r == -HB_E_CONFLICT)
		*ret_result = result;
	return r;
}
