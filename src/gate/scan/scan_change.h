/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SCAN_SCAN_CHANGE_H
#define HB_GATE_SCAN_SCAN_CHANGE_H

#include "gate/scan/scan.h"

/*
 * Tells each secret in `new_fd` that is not in `old_fd`, which is -1 for a new
 * file.  The old file is read only if there is something to look for.  A secret
 * that moves, or whose surroundings change, is no news.  A repeated secret is
 * told once.  Of more than SCAN_NEWS_MAX in one file the others are told
 * whether or not they are news.
 */
#define SCAN_NEWS_MAX 256
int scan_change(struct scan *scan, int new_fd, int old_fd, scan_found_fn found,
		void *ctx, struct hb_error *err);

#endif
