/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_FILTER_LOGINS_H
#define HB_PLAN_FILTER_LOGINS_H

#include <stdbool.h>

struct buf;

/* Logins in the values of configuration files.  Pure. */

/*
 * Whether a name fits a pattern.  A star is any bytes; everything else is
 * itself, in either case.
 */
bool login_name_fits(const char *pattern, const char *name);

enum login_cut {
	LOGIN_CUT_NONE,
	LOGIN_CUT_SOME, /* `out` is without it */
	LOGIN_CUT_ALL,	/* no part of it can be trusted */
};

/*
 * Adds the text to `out`, without user and password in the URLs in it.  A proxy
 * may be one without a scheme.
 */
enum login_cut login_cut(const char *text, bool is_proxy, struct buf *out);

#endif
