/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/time.h"
#include "session/open.h"
#include "session/session.h"
#include "store/berth.h"
#include "store/progress.h"
#include "store/store.h"
#include "sys/attr.h"
#include "tree/alteration.h"
#include "tree/tree.h"
#include "txn/check.h"
#include "txn/txn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Changes in the real directories although everything was held back.
 *
 * An object that was touched since T0 tells so (tree/alteration.h).  `seen` has
 * the objects that commits have touched, with inode and change time.  It is
 * that of this session or of another one on the same directory.  All else was
 * touched by another program, or got out.  A name that vanished shows in the
 * directory it was in.
 */

/* More sessions on one directory are not asked. */
#define WITNESSES_MAX 256

#define PROGRESS_EVERY 4096

struct verify {
	struct hb_session *session;
	size_t resource;
	struct timespec t0;
	struct seen_file *witnesses;
	size_t n_witnesses;
	hb_escape_fn fn;
	void *ctx;
	struct progress progress;
	struct hb_verified result;
};

static bool is_seen(struct verify *v, const char *path,
		    const struct sys_attr *attr)
{
	struct seen seen;

	for (size_t i = 0; i < v->n_witnesses; i++)
		if (seen_find(&v->witnesses[i], path, &seen) &&
		    seen.base_ino == attr->ino &&
		    time_is_same(seen.base_ctime, attr->ctime))
			return true;
	return false;
}

static int look(struct verify *v, const char *path, const struct sys_attr *attr,
		struct hb_error *err)
{
	const struct hb_escape escape = {
		.resource = v->resource,
		.path = *path ? path : ".",
		.what = alteration_since(attr, v->t0),
		.is_directory = S_ISDIR(attr->mode),
		.time = attr->ctime,
	};

	if (++v->result.n_looked % PROGRESS_EVERY == 0)
		progress_tell(&v->progress, v->result.n_looked);
	if (!escape.what || is_seen(v, path, attr))
		return 0;
	v->result.n_found++;
	return v->fn(v->ctx, &escape, err);
}

static int visit(void *ctx, const struct tree_visit *at, struct hb_error *err)
{
	struct verify *v = ctx;

	if (at->when == TREE_LEAVE)
		return 0;
	if (at->when == TREE_SHUT) {
		v->result.n_unread++;
		return 0;
	}
	if (berth_is_name(at->path))
		return TREE_SKIP;
	return look(v, at->path, &at->attr, err);
}

/* What another session on the same directory has committed. */
static int add_witness(void *ctx, const char *name, struct hb_error *err)
{
	auto_record struct session_record record = { 0 };
	struct verify *v = ctx;
	const struct hb_session *s = v->session;
	const struct record_resource *ours = &s->record.resources[v->resource];
	auto_fd int dir = -1;

	(void)err;
	if (record_check_name("session", name, NULL) < 0)
		return 0;
	dir = store_open_session(s->store, name, NULL);
	if (dir < 0 || record_read(dir, &record, NULL) < 0)
		return 0;
	for (size_t i = 0; i < record.n_resources; i++) {
		const struct record_resource *theirs = &record.resources[i];
		auto_fd int store = -1;

		if (theirs->ino != ours->ino ||
		    strcmp(theirs->source, ours->source) != 0 ||
		    v->n_witnesses == WITNESSES_MAX)
			continue;
		store = berth_open(&record, i, dir,
				   s->resources[v->resource].base, NULL);
		if (store >= 0 &&
		    seen_open(store, &v->witnesses[v->n_witnesses], NULL) >= 0)
			v->n_witnesses++;
	}
	return 0;
}

static int verify_one(struct verify *v, struct hb_error *err)
{
	struct hb_session *s = v->session;
	int base = s->resources[v->resource].base;
	struct sys_attr top;
	int r;

	v->t0 = s->record.resources[v->resource].t0;
	v->n_witnesses = 0;
	v->witnesses = calloc(WITNESSES_MAX, sizeof(*v->witnesses));
	if (!v->witnesses)
		return hb_fail(err, -ENOMEM, "cannot verify");
	r = store_each_name(s->store->sessions, add_witness, v, err);
	if (r >= 0)
		r = sys_attr_at(base, "", &top);
	if (r >= 0)
		r = look(v, "", &top, err);
	if (r >= 0)
		r = tree_walk(base, ".", TREE_PATIENT, visit, v, err);
	for (size_t i = 0; i < v->n_witnesses; i++)
		seen_done(&v->witnesses[i]);
	free(v->witnesses);
	return r < 0 ? hb_fail(err, r, "cannot look through '%s'",
			       s->record.resources[v->resource].source)
		     : 0;
}

/* Not without the lock: its holder may be at work there. */
static int check_transaction(struct hb_session *s, struct hb_error *err)
{
	size_t n = s->record.n_resources;
	auto_free struct resource *resources = calloc(n, sizeof(*resources));
	struct txn_state state;
	struct txn txn = { .session = s->dir, .resources = resources };

	if (!resources)
		return hb_fail(err, -ENOMEM, "cannot verify");
	for (size_t i = 0; i < n; i++) {
		if (s->resources[i].is_gone)
			continue;
		resources[txn.n_resources++] = s->resources[i];
	}
	return s->has_lock ? txn_check(&txn, &state, err) : 0;
}

/* Whether there is nothing to verify: nothing there, or writes are real. */
static bool is_left_out(const struct hb_session *s, size_t i)
{
	const struct hb_resource *resource = &hb_session_info(s)->resources[i];

	if (s->resources[i].is_gone)
		return true;
	if (resource->is_direct)
		store_say(s->store,
			  "'%s' is not held back: it is not looked through",
			  quoted(resource->source));
	return resource->is_direct;
}

int hb_session_verify(struct hb_session *session, hb_escape_fn fn, void *ctx,
		      struct hb_verified *ret_verified, struct hb_error *err)
{
	struct verify v = { .session = session,
			    .fn = fn,
			    .ctx = ctx,
			    .progress = PROGRESS_NONE };
	int r;

	r = session_open_resources(session, err);
	if (r < 0)
		return r;
	r = check_transaction(session, err);
	if (r < 0) {
		session_close_resources(session);
		return hb_fail(err, r, "session '%s'", session->record.name);
	}
	progress_begin(&v.progress, session->store,
		       "looking through the real directories");
	for (size_t i = 0; r >= 0 && i < session->record.n_resources; i++) {
		if (is_left_out(session, i))
			continue;
		v.resource = i;
		r = verify_one(&v, err);
	}
	progress_end(&v.progress);
	session_close_resources(session);
	if (r < 0)
		return r;
	*ret_verified = v.result;
	return 0;
}
