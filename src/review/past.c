/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "session/layers.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "txn/history.h"
#include "txn/journal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What a session has behind it, and where it keeps what it has before it. */

struct latest {
	uint64_t *ids; /* the highest first */
	size_t n, max;
};

static int note_id(void *ctx, uint64_t id, struct hb_error *err)
{
	struct latest *latest = ctx;
	size_t at = latest->n;

	(void)err;
	while (at > 0 && latest->ids[at - 1] < id)
		at--;
	if (at == latest->max)
		return 0;
	if (latest->n < latest->max)
		latest->n++;
	memmove(latest->ids + at + 1, latest->ids + at,
		(latest->n - at - 1) * sizeof(*latest->ids));
	latest->ids[at] = id;
	return 0;
}

static int tell_one(const struct hb_session *s, uint64_t id, hb_past_fn fn,
		    void *ctx, struct hb_error *err)
{
	auto_journal struct journal *journal = NULL;
	struct hb_past past = { .id = id };
	struct timespec stamp = { 0 };
	int r;

	r = history_open(s->dir, HISTORY_DONE, id, &journal, err);
	if (r >= 0)
		r = history_stamp(s->dir, HISTORY_DONE, id, &stamp, err);
	if (r < 0)
		return r;
	past.time = stamp.tv_sec;
	past.is_rollback = journal_head(journal)->kind == JOURNAL_ROLLBACK;
	past.n_operations = journal_head(journal)->n_ops;
	past.undo_bytes = journal_head(journal)->undo_bytes;
	return fn(ctx, &past, err);
}

int hb_session_past(struct hb_session *session, size_t max, hb_past_fn fn,
		    void *ctx, struct hb_error *err)
{
	auto_free uint64_t *ids = calloc(max + 1, sizeof(*ids));
	struct latest latest = { .ids = ids, .max = max };
	int r;

	if (!ids)
		return hb_fail(err, -ENOMEM, "cannot list the commits");
	r = history_each(session->dir, HISTORY_DONE, note_id, &latest, err);
	for (size_t i = 0; r >= 0 && i < latest.n; i++) {
		r = tell_one(session, ids[i], fn, ctx, err);
		/* Another process has undone it meanwhile. */
		if (r == -ENOENT)
			r = 0;
	}
	return r < 0 ? r : 0;
}

static int tell_places(struct hb_session *s, size_t number, hb_place_fn fn,
		       void *ctx, struct hb_error *err)
{
	struct hb_place place = { .resource = number, .is_upper = true };
	auto_free char **layers = NULL;
	char path[PATH_MAX];
	size_t n = 0;
	int r;

	r = session_store_path(s, number, "upper", path, sizeof(path), err);
	if (r >= 0)
		r = session_layer_paths(s, number, &layers, &n, err);
	if (r < 0)
		return r;
	place.path = path;
	r = fn(ctx, &place, err);
	place.is_upper = false;
	for (size_t i = n; r >= 0 && i > 0; i--) {
		place.path = layers[i - 1];
		r = fn(ctx, &place, err);
	}
	return r;
}

int hb_session_places(struct hb_session *session, hb_place_fn fn, void *ctx,
		      struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < session->record.n_resources; i++)
		r = tell_places(session, i, fn, ctx, err);
	return r < 0 ? r : 0;
}
