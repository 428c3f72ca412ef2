/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_FILTER_RC_H
#define HB_PLAN_FILTER_RC_H

#include "plan/filter/rc_value.h"

/*
 * -EINVAL: it is no such file, or has something that is not understood;
 * -E2BIG, -ENOMEM.  `out` is of no use then.
 */
int rc_filter(struct rc *rc, const char *text, size_t n, struct buf *out);

#endif
