/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_WAIT_H
#define HB_RUN_WAIT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A session whose lock is held and whose door has no answer begins or ends: the
 * caller looks again.
 */
struct wait {
	int64_t end;
	unsigned n;
};

/*
 * Whether to look once more after -HB_E_BUSY; `door` is what live_connect()
 * said, or -EAGAIN if who answered hung up.
 */
bool wait_again(struct wait *w, int door);

/* Of a look at the door: there is no box behind it. */
static inline bool is_without_box(int r)
{
	return r == -EAGAIN || r == -ENOENT || r == -ECONNREFUSED;
}

#endif
