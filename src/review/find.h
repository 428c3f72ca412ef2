/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_FIND_H
#define HB_REVIEW_FIND_H

#include <stddef.h>

struct hb_error;
struct hb_session;

/*
 * The resource that a path of the caller's is in, on the host or in the view,
 * and what is left of it below that: `ret_rest` has PATH_MAX bytes.  Text
 * alone decides.  -HB_E_USAGE: it is in none.
 */
int session_find_path(const struct hb_session *s, const char *path,
		      size_t *ret_resource, char *ret_rest,
		      struct hb_error *err);

#endif
