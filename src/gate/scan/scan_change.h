/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SCAN_SCAN_CHANGE_H
#define HB_GATE_SCAN_SCAN_CHANGE_H

#include "gate/scan/scan.h"

/*
 * Tells each secret in `new_fd` that is not in `old_fd`, which may be -1 for a
 * file that is new and is read only if there is something to look for: a secret
 * that moves, or whose surroundings change, is no news.  One that is there
 * several times is told once.  Of more than SCAN_NEWS_MAX in one file the
 * others are told whether or not they are news.
 */
#define SCAN_NEWS_MAX 256
int scan_change(struct scan *scan, int new_fd, int old_fd, scan_found_fn found,
		void *ctx, struct hb_error *err);

#endif
