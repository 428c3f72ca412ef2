/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/changes.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/sha256.h"
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The change set of a session: those of its resources, one after the other,
 * through the filter that commit uses as well.
 */
struct hb_changes {
	struct changes **resources;
	size_t n, at;
	bool folds_renames; /* the two ends are one line */
	struct changes_filter filter;
	struct hb_summary summary;
};

/* Patterns are checked once, and here: what is malformed matches nothing. */
static int check_globs(const char *const *globs, size_t n, struct hb_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = glob_check(globs[i], err);

		if (r < 0) {
			if (err && err->code == HB_E_CONFIG)
				err->code = HB_E_USAGE;
			return r == -HB_E_CONFIG ? -HB_E_USAGE : r;
		}
	}
	return 0;
}

int session_check_filter(const struct hb_filter *filter, struct hb_error *err)
{
	int r = check_globs(filter->only, filter->n_only, err);

	return r < 0 ? r : check_globs(filter->except, filter->n_except, err);
}

static int scan(struct hb_session *s, bool without_hash, struct hb_changes *c,
		struct hb_error *err)
{
	struct txn *txn = NULL;
	int r;

	r = session_txn(s, &txn, err);
	for (size_t i = 0; r >= 0 && i < txn->n_resources; i++) {
		const struct txn_resource *resource = &txn->resources[i];
		const struct changes_request request = {
			.base = resource->base,
			.layers = resource->layers,
			.n_layers = resource->n_layers,
			.spill_dir = s->dir,
			.skip = resource->skip,
			.t0 = resource->t0,
			.seen = txn->seen,
			.seen_ctx = txn->seen_ctx[i],
			.with_renames = c->folds_renames,
			.without_hash = without_hash,
		};

		r = changes_scan(&request, &c->resources[i], err);
		if (r >= 0)
			c->n++;
	}
	return r;
}

static void hash(struct hb_changes *c)
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 h;

	if (c->n == 1) {
		sha256_hex(changes_summary(c->resources[0])->hash,
			   c->summary.hash);
		return;
	}
	sha256_init(&h);
	for (size_t i = 0; i < c->n; i++)
		sha256_add(&h, changes_summary(c->resources[i])->hash,
			   SHA256_SIZE);
	sha256_end(&h, digest);
	sha256_hex(digest, c->summary.hash);
}

static void count(struct hb_summary *sum, const struct hb_change *change)
{
	sum->n_conflicts += change->has_conflict;
	if (change->kind != 'D')
		sum->bytes += change->is_directory ? 0 : change->size;
	if (change->is_git) {
		sum->n_git++;
		return;
	}
	if (change->kind == 't') {
		sum->n_times++;
		return;
	}
	if (change->is_directory) {
		sum->n_directories++;
		return;
	}
	sum->n_files++;
	switch (change->kind) {
	case 'A':
		sum->n_added++;
		break;
	case 'D':
		sum->n_deleted++;
		break;
	case 'R':
		sum->n_renamed++;
		break;
	default:
		sum->n_changed++;
		break;
	}
}

static int summarise(struct hb_changes *c, bool with_hash, struct hb_error *err)
{
	struct hb_change change;
	int r;

	if (with_hash)
		hash(c);
	while ((r = hb_changes_next(c, &change, err)) == 1)
		count(&c->summary, &change);
	return r < 0 ? r : hb_changes_rewind(c, err);
}

int hb_session_changes(struct hb_session *session,
		       const struct hb_changes_options *options,
		       struct hb_changes **ret_changes, struct hb_error *err)
{
	const struct hb_filter *filter = &options->filter;
	struct hb_changes *c;
	int r;

	r = session_check_filter(filter, err);
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return hb_fail(err, -ENOMEM, "cannot look for changes");
	c->filter = (struct changes_filter){
		.only = filter->only,
		.n_only = filter->n_only,
		.except = filter->except,
		.n_except = filter->n_except,
	};
	/* A filter may take one end and leave the other. */
	c->folds_renames = filter->n_only == 0 && filter->n_except == 0;
	c->resources =
		calloc(session->record.n_resources, sizeof(struct changes *));
	r = c->resources ? scan(session, options->without_hash, c, err)
			 : hb_fail(err, -ENOMEM, "cannot look for changes");
	if (r >= 0)
		r = summarise(c, !options->without_hash, err);
	if (r < 0) {
		hb_changes_free(c);
		return r;
	}
	*ret_changes = c;
	return 0;
}

void hb_changes_free(struct hb_changes *changes)
{
	if (!changes)
		return;
	for (size_t i = 0; changes->resources && i < changes->n; i++)
		changes_free(changes->resources[i]);
	free(changes->resources);
	free(changes);
}

const struct hb_summary *hb_changes_summary(const struct hb_changes *changes)
{
	return &changes->summary;
}

int hb_changes_rewind(struct hb_changes *changes, struct hb_error *err)
{
	int r = 0;

	changes->at = 0;
	for (size_t i = 0; r >= 0 && i < changes->n; i++)
		r = changes_rewind(changes->resources[i], err);
	return r < 0 ? r : 0;
}

static void fill(const struct change *from, size_t resource,
		 struct hb_change *ret)
{
	bool is_renamed = from->flags & CHANGE_RENAMED && from->from;

	*ret = (struct hb_change){
		.kind = (char)from->kind,
		.is_directory = from->new.type == ENTRY_DIR ||
				(from->new.type == ENTRY_NONE &&
				 from->old.type == ENTRY_DIR),
		.is_git = (from->flags & CHANGE_GIT) != 0,
		.has_conflict = (from->flags & CHANGE_CONFLICT) != 0,
		.resource = resource,
		.path = from->path,
		.from = is_renamed ? from->from : NULL,
		.why = from->why,
		.size = from->new.type == ENTRY_FILE ? from->new.size : 0,
	};
	if (is_renamed)
		ret->kind = 'R';
	if (from->old.type != ENTRY_NONE)
		ret->base_time = from->old.ctime;
	if (from->new.type != ENTRY_NONE)
		ret->session_time = from->new.ctime;
}

int hb_changes_next(struct hb_changes *changes, struct hb_change *ret_change,
		    struct hb_error *err)
{
	struct change change;
	int r;

	while (changes->at < changes->n) {
		r = changes_next(changes->resources[changes->at], &change, err);
		if (r < 0)
			return r;
		if (r == 0) {
			changes->at++;
			continue;
		}
		if (change.flags & (CHANGE_CARRIED | CHANGE_MOVED_AWAY) ||
		    !changes_filter_passes(&changes->filter, &change))
			continue;
		fill(&change, changes->at, ret_change);
		return 1;
	}
	return 0;
}
