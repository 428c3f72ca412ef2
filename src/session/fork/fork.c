/* SPDX-License-Identifier: Apache-2.0 */
#include "session/fork/fork.h"

#include "base/auto.h"
#include "base/error.h"
#include "git/kept/kept_index.h"
#include "session/create.h"
#include "session/freeze.h"
#include "session/git/own_branch.h"
#include "session/git/own_record.h"
#include "session/gone.h"
#include "session/layers.h"
#include "session/marks/copied.h"
#include "session/open.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "session/state.h"
#include "session/told.h"
#include "store/berth.h"
#include "store/resource.h"
#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * A fork is a session of its own that begins with the layers of another.  It
 * has the same frozen ones, an empty upper, the same T0 and the same knowledge
 * of what was committed.  Nothing of a layer is copied.
 *
 * The family's lock is held from before the layers are chosen until the new
 * record names them under its own name.
 */

#define SEEN	   "seen"
#define SEEN_CHUNK 65536

struct fork {
	struct hb_session *parent;
	size_t like; /* index of the layer whose top the new upper has */
	/* Instead of that: a copy, which is not in the stack; "": none. */
	char copy[RECORD_ID_SIZE];
};

/* What was committed from there explains the base here as well. */
static int copy_seen(int from, int to, struct hb_error *err)
{
	char block[SEEN_CHUNK];
	auto_fd int in = -1;
	auto_fd int out = -1;
	ssize_t n = 0;
	int r = 0;

	in = sys_openat(from, SEEN, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (in == -ENOENT)
		return 0;
	out = in < 0 ? in
		     : sys_openat(to, SEEN,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
				  0600);
	r = out < 0 ? out : 0;
	while (r >= 0 && (n = sys_read(in, block, sizeof(block))) > 0)
		r = sys_write_all(out, block, (size_t)n);
	if (r >= 0)
		r = n < 0 ? (int)n : sys_fsync(out);
	return r < 0 ? hb_fail(err, r, "cannot copy the record of commits") : 0;
}

static int fill(void *ctx, size_t number, int dir,
		struct record_resource *resource, struct hb_error *err)
{
	const struct fork *fork = ctx;
	struct hb_session *parent = fork->parent;
	const struct record_resource *old = &parent->record.resources[number];
	auto_fd int copy = -1;
	int r;

	if (berth_is_used(resource) != berth_is_used(old)) {
		hb_fix(err, "holdback commit @%s, then create",
		       parent->record.name);
		return hb_fail(err, -HB_E_STATE,
			       "the layers of '%s' cannot be where they are "
			       "any more",
			       old->source);
	}
	resource->t0 = old->t0;
	resource->has_groups = old->has_groups;
	r = sys_unlinkat(dir, "upper", AT_REMOVEDIR);
	if (r < 0)
		return hb_fail(err, r, "cannot make a layer");
	if (fork->copy[0]) {
		copy = layers_open_one(parent, fork->copy, number, err);
		if (copy < 0)
			return copy;
	}
	r = layers_make_upper(
		dir, "upper",
		copy >= 0 ? copy : parent->resources[number].layers[fork->like],
		err);
	if (r >= 0 && parent->resources[number].top >= 0)
		r = layers_make_upper(dir, RESOURCE_TOP,
				      parent->resources[number].top, err);
	if (r >= 0)
		r = copy_seen(parent->resources[number].dir, dir, err);
	if (r >= 0)
		r = own_branch_share(parent, number, dir, err);
	kept_index_share(parent->resources[number].dir, dir);
	if (r >= 0)
		r = sys_fsync(dir);
	return r;
}

static int copy_record(const struct session_record *from, const char *name,
		       struct session_record *ret, struct hb_error *err)
{
	struct record_resource *resource;
	int r = 0;

	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	memcpy(ret->family, from->family, sizeof(ret->family));
	ret->is_durable = from->is_durable;
	ret->has_lost = from->has_lost;
	ret->is_earlier = from->is_earlier;
	for (size_t i = 0; r >= 0 && i < from->n_policy; i++)
		r = record_add_policy(ret, from->policy[i], err);
	for (size_t i = 0; r >= 0 && i < from->n_resources; i++) {
		const struct record_resource *old = &from->resources[i];

		r = record_add_resource(ret, old->source, old->inside,
					&resource, err);
		if (r < 0)
			return r;
		resource->type = old->type;
		resource->ino = old->ino;
		resource->btime = old->btime;
		memcpy(resource->strategy, old->strategy,
		       sizeof(resource->strategy));
		memcpy(resource->effective, old->effective,
		       sizeof(resource->effective));
		memcpy(resource->role, old->role, sizeof(resource->role));
	}
	return r;
}

/* The layers that count, up to the mark; in the fork they count for good. */
static int copy_layers(struct fork *fork, const char *from,
		       struct session_record *ret, struct hb_error *err)
{
	const struct session_record *record = &fork->parent->record;
	size_t n = record->n_layers, end = n;
	uint64_t done = 0;
	int r;

	r = session_last_done(fork->parent, &done, err);
	if (r >= 0 && from) {
		r = session_find_mark(fork->parent, from, &end, err);
		end++;
	}
	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct record_layer layer = record->layers[i];
		bool counts = layer_counts(&layer, done);

		if (from && i + 1 == end && !counts)
			memcpy(fork->copy, layer.id, sizeof(fork->copy));
		else if (!counts)
			continue;
		if (i >= end) {
			fork->like++;
			continue;
		}
		layer.after = layer.from = layer.until = 0;
		layer.is_copy = layer.is_turn = false;
		r = record_add_layer(ret, &layer, err);
	}
	if (from)
		fork->like++;
	return r;
}

/* What a box has changed so far: a layer that the fork alone names. */
static int add_copy(struct fork *fork, struct session_record *ret,
		    struct hb_error *err)
{
	struct record_layer layer = { .frozen = sys_now().tv_sec };
	int r;

	r = session_copy_upper(fork->parent, COPIED_BY_OWNER, NULL, fork->copy,
			       err);
	if (r < 0)
		return r;
	memcpy(layer.id, fork->copy, sizeof(layer.id));
	return record_add_layer(ret, &layer, err);
}

static int make(struct hb_session *s, const char *name, const char *from,
		bool is_for_check, struct hb_error *err)
{
	auto_record struct session_record record = { 0 };
	struct fork fork = { .parent = s };
	const struct session_origin origin = { .fill = fill, .ctx = &fork };
	int r = 0;

	r = session_open_resources(s, err);
	if (r >= 0)
		r = gone_refuse(s, "the session cannot be forked", err);
	/* What is above the mark stays as it is. */
	if (r >= 0 && !from && !s->box)
		r = session_has_upper(s, err);
	if (r > 0) {
		r = session_freeze(s, "", err);
		session_close_resources(s);
	}
	if (r >= 0)
		r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = session_open_layers(s, i, err);
	if (r >= 0)
		r = copy_record(&s->record, name, &record, err);
	if (r >= 0)
		r = copy_layers(&fork, from, &record, err);
	if (r >= 0 && s->box && !from)
		r = add_copy(&fork, &record, err);
	if (is_for_check)
		memcpy(record.checks, s->record.id, sizeof(record.checks));
	return r < 0 ? r
		     : session_make(s->store, &record, &origin, NULL, NULL,
				    err);
}

static int fork_session(struct hb_session *session, const char *name,
			const char *from, bool is_for_check,
			struct hb_error *err)
{
	size_t number;
	int r;

	r = session_needs_lock(session, err);
	if (r >= 0)
		r = own_branch_need_whole(session, err);
	if (r >= 0)
		r = session_check_new(session->store, name, err);
	if (r >= 0 && from)
		r = session_find_mark(session, from, &number, err);
	if (r >= 0)
		r = session_lock_family(session, err);
	if (r < 0)
		return r;
	r = make(session, name, from, is_for_check, err);
	session_unlock_family(session);
	session_close_resources(session);
	return r;
}

int hb_session_fork(struct hb_session *session, const char *name,
		    const char *from, struct hb_error *err)
{
	struct hb_error local = { 0 };

	err = err ? err : &local;
	told_begin(session, "fork");
	return told_end(session, "fork",
			fork_session(session, name, from, false, err), 0, err);
}

int session_fork_for_check(struct hb_session *s, const char *name,
			   struct hb_error *err)
{
	return fork_session(s, name, NULL, true, err);
}

int session_make_aside(struct hb_session *s, const char *name,
		       struct hb_error *err)
{
	const struct hb_create_options asked = { .trusts_trials = true,
						 .is_quiet = true };
	auto_record struct session_record record = { 0 };
	int r;

	r = session_needs_lock(s, err);
	if (r >= 0)
		r = session_check_new(s->store, name, err);
	if (r >= 0)
		r = copy_record(&s->record, name, &record, err);
	if (r < 0)
		return r;
	/* git there sees the files of the user: it is on the user's branch. */
	for (size_t i = 0; i < record.n_resources; i++)
		memcpy(record.resources[i].strategy,
		       record.resources[i].effective,
		       sizeof(record.resources[i].strategy));
	record.family[0] = '\0';
	record.has_lost = false;
	memcpy(record.checks, s->record.id, sizeof(record.checks));
	return session_make(s->store, &record, NULL, &asked, NULL, err);
}
