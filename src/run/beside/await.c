/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "holdback/live.h"
#include "run/wait.h"
#include "store/live.h"
#include "store/record.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <limits.h>

/* Between two looks at a supervisor that has no number here. */
#define PAUSE_MS 500

/*
 * A descriptor of the process that has the session; -EAGAIN: none any more;
 * -ESRCH: it is there, and another namespace has its number.
 */
static int open_supervisor(struct hb_store *store, const char *ref,
			   struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1];
	auto_fd int door = live_find(store, ref, name, err);
	struct sys_peer peer = { 0 };
	int r = door < 0 ? door : sys_peer(door, &peer);

	if (err->code == 0 && is_without_box(r))
		return -EAGAIN;
	if (r >= 0)
		r = peer.pid > 0 ? sys_pidfd_open(peer.pid) : -ESRCH;
	return r;
}

static int64_t shorter(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int hb_await_end(struct hb_store *store, const char *ref, int64_t ms,
		 struct hb_error *err)
{
	const int64_t end = sys_now_ms() + ms;
	struct hb_error local = { 0 };

	err = err ? err : &local;
	for (;;) {
		auto_fd int fd = open_supervisor(store, ref, err);
		struct pollfd poll = { .fd = fd, .events = POLLIN };
		int64_t left = end - sys_now_ms();
		int r = 0;

		if (fd == -EAGAIN && err->code == 0)
			return 1;
		if (fd < 0 && fd != -ESRCH)
			return fd;
		if (left <= 0)
			return 0;
		if (fd < 0)
			sys_pause((int)shorter(left, PAUSE_MS));
		else
			r = sys_poll(&poll, 1, (int)shorter(left, INT_MAX));
		if (r < 0)
			return hb_fail(err, r, "cannot wait for the command");
	}
}
