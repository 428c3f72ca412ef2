/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_RESOURCE_DIRS_H
#define HB_SESSION_RESOURCE_DIRS_H

#include <stddef.h>
#include <sys/types.h>

struct hb_error;
struct hb_session;

/* The store of one resource: rN, or .holdback-ID in the real directory. */
int session_open_store(const struct hb_session *s, size_t number,
		       struct hb_error *err);

/*
 * A command may leave the view's root closed to its owner, and then its writes
 * could not be read any more.  Opens the upper's as far as that needs.  `dir`
 * is the resource's store.
 */
int session_open_top(int dir);

/* The path of a resource's store, for what can only be told by path. */
int session_store_path(const struct hb_session *s, size_t number,
		       const char *below, char *ret, size_t size,
		       struct hb_error *err);

/*
 * An empty directory in `dir` that is to be an upper, with the attributes of
 * the directory `like`.  Not synced.
 */
int layers_make_upper(int dir, const char *name, int like,
		      struct hb_error *err);

/* Gives these attributes to an upper that is there. */
int layers_dress_upper(int dir, const char *name, int like,
		       struct hb_error *err);

/*
 * Renames the directory at `old`.  One whose mode is `mode` cannot change its
 * parent without its owner's write permission, which it has meanwhile.
 */
int layers_move_dir(int from, const char *old, int to, const char *name,
		    mode_t mode);

#endif
