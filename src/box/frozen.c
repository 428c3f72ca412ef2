/* SPDX-License-Identifier: Apache-2.0 */
#include "box/frozen.h"

#include "base/auto.h"
#include "base/error.h"
#include "box/state.h"
#include "box/threads.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

/*
 * Freezing a box
 * --------------
 *
 *	we	  outside: copy meanwhile, and say when it is over
 *	  guide	  enters the namespaces, makes the holder, and waits for it
 *	    holder	in the pid namespace: holds the threads of the box
 *
 *	(a) The holder's end is the thaw, and the kernel sees to it.  It ends
 *	    when we hang up, when time is up, by the death signal of the guide,
 *	    or by a signal of anybody.
 *	(b) The guide ends a holder that is stopped.  It outlives us if need be,
 *	    because pid 1 of the box cannot end before the holder was reaped.
 *	    If the guide dies first we are the holder's parent, and reap it.
 *	(c) Neither is in our session: ^Z and ^C at our terminal are for us.
 *	(d) As in box/join.c the pid namespace comes last, and neither is
 *	    dumpable: nobody in the box looks into them.
 *	(e) Both keep nothing open but their end of the socket, and the guide
 *	    the namespaces while it enters them.
 *
 * Signals are not used to stop the box.  A shell inside would see its jobs
 *stop, and a thaw would need a process that is still there.
 */

/* Our words, one byte each. */
enum word {
	WORD_CHECK = 1,
};

/* What the holder answers. */
struct answer {
	int r;
	unsigned n_threads;
	struct hb_error error;
};

/* Room for the namespaces and the socket. */
#define KEEP_MAX (BOX_NAMESPACES + 1)

static void answer(int control, int r, const struct threads *h,
		   const struct hb_error *err)
{
	struct answer told = { .r = r,
			       .n_threads = (unsigned)h->n,
			       .error = *err };

	(void)sys_send_record(control, &told, sizeof(told));
}

/* Whether there is a word; false: it is over. */
static bool await_word(int control, int64_t end)
{
	struct pollfd word = { .fd = control, .events = POLLIN };
	int64_t left = end - sys_now_ms();
	unsigned char byte;

	return left > 0 && sys_poll(&word, 1, (int)left) > 0 &&
	       sys_recv_record(control, &byte, sizeof(byte), NULL) > 0 &&
	       byte == WORD_CHECK;
}

_Noreturn static void holder_main(int control)
{
	int64_t end = sys_now_ms() + FREEZE_STOP_MS;
	struct hb_error err = { 0 };
	struct threads h = { 0 };
	int r;

	/* A death of the guide before this shows in our hang-up alone. */
	(void)sys_set_parent_death_signal(SIGKILL);
	r = threads_hold(&h, end, &err);
	answer(control, r, &h, &err);
	end = sys_now_ms() + FREEZE_HOLD_MS;
	while (r >= 0 && await_word(control, end)) {
		err = (struct hb_error){ 0 };
		r = threads_check(&h, &err);
		answer(control, r, &h, &err);
	}
	/* (a) */
	sys_exit(0);
}

/* (e) */
static void shed(const struct freeze_way *way, int control)
{
	int keep[KEEP_MAX];
	size_t n = 0;

	while (n < way->n && n < BOX_NAMESPACES) {
		keep[n] = way->namespaces[n];
		n++;
	}
	keep[n++] = control;
	fds_close_but(0, keep, n);
}

static int enter(const struct freeze_way *way, struct hb_error *err)
{
	int r;

	/* (d) */
	r = sys_become_undumpable();
	if (r < 0)
		return hb_fail(err, r, "cannot become undumpable");
	return namespaces_enter(&(struct namespaces){ .ns = way->ns,
						      .fds = way->namespaces,
						      .n = way->n },
				err);
}

_Noreturn static void guide_main(const struct freeze_way *way, int control)
{
	struct hb_error err = { 0 };
	struct threads none = { 0 };
	int status = 0, r;
	pid_t holder = -1;

	/* (c) */
	(void)sys_setsid();
	shed(way, control);
	r = enter(way, &err);
	if (r >= 0) {
		holder = sys_clone(0, NULL);
		if (holder == 0) {
			for (size_t i = 0; i < way->n; i++)
				sys_close(way->namespaces[i]);
			holder_main(control);
		}
		/* So the kernel says that pid 1 of the box is gone. */
		if (holder == -ENOMEM)
			holder = -HB_E_BUSY;
		r = holder < 0 ? hb_fail(&err, holder, "cannot enter the box")
			       : 0;
	}
	if (r < 0) {
		answer(control, r, &none, &err);
		sys_exit(1);
	}
	sys_close(control);
	for (size_t i = 0; i < way->n; i++)
		sys_close(way->namespaces[i]);
	/* (b) */
	if (sys_waitpid(holder, &status, WUNTRACED) > 0 && WIFSTOPPED(status))
		sys_kill_and_reap(holder);
	sys_exit(0);
}

static int hear(struct freeze *f, struct hb_error *err)
{
	struct answer told;
	pid_t sender = 0;
	int r;

	r = sys_recv_record(f->control, &told, sizeof(told), &sender);
	if (r > 0 && sender != f->guide)
		f->holder = sender;
	if (r <= 0) {
		hb_fix(err, "try again");
		return hb_fail(err, -HB_E_BUSY,
			       "the box could not be kept still");
	}
	if (told.r < 0 && err)
		*err = told.error;
	f->n_threads = told.n_threads;
	return told.r;
}

int freeze_begin(struct freeze *f, const struct freeze_way *way,
		 struct hb_error *err)
{
	int ours = -1, theirs = -1;
	int r;

	*f = (struct freeze)FREEZE_NONE;
	if (way->n > BOX_NAMESPACES || !(way->ns & PLAN_NS_PID))
		return hb_fail(err, -HB_E_BUSY,
			       "the box has no processes of its own to stop");
	r = sys_socket_pair(&ours, &theirs);
	if (r >= 0)
		r = sys_want_credentials(ours);
	/* (b) */
	if (r >= 0)
		r = sys_become_subreaper();
	if (r < 0) {
		fd_closep(&ours);
		fd_closep(&theirs);
		return hb_fail(err, r, "cannot make a socket");
	}
	f->guide = sys_clone(0, NULL);
	if (f->guide == 0)
		guide_main(way, theirs);
	sys_close(theirs);
	f->control = ours;
	if (f->guide < 0) {
		r = f->guide;
		f->guide = 0;
		freeze_end(f);
		return hb_fail(err, r, "cannot enter the box");
	}
	r = hear(f, err);
	if (r < 0) {
		freeze_end(f);
		return hb_fail(err, r, "cannot freeze the box");
	}
	return 0;
}

int freeze_check(struct freeze *f, struct hb_error *err)
{
	unsigned char word = WORD_CHECK;

	(void)sys_send_record(f->control, &word, sizeof(word));
	return hear(f, err);
}

void freeze_end(struct freeze *f)
{
	fd_closep(&f->control);
	/* The guide waits for the holder. */
	if (f->guide > 0)
		(void)sys_waitpid(f->guide, NULL, 0);
	/* (b): else there is no such child of ours. */
	if (f->holder > 0)
		(void)sys_waitpid(f->holder, NULL, 0);
	f->guide = f->holder = 0;
}
