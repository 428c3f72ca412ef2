/* SPDX-License-Identifier: Apache-2.0 */
#include "store/progress.h"

#include "store/store.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <fcntl.h>
#include <limits.h>

/* Between two changes of what is shown. */
#define PAUSE_MS 200

static int64_t elapsed_ms(struct timespec since)
{
	struct timespec now = sys_now();

	return (now.tv_sec - since.tv_sec) * 1000 +
	       (now.tv_nsec - since.tv_nsec) / 1000000;
}

static void tell(const struct hb_listener *listener, const char *what,
		 uint64_t n)
{
	(void)report_send(listener,
			  &(struct hb_report){ .kind = HB_REPORT_PROGRESS,
					       .text = what,
					       .n = n });
}

/* Silent for a while, then what goes on, until the other end is closed. */
static void watch(int fd, const struct hb_listener *listener, const char *what)
{
	struct timespec since = sys_now();
	uint64_t n = 0, told = 0;
	bool is_shown = false;
	int r = 1;

	/* Locks above all: they are the other process's. */
	(void)sys_close_range(3, (unsigned)fd - 1);
	(void)sys_close_range((unsigned)fd + 1, UINT_MAX);
	while (r == 1) {
		struct pollfd poll = { .fd = fd, .events = POLLIN };
		int64_t wait = listener->progress_after - elapsed_ms(since);

		if (wait <= 0 && (!is_shown || n != told)) {
			tell(listener, what, n);
			is_shown = true;
			told = n;
		}
		r = sys_poll(&poll, 1, wait > 0 ? (int)wait : PAUSE_MS);
		if (r > 0)
			r = sys_recv_record(fd, &n, sizeof(n), NULL);
		else if (r == 0)
			r = 1;
	}
	if (is_shown)
		tell(listener, NULL, n);
}

static bool hear(void *context, const struct hb_report *report)
{
	progress_tell(context, report->n);
	return false;
}

void progress_begin(struct progress *p, const struct hb_store *store,
		    const char *what)
{
	int other = -1;

	*p = (struct progress)PROGRESS_NONE;
	p->listener = (struct hb_listener){ .hear = hear, .context = p };
	if (!store->listener || !store->listener->wants_progress ||
	    sys_socket_pair(&p->fd, &other) < 0)
		return;
	p->pid = sys_clone(0, NULL);
	if (p->pid == 0) {
		sys_close(p->fd);
		watch(other, store->listener, what);
		sys_exit(0);
	}
	sys_close(other);
	if (p->pid > 0)
		return;
	sys_close(p->fd);
	p->fd = -1;
}

void progress_tell(struct progress *p, uint64_t n)
{
	if (p->fd >= 0)
		(void)sys_offer_record(p->fd, &n, sizeof(n));
}

void progress_end(struct progress *p)
{
	int status;

	if (p->fd < 0)
		return;
	sys_close(p->fd);
	p->fd = -1;
	(void)sys_waitpid(p->pid, &status, 0);
}
