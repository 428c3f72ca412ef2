/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_LIVE_H
#define HB_STORE_LIVE_H

#include <stdbool.h>

struct hb_error;
struct hb_store;

/*
 * Where a live session is reached.
 *
 * The socket lies in $XDG_RUNTIME_DIR/holdback, which only its user can enter.
 * Where that is not to be had or too long for the name of a socket, it lies in
 * the session's directory.  `door` in that directory is a link that says where,
 * so that a process with another environment finds it.  The link is there from
 * before the session is active until after: active without it cannot be joined.
 */

/* In $XDG_RUNTIME_DIR. */
#define LIVE_RUNTIME "holdback"

/*
 * The directory for sockets, made if need be, and its path without links into
 * `ret_path` (PATH_MAX).  A negated errno, and no words: there is none.
 */
int live_runtime(const struct hb_store *store, char *ret_path);

/*
 * Makes both anew, with the session's lock; `runtime` is what live_runtime()
 * returned.  Returns the socket, which listens.  On failure neither is there.
 */
struct live_place {
	int dir; /* the session's */
	const struct session_record *record;
	bool is_fresh; /* neither can be there yet */
};
int live_open(const struct live_place *place, int runtime,
	      struct hb_error *err);

/* Removes both, if they are there, by the session's directory. */
void live_remove(int dir);

/* The same for a session that is not open, if no process has it. */
void live_tidy(const struct hb_store *store, const char *name);

/*
 * A connection to the process that has the session in the directory `dir` live.
 * -ENOENT: there is none; -ECONNREFUSED: none any more, or not yet.
 */
int live_connect(int dir);

/*
 * The same for a reference, with words for any other failure than those two;
 * `ret_name` (RECORD_NAME_MAX + 1) is the session's.  -HB_E_NO_SESSION.
 */
int live_find(const struct hb_store *store, const char *ref, char *ret_name,
	      struct hb_error *err);

#endif
