/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_PLANNER_H
#define HB_TXN_PLANNER_H

#include "base/buf.h"
#include "tree/linked.h"
#include "txn/ops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hb_error;

/*
 * What ops.c works with while it goes through the changes of one resource: the
 * directories on the way to the change at hand, which get operations of their
 * own before what is in them, and the copies that go into the base instead of
 * objects of the upper.
 */

/* A directory on the way to the change at hand. */
struct level {
	size_t len;	  /* of its path */
	bool has_op;	  /* its OP_DIRECTORY is written */
	bool is_new;	  /* `staged` will be there */
	bool is_pending;  /* it appears as soon as something is in it */
	bool is_blocked;  /* it would take the place of something else */
	bool is_copied;	  /* what is in it is copied */
	bool keeps_layer; /* and the originals stay, or left with it */
	bool gives_group; /* has_op: what is new in it gets its group */
	bool is_removed;  /* it goes when all that is in it has gone */
	gid_t group;
	struct object staged; /* is_new; is_removed: what stands in for it */
	uint64_t slot;	      /* is_removed: of that */
	struct change change; /* is_pending, is_removed: without its pointers */
};

struct planner {
	/* Plans what takes the place of a directory that was removed. */
	int (*plan_successor)(struct planner *p, const struct change *c,
			      struct hb_error *err);
	const struct ops_request *q;
	struct site *site;
	uint64_t slot, number;
	bool can_move, can_leave;
	bool is_successor; /* plan_successor() is under way */
	struct linked linked;
	struct buf path; /* of the change at hand */
	struct buf skip; /* everything below this is done; empty: none */
	struct level *levels;
	size_t depth, room;
};

/* Says what cannot be done to the path; returns `r`. */
int planner_fail(const char *path, int r, const char *what,
		 struct hb_error *err);

/* Whether the path lies in the directory whose path is `len` bytes long. */
bool planner_is_below(const char *path, const char *dir, size_t len);

/*
 * The way: a level is copied to its end, and leaves it as soon as the path of a
 * change does not lie in it.
 */
int planner_push(struct planner *p, const struct level *level,
		 struct hb_error *err);
int planner_leave(struct planner *p, const char *path, struct hb_error *err);

/*
 * A directory that vanishes and cannot be moved: a level that ends with the
 * OP_REMOVE of it, and then what takes its place.
 */
int planner_remove(struct planner *p, const struct change *c,
		   struct hb_error *err);

/* Whether what is here is copied, and whether its original may leave. */
bool planner_is_copied(const struct planner *p);
bool planner_can_leave(const struct planner *p);

/* The level that the change at hand lies in, once it has its operation. */
const struct level *planner_parent(const struct planner *p);

/*
 * The group.  A user has one in the view, so that one there means nothing: what
 * is replaced keeps its group, and what is new gets what it would have got in
 * the real directory.  `parent` is the level it lies in, NULL if it is known to
 * replace something.
 */
gid_t planner_group(const struct level *parent, const struct change *c);

/* Mode, owner and group that the object gets; `parent` as above. */
void planner_set_final(const struct level *parent, const struct change *c,
		       struct op *op);

/* What lies in the upper at the path, if it may and has to leave. */
int planner_set_layer(struct planner *p, struct op *op, struct hb_error *err);

/* Checks what is in the base, and adds the operation to the journal. */
int planner_write_op(struct planner *p, struct op *op, struct hb_error *err);

/*
 * Writes the OP_DIRECTORY of a level; `c` has attributes for it, or is NULL.
 * The path is that of the change at hand up to the level's length.
 */
int planner_write_dir(struct planner *p, struct level *level,
		      const struct change *c, struct hb_error *err);

/* Makes the directory of the level of this number appear, empty. */
int planner_make_level(struct planner *p, size_t i, struct hb_error *err);

/* Everything above the change at hand is there and may be changed. */
int planner_need_parent(struct planner *p, const char *path,
			struct hb_error *err);

/*
 * Copies the object of the layer to txn/ID/SLOT, with its final attributes, and
 * makes that the operation's source.  Names of one inode are so again.
 */
int planner_stage(struct planner *p, const struct change *c, struct op *op,
		  struct hb_error *err);

#endif
