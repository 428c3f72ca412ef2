/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GONE_H
#define HB_SESSION_GONE_H

#include "session/session.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A resource whose directory is gone, or another one, while others of the
 * session are there.  An empty stand-in takes its place: SESSION/gN with what
 * rN has and a base of its own.  So all else works.  rN, which no process opens
 * meanwhile, is as it was when the directory is back.
 *
 * (a) Work that began with a stand-in ends with it.  As long as a box, a
 *     journal or a layer is unfinished, gN says which of the two it was.
 * (b) Work that began with the directory needs it: -HB_E_STATE if it is gone
 *     then.  But the rest of a box is settled for the others.  gN/unsettled,
 *     with the id of that boot, says that rN still waits for it.  When the
 *     directory is back, the session is once more a session whose command was
 *     ended.
 * (c) A stand-in has nothing pending, and says nothing about rN.  Code that
 *     removes a session or a layer that holds nothing asks session_has_gone()
 *     first.
 * (d) A caller that only looks needs no stand-in, for it could not be made in a
 *     store that is full or cannot be written.  The resource is left out.  So
 *     this works without any of the directories, and with anything unfinished.
 * (e) A mark is finished without the directories: it is about the layers alone.
 *
 * tests/txn/gone.sh and tests/txn/gone-crashed.sh hold these.
 */

/*
 * Opens the directory of resource `number`; 1: a stand-in has to do, and is
 * there.  Removes a stand-in that is not needed any more.
 */
int gone_judge(struct hb_session *s, size_t number, int *ret_base,
	       struct hb_error *err);

/*
 * Before a box is settled: makes stand-ins for what is gone, which has to wait.
 * -HB_E_STATE if all are.
 */
int gone_put_off(struct hb_session *s, struct hb_error *err);

/* Whether one waits, be its directory back or not. */
bool gone_waits(const struct hb_session *s);

/*
 * Where nothing else is unfinished: if a resource that waits is back, its
 * stand-in goes; 1 then.  The session is then a session whose box was not
 * settled.
 */
int gone_take_up(struct hb_session *s, struct hb_error *err);

/* The store of a resource, or the stand-in's if there is one. */
int gone_open_store(const struct hb_session *s, size_t number,
		    struct hb_error *err);

/* The descriptors of the stand-in; none if the resource is left out. */
int gone_open(const struct hb_session *s, size_t number, struct resource *ret,
	      struct hb_error *err);

/* Whether one of the resources, which are open, has a stand-in. */
bool session_has_gone(const struct hb_session *s);

/* -HB_E_STATE, in words, if one has; `what` cannot be done then. */
int gone_refuse(const struct hb_session *s, const char *what,
		struct hb_error *err);

/* Says of each what stays pending; the sum, as above. */
uint64_t gone_say_pending(const struct hb_session *s);

/*
 * -HB_E_STATE if a layer that counts, above the one with the id `keep` (NULL:
 * any), has something of a resource that is gone.  A layer ends for all
 * resources.
 */
int gone_check_layers(struct hb_session *s, const char *keep,
		      struct hb_error *err);

/* -HB_E_STATE if there is something pending that the mark would not have. */
int gone_check_mark(struct hb_session *s, struct hb_error *err);

/* -HB_E_STATE if the last transaction, done or undone, touches one. */
int gone_check_last(struct hb_session *s, bool is_undone, struct hb_error *err);

/* What the session is told about one when a box begins. */
void gone_say_hidden(const struct hb_session *s);

#endif
