/* SPDX-License-Identifier: Apache-2.0 */
#include "session/peers.h"

#include "base/auto.h"
#include "base/time.h"
#include "session/layers.h"
#include "session/session.h"
#include "store/berth.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A change that another session has committed from a layer that is ours as well
 * is not pending here any more.  That holds also where that session has changed
 * it further before: its version is newer than that of the layer.  It holds as
 * long as the base has exactly what that session left there, by its own `seen`.
 *
 * A layer also ends by a rollback and by a commit of other paths.  `seen` also
 * has what an undo left or, in a fork, what its origin committed.  So the path
 * has to be in a commit, in effect, that is not older than the end of the
 * layer.
 */

/* More sessions of one family are not asked. */
#define PEERS_MAX 256

/*
 * Which of our layers have ended in the other one.  The first transaction that
 * ended one, 0: none has.
 */
static uint64_t find_shared(const struct hb_session *s,
			    const struct session_record *other,
			    uint64_t other_done, uint64_t *ret_ended)
{
	uint64_t done = 0, first = 0;
	size_t at = 1;

	if (session_last_done(s, &done, NULL) < 0)
		return 0;
	for (size_t i = s->record.n_layers; i > 0; i--) {
		const struct record_layer *ours = &s->record.layers[i - 1];

		if (!layer_counts(ours, done))
			continue;
		for (size_t k = 0; k < other->n_layers; k++) {
			const struct record_layer *theirs = &other->layers[k];

			if (strcmp(ours->id, theirs->id) != 0 ||
			    theirs->until == 0 || theirs->until > other_done)
				continue;
			ret_ended[at] = theirs->until;
			if (first == 0 || theirs->until < first)
				first = theirs->until;
		}
		at++;
	}
	return first;
}

static int open_store(const struct peers *peers, int dir,
		      const struct session_record *other)
{
	const struct hb_session *s = peers->session;

	if (peers->resource >= other->n_resources)
		return -ENOENT;
	return berth_open(other, peers->resource, dir,
			  s->resources[peers->resource].base, NULL);
}

static int load_one(void *ctx, const char *name, struct hb_error *err)
{
	auto_record struct session_record other = { 0 };
	struct peers *peers = ctx;
	const struct hb_session *s = peers->session;
	struct hb_session at = { .dir = -1 };
	struct peer *peer = &peers->list[peers->n];
	auto_fd int dir = -1;
	auto_fd int store = -1;
	uint64_t done = 0, first;

	(void)err;
	if (peers->n == PEERS_MAX ||
	    record_check_name("session", name, NULL) < 0)
		return 0;
	dir = store_open_session(s->store, name, NULL);
	if (dir < 0 || record_read(dir, &other, NULL) < 0 ||
	    strcmp(other.family, s->record.family) != 0 ||
	    strcmp(other.id, s->record.id) == 0)
		return 0;
	at.dir = dir;
	if (session_last_done(&at, &done, NULL) < 0 || done == 0)
		return 0;
	*peer = (struct peer){ .seen.fd = -1 };
	peer->ended = calloc(s->resources[peers->resource].n_layers,
			     sizeof(*peer->ended));
	if (!peer->ended)
		return 0;
	first = find_shared(s, &other, done, peer->ended);
	if (first != 0 &&
	    committed_load(&peer->committed, dir, peers->resource, first) >= 0)
		store = open_store(peers, dir, &other);
	if (store < 0 || seen_open(store, &peer->seen, NULL) < 0) {
		committed_done(&peer->committed);
		free(peer->ended);
		return 0;
	}
	peers->n++;
	return 0;
}

static void load(struct peers *peers)
{
	const struct hb_session *s = peers->session;

	peers->is_loaded = true;
	if (s->record.n_layers == 0 || s->store->sessions < 0)
		return;
	peers->list = calloc(PEERS_MAX, sizeof(*peers->list));
	if (peers->list)
		(void)store_each_name(s->store->sessions, load_one, peers,
				      NULL);
}

/* Of type changes_peers_fn. */
static bool have_committed(void *ctx, size_t layer, const char *path,
			   uint64_t base_ino, struct timespec base_ctime)
{
	struct peers *peers = ctx;
	struct seen seen;

	if (!peers->is_loaded)
		load(peers);
	for (size_t i = 0; i < peers->n; i++) {
		struct peer *peer = &peers->list[i];

		if (peer->ended[layer] == 0 ||
		    !seen_find(&peer->seen, path, &seen) ||
		    seen.conflict != 0 || seen.base_ino != base_ino ||
		    !committed_since(&peer->committed, path,
				     peer->ended[layer]))
			continue;
		if (base_ino == 0 || time_is_same(seen.base_ctime, base_ctime))
			return true;
	}
	return false;
}

void peers_init(struct peers *peers, struct hb_session *s, size_t resource)
{
	*peers = (struct peers){
		.session = s,
		.resource = resource,
		.ask = { .have_committed = have_committed, .ctx = peers },
	};
}

void peers_done(struct peers *peers)
{
	for (size_t i = 0; i < peers->n; i++) {
		seen_done(&peers->list[i].seen);
		committed_done(&peers->list[i].committed);
		free(peers->list[i].ended);
	}
	free(peers->list);
	*peers = (struct peers){ 0 };
}
