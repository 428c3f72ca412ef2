/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_FILTER_H
#define HB_CHANGES_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct change;

/* A path and everything below it. */
struct changes_within {
	size_t resource;
	char *path;  /* "": all of the resource */
	bool is_out; /* stays behind, even if another pattern takes it */
};

/* Which changes are wanted: the same function for status, diff and commit. */
struct changes_filter {
	const char *const *only; /* globs; NULL or empty: everything */
	size_t n_only;
	const char *const *except;
	size_t n_except;
	/* If some of these are not out: nothing but at or below them. */
	const struct changes_within *within;
	size_t n_within;
	const bool *resources; /* by number; NULL: all of them */
};

/* Whether it may take one path of a resource and leave another. */
bool changes_filter_is_partial(const struct changes_filter *filter);

/* Whether two filters over `n` resources say the same. */
bool changes_filter_is_same(const struct changes_filter *a,
			    const struct changes_filter *b, size_t n);

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

/* Whether it is a conflict in which the real version stays. */
bool changes_choice_keeps_real(const struct changes_choice *choice,
			       const struct change *change);

/* Whether the change is in conflict and the choice does not settle that. */
bool changes_choice_is_open(const struct changes_choice *choice,
			    const struct change *change);

#endif
