/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GROUP_H
#define HB_GATE_GROUP_H

#include "base/buf.h"
#include "gate/gate.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Findings in a directory full of others' work are told as one finding about
 * the directory, as severe as the severest of them.  A single one is told as it
 * is, and a denial is never put together with others.  The stream is in path
 * order, so there is one such directory at a time.
 */
struct resource;

struct group {
	const struct gate_rule *rule; /* NULL: in none */
	struct buf dir;
	struct gate_finding first; /* its path and detail are in `texts` */
	struct buf texts[2];
	uint64_t n_asked, n_warnings;
	bool is_new;	  /* the session made it, and its mark */
	struct buf plain; /* the last directory without a mark in or above it */
};

void group_init(struct group *group);
void group_done(struct group *group);

/* Whether the path lies in the directory at hand. */
bool group_holds(const struct group *group, const char *path);

/*
 * Begins with the first directory above the path that the rule's patterns are
 * about, or that has one of its marks.  There need not be one.  The group
 * before has ended.  -ENOMEM.
 *
 * A mark counts in a directory that is new, or where the base has it.  So
 * nothing that a session writes puts the findings of an old directory together.
 * In a new directory with a mark, a question about one of the rule's parts is a
 * warning.  No program uses the directory before its owner does.
 */
int group_begin(struct group *group, const struct gate_rule *rule,
		const struct resource *resource, const char *path,
		struct hb_error *err);

/* Keeps a finding in the directory.  -ENOMEM. */
int group_add(struct group *group, const struct gate_finding *finding,
	      struct hb_error *err);

/* Tells what was found, if anything, and leaves the directory. */
int group_end(struct group *group, gate_found_fn found, void *ctx,
	      struct hb_error *err);

#endif
