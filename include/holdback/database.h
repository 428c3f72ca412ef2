/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_DATABASE_H
#define HOLDBACK_DATABASE_H

#include <stdbool.h>

struct hb_error;
struct hb_session;

/* A database of a server that a session holds back. */

/* Whether the session has one. */
bool hb_session_has_database(const struct hb_session *session);

/*
 * Compares the real database with its picture, from outside of any box.  What
 * has changed there is a change of the base then.  0, also where the session
 * has no database; 1: something has changed.  -HB_E_STATE: the server does not
 * answer, or refuses.
 */
int hb_session_database_look(struct hb_session *session, struct hb_error *err);

#endif
