/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_STRATEGY_NAMES_H
#define HB_BASE_STRATEGY_NAMES_H

/*
 * The names of the ways in which a resource can be held back, one row each.  No
 * other file has one.  Their order is that of help and lists.  Each has at
 * least one row in strategy/strategy.h.
 *
 *	id	STRATEGY_NAME_ID
 *	name	in records, in JSON and for --strategy
 *	article, noun	for people: "no NOUN for DIR, ARTICLE NOUN instead"
 *	words	what it does, for `holdback strategies`
 */
/* clang-format off */
#define STRATEGY_NAMES(ROW) \
	ROW(OVERLAY, "overlay", "an", "overlay", \
	    "the kernel shows the files with the changes on top") \
	ROW(COPY, "copy_on_write", "a", "copy", \
	    "commands work on a copy; their changes are found by comparison") \
	ROW(BRANCH, "git_worktree", "a", "branch of its own", \
	    "a branch of its own that begins at HEAD; commit merges it") \
	ROW(NONE, "none", "no", "holding back", \
	    "nothing is held back: writes are real, as with --direct and --rw") \
	ROW(ROLLBACK, "transaction_rollback", "a", "transaction", \
	    "a database on its own: its changes come back whole, or not at all")
/* clang-format on */

#define STRATEGY_NAME_ID(id, ...) STRATEGY_NAME_##id,
enum strategy_name {
	STRATEGY_NAMES(STRATEGY_NAME_ID) STRATEGY_N_NAMES
};
#undef STRATEGY_NAME_ID

#endif
