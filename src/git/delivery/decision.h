/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_DECISION_H
#define HB_GIT_DELIVERY_DECISION_H

#include "git/delivery.h"
#include "git/gitrefs.h"
#include "git/kept/kept_refs.h"

/* What the parts of a delivery share while it is being decided. */
struct decision {
	const struct delivery_request *q;
	struct delivery *out;
	struct kept_refs loose;		/* of the base, with its HEADs */
	struct gitrefs packed;		/* of the base */
	struct kept_refs base, session; /* all values of each */
	/* References of the session that have no value that can be read. */
	struct kept_refs broken;
	/* Branches that a desk of the base is on, with that desk. */
	struct kept_refs pinned;
	/* What the delivery writes: new values, "" for a deleted one. */
	struct kept_refs moved;
	/* References of the session that are not delivered. */
	struct kept_refs pending;
	/* Names of our own making, with the reference that they stand for. */
	struct kept_refs origins;
	/* All boundaries that the base is going to have; of shallow.h. */
	char *shallow;
	bool is_forward; /* HEAD, index and the branch below it may move */
	bool has_moved;	 /* the session moved HEAD or what is below it */
	bool is_refused; /* the last words say why */
	bool is_merged;	 /* the base has the session's commit meanwhile */
	/* Below the session's HEAD; the branch is NULL if that is on none. */
	const char *session_branch, *session_commit;
	const char *then_commit; /* below HEAD at T0 */
	const char *base_commit; /* below HEAD of the base */
	/* Why it is not forward: see values.c; and the branch it is about. */
	const char *why;
	const char *why_name;
};

void decision_done(struct decision *d);

/* Values, "" for none; never NULL. */
const char *decision_then(const struct decision *d, const char *name);
const char *decision_base(const struct decision *d, const char *name);
const char *decision_session(const struct decision *d, const char *name);

/* The id that HEAD, or another name, leads to; "": none. */
const char *decision_resolve(const struct kept_refs *refs, const char *name);

/* "HEAD" of the workspace's desk: a name in the lists.  Fits PATH_MAX. */
void decision_head(const struct decision *d, char *ret, size_t size);

/*
 * Adds an item, which is valid until the next is added; NULL: no memory.
 * `content` is taken, also then.
 */
struct delivery_item *decision_add(struct decision *d, const char *path,
				   enum delivery_how how,
				   enum delivery_stage stage);
struct delivery_item *decision_make(struct decision *d, const char *path,
				    enum delivery_stage stage, char *content,
				    size_t len);

/* Marks an item of a reference.  -ENOMEM. */
int decision_mark(struct delivery_item *item, const char *old, const char *new);

/* The change of that path; NULL: the session did not change it. */
const struct delivery_change *decision_change(const struct decision *d,
					      const char *path);

int decision_say(struct decision *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether a file is there in the base's git directory. */
bool decision_base_has(const struct decision *d, const char *path);

#endif
