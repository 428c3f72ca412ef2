/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AGENT_LOGIN_H
#define HB_AGENT_LOGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What two versions of a file of logins say about each other.  One of them is a
 * box's: every byte of it may be forged, the account as well.  Another account
 * shows an accident, and the same account shows nothing.
 */
enum login_change {
	LOGIN_SAME,    /* no token is another one */
	LOGIN_RENEWED, /* new tokens replace tokens that were due */
	LOGIN_OTHER,   /* a first login, too early, or of another account */
};

/* Whether a member is one of `keys`, which have commas between them. */
bool login_has_key(const char *keys, const char *name, size_t n);

/*
 * Compares the tokens of `ours` with those of `host`, which is "" if there is
 * none, at the time `now`.  With `keys`, names with commas between them, only
 * these members of the outermost object count.  In a file that is no JSON every
 * byte is a token.
 */
enum login_change login_compare(const char *host, size_t n_host,
				const char *ours, size_t n_ours,
				const char *keys, int64_t now);

#endif
