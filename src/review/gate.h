/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GATE_H
#define HB_REVIEW_GATE_H

#include "holdback/session.h"
#include "review/allowed.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The gate of one session: the rules of each resource, what is allowed, and
 * what was found.
 *
 * Rules are the built-in ones, those of the system and of the user, and the
 * file in the real directory, which may only tighten.  A file that the session
 * holds back decides nothing before it is committed.
 */
struct session_gate {
	struct hb_session *session;
	const struct hb_gate_options *options;
	bool with_special, with_setid;
	struct gate_rules **rules; /* by resource */
	size_t n_rules;
	struct hb_gate_result result;
	struct allowed allowed; /* what commit records */
	bool check_failed;	/* and the user did not allow that */
	struct found *found;	/* of an earlier look, or NULL */
	struct found *kept;	/* where to keep what is found, or NULL */
};

/*
 * Reads the rules and checks what is allowed against them.  -HB_E_CONFIG,
 * -HB_E_USAGE.  session_gate_done() in any case, also for zero.
 */
int session_gate_begin(struct session_gate *gate, struct hb_session *session,
		       const struct hb_gate_options *options,
		       struct hb_error *err);
void session_gate_done(struct session_gate *gate);

/* Tells what the check command said, as a finding about everything. */
int session_gate_check(struct session_gate *gate,
		       const struct hb_gate_check *check, struct hb_error *err);

/* Of type txn_gate_fn. */
int session_gate_look(void *ctx, size_t resource, struct changes *changes,
		      const struct txn_options *options, struct hb_error *err);

/* The same from what `found` has of an earlier look; reports nothing. */
int session_gate_recall(void *ctx, size_t resource, struct changes *changes,
			const struct txn_options *options,
			struct hb_error *err);

#endif
