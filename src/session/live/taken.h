/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_TAKEN_H
#define HB_SESSION_LIVE_TAKEN_H

#include "base/siphash.h"
#include "changes/changes.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct hb_error;
struct hb_session;
struct seen_file;

/*
 * The changes of a live session as they were at one moment: a copy of its
 * uppers, in a layer that no record names.  As long as the session has it, the
 * copy takes the upper's place in everything that looks or commits.  Nothing is
 * ever moved out of it, and the real upper is not written to.
 *
 * `seen` is about objects of the real upper.  So for each object of the copy
 * the identity of the original is kept.
 *
 * The family's lock is held meanwhile, so that no collection removes the copy.
 * docs/decisions/0085
 */
struct taken_object {
	uint64_t hash; /* of the path */
	uint64_t upper_ino, copy_ino;
	struct timespec upper_ctime, copy_ctime;
	bool is_whiteout;
	bool is_seen;  /* the upper had what was committed from it */
	bool is_fresh; /* in a directory that is new at its path */
	bool is_vague; /* a change of it need not change its time */
};

struct taken_resource {
	const struct taken *taken;
	struct taken_object *objects; /* by hash, once it is whole */
	size_t n;
	struct seen_file *seen; /* of the session; while it is open */
	bool is_volatile;	/* its file system never writes back */
	/* While it is copied: below this directory, or NULL */
	char *fresh;		/* nothing was committed */
	char *whole;		/* nothing is left out */
	struct timespec newest; /* change of the copied */
};

struct taken {
	char id[RECORD_ID_SIZE]; /* of the layer; empty: there is none */
	struct siphash_key key;
	struct taken_resource resources[RECORD_RESOURCES_MAX];
	/* By resource, what git does there, in words; NULL: nothing. */
	const char *git[RECORD_RESOURCES_MAX];
	bool is_part;	 /* the owner leaves these resources out */
	bool is_frozen;	 /* once more, until all is in place */
	bool has_lapsed; /* before the last try of a commit: lapsed.h */
	/* Something ran before all was in place: then it is SEEN_APART. */
	bool is_apart;
};

/* The object of that path, or NULL. */
struct taken_object *taken_find(const struct taken_resource *r,
				const char *path);

/* The copy takes the place of the upper of a resource that is open. */
int taken_open(struct hb_session *s, size_t resource, struct hb_error *err);

/* What taken_find_seen() has to be given, which is of type seen_fn. */
void *taken_memory(struct hb_session *s, size_t resource);
bool taken_find_seen(void *ctx, const char *path, struct seen *ret_seen);

/* The box goes on; does nothing if it does. */
void taken_thaw(struct hb_session *s);

/*
 * Removes the copy.  Does nothing to a session without one.  The family's lock
 * goes with the session.
 */
void taken_free(struct hb_session *s);

#endif
