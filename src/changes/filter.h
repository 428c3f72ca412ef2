/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_FILTER_H
#define HB_CHANGES_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct change;

/* Which changes are wanted: the same function for status, diff and commit. */
struct changes_filter {
	const char *const *only; /* globs; NULL or empty: everything */
	size_t n_only;
	const char *const *except;
	size_t n_except;
	const bool *resources; /* by number; NULL: all of them */
};
bool changes_filter_passes(const struct changes_filter *filter,
			   const struct change *change);

/* As changes_filter_passes(), and true of ignored entries that it names. */
bool changes_filter_matches(const struct changes_filter *filter,
			    const struct change *change);

/* Which changes are to be committed, and which side of a conflict wins. */
struct changes_choice {
	struct changes_filter filter;
	const char *const *ours; /* conflicts: the base's version stays */
	size_t n_ours;
	const char *const *theirs; /* conflicts: the session's version wins */
	size_t n_theirs;
};
bool changes_choice_takes(const struct changes_choice *choice,
			  const struct change *change);

/* Whether the change is in conflict and the choice does not settle that. */
bool changes_choice_is_open(const struct changes_choice *choice,
			    const struct change *change);

#endif
