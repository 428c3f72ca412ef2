/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_WAY_H
#define HB_TXN_WAY_H

#include "tree/linked.h"
#include "tree/syncer.h"
#include "txn/op.h"
#include "txn/site.h"
#include "txn/survey.h"

#include <stdbool.h>
#include <stdint.h>

/* How one object of a resource gets into its base: moved, copied or remade. */
struct way {
	struct site *site;
	struct syncer *syncer;
	const struct survey *survey;
	struct linked linked;
	bool can_move;	   /* objects may be moved out of the upper */
	bool can_leave;	   /* the original of a copy may leave it */
	uint64_t contents; /* of the directory that way_choose() looked at */
};

/* Says what cannot be done to the path; returns `r`. */
int way_fail(const char *path, int r, const char *what, struct hb_error *err);

enum {
	WAY_COPY,
	WAY_MOVE
};

/* Which of the two, by the object alone; below 0: a failure. */
int way_choose(struct way *w, const struct change *c, struct hb_error *err);

/*
 * Whether what the base has there cannot be moved: it is removed once it is
 * empty, and way_remake() has what comes back.
 */
bool way_is_remade(const struct way *w, const struct change *c);

/* From the upper, with all that is in it, as way_choose() has found it. */
void way_move(const struct way *w, const struct change *c, struct op *op);

/*
 * Copies the object of the layer to txn/ID/SLOT, with its final attributes, and
 * makes that the operation's source.  Names of one inode are so again.
 */
int way_copy(struct way *w, const struct change *c, struct op *op,
	     struct hb_error *err);

/* An empty copy of the base's directory, which its owner may fill again. */
int way_remake(struct way *w, const struct change *c, uint64_t slot,
	       struct object *ret, struct hb_error *err);

/* What lies in the upper at the path has to leave with the operation. */
int way_clear_upper(struct way *w, struct op *op, struct hb_error *err);

/* Of a git index, for an undo, which may find another with the same entries. */
int way_name_index(struct way *w, struct op *op, struct hb_error *err);

#endif
