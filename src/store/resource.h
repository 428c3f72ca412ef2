/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_RESOURCE_H
#define HB_STORE_RESOURCE_H

#include "store/record.h"

#include <stddef.h>

struct hb_store;

/*
 * The real directories of a session: what may be one, which is which, and where
 * their layers live.
 */

/*
 * Fills the record with the resources that the words `cow` (DIR or DIR:INSIDE)
 * name.  Refuses what cannot be one: missing, no directory,
 * '/', overlapping, the store itself.
 */
int resource_choose(const struct hb_store *store, const char *const *cow,
		    size_t n_cow, struct session_record *record,
		    struct hb_error *err);

/*
 * Adds a resource that is already known: `source` is absolute and without
 * links, and `inside` a place that the view can have.
 */
int resource_add(const struct hb_store *store, const char *source,
		 const char *inside, struct session_record *record,
		 struct record_resource **ret_resource, struct hb_error *err);

/*
 * The same where one may lie in another: the caller sees to it that a file is
 * in one of them only.
 */
int resource_add_apart(const struct hb_store *store, const char *source,
		       const char *inside, struct session_record *record,
		       struct record_resource **ret_resource,
		       struct hb_error *err);

/*
 * Opens the real directory.  -HB_E_STATE if it is gone or another one than the
 * session was made for.
 */
int resource_open(const struct record_resource *resource, struct hb_error *err);

/*
 * Finds out by trying where the layers of resource `number`, which is `base`,
 * can live.  That is in `dir`, which is in the store, or in a berth (berth.h).
 * If the user cannot write there, it is in `dir` with copies at commit.  Makes
 * the directory of the second kind.  Fills same_mount, berth, t0 and anew
 * btime, and returns the directory.
 */
int resource_place(const struct hb_store *store, int base, int dir,
		   size_t number, struct session_record *record,
		   struct hb_error *err);

/*
 * In a resource's directory in a berth: which session this is.  In that of the
 * version before, and in `dir` of such a session also where the base lies.
 */
#define RESOURCE_NOTE "in-base"

/* In `dir`: what changes/top.h compares with. */
#define RESOURCE_TOP "top"

/*
 * The directories of a resource's store: the layer that is written to, and the
 * rest.  A run that changes nothing needs none of the rest, and would wait for
 * each to be made and removed.  So the rest is made when the session stays.  A
 * second time changes nothing.
 */
int resource_make_upper(int dir, struct hb_error *err);
int resource_make_dirs(int dir, struct hb_error *err);

/*
 * A time on the file system of `marker`, a file that no other process knows.
 * An object that changes from now on has a ctime that is not before it.  An
 * object that changed before has an earlier ctime.
 */
int resource_clock(int marker, struct timespec *ret_now, struct hb_error *err);

#endif
