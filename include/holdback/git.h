/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_GIT_H
#define HOLDBACK_GIT_H

#include <stdint.h>

struct hb_error;
struct hb_filter;
struct hb_session;

/* The repositories of a session: what it did in them, and signatures. */

/*
 * Signs the commits that the session made on the branch of its HEAD, as git on
 * the host would.  Key, format and program come from git's configuration of the
 * user and the system, and never from the repository's.  It is for a commit
 * that follows, which delivers the signed ones.  `*ret_n` is how
 * many were signed; those that are signed already stay.
 *
 * -HB_E_CONFIG: there is no key or no program; -HB_E_STATE: the program did not
 * sign, another branch or a tag of the session has one of the commits, or they
 * cannot be read.  Then the session's branch is as it was.
 */
int hb_session_sign(struct hb_session *session, const struct hb_filter *filter,
		    char *const *envp, uint64_t *ret_n, struct hb_error *err);

#endif
