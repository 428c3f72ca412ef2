/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_REFS_H
#define HB_GATE_REFS_H

#include "base/buf.h"

#include <stddef.h>

struct hb_error;
struct look;

/*
 * Whether a branch or a tag of a repository is gone. git keeps each in a file
 * of its own or in a line of packed-refs, and moves them from there to here.
 * In path order packed-refs comes first.
 */
struct refs {
	struct buf dir; /* of the packed-refs at hand, with its slash */
	char *text;	/* its new content, or NULL */
	size_t n;
};

void refs_init(struct refs *refs);
void refs_done(struct refs *refs);

/*
 * Of the change of a packed-refs: 1 if the new one lacks a branch or a tag of
 * the old; its name goes to `ret_name`.  The new one is kept for the files that
 * follow.  Of the removal of any other file: 1 unless the packed-refs at hand
 * has it.  0, or a negated code that ends the gate.
 */
int refs_gone(struct refs *refs, struct look *look, char *ret_name, size_t size,
	      struct hb_error *err);

#endif
