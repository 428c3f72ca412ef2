/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_FILTER_RC_TOML_H
#define HB_PLAN_FILTER_RC_TOML_H

struct buf;
struct rc;

/* The rc_filter() of files in TOML. */
int rc_filter_toml(struct rc *rc, const char *text, struct buf *out);

#endif
