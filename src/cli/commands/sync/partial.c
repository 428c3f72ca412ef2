/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/sync/partial.h"

#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/quote.h"
#include "cli/commands/commit.h"
#include "cli/front/table.h"
#include "cli/show/reports.h"
#include "cli/show/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 20)

/* A path that is left out may uncover another. */
#define ROUNDS_MAX 64

void partial_done(struct partial_held *held)
{
	for (size_t i = 0; i < held->n; i++) {
		free(held->list[i].path);
		free(held->list[i].why);
		free(held->list[i].left);
	}
	free(held->list);
	for (size_t i = 0; i < held->n_renames; i++) {
		free(held->renames[i].path);
		free(held->renames[i].from);
	}
	free(held->renames);
	*held = (struct partial_held){ 0 };
}

/* `left` is the path that goes out of the commit, with all below it. */
static int hold(struct commit *c, size_t resource, const char *path,
		const char *left, const char *why, struct hb_error *err)
{
	struct partial_held *held = &c->held;
	struct partial_path one = { .resource = resource };
	bool is_left = false;
	int r = 0;

	for (size_t i = 0; i < held->n; i++) {
		const struct partial_path *other = &held->list[i];

		if (other->resource != resource ||
		    strcmp(other->left, left) != 0)
			continue;
		if (strcmp(other->path, path) == 0)
			return 0;
		is_left = true;
	}
	if (!is_left)
		r = selection_leave(&c->selection, c->said.info, resource, left,
				    err);
	if (r < 0)
		return r;
	if (grow(held->list, held->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	one.path = strdup(path);
	one.why = strdup(why);
	one.left = strdup(left);
	if (!one.path || !one.why || !one.left) {
		free(one.path);
		free(one.why);
		free(one.left);
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	}
	held->list[held->n++] = one;
	return 0;
}

static int hold_conflicts(struct commit *c, struct hb_changes *changes,
			  struct hb_error *err)
{
	struct hb_change change;
	int r;

	while ((r = hb_changes_next(changes, &change, err)) == 1) {
		if (change.has_conflict)
			r = hold(c, change.resource, change.path, change.path,
				 change.why, err);
		else if (change.asks != HB_ASKS_NOTHING)
			r = hold(c, change.resource, change.path, change.path,
				 show_asks(&change), err);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : hb_changes_rewind(changes, err);
}

struct hearing {
	struct commit *commit;
	struct hb_changes *changes;
	struct hb_error *err;
	int r;
};

/* As reports.found. */
static void hear(void *ctx, const struct hb_finding *f)
{
	struct hearing *h = ctx;
	struct buf why = BUF_INIT(TEXT_MAX);

	if (f->severity == HB_SEVERITY_WARN || f->is_allowed || h->r < 0)
		return;
	(void)quote_name(f->reason, strlen(f->reason), &why);
	(void)buf_add_fmt(&why, " [%s]", f->rule);
	h->r = why.error ? hb_fail(h->err, why.error, "cannot keep a path")
			 : hold(h->commit, f->resource, f->path,
				f->repository ? f->repository : f->path,
				buf_str(&why), h->err);
	buf_done(&why);
}

static int hold_findings(struct commit *c, struct hb_changes *changes,
			 struct hb_error *err)
{
	struct hearing h = { .commit = c, .err = err };
	struct hb_gate_options options = c->options.gate;
	struct hb_gate_result result = { 0 };
	int r;

	c->call->reports->found = hear;
	c->call->reports->found_ctx = &h;
	r = hb_session_gate(c->session, changes, &options, &result, err);
	c->call->reports->found = NULL;
	return r < 0 ? r : h.r;
}

/* git is in the middle of its work: all of that directory waits. */
static int hold_git(struct commit *c, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < c->said.info->n_resources; i++) {
		const char *work = hb_session_git_work(c->session, i);

		if (work)
			r = hold(c, i, ".", ".", work, err);
	}
	return r;
}

static int look(struct commit *c, struct hb_changes **ret, struct hb_error *err)
{
	struct hb_changes_options options = {
		.with_ignored = c->options.with_ignored,
		.git = c->options.git,
	};

	c->options.filter.without = (const char *const *)c->selection.left;
	c->options.filter.n_without = c->selection.n_left;
	options.filter = c->options.filter;
	return hb_session_changes(c->session, &options, ret, err);
}

static int keep_renames(struct partial_held *held, struct hb_changes *changes,
			struct hb_error *err)
{
	struct hb_change change;
	int r;

	while ((r = hb_changes_next(changes, &change, err)) == 1) {
		struct partial_rename one = { .resource = change.resource };

		if (!change.from)
			continue;
		if (grow(held->renames, held->n_renames) < 0)
			return hb_fail(err, -ENOMEM, "cannot keep a path");
		one.path = strdup(change.path);
		one.from = strdup(change.from);
		held->renames[held->n_renames++] = one;
		if (!one.path || !one.from)
			return hb_fail(err, -ENOMEM, "cannot keep a path");
	}
	held->has_renames = r >= 0;
	return r < 0 ? r : hb_changes_rewind(changes, err);
}

/*
 * A look that leaves something out tells the two ends of a rename apart, so
 * they are taken from the first that leaves out nothing.
 */
static int find_renames(struct commit *c, struct hb_changes *changes,
			struct hb_error *err)
{
	const struct hb_filter *f = &c->options.filter;
	const struct hb_changes_options options = {
		.with_ignored = c->options.with_ignored,
		.git = c->options.git,
	};
	struct hb_changes *whole = NULL;
	int r;

	if (c->held.has_renames)
		return 0;
	if (f->n_only + f->n_except + f->n_paths + f->n_without == 0)
		return keep_renames(&c->held, changes, err);
	r = hb_session_changes(c->session, &options, &whole, err);
	if (r >= 0)
		r = keep_renames(&c->held, whole, err);
	hb_changes_free(whole);
	return r;
}

static bool is_out(const struct partial_held *held, size_t resource,
		   const char *path)
{
	for (size_t i = 0; i < held->n; i++)
		if (held->list[i].resource == resource &&
		    path_is_beneath(path, held->list[i].left))
			return true;
	for (size_t i = 0; i < held->n_renames; i++) {
		const struct partial_rename *other = &held->renames[i];

		if (other->is_out && other->resource == resource &&
		    (path_is_beneath(path, other->path) ||
		     path_is_beneath(path, other->from)))
			return true;
	}
	return false;
}

/* Both ends of a rename wait: one of them alone is a copy, or a loss. */
static int leave_other_ends(struct commit *c, struct hb_error *err)
{
	struct partial_held *held = &c->held;
	bool is_more = true;

	while (is_more) {
		is_more = false;
		for (size_t i = 0; i < held->n_renames; i++) {
			struct partial_rename *one = &held->renames[i];
			int r;

			if (one->is_out ||
			    (!is_out(held, one->resource, one->path) &&
			     !is_out(held, one->resource, one->from)))
				continue;
			r = selection_leave(&c->selection, c->said.info,
					    one->resource, one->path, err);
			if (r >= 0)
				r = selection_leave(&c->selection, c->said.info,
						    one->resource, one->from,
						    err);
			if (r < 0)
				return r;
			one->is_out = is_more = true;
		}
	}
	return 0;
}

/* One look; returns whether something was left out. */
static int hold_more(struct commit *c, struct hb_error *err)
{
	size_t before = c->selection.n_left;
	struct hb_changes *changes = NULL;
	int r = look(c, &changes, err);

	if (r >= 0) {
		c->summary = *hb_changes_summary(changes);
		c->has_summary = true;
		r = find_renames(c, changes, err);
	}
	if (r >= 0)
		r = hold_conflicts(c, changes, err);
	/* What is in conflict is not the gate's business yet. */
	if (r >= 0 && c->selection.n_left == before && !c->options.without_gate)
		r = hold_findings(c, changes, err);
	if (r >= 0)
		r = leave_other_ends(c, err);
	hb_changes_free(changes);
	return r < 0 ? r : c->selection.n_left > before;
}

/* All that stands against it; returns whether there was something. */
static int hold_all(struct commit *c, struct hb_error *err)
{
	int r = 1, i;

	for (i = 0; r > 0 && i < ROUNDS_MAX; i++)
		r = hold_more(c, err);
	if (r > 0)
		return hb_fail(err, -HB_E_CONFLICT,
			       "more and more paths stand against it");
	return r < 0 ? r : i > 1;
}

int partial_apply(struct commit *c, struct hb_commit_result *result,
		  struct hb_error *err)
{
	struct hb_error why = { 0 };
	bool is_refused = false;
	int r = hold_git(c, err);

	if (r < 0)
		return r;
	/* The commit asks the gate again, about what it is going to apply. */
	c->options.follows = true;
	for (;;) {
		r = hold_all(c, err);
		if (r < 0)
			return r;
		/* Refused for another reason than a path. */
		if (is_refused && r == 0)
			return hb_pass(err, &why, -why.code);
		/* Also of an idle command there would be two records each time.
		 */
		if (c->is_repeated && !show_has_changes(&c->summary, true))
			return 0;
		why = (struct hb_error){ 0 };
		r = hb_session_commit(c->session, &c->options, result, &why);
		is_refused = r == -HB_E_CONFLICT || r == -HB_E_DENIED;
		if (!is_refused)
			return hb_pass(err, &why, r);
	}
}

int partial_show(const struct hb_session_info *info,
		 const struct partial_path *held, struct buf *out)
{
	const struct hb_change change = { .resource = held->resource };

	(void)buf_add_str(out, "held: ");
	if (strcmp(held->path, ".") == 0)
		(void)quote_name(info->resources[held->resource].source,
				 strlen(info->resources[held->resource].source),
				 out);
	else
		(void)show_path(info, &change, held->path, out);
	(void)buf_add_fmt(out, ": %s\n", held->why);
	return out->error;
}

void partial_json(const struct hb_session_info *info,
		  const struct partial_held *held, struct doc *doc)
{
	json_key(&doc->json, "held");
	json_array(&doc->json);
	for (size_t i = 0; i < held->n; i++) {
		json_object(&doc->json);
		doc_str(doc, "source",
			info->resources[held->list[i].resource].source);
		doc_str(doc, "path", held->list[i].path);
		doc_str(doc, "reason", held->list[i].why);
		json_end(&doc->json);
	}
	json_end(&doc->json);
}
