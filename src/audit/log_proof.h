/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_LOG_PROOF_H
#define HB_AUDIT_LOG_PROOF_H

struct hb_error;
struct hb_events_fault;
struct hb_events_proof;

typedef int (*prove_fault_fn)(void *context,
			      const struct hb_events_fault *fault);

/*
 * Compares all segments with the chain and the head, under the log's lock, and
 * tells each fault.  Changes nothing.  A failure of `fn` ends it.
 */
int log_prove(int state, prove_fault_fn fn, void *context,
	      struct hb_events_proof *ret, struct hb_error *err);

#endif
