/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_BINARY_H
#define HB_CLI_DIFF_BINARY_H

struct hb_error;
struct paint;
struct sides;

/*
 * Paints two contents of any bytes and size as a `GIT binary patch`, forwards
 * and backwards.  It is a delta where both are in memory and that is shorter,
 * else whole.  Memory does not grow with the size.
 */
int binary_patch(struct sides *s, struct paint *paint, struct hb_error *err);

#endif
