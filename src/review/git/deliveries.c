/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/deliveries.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "changes/filter.h"
#include "changes/git/delivered.h"
#include "git/gitunit.h"
#include "git/indexmerge.h"
#include "git/kept/kept_index.h"
#include "git/objectstore.h"
#include "review/git/as_branch.h"
#include "review/git/base_files.h"
#include "review/git/deciding.h"
#include "review/git/merge/merge.h"
#include "review/git/merge/merging.h"
#include "review/git/module_tree.h"
#include "review/git/new_desk.h"
#include "review/git/own_tip.h"
#include "review/git/units.h"
#include "session/git/indexes.h"
#include "session/git/kept_values.h"
#include "session/git/own_record.h"
#include "session/session.h"
#include "sys/attr.h"
#include "tree/access.h"
#include "tree/content.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * delivery.h decides; here the change sets become its input, and its items
 * become those of the change sets.
 *
 * The base's files are looked at before they are read.  So what is decided is
 * about these very objects or older ones, and an operation that finds another
 * one in its place stops the commit.
 */
#define WORD "cannot deliver a repository"

void deliver_done(struct deliver *deliver)
{
	for (size_t i = 0; i < deliver->n; i++) {
		free(deliver->repos[i].prefix);
		kept_refs_done(&deliver->repos[i].kept);
		delivery_done(&deliver->repos[i].delivery);
		free(deliver->repos[i].why_refused);
		placed_index_done(&deliver->repos[i].index);
		standing_done(&deliver->repos[i].standing);
		free(deliver->repos[i].merged);
		free(deliver->repos[i].below);
	}
	free(deliver->repos);
	deliver->repos = NULL;
	deliver->n = 0;
}

/* A repository that is a resource belongs to a worktree in another one. */
static int find_desk(struct deciding *d)
{
	const struct hb_session *s = d->session;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		const struct ignored_outside *git = s->resources[i].git;

		if (!git ||
		    !base_files_find_dir(d->resource->base, "worktrees",
					 git->git, d->desk, sizeof(d->desk)))
			continue;
		d->tree = i;
		d->below = strdup("");
		return d->below ? 0 : -ENOMEM;
	}
	return 0;
}

/* "sub/.git" has its files in "sub/"; a module says where they are. */
static int find_tree(struct deciding *d)
{
	const char *prefix = d->unit->prefix;
	size_t n = strlen(prefix);

	d->tree = d->unit->resource;
	if (d->resource->is_git)
		return *prefix == '\0' ? find_desk(d) : 0;
	d->is_module = n < 4 || strcmp(prefix + n - 4, ".git") != 0 ||
		       strstr(prefix, ".git/");
	if (d->is_module)
		return module_tree_find(d->resource->base, prefix, &d->below);
	d->below = strndup(prefix, n - 4);
	return d->below ? 0 : -ENOMEM;
}

/*
 * What the merge is going to bring is not written to the work tree.  Nothing
 * that the user has below such a path is removed for it.
 */
static int hold_tree(struct deciding *d, struct changes *const *changes,
		     struct hb_error *err)
{
	size_t n = d->below ? strlen(d->below) : 0;
	auto_free char *top = NULL;
	struct change c;
	int r;

	if (!d->below || d->delivery->verdict != DELIVERY_TO_BRANCH)
		return 0;
	r = changes_rewind(changes[d->tree], err);
	while (r >= 0 && (r = changes_next(changes[d->tree], &c, err)) == 1) {
		if ((c.flags & (CHANGE_GIT | CHANGE_CARRIED)) ||
		    change_is_top(&c) || strncmp(c.path, d->below, n) != 0)
			continue;
		if (delivery_stays(d->delivery, c.path + n)) {
			free(top);
			top = strdup(c.path);
		} else if (!top || !deciding_is_below(c.path, top)) {
			continue;
		}
		if (!top ||
		    !delivered_add(&d->lists[d->tree], c.path, DELIVERED_HELD))
			return hb_fail(err, -ENOMEM, WORD);
	}
	return r < 0 ? r : changes_rewind(changes[d->tree], err);
}

static int refuse(const struct delivery *delivery, struct hb_error *err)
{
	if (delivery->fix)
		hb_fix(err, "%s", delivery->fix);
	return hb_fail(err, -HB_E_CONFLICT, "%s",
		       delivery->n_words > 0
			       ? delivery->words[0]
			       : "the repository cannot be delivered");
}

static bool is_desk_gone(const struct deciding *d)
{
	char name[sizeof(d->desk) + sizeof("/HEAD")];
	const struct unit_file *file;

	(void)snprintf(name, sizeof(name), "%s/HEAD", d->desk);
	file = d->desk[0] ? unit_find(d->unit, name) : NULL;
	return file && file->is_gone;
}

/* A repository that the session made has nothing that could move. */
static bool is_new(const struct deciding *d)
{
	struct base_files files = { 0 };
	int r = base_files_read(d->resource->base, d->unit->prefix, &files);

	base_files_done(&files);
	return access_is_gone(r);
}

/* Whether its values do not count; then `why_files` may have words. */
static bool is_files(const struct deciding *d, const struct deliver *deliver,
		     bool has_record)
{
	d->repo->why_files = NULL;
	if (d->unit->is_left)
		return true;
	if (deliver->mode == DELIVERY_MODE_FILES)
		d->repo->why_files = "the repository is treated as files, as "
				     "asked for";
	else if (!has_record && deliver->is_ahead && !is_new(d))
		d->repo->why_files = "the session began without a record of "
				     "its references: the repository is "
				     "treated as files";
	return deliver->mode == DELIVERY_MODE_FILES || !has_record;
}

/* What is going to be done, and what merge_make() needs to know for it. */
static int say_merge(struct deciding *d, struct hb_error *err)
{
	size_t n = d->delivery->n_commits;

	d->repo->tree = d->tree;
	d->repo->below = strdup(d->below);
	if (!d->repo->below ||
	    asprintf(&d->repo->merged,
		     "the branch moved meanwhile: %zu commit%s going to be "
		     "merged, if git can do that",
		     n, n == 1 ? " is" : "s are") < 0) {
		d->repo->merged = NULL;
		return hb_fail(err, -ENOMEM, WORD);
	}
	return 0;
}

/* Its objects are looked at all the same: git takes them for its own. */
static int check_files(struct deciding *d, const struct deliver *deliver,
		       const struct kept_refs *kept,
		       struct changes *const *changes, struct hb_error *err)
{
	int r;

	if (d->unit->is_left || is_new(d))
		return 0;
	r = deciding_ask(d, deliver, kept, err);
	if (r < 0)
		return r;
	if (d->delivery->verdict == DELIVERY_REFUSED)
		return refuse(d->delivery, err);
	if (d->delivery->n > 0)
		r = base_files_read(d->resource->base, d->unit->prefix,
				    &d->files);
	r = r < 0 ? hb_fail(err, r, WORD) : deciding_add_items(d, changes, err);
	/* Why it is files is said elsewhere, where it is said at all. */
	delivery_done(d->delivery);
	d->delivery->verdict = DELIVERY_AS_FILES;
	return r;
}

/* Whether the session has changes beside the way it began. */
static int has_changes(struct changes *changes, bool with_ignored,
		       struct hb_error *err)
{
	unsigned without = CHANGE_BEGUN | CHANGE_CARRIED |
			   (with_ignored ? 0 : CHANGE_IGNORED);
	struct change c;
	bool has_any = false;
	int r = changes_rewind(changes, err);

	while (r >= 0 && !has_any && (r = changes_next(changes, &c, err)) == 1)
		has_any = !(c.flags & without);
	if (r >= 0)
		r = changes_rewind(changes, err);
	return r < 0 ? r : has_any;
}

/* "holdback/s +2 commits, main moved by 1" */
static int say_own(struct deciding *d, const char *as_branch,
		   struct hb_error *err)
{
	const struct standing *at = &d->repo->standing;
	auto_free char *moved = NULL;
	int k = 0;

	d->repo->below = strdup(d->below);
	if (at->behind > 0)
		k = asprintf(&moved, ", %s moved by %" PRIu64,
			     at->beside ? quoted(at->beside) : "HEAD",
			     at->behind);
	if (k < 0)
		moved = NULL;
	if (k < 0 || !d->repo->below ||
	    asprintf(&d->repo->merged,
		     "%s +%" PRIu64
		     " commit%s%s: all of it, with changes as one more, "
		     "is going to be %s%s",
		     quoted(d->delivery->branch), at->ahead,
		     at->ahead == 1 ? "" : "s", moved ? moved : "",
		     as_branch ? "on the branch "
			       : "merged, if git can do that",
		     as_branch ? quoted(as_branch) : "") < 0) {
		d->repo->merged = NULL;
		return hb_fail(err, -ENOMEM, WORD);
	}
	return 0;
}

/* The merge writes them anew, so that none of them is a conflict. */
static int settle_own(const struct deciding *d, struct hb_error *err)
{
	for (size_t i = 0; i < d->unit->n; i++)
		if (!delivered_add(&d->lists[d->unit->resource],
				   d->unit->files[i].whole, DELIVERED_SETTLED))
			return hb_fail(err, -ENOMEM, WORD);
	return 0;
}

/*
 * A session on a branch of its own comes back by a merge, also where the user's
 * branch did not move.  Its view did not have the user's files.
 */
static int decide_own(struct deciding *d, const struct deliver *deliver,
		      const struct kept_refs *kept,
		      struct changes *const *changes, struct hb_error *err)
{
	int r = own_tip_read(d, err);

	if (r < 0)
		return r;
	d->delivery->verdict = DELIVERY_NOTHING;
	if (deliver->merge &&
	    !merge_find(deliver->merge, d->unit->resource, d->unit->prefix))
		return 0;
	if (!deliver->merge) {
		r = has_changes(changes[d->tree], deliver->with_ignored, err);
		if (r <= 0)
			return r;
	}
	d->repo->is_own = true;
	d->repo->tree = d->tree;
	r = standing_read(d, &d->repo->standing);
	if (r < 0)
		return hb_fail(err, r, WORD);
	if (deliver->merge)
		return merging_deliver(d, deliver, kept, changes, err);
	r = settle_own(d, err);
	return r < 0 ? r : say_own(d, deliver->as_branch, err);
}

/*
 * Nothing of a work tree on a branch of its own may reach the user's files but
 * by a merge.  Here something would: its repository is not what it was.
 */
static int need_merged(const struct deliver *deliver,
		       struct changes *const *changes, struct hb_error *err)
{
	const struct hb_session *s = deliver->session;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		bool is_merged = !changes[i] || !s->resources[i].begun;
		int r;

		for (size_t k = 0; !is_merged && k < deliver->n; k++)
			is_merged = deliver->repos[k].is_own &&
				    deliver->repos[k].tree == i;
		r = is_merged ? 0 : has_changes(changes[i], false, err);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		hb_fix(err, "the same command once more");
		return hb_fail(err, -HB_E_CONFLICT,
			       "session '%s' cannot be merged: the repository "
			       "of '%s' is another one by now",
			       s->record.name,
			       quoted(s->record.resources[i].source));
	}
	return 0;
}

static int decide_one(struct deciding *d, const struct deliver *deliver,
		      struct changes *const *changes, struct hb_error *err)
{
	struct kept_refs *kept = &d->repo->kept;
	int r = session_load_kept(d->session, d->unit->resource,
				  d->unit->prefix, kept);

	d->delivery->verdict = DELIVERY_AS_FILES;
	/* Without a record it is files, as it always was. */
	if (r == -ENOMEM)
		return hb_fail(err, r, WORD);
	if (is_files(d, deliver, r >= 0))
		return deliver->as_branch
			       ? 0
			       : check_files(d, deliver, kept, changes, err);
	r = find_tree(d);
	/* The gate has to say something about a worktree that is gone. */
	if (r >= 0 && is_desk_gone(d))
		return 0;
	if (r >= 0)
		r = base_files_read(d->resource->base, d->unit->prefix,
				    &d->files);
	/* A link or a file has its place by now: the walk tells that. */
	if (access_is_gone(r))
		return 0;
	if (r < 0)
		return hb_fail(err, r, WORD);
	if (deliver->as_branch) {
		r = as_branch_need_free(d, deliver->as_branch, err);
		if (r < 0)
			return r;
	}
	if (own_tip_is_of(d))
		return decide_own(d, deliver, kept, changes, err);
	r = deciding_ask(d, deliver, kept, err);
	if (r < 0)
		return r;
	if (d->delivery->verdict == DELIVERY_REFUSED)
		return refuse(d->delivery, err);
	r = standing_read(d, &d->repo->standing);
	if (r < 0)
		return hb_fail(err, r, WORD);
	/* The merge of a submodule is for its user: it goes to a branch. */
	if (deliver->mode == DELIVERY_MODE_MERGE && d->delivery->can_merge &&
	    d->below && !d->is_module) {
		if (deliver->merge)
			return merging_deliver(d, deliver, kept, changes, err);
		r = say_merge(d, err);
	}
	if (r >= 0)
		r = deciding_add_items(d, changes, err);
	return r < 0 ? r : hold_tree(d, changes, err);
}

static struct deliver_repo *add_repo(struct deliver *deliver,
				     const struct unit *unit)
{
	struct deliver_repo *repo;

	if (grow(deliver->repos, deliver->n) < 0)
		return NULL;
	repo = &deliver->repos[deliver->n];
	*repo = (struct deliver_repo){ .resource = unit->resource,
				       .prefix = strdup(unit->prefix) };
	if (!repo->prefix)
		return NULL;
	deliver->n++;
	return repo;
}

/*
 * A commit ends with the first refusal.  A look ahead goes on: the user is told
 * about the other repositories as well.
 */
static int keep_refusal(const struct deliver *deliver,
			struct deliver_repo *repo, const struct hb_error *why)
{
	if (!deliver->is_ahead)
		return -HB_E_CONFLICT;
	repo->delivery.verdict = DELIVERY_REFUSED;
	if (asprintf(&repo->why_refused, "commit is going to be refused: %s",
		     why->text) < 0) {
		repo->why_refused = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int decide_unit(struct deliver *deliver, const struct units *units,
		       const struct unit *unit, struct changes *const *changes,
		       struct delivered *lists, struct hb_error *refused)
{
	struct deliver_repo *repo = add_repo(deliver, unit);
	struct hb_error why = { 0 };
	struct deciding d = {
		.session = deliver->session,
		.resource = &deliver->session->resources[unit->resource],
		.units = units,
		.unit = unit,
		.lists = lists,
		.repo = repo,
	};
	int r;

	if (!repo)
		return hb_fail(refused, -ENOMEM, WORD);
	d.delivery = &repo->delivery;
	r = decide_one(&d, deliver, changes, &why);
	free(d.below);
	base_files_done(&d.files);
	if (r >= 0)
		return r;
	/* The error names the first one. */
	if (refused->code == 0)
		(void)hb_pass(refused, &why, r);
	return r == -HB_E_CONFLICT ? keep_refusal(deliver, repo, &why) : r;
}

static const enum delivery_mode modes[] = {
	[HB_GIT_USUAL] = DELIVERY_MODE_FF,
	[HB_GIT_FF] = DELIVERY_MODE_FF,
	[HB_GIT_BRANCH] = DELIVERY_MODE_BRANCH,
	[HB_GIT_MERGE] = DELIVERY_MODE_MERGE,
	[HB_GIT_FILES] = DELIVERY_MODE_FILES,
};

/* The key is looked up only where there is a repository. */
static int find_mode(struct deliver *deliver, struct hb_error *err)
{
	enum hb_git_mode mode = deliver->asked;
	int r = mode == HB_GIT_USUAL ? hb_session_git_mode(deliver->session,
							   NULL, &mode, err)
				     : 0;

	deliver->mode = own_branch_is_any(&deliver->session->record)
				? DELIVERY_MODE_MERGE
				: modes[mode];
	return r;
}

int deliver_decide(void *ctx, struct changes *const *changes,
		   const struct changes_choice *choice, struct delivered *lists,
		   struct hb_error *err)
{
	struct deliver *deliver = ctx;
	auto_units struct units units = { 0 };
	struct hb_error refused = { 0 };
	int r;

	/* A commit may look twice. */
	deliver_done(deliver);
	r = units_find(deliver->session, changes, choice, &units, err);
	if (r >= 0 && units.n > 0)
		r = find_mode(deliver, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < units.n; i++)
		r = decide_unit(deliver, &units, &units.list[i], changes, lists,
				&refused);
	if (r >= 0 && refused.code != 0)
		r = -HB_E_CONFLICT;
	if (r >= 0 && deliver->as_branch)
		r = as_branch_hold_rest(deliver, changes, lists, &refused);
	if (r < 0)
		return hb_pass(err, &refused, r);
	return deliver->merge ? need_merged(deliver, changes, err) : 0;
}

/* Of type txn_publishing_fn. */
static int publish(void *ctx, uint64_t id, bool has_rest, struct hb_error *err)
{
	const struct deliver *deliver = ctx;

	/*
	 * Also where nothing is delivered: a commit that was taken back may
	 * have had the same number.
	 */
	for (size_t i = 0; i < deliver->n; i++) {
		const struct deliver_repo *repo = &deliver->repos[i];
		bool is_new = repo->delivery.verdict != DELIVERY_AS_FILES &&
			      repo->delivery.verdict != DELIVERY_WAITS;
		const struct kept_refs *refs =
			is_new ? &repo->delivery.next : &repo->kept;
		int r = refs->n == 0
				? 0
				: session_store_kept(deliver->session,
						     repo->resource,
						     repo->prefix, id, refs);

		if (r < 0)
			return hb_fail(err, r, "cannot keep the references");
		if (repo->index.path)
			r = indexes_place(deliver->session, repo->resource,
					  repo->index.path, id,
					  repo->index.data, repo->index.size);
		if (r < 0)
			return hb_fail(err, r, "cannot keep the index");
	}
	return deliver->publishing
		       ? deliver->publishing(deliver->publishing_ctx, id,
					     has_rest, err)
		       : 0;
}

void deliver_attach(struct deliver *deliver, struct txn *txn)
{
	deliver->publishing = txn->publishing;
	deliver->publishing_ctx = txn->publishing_ctx;
	txn->publishing = publish;
	txn->publishing_ctx = deliver;
}
