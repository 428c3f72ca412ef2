/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_FREEZE_H
#define HB_SESSION_FREEZE_H

#include "store/record.h"

struct hb_session;

/* Whether the upper of some resource has something in it. */
int session_has_upper(struct hb_session *s, struct hb_error *err);

/*
 * The lock of the session's family, which it founds if it has none.  A caller
 * that has it twice gives it back twice.
 */
int session_lock_family(struct hb_session *s, struct hb_error *err);
void session_unlock_family(struct hb_session *s);

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
 * -HB_E_UNSUPPORTED if the session lies where no layer can be stacked on
 * another.
 */
int session_check_stack(const struct hb_session *s, struct hb_error *err);

/*
 * Makes empty directories for one more layer of every resource, with the
 * attributes of the upper, and returns its id and a descriptor each.  No
 * record names it yet.
 */
int session_make_layer(struct hb_session *s, char ret_id[RECORD_ID_SIZE],
		       int *ret_dirs, struct hb_error *err);

#endif
