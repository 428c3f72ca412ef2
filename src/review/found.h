/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_FOUND_H
#define HB_REVIEW_FOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gate_finding;

/*
 * The findings of the gate in a change set.  They are kept so that a commit of
 * the very same need not ask again.  It decides anew which of them are allowed.
 */
struct found_one {
	size_t resource;
	char *rule, *path;
	int severity; /* enum gate_severity, above a warning */
};

struct found {
	struct found_one *list;
	size_t n;
	uint64_t n_warnings;
	bool is_whole; /* the gate came to its end, and all of it is here */
};

/* Accepts zero, and leaves that. */
void found_done(struct found *found);

/* Before the gate is asked: nothing is there, and will be whole. */
void found_begin(struct found *found);

/* One finding; where there are too many the rest is not whole any more. */
void found_note(struct found *found, size_t resource,
		const struct gate_finding *finding);

#endif
