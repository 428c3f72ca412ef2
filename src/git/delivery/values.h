/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_VALUES_H
#define HB_GIT_DELIVERY_VALUES_H

struct objectstore;

/* What becomes of one value: (at T0, now in the base, in the session). */
enum value_answer {
	VALUE_SETTLED,	/* the base has all that the session did */
	VALUE_TAKEN,	/* the session's */
	VALUE_DIVERGED, /* both moved, and neither has the other */
	/* the base's: the session deleted it or set it back, outside it moved
	 */
	VALUE_KEPT,
};

/*
 * Values as kept_refs.h has them, "" for none.  Both moved is no conflict where
 * one contains the other: the session sees what the base does meanwhile and may
 * build on it.  But a commit that the user took back is not brought again.
 */
int values_compare(struct objectstore *objects, const char *then,
		   const char *base, const char *session,
		   enum value_answer *ret);

/* Whether the commit `a` is `b` or an ancestor of it.  1, 0, -ENOMEM. */
int values_is_ancestor(struct objectstore *objects, const char *a,
		       const char *b);

#endif
