/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_STRATEGY_H
#define HB_STRATEGY_STRATEGY_H

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
 * The table is in the order of fallback: where a strategy is not possible, the
 * next row for the same type of resource is tried.  The first is the default.
 * No other file names a strategy.
 *
 *	prefix	of its functions: PREFIX_possible() and the others below
 *	name	in records, in JSON and for --strategy
 *	article, noun	for people: "no NOUN for DIR, ARTICLE NOUN instead"
 *	types	of resources, by STRATEGY_OF()
 *	flags	enum strategy_flag: what it can do beyond the usual
 *	part	its part in change set and transaction, changes/part.h
 */
#define STRATEGIES(ROW)                                         \
	ROW(overlay, "overlay", "an", "overlay",                \
	    STRATEGY_OF(RESOURCE_FS_DIRECTORY), 0, part_layers) \
	ROW(copy, "copy_on_write", "a", "copy",                 \
	    STRATEGY_OF(RESOURCE_FS_DIRECTORY), STRATEGY_BARE, part_layers)

/*
 * Strategies that lie over one of the rows above.  That row holds the changes
 * back; this one says how a session begins and how it comes back.  No other row
 * falls back to it, and it falls back to none: it is there, or refused.
 *
 *	id	STRATEGY_OVER_ID
 *	name	as above
 */
#define STRATEGIES_OVER(ROW) ROW(BRANCH, "git_worktree") /* own_branch.h */

#define STRATEGY_OF(type) (1U << (type))

enum strategy_flag {
	STRATEGY_BARE = 1 << 0, /* works in a box without namespaces */
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

struct strategy {
	const char *name, *article, *noun;
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

#define STRATEGY_OVER(id, name) STRATEGY_OVER_##id,
enum strategy_over_id {
	STRATEGIES_OVER(STRATEGY_OVER)
};
#undef STRATEGY_OVER

struct strategy_over {
	enum strategy_over_id id;
	const char *name;
};

/* NULL: there is none of that name. */
const struct strategy_over *strategy_over_find(const char *name);

/* The strategy of that name, the default for ""; NULL: there is none. */
const struct strategy *strategy_find(const char *name);

/*
 * The first row, or the first behind `from`, that can hold back a resource of
 * the type and has all of the flags; NULL: there is none.
 */
const struct strategy *strategy_next(const struct strategy *from,
				     enum resource_type type, unsigned flags);

#endif
