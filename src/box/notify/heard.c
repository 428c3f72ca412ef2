/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/heard.h"

#include "base/auto.h"
#include "box/notify/call_ring.h"
#include "box/notify/calls.h"
#include "box/notify/recorder.h"
#include "box/state.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/seccomp.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/*
 * The listeners of a box
 * ----------------------
 *
 *	(a) A call that is not answered fails: with its process, or with ENOSYS
 *	    once its listener is closed.  We keep every listener open until all
 *	    callers are gone.
 *	(b) While a listener is open no process inside can have one: EBUSY.
 *	    Once it is closed one could, and a newer listener may let calls go
 *	    on that this filter was to hear of.  So there are listeners only
 *	    where the kernel's limit of user namespaces refuses them too.
 *	(c) The kernel counts calls before it shows them to poll(), and
 *	    a caller that dies leaves its count.  So recv() after POLLIN finds
 *	    a call, or says -ENOENT; it does not wait.
 *	(d) A notifier that was killed is followed by another one, which finds
 *	    the calls that were not answered in the shared page.
 *
 * tests/box/nested.py, tests/box/rename.py, tests/unit/t_notified.c
 */

/* More than this is no accident. */
#define STARTS_MAX 200

static bool can_hear(const struct box *box)
{
	return is_set(box, PLAN_FILTER) && is_set(box, PLAN_NO_USERNS) &&
	       !is_set(box, PLAN_FILTER_NESTED | PLAN_BARE);
}

/*
 * Those that are only written down: (b) is no matter there, as a program of its
 * own refuses.
 */
static unsigned recorded(const struct box *box)
{
	unsigned classes = 0;

	if (!is_set(box, PLAN_FILTER) || is_set(box, PLAN_BARE))
		return 0;
	if (is_set(box, PLAN_CALLS))
		classes |= 1U << FILTER_CALLS;
	if (is_set(box, PLAN_LOOKS))
		classes |= 1U << FILTER_LOOKS;
	return classes;
}

unsigned heard_notified(const struct box *box)
{
	unsigned classes = recorded(box);

	if (can_hear(box) && is_set(box, PLAN_RENAMES))
		classes |= 1U << FILTER_RENAMES;
	return classes;
}

unsigned heard_wants(const struct box *box)
{
	unsigned classes = heard_notified(box);

	if (!box->plan->argv)
		return 0;
	return can_hear(box) ? classes | 1U << FILTER_REFUSED : classes;
}

void heard_init(struct heard *h, const struct box *box,
		const struct hb_listener *listener)
{
	h->box = box;
	h->listener = listener;
	h->notify.page = &h->own;
	h->user = h->mounts = h->pidfd = h->control = -1;
	h->wake[0] = h->wake[1] = h->recorder_fd = -1;
}

void heard_enter(struct heard *h, int user, int mounts)
{
	if (!heard_notified(h->box) || h->mounts >= 0)
		return;
	h->notify.page->records = recorded(h->box);
	h->notify.page->has_renames =
		(heard_notified(h->box) & 1U << FILTER_RENAMES) != 0;
	if (user >= 0)
		h->user = sys_dup_above(user, 3);
	h->mounts = sys_dup_above(mounts, 3);
	h->is_broken = h->mounts < 0 || (user >= 0 && h->user < 0);
}

/* A notifier in the making has them by birth. */
static int pass_on(const struct heard *h, const struct notify_listener *l)
{
	const struct notify_record record = { .word = NOTIFY_LISTEN,
					      .number = l->number };

	return h->pid == 0 ? 0
			   : sys_send_record_fds(h->control, &record,
						 sizeof(record), &l->fd, 1);
}

void heard_start(struct heard *h)
{
	h->is_counted = h->n_listeners > 0;
	h->notify.page->n_refused = 0;
	h->notify.page->is_started = 1;
}

static void drop_listener(struct heard *h, size_t i)
{
	fd_closep(&h->listeners[i].fd);
	h->listeners[i] = h->listeners[--h->n_listeners];
}

static void answer(const struct heard *h, struct notify_call *call, int error)
{
	for (size_t i = 0; i < h->n_listeners; i++)
		if (h->listeners[i].number == call->listener)
			(void)sys_seccomp_notif_answer(h->listeners[i].fd,
						       call->data.id, error);
	call->state = NOTIFY_FREE;
}

/*
 * Calls that no notifier will see.  The kernel carries them out, but for one
 * that is refused in any case.
 */
static void let_go(struct heard *h)
{
	struct notify_page *page = h->notify.page;
	int error = 0;

	if (page->now.state != NOTIFY_FREE) {
		(void)notify_look(&h->notify, &page->now, &error);
		answer(h, &page->now, error);
	}
	for (size_t i = 0; i < NOTIFY_JOBS; i++)
		if (page->jobs[i].state != NOTIFY_FREE)
			answer(h, &page->jobs[i], 0);
}

static bool has_calls(const struct heard *h)
{
	return h->notify.page->now.state != NOTIFY_FREE ||
	       h->notify.page->jobs[0].state != NOTIFY_FREE;
}

/* They outlive notifiers. */
static int open_records(struct heard *h)
{
	const struct plan *plan = h->box->plan;

	if (h->records)
		return 0;
	h->records = calloc(plan->n_ops + 1, sizeof(*h->records));
	if (!h->records)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct plan_op *op = &plan->ops[i];
		int fd;

		if (!heard_is_overlay(op))
			continue;
		fd = op->record
			     ? sys_openat(AT_FDCWD, op->record,
					  O_RDWR | O_CREAT | O_NOFOLLOW, 0600)
			     : sys_memory_file();
		if (fd < 0)
			return fd;
		h->records[h->n_records++] = fd;
	}
	return 0;
}

static int share_page(struct heard *h)
{
	struct notify_page *page;

	if (h->notify.page != &h->own)
		return 0;
	page = sys_shared_memory(sizeof(*page));
	if (!page)
		return -ENOMEM;
	*page = h->own;
	h->notify.page = page;
	return 0;
}

/* Both outlive the processes that they are for. */
static int open_ring(struct heard *h)
{
	struct notify_page *page = h->notify.page;

	if (!page->records || page->ring)
		return 0;
	if (sys_socket_pair(&h->wake[0], &h->wake[1]) < 0)
		return -EMFILE;
	page->ring = sys_shared_memory(sizeof(*page->ring));
	return page->ring ? 0 : -ENOMEM;
}

/* Without it notes are lost, after a while, and calls go on. */
static void start_recorder(struct heard *h)
{
	pid_t pid;

	if (!h->notify.page->ring || h->recorder > 0 ||
	    h->n_recorders++ >= STARTS_MAX)
		return;
	pid = sys_clone(0, &h->recorder_fd);
	if (pid == 0)
		recorder_main(h);
	h->recorder = pid > 0 ? pid : 0;
}

static void note_gap(struct heard *h)
{
	struct call_ring *ring = h->notify.page->ring;

	if (ring)
		__atomic_add_fetch(&ring->n_gaps, 1, __ATOMIC_RELEASE);
}

static void on_recorder_end(struct heard *h)
{
	(void)sys_waitpid(h->recorder, NULL, 0);
	h->recorder = 0;
	fd_closep(&h->recorder_fd);
	note_gap(h);
	start_recorder(h);
}

/* It tells first what there is. */
static void end_recorder(struct heard *h)
{
	const struct notify_record record = { .word = NOTIFY_END };

	if (h->recorder <= 0)
		return;
	if (sys_send_record(h->wake[1], &record, sizeof(record)) < 0)
		sys_kill_and_reap(h->recorder);
	else
		(void)sys_waitpid(h->recorder, NULL, 0);
	h->recorder = 0;
	fd_closep(&h->recorder_fd);
}

static int start(struct heard *h)
{
	pid_t supervisor = sys_getpid(), pid;
	auto_fd int theirs = -1;
	int r;

	if (h->is_broken || h->mounts < 0 || h->n_starts++ >= STARTS_MAX)
		return -EAGAIN;
	r = share_page(h);
	if (r >= 0)
		r = open_records(h);
	if (r >= 0)
		r = open_ring(h);
	if (r >= 0)
		r = sys_socket_pair(&h->control, &theirs);
	if (r < 0)
		return r;
	pid = sys_clone(0, &h->pidfd);
	if (pid == 0)
		notifier_main(h, theirs, supervisor);
	if (pid < 0) {
		fd_closep(&h->control);
		return pid;
	}
	h->pid = pid;
	start_recorder(h);
	return 0;
}

static void start_or_let_go(struct heard *h)
{
	if (start(h) >= 0)
		return;
	h->is_broken = true;
	let_go(h);
}

void heard_take(struct heard *h, int fd)
{
	struct notify_listener *l = &h->listeners[h->n_listeners];

	if (h->n_listeners == NOTIFY_LISTENERS) {
		sys_close(fd);
		return;
	}
	*l = (struct notify_listener){ fd, h->next_number++ };
	h->n_listeners++;
	if (pass_on(h, l) < 0) {
		drop_listener(h, h->n_listeners - 1);
		return;
	}
	/* We may be stopped with our own command while this one goes on. */
	if (l->number > 0 && h->pid == 0)
		start_or_let_go(h);
}

/* 0, or -EPIPE: the last of all callers is gone. */
static int take_call(struct heard *h, const struct notify_listener *l,
		     short revents)
{
	struct notify_call *now = &h->notify.page->now;
	int error = 0, r;

	if (!(revents & POLLIN))
		return -EPIPE;
	r = sys_seccomp_notif_recv(l->fd, &now->data);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	now->listener = l->number;
	now->state = NOTIFY_WAITS;
	switch (notify_look(&h->notify, now, &error)) {
	case NOTIFY_FORK:
		start_or_let_go(h);
		break;
	case NOTIFY_GO_ON:
	case NOTIFY_LATER:
		answer(h, now, 0);
		break;
	case NOTIFY_REFUSED:
		answer(h, now, error);
		break;
	}
	return 0;
}

static void on_notifier_end(struct heard *h)
{
	int status = 0;

	(void)sys_waitpid(h->pid, &status, 0);
	h->pid = 0;
	fd_closep(&h->pidfd);
	fd_closep(&h->control);
	if (status == NOTIFY_CANNOT << 8)
		h->is_broken = true;
	/* The rename that was under way ends with the next notifier. */
	h->is_quiet = false;
	note_gap(h);
	if (has_calls(h))
		start_or_let_go(h);
	else
		h->is_quiet = h->notify.page->is_held;
}

static void on_word(struct heard *h)
{
	struct notify_record record;

	if (sys_recv_record(h->control, &record, sizeof(record), NULL) > 0 &&
	    record.word == NOTIFY_QUIET)
		h->is_quiet = true;
}

void heard_wants_fds(const struct heard *h, struct pollfd *fds)
{
	fds[0] = (struct pollfd){ h->pidfd, POLLIN, 0 };
	fds[1] = (struct pollfd){ h->control, POLLIN, 0 };
	fds[2] = (struct pollfd){ h->recorder_fd, POLLIN, 0 };
	for (size_t i = 0; i < NOTIFY_LISTENERS; i++)
		fds[HEARD_OWN + i] = (struct pollfd){
			.fd = i < h->n_listeners ? h->listeners[i].fd : -1,
			/* Its end is told in any case. */
			.events = h->pid == 0 ? POLLIN : 0,
		};
}

void heard_serve(struct heard *h, const struct pollfd *fds)
{
	size_t n = h->n_listeners;

	if (fds[1].revents & POLLIN)
		on_word(h);
	if (fds[2].revents)
		on_recorder_end(h);
	if (fds[0].revents) {
		on_notifier_end(h);
		return;
	}
	for (size_t i = n; i-- > 0;) {
		short revents = fds[HEARD_OWN + i].revents;

		if (!revents)
			continue;
		/* One call, which may have started a notifier. */
		if (take_call(h, &h->listeners[i], revents) < 0)
			drop_listener(h, i);
		return;
	}
}

static void tell(const struct heard *h, enum notify_word word)
{
	const struct notify_record record = { .word = word };

	if (h->pid > 0)
		(void)sys_send_record(h->control, &record, sizeof(record));
}

void heard_hold(struct heard *h)
{
	h->notify.page->is_held = 1;
	h->is_quiet = h->pid == 0;
	tell(h, NOTIFY_HOLD);
}

void heard_release(struct heard *h)
{
	h->notify.page->is_held = 0;
	h->is_quiet = false;
	tell(h, NOTIFY_RELEASE);
}

void heard_part(struct heard *h)
{
	if (h->pid > 0)
		sys_kill_and_reap(h->pid);
	h->pid = 0;
	notify_await_worker(h->notify.page);
	/* Its number may be another process's from now on. */
	h->notify.page->worker = 0;
	fd_closep(&h->pidfd);
	fd_closep(&h->control);
	end_recorder(h);
}

void heard_go_on(struct heard *h)
{
	if (has_calls(h))
		start_or_let_go(h);
}

void heard_leave(struct heard *h)
{
	/* The page is the other's. */
	h->own = *h->notify.page;
	h->notify.page = &h->own;
	heard_done(h);
}

void heard_done(struct heard *h)
{
	heard_part(h);
	while (h->n_listeners > 0)
		drop_listener(h, h->n_listeners - 1);
	for (size_t i = 0; i < h->n_records; i++)
		fd_closep(&h->records[i]);
	free(h->records);
	h->records = NULL;
	h->n_records = 0;
	fd_closep(&h->user);
	fd_closep(&h->mounts);
	fd_closep(&h->wake[0]);
	fd_closep(&h->wake[1]);
}
