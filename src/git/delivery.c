/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery.h"

#include "base/error.h"
#include "base/quote.h"
#include "git/delivery/connected.h"
#include "git/delivery/decision.h"
#include "git/delivery/desk_index.h"
#include "git/delivery/heads.h"
#include "git/delivery/leftover.h"
#include "git/delivery/logs.h"
#include "git/delivery/named.h"
#include "git/delivery/orphans.h"
#include "git/delivery/packed.h"
#include "git/delivery/references.h"
#include "git/delivery/session_refs.h"
#include "git/delivery/shallow.h"
#include "git/delivery/sound.h"
#include "git/delivery/stash.h"
#include "git/delivery/touched.h"
#include "git/indexmerge.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each part adds the items of its own paths, and the last one those of all
 * others.  What a part must not deliver it leaves pending; only an object that
 * is missing refuses everything.
 */

#define BRANCHES  "refs/heads/"
#define MORE_SIZE sizeof(" and 18446744073709551615 more")

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void delivery_done(struct delivery *delivery)
{
	for (size_t i = 0; i < delivery->n; i++) {
		free(delivery->items[i].path);
		free(delivery->items[i].content);
		free(delivery->items[i].old);
		free(delivery->items[i].new);
	}
	free(delivery->items);
	free_texts(delivery->words, delivery->n_words);
	free(delivery->fix);
	free(delivery->branch);
	free(delivery->head_branch);
	free_texts(delivery->conflicts, delivery->n_conflicts);
	free_texts(delivery->held, delivery->n_held);
	free_texts(delivery->touched, delivery->n_touched);
	for (size_t i = 0; i < delivery->n_moved; i++)
		free(delivery->moved[i].path);
	free(delivery->moved);
	kept_refs_done(&delivery->next);
	*delivery = (struct delivery){ 0 };
}

const struct delivery_item *delivery_find(const struct delivery *delivery,
					  const char *path)
{
	size_t low = 0, high = delivery->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(path, delivery->items[middle].path);

		if (order == 0)
			return &delivery->items[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool delivery_stays(const struct delivery *delivery, const char *path)
{
	if (delivery->verdict != DELIVERY_TO_BRANCH)
		return false;
	return delivery->is_all_touched ||
	       (delivery->n_touched > 0 &&
		bsearch(&path, delivery->touched, delivery->n_touched,
			sizeof(*delivery->touched), by_text));
}

/* One name of the next record; `now` is the base's value or "". */
static int add_next(struct decision *d, const char *name, const char *now)
{
	const char *moved = kept_refs_value(&d->moved, name);
	const char *value = moved ? moved : now;

	if (kept_refs_value(&d->pending, name))
		value = decision_then(d, name);
	return value[0] ? kept_refs_add(&d->out->next, name, value) : 0;
}

/*
 * Values of the base, as they will be; where the session's is pending, the one
 * that it is based on.  Those of our own branches that are still there stay
 * marked.
 */
static int make_next(struct decision *d)
{
	const struct kept_refs *kept = d->q->kept;
	int r = 0;

	kept_refs_sort(&d->moved);
	kept_refs_sort(&d->pending);
	for (size_t i = 0; r >= 0 && i < d->base.n; i++)
		r = add_next(d, d->base.refs[i].name, d->base.refs[i].value);
	for (size_t i = 0; r >= 0 && i < d->moved.n; i++)
		if (!decision_base(d, d->moved.refs[i].name)[0])
			r = add_next(d, d->moved.refs[i].name, "");
	for (size_t i = 0; r >= 0 && i < d->pending.n; i++)
		if (!decision_base(d, d->pending.refs[i].name)[0])
			r = add_next(d, d->pending.refs[i].name, "");
	for (size_t i = 0; r >= 0 && i < kept->n_made; i++)
		if (decision_base(d, kept->made[i])[0] &&
		    !kept_refs_value(&d->moved, kept->made[i]))
			r = kept_refs_add_made(&d->out->next, kept->made[i]);
	if (r >= 0)
		r = kept_refs_add_shallow(&d->out->next, d->shallow);
	kept_refs_sort(&d->out->next);
	return r;
}

static enum delivery_verdict verdict_of(const struct delivery *out)
{
	if (out->branch)
		return DELIVERY_TO_BRANCH;
	for (size_t i = 0; i < out->n; i++)
		if (out->items[i].is_ref ||
		    out->items[i].how == DELIVERY_INDEX ||
		    out->items[i].how == DELIVERY_MADE)
			return DELIVERY_FORWARD;
	return DELIVERY_NOTHING;
}

static int decide_all(struct decision *d)
{
	int r = heads_decide(d);

	if (r >= 0)
		r = references_decide(d);
	if (r >= 0)
		r = stash_decide(d);
	if (r >= 0)
		r = packed_decide(d);
	if (r >= 0)
		r = heads_add_items(d);
	if (r >= 0)
		r = orphans_keep(d);
	if (r >= 0)
		r = logs_decide(d);
	if (r >= 0)
		r = desk_index_decide(d);
	if (r >= 0 && d->has_moved)
		r = touched_find(d);
	return r;
}

/* A held path, or an entry that both sides changed: the unit waits. */
static int wait_for_user(struct decision *d)
{
	const struct delivery *out = d->out;
	bool is_conflict = out->n_conflicts > 0;
	size_t n = is_conflict ? out->n_conflicts : out->n_held;
	char more[MORE_SIZE] = "";

	if (n == 0)
		return decision_say(d,
				    "a path that is left out may be in the "
				    "session's commits: references and index "
				    "stay pending");
	if (n > 1)
		(void)snprintf(more, sizeof(more), " and %zu more", n - 1);
	return decision_say(
		d, "%s%s: %s, so references and index stay pending",
		quoted(is_conflict ? out->conflicts[0] : out->held[0]), more,
		is_conflict ? "changed in the index on both sides"
			    : "left out, but in the session's "
			      "commits");
}

static bool is_waiting(const struct decision *d)
{
	return d->out->n_conflicts > 0 || d->out->n_held > 0 ||
	       (d->out->is_all_touched && d->q->is_held);
}

/* Nothing of the session is delivered: all of it is still based on T0. */
static int keep_values(struct decision *d)
{
	const struct kept_refs *kept = d->q->kept;
	int r = 0;

	kept_refs_done(&d->moved);
	kept_refs_done(&d->out->next);
	for (size_t i = 0; r >= 0 && i < d->session.n; i++)
		if (!d->q->as_ref ||
		    strcmp(d->session.refs[i].name, d->q->as_ref) != 0)
			r = kept_refs_add(&d->pending, d->session.refs[i].name,
					  "-");
	for (size_t i = 0; r >= 0 && i < kept->n; i++)
		r = kept_refs_add(&d->pending, kept->refs[i].name, "-");
	for (size_t i = 0; r >= 0 && i < kept->n_stash; i++)
		r = kept_refs_add_stash(&d->out->next, kept->stash[i]);
	return r;
}

/* What is not delivered, by name; the items come later. */
static int keep_pending(struct decision *d)
{
	int r = 0;

	if (d->q->as_ref || is_waiting(d))
		r = keep_values(d);
	if (r >= 0 && d->q->as_ref)
		r = named_go_on(d);
	else if (r >= 0 && is_waiting(d))
		r = wait_for_user(d);
	return r < 0 ? r : packed_keep_names(d, d->q->as_ref || is_waiting(d));
}

static void judge_items(struct decision *d)
{
	d->out->verdict = verdict_of(d->out);
	if (!d->q->as_ref && is_waiting(d))
		d->out->verdict = DELIVERY_WAITS;
	if (d->q->as_ref || is_waiting(d))
		leftover_keep_all(d, d->q->as_ref);
}

/* What the parts found, together: 1: it is delivered, 0: it is ended. */
static int conclude(struct decision *d)
{
	int r = sound_check(d);

	if (r > 0)
		r = connected_check(d);
	if (r <= 0) {
		d->is_refused = r == 0;
		return r;
	}
	r = keep_pending(d);
	if (r >= 0)
		r = make_next(d);
	if (r >= 0)
		r = leftover_add_items(d);
	if (r < 0)
		return r;
	judge_items(d);
	if (d->out->verdict == DELIVERY_FORWARD && d->q->is_ahead &&
	    d->has_moved)
		return references_say_forward(d);
	return 0;
}

/* Nothing is delivered; the words are all that is left. */
static int end(struct decision *d, enum delivery_verdict verdict,
	       const char *words)
{
	char **said = d->out->words;
	size_t n = d->out->n_words;

	/* A part that refuses has said why, last of all. */
	if (!words) {
		d->out->words = NULL;
		d->out->n_words = 0;
	}
	delivery_done(d->out);
	d->out->verdict = verdict;
	if (words)
		return decision_say(d, "%s", words);
	for (size_t i = 0; i + 1 < n; i++)
		free(said[i]);
	if (n > 1)
		said[0] = said[n - 1];
	d->out->words = said;
	d->out->n_words = n > 0;
	return 0;
}

/*
 * What its objects are, and where its history ends, counts all the same: the
 * user's later commits rest on it.
 */
static int end_as_files(struct decision *d, const char *words)
{
	int r = sound_check_objects(d);

	if (r > 0)
		r = end(d, DELIVERY_AS_FILES, words);
	else if (r == 0)
		return end(d, DELIVERY_REFUSED, NULL);
	if (r >= 0)
		r = shallow_decide(d);
	return r == 0 ? end(d, DELIVERY_REFUSED, NULL) : r < 0 ? r : 0;
}

/* Where the two sides stand. */
static int keep_heads(const struct decision *d)
{
	struct delivery *out = d->out;
	const char *name = d->session_branch;

	(void)git_id_parse(d->then_commit, strlen(d->then_commit), &out->then);
	(void)git_id_parse(d->base_commit, strlen(d->base_commit), &out->now);
	(void)git_id_parse(d->session_commit, strlen(d->session_commit),
			   &out->head);
	if (!name)
		return 0;
	if (strncmp(name, BRANCHES, strlen(BRANCHES)) == 0)
		name += strlen(BRANCHES);
	out->head_branch = strdup(name);
	return out->head_branch ? 0 : -ENOMEM;
}

static int decide(struct decision *d)
{
	char head[PATH_MAX];
	bool has_record;
	int r;

	decision_head(d, head, sizeof(head));
	has_record = d->q->kept && kept_refs_value(d->q->kept, head);
	if (d->q->mode == DELIVERY_MODE_FILES)
		return end_as_files(d, "the repository is treated as files, as "
				       "asked for");
	if (!has_record)
		return end_as_files(d, "the session began without a record of "
				       "its references: the repository is "
				       "treated as files");
	r = session_refs_read(d);
	if (r == -ENOTSUP)
		return end_as_files(d, "its references are of a format that "
				       "holdback does not read: the repository "
				       "is treated as files");
	if (r == -EFBIG)
		return end_as_files(d, "it has too many references: the "
				       "repository is treated as files");
	if (r >= 0)
		r = d->q->as_ref ? named_decide(d) : decide_all(d);
	if (r == -ENOTSUP)
		return end_as_files(d, "its index is of a format that holdback "
				       "does not read: the repository is "
				       "treated as files");
	if (r >= 0 && !d->is_refused)
		r = conclude(d);
	if (r >= 0 && !d->is_refused)
		r = keep_heads(d);
	if (d->is_refused)
		return end(d, DELIVERY_REFUSED, NULL);
	if (r == -EBADMSG)
		return end(d, DELIVERY_REFUSED,
			   "HEAD or packed-refs of the session cannot be "
			   "understood");
	return r;
}

int delivery_decide(const struct delivery_request *request,
		    struct delivery *ret_delivery, struct hb_error *err)
{
	struct decision d = { .q = request, .out = ret_delivery };
	int r;

	*ret_delivery = (struct delivery){ 0 };
	r = decide(&d);
	decision_done(&d);
	return r < 0 ? hb_fail(err, r, "cannot decide about the repository")
		     : 0;
}
