/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_LOGIN_UNDO_H
#define HB_SESSION_PUBLISH_LOGIN_UNDO_H

#include <stdint.h>

struct hb_error;

/*
 * The files that published logins replaced change places with the host's:
 *
 *	STATE/logins/AGENT/		the replaced files, from then on the
 *					newer ones
 *	STATE/logins/AGENT/undo.new/	the newer ones, not all of them yet
 *	STATE/logins/AGENT/undo/	all of them: the undo will be done
 *
 * (a) At every moment each version is whole and on disk: on the host, in
 *     `logins` or in `undo`.
 * (b) After an interruption the next undo of the agent goes on, or the next
 *     login that is published does.  Of several files all are undone, or none.
 * (c) A file that was changed on the host since stays.
 *
 * tests/unit/t_login.c holds these.
 */

/*
 * `ret_n` files were put back.  -HB_E_STATE: there are none, or the host's was
 * changed since.  An undo that was interrupted is finished, and no other begun.
 */
int login_undo(int state, const char *agent, uint64_t *ret_n,
	       struct hb_error *err);

/*
 * Before a login is kept in `logins`, the agent's directory, whose lock the
 * caller has: finishes an undo that was interrupted.  1: there was one; 0:
 * none.
 */
int login_undo_finish(int logins, struct hb_error *err);

#endif
