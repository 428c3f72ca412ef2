/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_CONFLICT_H
#define HB_CHANGES_CONFLICT_H

#include "changes/changes.h"

#include <stdbool.h>
#include <time.h>

struct sighting;

/*
 * Whether the base changed since the session began, told by ctime, which no
 * program can set back.  There is no snapshot of the old base.  So a change of
 * metadata cannot be told from an old file that was put in place.
 *
 * A journal and `seen` have these numbers: a new one goes to the end.
 */
enum conflict {
	CONFLICT_NONE = 0,
	CONFLICT_EDITED,     /* written since */
	CONFLICT_METADATA,   /* ctime alone: chmod, link, cp -p, mv */
	CONFLICT_ADDED,	     /* a directory that is younger than the session */
	CONFLICT_MISSING,    /* copied up from a base file that is gone */
	CONFLICT_DIR,	     /* both changed a directory's metadata */
	CONFLICT_MOVED,	     /* a directory above was renamed into place */
	CONFLICT_PLACED,     /* likewise, a path that a layer of ours has too */
	CONFLICT_LOST,	     /* a directory above was removed */
	CONFLICT_UNREADABLE, /* we may not look */
	CONFLICT_OPEN,	     /* a program has the database open */
	CONFLICT_DATABASE,   /* a file of the database, not this one */
	CONFLICT_BELOW,	     /* a directory that goes: something in it */
	CONFLICT_UNREAD,     /* the session wrote what it could not read */
	CONFLICT_STAND_IN,   /* what may not be read cannot be had there */
	CONFLICT_CLOCK,	     /* T0 is to come: no time tells anything */
	CONFLICT_END	     /* one past the last */
};

/* Words for people; NULL for CONFLICT_NONE. */
const char *conflict_words(enum conflict conflict);

/*
 * Whether no choice of a version settles it: both could be had only by losing
 * one of them without a copy.
 */
bool conflict_is_firm(enum conflict conflict);

struct conflict_rule {
	struct timespec t0; /* zero: only what cannot be read is in doubt */
	seen_fn seen;	    /* may be NULL */
	void *seen_ctx;
	/*
	 * The base is an overlay: a directory of its lower layer is born anew,
	 * with its old mtime, when anything below it is written to.
	 */
	bool is_overlay;
};

/*
 * What is wrong with a sighting that is a change of this kind.
 * CONFLICT_MISSING holds unless the object turns out to be a renamed one.
 */
enum conflict conflict_of(const struct conflict_rule *rule,
			  const struct sighting *s, enum change_kind kind);

/* Whether there is a T0 to compare with. */
bool conflict_has_start(const struct conflict_rule *rule);

/* Another program has touched the base's object since T0. */
bool conflict_is_touched(const struct conflict_rule *rule,
			 const struct sighting *s);

/*
 * What is wrong with a path because an undo brought it back: its user accepted
 * the conflict once, and has to be asked again.
 */
enum conflict conflict_disputed(const struct conflict_rule *rule,
				const char *path);

/* What is wrong with everything below a directory of the base. */
enum conflict conflict_below(const struct conflict_rule *rule,
			     const struct sighting *s);

/*
 * Whether another program made or removed names in the base's directory since
 * T0; `mtime` is its time.  What he removed shows in nothing but that.
 */
bool conflict_is_others_too(const struct conflict_rule *rule, const char *path,
			    struct timespec mtime);

/*
 * Whether that follows from T0 being CONFLICT_T0_ALWAYS: the clock was set back
 * behind T0, and everything counts as changed since.
 */
#define CONFLICT_T0_ALWAYS ((struct timespec){ .tv_nsec = 1 })
bool conflict_is_by_clock(const struct conflict_rule *rule,
			  enum conflict conflict);

/* The layer has what was committed from here, so nothing is pending. */
bool conflict_is_committed(const struct conflict_rule *rule,
			   const struct sighting *s);

#endif
