/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_STRATEGY_H
#define HB_STRATEGY_STRATEGY_H

#include "base/strategy_names.h"
#include "changes/part.h"
#include "changes/resource.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct hb_listener;

/*
 * How changes to a resource are held back.
 *
 * The truth about pending changes of a directory is the same for all: layers
 * over the base, as an overlay writes them.  Marks and forks know nothing else.
 * A strategy says what a box is shown, and how the box's changes get into the
 * upper layer.
 *
 * base/strategy_names.h has the names.
 */

/*
 * The strategies by type of resource.  The same name may stand for different
 * functions, of different types.  The table is in the order of fallback: where
 * a strategy is not possible, the next row for the same type of resource is
 * tried.  The first is the default of the type.
 *
 *	prefix	of its functions: PREFIX_possible() and the others below
 *	id	of its name in STRATEGY_NAMES
 *	types	of resources, by STRATEGY_OF()
 *	flags	enum strategy_flag: what it can do beyond the usual
 *	part	its part in change set and transaction, changes/part.h
 */
#define STRATEGIES(ROW)                                             \
	ROW(overlay, OVERLAY, STRATEGY_DIRS, 0, part_layers)        \
	ROW(copy, COPY, STRATEGY_DIRS, STRATEGY_BARE, part_layers)  \
	ROW(none, NONE, STRATEGY_DIRS, STRATEGY_ASKED, part_layers) \
	ROW(private, ROLLBACK, STRATEGY_OF(RESOURCE_POSTGRES), 0, part_layers)

/*
 * Strategies that lie over one of the rows above.  That row holds the changes
 * back; this one says how a session begins and how it comes back.  No other row
 * falls back to it, and it falls back to none: it is there, or refused.
 *
 *	id	of its name
 *	types	as above
 */
#define STRATEGIES_OVER(ROW) \
	ROW(BRANCH, STRATEGY_OF(RESOURCE_GIT_CHECKOUT)) /* own_branch.h */

#define STRATEGY_OF(type) (1U << (type))
#define STRATEGY_DIRS                                                          \
	(STRATEGY_OF(RESOURCE_FS_DIRECTORY) | STRATEGY_OF(RESOURCE_FS_MOUNT) | \
	 STRATEGY_OF(RESOURCE_GIT_CHECKOUT))

enum strategy_flag {
	STRATEGY_BARE = 1 << 0,	 /* works in a box without namespaces */
	STRATEGY_ASKED = 1 << 1, /* only by name: nothing falls back to it */
};

/* One call of a strategy.  Everything is borrowed. */
struct strategy_call {
	const struct resource *resource; /* with its layers, but for a trial */
	/* A directory that holds the store: not a part of the resource. */
	uint64_t avoid_dev, avoid_ino;
	const char *boot;  /* the id of this boot */
	bool has_lost;	   /* the machine went down while a box ran */
	bool scans_groups; /* adopt: looks through all of the tree for groups */
	bool is_quiet;	   /* adopt: does not look for what is only said */
	/* possible: whether the host can mount an overlay there. */
	int (*try_overlay)(void *ctx, const struct resource *resource,
			   struct hb_error *err);
	/* What the box has to show as it is, read-only; below 0 ends it. */
	int (*held)(void *ctx, const char *path, struct hb_error *err);
	void *ctx;
	const struct hb_listener *listener; /* may be NULL */
};

/* A row of STRATEGY_NAMES. */
struct strategy_named {
	const char *name, *article, *noun, *words;
};
extern const struct strategy_named strategy_names[STRATEGY_N_NAMES];

struct strategy {
	const struct strategy_named *named;
	unsigned types; /* STRATEGY_OF() */
	unsigned flags; /* enum strategy_flag */
	/* changes(), commit(), undo(), rollback(): part.h */
	const struct part *part;
	/*
	 * Whether the resource, which is being made and has no layers yet, can
	 * be held back so.  A failure says why; nothing is left behind.
	 */
	int (*possible)(const struct strategy_call *call, struct hb_error *err);
	/* It was chosen: notes what it needs to know in the record. */
	int (*adopt)(const struct strategy_call *call,
		     struct record_resource *record, struct hb_error *err);
	/*
	 * The name in `dir` of the tree that the box is shown, and that it
	 * writes to; NULL: an overlay over base and layers.
	 */
	const char *(*show)(const struct record_resource *record);
	/* Whether there is nothing to do before and after a box. */
	bool (*is_quick)(const struct record_resource *record);
	/*
	 * Before a box, and at the creation of a session, with nothing pending
	 * in what is shown: afterwards that is base and layers.  The effects of
	 * an earlier commit, undo, rollback, fork or interruption are made up
	 * for here, so that they need not know of it.  Can be repeated.
	 * Returns 1 if something was written, else 0.
	 */
	int (*before_box)(const struct strategy_call *call,
			  struct hb_error *err);
	/*
	 * The record says that a box runs: after_box() takes back what is done
	 * here, also after a crash.
	 */
	int (*begin_box)(const struct strategy_call *call,
			 struct hb_error *err);
	/*
	 * After a box, however it ended: afterwards the upper has what the box
	 * did; the caller syncs it.  A failure or an end in between loses
	 * nothing, and the next call does it all.  Until it has succeeded no
	 * caller may look at the layers or call before_box().
	 */
	int (*after_box)(const struct strategy_call *call,
			 struct hb_error *err);
	/*
	 * Removes what is shown from `dir`, with what a box did to it; needs no
	 * room.  after_box() has nothing to do then, and before_box() makes it
	 * again.  Can be repeated.
	 */
	int (*cleanup)(int dir, struct hb_error *err);
};

/* The functions of each row, in a file of the row's own. */
#define STRATEGY_FUNCTIONS(prefix, ...)                                  \
	int prefix##_possible(const struct strategy_call *call,          \
			      struct hb_error *err);                     \
	int prefix##_adopt(const struct strategy_call *call,             \
			   struct record_resource *record,               \
			   struct hb_error *err);                        \
	const char *prefix##_show(const struct record_resource *record); \
	bool prefix##_is_quick(const struct record_resource *record);    \
	int prefix##_before_box(const struct strategy_call *call,        \
				struct hb_error *err);                   \
	int prefix##_begin_box(const struct strategy_call *call,         \
			       struct hb_error *err);                    \
	int prefix##_after_box(const struct strategy_call *call,         \
			       struct hb_error *err);                    \
	int prefix##_cleanup(int dir, struct hb_error *err);
STRATEGIES(STRATEGY_FUNCTIONS)

struct strategy_over {
	const struct strategy_named *named;
	unsigned types; /* STRATEGY_OF() */
};

/* NULL: there is none of that name. */
const struct strategy_over *strategy_over_find(const char *name);

/*
 * The strategy of that name for a resource of the type, the type's default for
 * ""; NULL: there is none.
 */
const struct strategy *strategy_find(enum resource_type type, const char *name);

/* The strategy in force; NULL: this version has none of that name. */
const struct strategy *strategy_of(const struct record_resource *record);

/*
 * The first row, or the first behind `from`, for a resource of the type.  It
 * has all of the flags, and need not be asked for.  NULL: there is none.
 */
const struct strategy *strategy_next(const struct strategy *from,
				     enum resource_type type, unsigned flags);

/* Whether there is a strategy of that name, for any type. */
bool strategy_is_name(const char *name);

/* Whether a resource of the type can be held back so, if it is asked for. */
bool strategy_allows(enum resource_type type, const char *name);

#endif
