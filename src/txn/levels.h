/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_LEVELS_H
#define HB_TXN_LEVELS_H

#include "base/buf.h"
#include "txn/ops.h"
#include "txn/way.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The directories on the way to the change at hand, which get operations of
 * their own before what is in them.
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

/* A directory whose OP_DIRECTORY an earlier turn has written. */
struct level_written {
	char *path;
	bool gives_group;
	gid_t group;
};

struct planner {
	const struct ops_request *q;
	struct site *site;
	struct way way;
	uint64_t slot;
	struct buf path; /* of the change at hand */
	struct level *levels;
	size_t depth;
	struct level_written *written; /* where several turns need it */
	size_t n_written;
	/* of ops.c alone */
	uint64_t number;
	bool is_successor; /* it takes the place of a directory that goes */
	struct buf skip;   /* everything below this is done; empty: none */
};

void levels_done(struct planner *p);

/* Whether the path lies in the directory whose path is `len` bytes long. */
bool levels_is_below(const char *path, const char *dir, size_t len);

/*
 * A level is put at the end of the way.  It is taken off, true, as soon as the
 * path of a change does not lie in it; NULL: there are no more changes.
 */
int levels_push(struct planner *p, const struct level *level,
		struct hb_error *err);
bool levels_leave(struct planner *p, const char *path, struct level *ret);

/* Whether what is here is copied, and whether its original may leave. */
bool levels_is_copied(const struct planner *p);
bool levels_can_leave(const struct planner *p);

/* The level that the change at hand lies in, once it has its operation. */
const struct level *levels_parent(const struct planner *p);

/*
 * The group.  A user has one group in the view, so a group there means nothing.
 * An object that replaces another keeps the group of that.  A new object gets
 * the group that it would have got in the real directory.  `parent` is the
 * level it lies in, NULL if it is known to replace something.
 */
gid_t levels_group(const struct level *parent, const struct change *c);

/* Mode, owner and group that the object gets; `parent` as above. */
void levels_set_final(const struct level *parent, const struct change *c,
		      struct op *op);

/* What lies in the upper at the path, if it may and has to leave. */
int levels_clear_upper(struct planner *p, struct op *op, struct hb_error *err);

/* Checks what is in the base, and adds the operation to the journal. */
int levels_write_op(struct planner *p, struct op *op, struct hb_error *err);

/*
 * Writes the OP_DIRECTORY of a level; `c` has attributes for it, or is NULL.
 * The path is that of the change at hand up to the level's length.
 */
int levels_write_dir(struct planner *p, struct level *level,
		     const struct change *c, struct hb_error *err);

/* Makes the directory of the level of this number appear, empty. */
int levels_make(struct planner *p, size_t i, struct hb_error *err);

/* Everything above the change at hand is there and may be changed. */
int levels_need_parent(struct planner *p, const char *path,
		       struct hb_error *err);

#endif
