/* SPDX-License-Identifier: Apache-2.0 */
#include "box/door.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/report.h"
#include "box/notify/notifier.h"
#include "box/state.h"
#include "box/tail.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/*
 * A process of our user has our rights over the box.  The directory of the
 * socket is closed to others, and the kernel tells the peer's user besides.
 */

/* Between two looks at a client that has the lock. */
#define RETURN_MS 1000

/* More at once is a mistake of a client. */
#define GUESTS_MAX 65536

/*
 * So many at once have a listener.  The others are those of commands whose
 * clients have died.
 */
#define HEARD_GUESTS (NOTIFY_LISTENERS * 3 / 4)

static void set_greeting(struct door *d, const struct box *box, unsigned ns,
			 size_t tail_size)
{
	d->greeting = (struct door_greeting){ .magic = DOOR_MAGIC,
					      .ns = ns,
					      .welcomes = true,
					      .tail_size = tail_size };
	if (box->cgroup.dir < 0)
		return;
	d->greeting.has_cgroup = true;
	d->greeting.has_group_pids = box->has_group_pids;
	d->fds[d->n_fds++] = box->cgroup.dir;
}

int door_open(struct door *d, const struct box *box, unsigned ns,
	      const int *fds, size_t n, pid_t init, struct hb_error *err)
{
	size_t size = 0;
	int r = -HB_E_CHILD;

	/* The root stays here, and two more than the rest may go. */
	if (n >= 2 && n <= BOX_NAMESPACES + 1 && !d->is_open)
		r = tail_make(box->plan, &size, err);
	if (r < 0) {
		for (size_t i = 0; i < n; i++)
			sys_close(fds[i]);
		return hb_fail(err, r, "cannot let anybody into the box");
	}
	d->root = fds[0];
	d->fds[DOOR_TAIL] = r;
	memcpy(d->fds + DOOR_NAMESPACES, fds + 1, (n - 1) * sizeof(int));
	d->n_fds = d->n_owned = n;
	d->listener = box->plan->fds[PLAN_FD_DOOR];
	d->lent = box->plan->fds[PLAN_FD_LENT];
	d->is_open = true;
	set_greeting(d, box, ns, size);
	d->greeting.supervisor = sys_getpid();
	d->greeting.init = init;
	r = sys_place(d->root, &d->greeting.root);
	return r < 0 ? hb_fail(err, r, "cannot look at the box") : 0;
}

/* One too many is no worse than a box that takes long to end. */
static void note_orphan(struct door *d, pid_t command)
{
	if (command <= 0 || sys_kill(command, 0) < 0)
		return;
	if (grow(d->orphans, d->n_orphans) < 0)
		return;
	d->orphans[d->n_orphans++] = command;
}

bool door_has_unburied(const struct door *d)
{
	for (size_t i = 0; i < d->n_orphans; i++)
		if (!sys_has_ended(d->orphans[i]))
			return false;
	return d->n_orphans > 0;
}

static void drop(struct door *d, size_t guest)
{
	note_orphan(d, d->guests[guest].command);
	fd_closep(&d->guests[guest].fd);
	d->guests[guest] = d->guests[--d->n_guests];
	d->is_full = false;
}

static int add(struct door *d, int fd, pid_t pid)
{
	if (d->n_guests >= GUESTS_MAX)
		return -E2BIG;
	if (grow(d->guests, d->n_guests) < 0)
		return -ENOMEM;
	d->guests[d->n_guests++] = (struct door_guest){ .fd = fd, .pid = pid };
	return 0;
}

static void greet(struct door *d, int taken)
{
	auto_fd int fd = taken;
	struct sys_peer peer;

	if (sys_peer(fd, &peer) < 0 || peer.uid != sys_geteuid())
		return;
	d->greeting.is_heard = d->n_guests < HEARD_GUESTS;
	if (sys_send_record_fds(fd, &d->greeting, sizeof(d->greeting), d->fds,
				d->n_fds) < 0)
		return;
	if (add(d, fd, peer.pid) >= 0)
		(void)take_fd(&fd);
}

void door_let_in(struct door *d)
{
	int fd;

	while ((fd = sys_accept(d->listener)) >= 0)
		greet(d, fd);
	/* They wait outside until a client leaves. */
	if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS)
		d->is_full = true;
}

static void tell(const struct door *d, const struct door_guest *g)
{
	if (g->hears)
		(void)sys_offer_record(g->fd, &d->news, sizeof(d->news));
}

static void say(const struct door_guest *g, enum door_tidings tidings)
{
	const struct door_news news = { .magic = DOOR_MAGIC,
					.tidings = tidings };

	(void)sys_offer_record(g->fd, &news, sizeof(news));
}

int door_send_listener(int fd, int listener)
{
	const struct door_request request = { .magic = DOOR_MAGIC,
					      .word = DOOR_LISTENER };

	return sys_send_record_fds(fd, &request, sizeof(request), &listener, 1);
}

/* A record, and the one descriptor that may come with it. */
static int hear(const struct door_guest *g, struct door_request *ret_request,
		int *ret_fd)
{
	int fds[SYS_RECORD_FDS];
	size_t n = 0;
	int r = sys_recv_record_fds(g->fd, ret_request, sizeof(*ret_request),
				    NULL, fds, &n);
	bool is_wanted = r > 0 && n == 1 && ret_request->magic == DOOR_MAGIC &&
			 (ret_request->word == DOOR_LISTENER ||
			  ret_request->word == DOOR_NET);

	for (size_t i = 0; i < n && !is_wanted; i++)
		sys_close(fds[i]);
	*ret_fd = is_wanted ? fds[0] : -1;
	return r;
}

int door_hear(struct door *d, size_t guest, struct door_request *ret_request,
	      int *ret_listener)
{
	struct door_guest *g = &d->guests[guest];
	int r;

	r = hear(g, ret_request, ret_listener);
	if (r == -EAGAIN)
		return 0;
	if (r <= 0 || ret_request->magic != DOOR_MAGIC) {
		drop(d, guest);
		return 0;
	}
	if (ret_request->word == DOOR_JOINED) {
		bool is_new = !g->hears;
		bool is_news = is_new && d->news.tidings == DOOR_FULL;

		/* A box that ends has hung up on it. */
		if (is_new && d->is_open)
			say(g, DOOR_WELCOME);
		g->hears = true;
		g->command = ret_request->pid;
		g->is_joined = g->command > 0;
		if (is_news)
			tell(d, g);
		return 0;
	}
	g->waits = ret_request->word == DOOR_STOP;
	return 1;
}

void door_answer(struct door *d, size_t guest, struct door_status *about)
{
	about->magic = DOOR_MAGIC;
	about->root = d->root;
	for (size_t i = 0; i < d->n_guests; i++) {
		const struct door_guest *g = &d->guests[i];

		if (!g->is_joined)
			continue;
		if (about->n_joined < DOOR_NAMED) {
			about->joined[about->n_joined].client = g->pid;
			about->joined[about->n_joined].command = g->command;
		}
		about->n_joined++;
	}
	(void)sys_offer_record(d->guests[guest].fd, about, sizeof(*about));
}

void door_tell(struct door *d, enum door_tidings tidings, uint64_t left)
{
	d->news = (struct door_news){ .magic = DOOR_MAGIC,
				      .tidings = tidings,
				      .left = left };
	for (size_t i = 0; i < d->n_guests; i++)
		tell(d, &d->guests[i]);
}

void door_own_up(const struct door *d, size_t guest, bool is_ours)
{
	say(&d->guests[guest], is_ours ? DOOR_OURS : DOOR_YOURS);
}

static bool has_borrower(const struct door *d)
{
	for (size_t i = 0; i < d->n_guests; i++)
		if (d->guests[i].borrows)
			return true;
	return false;
}

void door_lend(struct door *d, size_t guest)
{
	struct door_guest *g = &d->guests[guest];
	struct door_loan loan = { .magic = DOOR_MAGIC, .verdict = DOOR_LENT };

	if (has_borrower(d))
		loan.verdict = DOOR_LENT_ALREADY;
	else if (!d->is_open || d->lent < 0)
		loan.verdict = DOOR_LENT_NEVER;
	if (loan.verdict != DOOR_LENT) {
		(void)sys_offer_record(g->fd, &loan, sizeof(loan));
		return;
	}
	if (sys_send_record_fds(g->fd, &loan, sizeof(loan), &d->lent, 1) < 0)
		return;
	g->borrows = d->was_lent = true;
}

/* It holds the lock by the same open file, and must not be stopped with it. */
static void await_one(struct door *d, size_t guest,
		      const struct hb_listener *listener)
{
	struct pollfd gone = { .fd = d->guests[guest].fd, .events = POLLIN };
	pid_t pid = d->guests[guest].pid;
	struct door_request request;
	bool is_said = false;

	for (;;) {
		if (sys_poll(&gone, 1, RETURN_MS) == 0) {
			if (!is_said)
				report_text(listener, HB_REPORT_SAID,
					    "the command has ended; waiting "
					    "for process %d, which takes its "
					    "changes",
					    (int)pid);
			is_said = true;
			if (pid > 0 && sys_is_stopped(pid))
				(void)sys_kill(pid, SIGCONT);
			continue;
		}
		if (sys_recv_record(gone.fd, &request, sizeof(request), NULL) <=
		    0)
			return;
	}
}

void door_await_return(struct door *d, const struct hb_listener *listener)
{
	for (size_t i = 0; i < d->n_guests; i++)
		if (d->guests[i].borrows)
			await_one(d, i, listener);
}

/* Whether the end of the box is nothing to it. */
static bool is_aside(const struct door_guest *g)
{
	return g->waits || g->borrows;
}

void door_shut(struct door *d)
{
	d->is_open = false;
	for (size_t i = 0; i < d->n_guests; i++) {
		if (is_aside(&d->guests[i]))
			continue;
		sys_hang_up(d->guests[i].fd);
		/* Who is stopped has to hear it. */
		if (d->guests[i].pid > 0)
			(void)sys_kill(d->guests[i].pid, SIGCONT);
	}
}

size_t door_count(const struct door *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_guests; i++)
		n += !is_aside(&d->guests[i]);
	return n;
}

size_t door_count_joined(const struct door *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_guests; i++)
		n += d->guests[i].hears && !is_aside(&d->guests[i]);
	return n;
}

void door_keep(struct door *d)
{
	d->is_kept = true;
	d->greeting.supervisor = sys_getpid();
	(void)sys_listen_again(d->listener);
}

void door_see_off(struct door *d, size_t guest)
{
	struct door_guest *g = &d->guests[guest];

	g->hears = g->is_joined = false;
	g->command = 0;
	if (d->is_kept && d->is_open && door_count_joined(d) == 0)
		g->waits = true;
	else
		say(g, DOOR_STAYS);
}

void door_clear(struct door *d)
{
	for (size_t i = d->n_guests; i-- > 0;) {
		if (is_aside(&d->guests[i]))
			continue;
		/* Connected, so it is still the process that connected. */
		if (d->guests[i].pid > 0)
			(void)sys_kill(d->guests[i].pid, SIGKILL);
		drop(d, i);
	}
}

void door_forget(struct door *d)
{
	if (d->n_fds == 0)
		return;
	for (size_t i = 0; i < d->n_owned; i++)
		fd_closep(&d->fds[i]);
	fd_closep(&d->root);
	d->n_fds = 0;
	d->is_open = false;
}

void door_done(struct door *d)
{
	door_forget(d);
	while (d->n_guests > 0)
		drop(d, d->n_guests - 1);
	free(d->guests);
	free(d->orphans);
	d->guests = NULL;
	d->orphans = NULL;
	d->n_orphans = 0;
}
