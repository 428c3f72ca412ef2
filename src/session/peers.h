/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PEERS_H
#define HB_SESSION_PEERS_H

#include "session/committed.h"
#include "store/seen.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The sessions of the same family, asked about one resource: which paths they
 * have committed on top of layers that they share with ours.  Nothing is read
 * before the first question, and what cannot be read knows nothing.
 */
struct peer {
	struct seen_file seen;
	struct committed committed;
	/* By index of our layers: which of its transactions ended it, or 0. */
	uint64_t *ended;
};

struct peers {
	struct hb_session *session;
	size_t resource;
	struct peer *list;
	size_t n;
	bool is_loaded;
	struct changes_peers ask; /* for the change set; its ctx is this */
};

void peers_init(struct peers *peers, struct hb_session *s, size_t resource);
void peers_done(struct peers *peers);

#endif
