/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/notifier.h"

#include "base/auto.h"
#include "box/notify/call_look.h"
#include "box/notify/call_path.h"
#include "box/notify/calls.h"
#include "box/notify/heard.h"
#include "box/notify/rename_call.h"
#include "box/source.h"
#include "box/state.h"
#include "sys/caps.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/seccomp.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/*
 * The notifier's own loop
 * -----------------------
 *
 *	(a) A call is in notify_page from before it is looked at until it is
 *	    answered.  A notifier that is killed leaves it to the next one.
 *	(b) It waits for nothing but the next event: what takes long is done by
 *	    a worker, one at a time, while other calls go on.
 *	(c) It enters the box's namespaces but that of processes, after all host
 *	    paths are open.  Then it changes nothing any more.
 *	(d) A worker that is killed is followed by one that recovers.
 */

/* Workers for one job; after so many the record is left to the session. */
#define TRIES_MAX 5

/* What the last worker has to end after its notifier: ms. */
#define WORKER_END_MS 5000

static void tell_quiet(const struct notifier *p)
{
	const struct notify_record record = { .word = NOTIFY_QUIET };

	(void)sys_offer_record(p->control, &record, sizeof(record));
}

static void drop_job(struct notifier *p)
{
	struct notify_page *page = p->notify.page;

	memmove(page->jobs, page->jobs + 1,
		(NOTIFY_JOBS - 1) * sizeof(page->jobs[0]));
	page->jobs[NOTIFY_JOBS - 1].state = NOTIFY_FREE;
	p->n_tries = 0;
}

/* Begins the next job, if there is one and it may begin. */
static void begin_job(struct notifier *p)
{
	struct notify_page *page = p->notify.page;
	struct notify_call *job = &page->jobs[0];
	pid_t notifier = sys_getpid();

	if (p->worker > 0 || job->state == NOTIFY_FREE)
		return;
	if (page->is_held && job->state == NOTIFY_WAITS)
		return;
	p->worker = p->n_tries++ < TRIES_MAX ? sys_clone(0, &p->worker_fd)
					     : -EAGAIN;
	if (p->worker == 0) {
		(void)sys_set_parent_death_signal(SIGKILL);
		if (sys_getppid() != notifier)
			sys_exit(1);
		rename_work(p, job);
	}
	if (p->worker > 0) {
		page->worker = p->worker;
		return;
	}
	/* There can be none: what the kernel says stays. */
	p->worker = 0;
	(void)sys_seccomp_notif_answer(notify_listener(p, job->listener),
				       job->data.id, 0);
	drop_job(p);
}

static void end_job(struct notifier *p)
{
	int status = 0;

	(void)sys_waitpid(p->worker, &status, 0);
	fd_closep(&p->worker_fd);
	/* Reaped: its number may be another process's from now on. */
	p->worker = p->notify.page->worker = 0;
	if (status == 0)
		drop_job(p);
	if (p->notify.page->is_held)
		tell_quiet(p);
}

static void look_now(struct notifier *p)
{
	struct notify_call *now = &p->notify.page->now;
	int fd = notify_listener(p, now->listener), error = 0;

	switch (notify_look(&p->notify, now, &error)) {
	case NOTIFY_REFUSED:
		(void)sys_seccomp_notif_answer(fd, now->data.id, error);
		break;
	case NOTIFY_GO_ON:
	case NOTIFY_FORK:
		(void)sys_seccomp_notif_answer(fd, now->data.id, 0);
		break;
	case NOTIFY_LATER:
		break;
	}
	now->state = NOTIFY_FREE;
}

/* -EPIPE: the last of its callers is gone. */
static int take_call(struct notifier *p, const struct notify_listener *l,
		     short revents)
{
	struct notify_call *now = &p->notify.page->now;
	int r;

	if (!(revents & POLLIN))
		return -EPIPE;
	r = sys_seccomp_notif_recv(l->fd, &now->data);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	now->listener = l->number;
	now->state = NOTIFY_WAITS;
	look_now(p);
	return 0;
}

static void drop_listener(struct notifier *p, size_t i)
{
	fd_closep(&p->listeners[i].fd);
	p->listeners[i] = p->listeners[--p->n_listeners];
}

static void add_listener(struct notifier *p, int fd, uint32_t number)
{
	if (p->n_listeners == NOTIFY_LISTENERS) {
		sys_close(fd);
		return;
	}
	(void)sys_seccomp_notif_sync_wake_up(fd);
	p->listeners[p->n_listeners++] = (struct notify_listener){ fd, number };
}

/* False: the supervisor is gone. */
static bool hear_control(struct notifier *p)
{
	struct notify_record record;
	int fds[SYS_RECORD_FDS];
	size_t n = 0;

	if (sys_recv_record_fds(p->control, &record, sizeof(record), NULL, fds,
				&n) <= 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 && record.word == NOTIFY_LISTEN)
			add_listener(p, fds[i], record.number);
		else
			sys_close(fds[i]);
	}
	if (record.word == NOTIFY_HOLD && p->worker == 0)
		tell_quiet(p);
	return true;
}

_Noreturn static void serve(struct notifier *p)
{
	enum {
		CONTROL,
		WORKER,
		LISTENERS
	};
	struct pollfd fds[LISTENERS + NOTIFY_LISTENERS];

	if (p->notify.page->now.state != NOTIFY_FREE)
		look_now(p);
	for (;;) {
		size_t n = p->n_listeners;
		int r;

		begin_job(p);
		fds[CONTROL] = (struct pollfd){ p->control, POLLIN, 0 };
		fds[WORKER] =
			(struct pollfd){ p->worker > 0 ? p->worker_fd : -1,
					 POLLIN, 0 };
		for (size_t i = 0; i < n; i++)
			fds[LISTENERS + i] =
				(struct pollfd){ p->listeners[i].fd, POLLIN,
						 0 };
		r = sys_poll(fds, LISTENERS + n, call_wake_in(p));
		if (r < 0)
			sys_exit(1);
		if (r == 0)
			call_wake(p);
		if (fds[CONTROL].revents && !hear_control(p))
			sys_exit(0);
		if (fds[WORKER].revents)
			end_job(p);
		/* From the last: another may take the place of one. */
		for (size_t i = n; i-- > 0;)
			if (fds[LISTENERS + i].revents &&
			    take_call(p, &p->listeners[i],
				      fds[LISTENERS + i].revents) < 0)
				drop_listener(p, i);
	}
}

/* (c): the layers, by the host's paths. */
static int open_overlay(const struct box *box, const struct plan_op *op,
			int record, struct notify_overlay *o)
{
	*o = (struct notify_overlay){ .dest = op->dest,
				      .upper = -1,
				      .record = record };
	o->lowers = calloc(op->n_layers, sizeof(*o->lowers));
	if (!o->lowers)
		return -ENOMEM;
	for (size_t i = 0; i < op->n_layers; i++) {
		const char *path = box->plan->layers[op->first_layer + i];
		int fd = sys_openat(AT_FDCWD, source_path(box, path),
				    O_PATH | O_DIRECTORY, 0);

		if (fd < 0)
			return fd;
		o->lowers[o->n_lowers++] = fd;
	}
	if (op->upper)
		o->upper = sys_openat(AT_FDCWD, source_path(box, op->upper),
				      O_PATH | O_DIRECTORY, 0);
	return 0;
}

static int open_overlays(struct notifier *p, const struct heard *h)
{
	const struct plan *plan = h->box->plan;
	size_t n = 0;

	p->overlays = calloc(plan->n_ops + 1, sizeof(*p->overlays));
	if (!p->overlays)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n_ops; i++) {
		if (!heard_is_overlay(&plan->ops[i]))
			continue;
		/* Without its layers nothing is renamed in it. */
		if (open_overlay(h->box, &plan->ops[i], h->records[n++],
				 &p->overlays[p->n_overlays]) >= 0)
			p->n_overlays++;
	}
	return 0;
}

/* In the box: what lies at its place there. */
static void find_mounts(struct notifier *p)
{
	for (size_t i = 0; i < p->n_overlays; i++) {
		struct notify_overlay *o = &p->overlays[i];
		auto_fd int fd =
			sys_openat(AT_FDCWD, o->dest, O_PATH | O_DIRECTORY, 0);

		if (fd < 0 || sys_mount_id(fd, &o->mount) < 0)
			o->mount = 0;
	}
}

/* Everything else of the supervisor's is not for us. */
static int close_others(const struct notifier *p, const struct heard *h)
{
	size_t n = 6 + p->n_listeners, at = 0;
	auto_free int *keep = NULL;

	for (size_t i = 0; i < p->n_overlays; i++)
		n += 2 + p->overlays[i].n_lowers;
	keep = calloc(n, sizeof(*keep));
	if (!keep)
		return -ENOMEM;
	keep[at++] = p->control;
	keep[at++] = p->wake;
	keep[at++] = p->proc;
	keep[at++] = h->user;
	keep[at++] = h->mounts;
	for (size_t i = 0; i < p->n_listeners; i++)
		keep[at++] = p->listeners[i].fd;
	for (size_t i = 0; i < p->n_overlays; i++) {
		const struct notify_overlay *o = &p->overlays[i];

		keep[at++] = o->upper;
		keep[at++] = o->record;
		for (size_t k = 0; k < o->n_lowers; k++)
			keep[at++] = o->lowers[k];
	}
	fds_close_but(3, keep, at);
	return 0;
}

static int enter(const struct heard *h)
{
	const uint64_t trace = UINT64_C(1) << K_CAP_SYS_PTRACE;
	const struct caps caps = { .effective = trace, .permitted = trace };
	int user = h->user, mounts = h->mounts, r = 0;

	if (user >= 0)
		r = sys_setns(user, CLONE_NEWUSER);
	if (r >= 0)
		r = sys_setns(mounts, CLONE_NEWNS);
	if (r >= 0)
		r = sys_set_no_new_privs();
	if (r >= 0)
		r = sys_caps_bound(0);
	if (r >= 0)
		r = sys_caps_set(&caps);
	/* A change of credentials may have set it again. */
	if (r >= 0)
		r = sys_become_undumpable();
	fd_closep(&user);
	fd_closep(&mounts);
	return r;
}

void notify_await_worker(const struct notify_page *page)
{
	for (int i = 0; i < WORKER_END_MS; i++) {
		if (page->worker == 0 || sys_has_ended(page->worker))
			return;
		sys_pause(1);
	}
}

void notifier_main(const struct heard *h, int control, pid_t supervisor)
{
	static struct notifier p = { .worker_fd = -1 };
	static struct call_paths paths;
	int r;

	(void)sys_set_parent_death_signal(SIGKILL);
	if (sys_getppid() != supervisor || sys_set_dumpable(0) < 0)
		sys_exit(1);
	/* Neither ^C nor ^Z is for us. */
	(void)sys_setsid();
	p.box = h->box;
	p.notify = (struct notify){ h->notify.page, &p };
	p.control = control;
	p.wake = h->wake[1];
	notify_await_worker(h->notify.page);
	p.proc = sys_has_own_proc() ? sys_openat(AT_FDCWD, "/proc",
						 O_PATH | O_DIRECTORY, 0)
				    : -ENOENT;
	for (size_t i = 0; i < h->n_listeners; i++)
		add_listener(&p, h->listeners[i].fd, h->listeners[i].number);
	r = p.proc < 0 ? p.proc : open_overlays(&p, h);
	if (r >= 0)
		r = close_others(&p, h);
	if (r >= 0)
		r = enter(h);
	if (r < 0)
		sys_exit(NOTIFY_CANNOT);
	find_mounts(&p);
	paths.proc = p.proc;
	p.paths = h->notify.page->ring ? &paths : NULL;
	serve(&p);
}
