/* SPDX-License-Identifier: Apache-2.0 */
#include "run/wait.h"

#include "sys/place.h"
#include "sys/signal.h"

#define PAUSE_MS 20
/* A box that ends may have much to sync. */
#define PATIENCE_MS 60000
/* Between a look at the door and one at the lock a box may have begun. */
#define LOOKS 3

bool wait_again(struct wait *w, int door)
{
	int64_t now = sys_now_ms();

	if (w->end == 0)
		w->end = now + PATIENCE_MS;
	if (now >= w->end || (door == -ENOENT && ++w->n >= LOOKS))
		return false;
	sys_pause(PAUSE_MS);
	return true;
}
