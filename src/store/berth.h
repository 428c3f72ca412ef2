/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_BERTH_H
#define HB_STORE_BERTH_H

#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_store;

/*
 * Where the layers of a resource lie if they cannot lie in the state directory,
 * because that is on another mount:
 *
 *	DIR/.holdback/			0500
 *		.gitignore		everything
 *		store/			0300
 *			.git/		an empty repository
 *			ID-rN/		resource N of the session ID, 0700
 *
 * DIR is the highest directory above the resource that is on its mount and the
 * user's, else the resource itself.  The first file keeps git from seeing any
 * of it.  The repository and the two modes keep `git clean` from removing it,
 * also with -x and -ff.  Nothing in a repository of the user's is written.
 *
 * A berth is there as long as a session lies in it or a run holds it.  It is
 * locked by flock: shared by all processes that need it, exclusively by the
 * process that removes it.  STATE/berths/ has a link to each, so that every
 * view can cover them all.
 *
 * The version before had SOURCE/.holdback-ID/: is_in_base of a resource.
 */
#define BERTH ".holdback"

/* Whether `path` is it, or of the version before, or below one. */
bool berth_is_name(const char *path);

/* Whether the store of a resource lies in a berth, of either kind. */
bool berth_is_used(const struct record_resource *resource);

/* Whether it lies in the resource itself. */
bool berth_is_inside(const struct record_resource *resource);

/*
 * Opens the store of a resource, wherever it is: `session` is the session's
 * directory and `base` the real directory.
 */
int berth_open(const struct session_record *record, size_t number, int session,
	       int base, struct hb_error *err);

/* The path of that, `below` at its end; `state` is that of the state directory.
 */
int berth_path(const struct session_record *record, size_t number,
	       const char *state, const char *below, char *ret, size_t size,
	       struct hb_error *err);

/* The path of the berth itself, for what has to cover it; berth_is_used(). */
int berth_path_itself(const struct session_record *record, size_t number,
		      char *ret, size_t size, struct hb_error *err);

/*
 * Finds a berth for resource `number`, makes what is missing of it and the
 * resource's own directory, which is returned; `marker` is an unnamed file of
 * the base, or -1 where there can be none.  Fills in where it is.  `dir`, the
 * resource's directory in the state directory, gets a note of it before.
 */
int berth_make(const struct hb_store *store, int base, int dir, int marker,
	       size_t number, struct session_record *record,
	       struct hb_error *err);

/* Has the links of STATE/berths/ on disk, if a resource has a berth. */
int berth_sync_known(const struct hb_store *store);

/*
 * Removes the store of a resource from its berth, and that if it is empty then.
 * Anything that is not known to be ours stays.
 */
void berth_remove(const struct hb_store *store,
		  const struct session_record *record, size_t number, int base);

/* The same by the note in `dir`, for a session whose record cannot be read. */
void berth_remove_noted(const struct hb_store *store, int dir, size_t number);

/*
 * For a box that shows the real directory `source` and is no session's: its
 * berth, held until berth_release().  It is made if sessions of the state
 * directory at `state` would have theirs there.  -ENOENT: none is needed, and
 * none is there.
 */
int berth_hold(const char *state, const char *source, struct hb_error *err);

/* Ends that, and removes the berth if nothing else needs it. */
void berth_release(const char *source, int *held);

/*
 * Before a box over an upper: hides the name of berths in `base`, which lies
 * below it, be one there or not.  After the box: takes that mark of ours away
 * again.
 */
int berth_hide(int upper, int base, const char *name, struct hb_error *err);
void berth_show(int upper);

/*
 * Calls `fn` with the path of each berth that the state directory at `state`
 * knows and that is there.
 */
typedef int (*berth_fn)(void *ctx, const char *path, struct hb_error *err);
int berth_each(const char *state, berth_fn fn, void *ctx, struct hb_error *err);

#endif
