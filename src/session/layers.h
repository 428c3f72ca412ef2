/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LAYERS_H
#define HB_SESSION_LAYERS_H

#include "session/session.h"
#include "store/family.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Frozen layers, and the families of sessions that share them.
 *
 *	STATE/layers/FAMILY/lock	who adds or removes layers, or forks
 *	STATE/layers/FAMILY/LAYER/rN	one layer of the resource N
 *
 * (a) What is in a frozen layer never changes and is never moved: sessions read
 *     it, and commit copies from it.
 * (b) A layer belongs to nobody.  The records of all sessions say which are
 *     needed, and layers_collect() removes what none of them names.
 * (c) A record names a layer before there is one, and a session forks under
 *     the family's lock: so what a record does not name under that lock is
 *     named by none.
 *
 * tests/txn/marks.sh, forks.sh and gc.sh hold these.
 */

/* So many may lie over one base: the kernel takes 500 in all. */
#define LAYERS_DEEP 400

/* The last transaction of the session that is in effect; 0: none. */
int session_last_done(const struct hb_session *s, uint64_t *ret_id,
		      struct hb_error *err);

bool layer_counts(const struct record_layer *layer, uint64_t last_done);

/* How many of the record's layers count, and whether there are any. */
int session_count_layers(const struct hb_session *s, size_t *ret_n,
			 struct hb_error *err);

/*
 * The number in the record of the layer with that mark, among those that
 * count.  -HB_E_USAGE with the nearest name if there is none.
 */
int session_find_mark(const struct hb_session *s, const char *mark,
		      size_t *ret_number, struct hb_error *err);

/*
 * Opens the layers that count of one resource, the topmost first and behind
 * the upper: `resource->layers`, which is freed with the resource.
 */
int session_open_layers(struct hb_session *s, size_t number,
			struct hb_error *err);

/*
 * Their paths, the lowest first, for what can only be told by path; one
 * allocation, which the caller frees.
 */
int session_layer_paths(const struct hb_session *s, size_t number,
			char ***ret_paths, size_t *ret_n, struct hb_error *err);

/* Whether the upper of some resource has something in it. */
int session_has_upper(struct hb_session *s, struct hb_error *err);

/*
 * Makes the upper of every resource the newest layer, with this mark ("" for
 * none), and an empty one in its place.  Durable when it returns.  What is
 * interrupted is finished by session_finish_freeze(), when the session is
 * opened next.  Descriptors of the uppers are those of the layer afterwards:
 * close the resources before anything else asks for an upper.
 */
int session_freeze(struct hb_session *s, const char *mark,
		   struct hb_error *err);
int session_finish_freeze(struct hb_session *s, struct hb_error *err);

/*
 * Makes empty directories for one more layer of every resource, with the
 * attributes of the upper, and returns its id and a descriptor each.  No
 * record names it yet.
 */
int session_make_layer(struct hb_session *s, char ret_id[RECORD_ID_SIZE],
		       int *ret_dirs, struct hb_error *err);

/*
 * Forgets what the record says about transactions that are no more: those that
 * were undone and will not be redone.  Changes memory alone.  True: a redo
 * would have needed it.
 */
bool session_drop_undone(struct hb_session *s, uint64_t last_done);

/*
 * An empty directory in `dir` that is to be an upper, with the attributes of
 * the directory `like`.  Not synced.
 */
int layers_make_upper(int dir, const char *name, int like,
		      struct hb_error *err);

/*
 * The lock of the session's family, which it founds if it has none.  Whoever
 * has it twice gives it back twice.
 */
int session_lock_family(struct hb_session *s, struct hb_error *err);
void session_unlock_family(struct hb_session *s);

/* Writes the record and syncs its directory as well. */
int session_save_durably(struct hb_session *s, struct hb_error *err);

#endif
