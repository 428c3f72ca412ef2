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
 * (a) The content of a frozen layer never changes and is never moved: sessions
 *     read it, and commit copies from it.
 * (b) A layer has no owner.  The records of all sessions say which are needed,
 *     and layers_collect() removes those that none of them names.
 * (c) A record names a layer before there is one, and a session forks under the
 *     family's lock.  So a layer that the records do not name under that lock
 *     is named by none.
 *
 * tests/txn/marks.sh, forks.sh and gc.sh hold these.
 */

/* So many may lie over one base: the kernel takes 500 in all. */
#define LAYERS_DEEP 400

/* The last transaction of the session that is in effect; 0: none. */
int session_last_done(const struct hb_session *s, uint64_t *ret_id,
		      struct hb_error *err);

/* Whether it is a part of the stack. */
bool layer_counts(const struct record_layer *layer, uint64_t last_done);

/* Whether it can be gone back to: it counts, or is a copy that has not ended.
 */
bool layer_is_there(const struct record_layer *layer, uint64_t last_done);

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

/* The directory of a layer, in which the resources have one each. */
int layers_open(const struct hb_session *s, const char *layer,
		struct hb_error *err);

/* The directory of one resource in a layer, for reading. */
int layers_open_one(const struct hb_session *s, const char *layer,
		    size_t number, struct hb_error *err);

/* Removes a layer that no record names, as far as it can be. */
void layers_drop(const struct hb_session *s, const char *layer);

/*
 * Forgets what the record says about transactions that are no more: those that
 * were undone and will not be redone.  Changes memory alone.  True: a redo
 * would have needed it.
 */
bool session_drop_undone(struct hb_session *s, uint64_t last_done);

#endif
