/* SPDX-License-Identifier: Apache-2.0 */
#include "box/threads.h"

#include "base/error.h"
#include "base/grow.h"
#include "sys/place.h"
#include "sys/signal.h"
#include "sys/trace.h"

#include <errno.h>

/*
 * A thread that runs may make others until it has stopped.  So the list is
 * complete when all in it have stopped and one more look finds no other.
 *
 *	(a) A thread in vfork() cannot stop before its child goes on.  It counts
 *	    as stopped, and is complete only with the child, which is looked for
 *	    like any other.
 *	(b) A thread that a debugger in the box has stopped stays so while the
 *	    debugger is held.  A debugger outside is not: its thread counts as
 *	    one that runs.
 *	(c) A command that joins is ours to hold only when it has executed:
 *	    until then it shares the memory of its client.
 *	(d) A number in the list may have become another thread's: of a second
 *	    thread that executes a program.  So the kernel is asked whether it
 *	    is still held.
 *	(e) A command that joins may have ended before the next look.  The
 *	    number of the newest thread tells.
 *
 * tests/unit/t_threads.c, tests/box/freeze.py
 */

/* More is no box that could be copied in a moment. */
#define THREADS_MAX 16384

/* Between two looks at threads that have not stopped. */
#define PAUSE_US 100

static struct box_thread *find(const struct threads *h, pid_t id)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->threads[i].id == id)
			return &h->threads[i];
	return NULL;
}

static int add(struct threads *h, pid_t process, pid_t id)
{
	if (h->n >= THREADS_MAX)
		return -E2BIG;
	if (grow(h->threads, h->n) < 0)
		return -ENOMEM;
	h->threads[h->n++] = (struct box_thread){ process, id, false };
	h->n_fresh++;
	return 0;
}

static void note_other(struct threads *h, pid_t process)
{
	h->n_others++;
	h->other = process;
}

/* A thread that is not ours: whether it may run nevertheless. */
static bool may_run(pid_t process, pid_t id)
{
	char state = sys_thread_state(process, id);

	/* (b) */
	if (state == 't')
		return sys_tracer_of(process, id) == 0;
	return state != 0 && state != 'Z' && state != 'X';
}

/* Of type sys_thread_fn. */
static int hold(void *ctx, pid_t process, pid_t id)
{
	struct threads *h = ctx;
	struct box_thread *known = find(h, id);
	int r;

	/* (d) */
	if (known && sys_tracer_of(process, id) != 0)
		return 0;
	r = sys_trace_hold(id);
	if (r >= 0 && known) {
		*known = (struct box_thread){ process, id, false };
		h->n_fresh++;
		return 0;
	}
	if (r >= 0)
		return add(h, process, id);
	/* (c) */
	if (r != -ESRCH && may_run(process, id))
		note_other(h, process);
	return 0;
}

/* Of type sys_thread_fn. */
static int look(void *ctx, pid_t process, pid_t id)
{
	struct threads *h = ctx;

	/* (d) */
	if ((!find(h, id) || sys_tracer_of(process, id) == 0) &&
	    may_run(process, id))
		note_other(h, process);
	return 0;
}

static bool is_still(struct box_thread *t)
{
	if (sys_trace_has_stopped(t->id))
		t->has_stopped = true;
	/* (a): it has not stopped, and will when it can. */
	return t->has_stopped || sys_waits_for_vfork(t->process, t->id);
}

/* Waits for all of the list; false: time is up. */
static bool await_stops(struct threads *h, int64_t end)
{
	for (size_t i = 0; i < h->n; i++) {
		while (!h->threads[i].has_stopped &&
		       !is_still(&h->threads[i])) {
			if (sys_now_ms() >= end) {
				h->other = h->threads[i].process;
				return false;
			}
			sys_pause_us(PAUSE_US);
		}
	}
	return true;
}

static int each(struct threads *h, sys_thread_fn fn, struct hb_error *err)
{
	int r;

	h->n_fresh = h->n_others = 0;
	r = sys_each_thread(fn, h);
	return r < 0 ? hb_fail(err, r, "cannot list the processes of the box")
		     : 0;
}

/* (e) */
static int note_last(struct threads *h, struct hb_error *err)
{
	h->last = sys_last_thread();
	return h->last < 0 ? hb_fail(err, h->last,
				     "cannot tell the newest process of the "
				     "box")
			   : 0;
}

static int fail_late(const struct threads *h, struct hb_error *err)
{
	hb_fix(err, "try again, or end process %d of the box", (int)h->other);
	return hb_fail(err, -HB_E_BUSY,
		       "process %d of the box does not stop, so nothing was "
		       "taken from it",
		       (int)h->other);
}

int threads_hold(struct threads *h, int64_t end, struct hb_error *err)
{
	int r;

	for (;;) {
		r = note_last(h, err);
		if (r >= 0)
			r = each(h, hold, err);
		if (r < 0)
			return r;
		if (!await_stops(h, end))
			return fail_late(h, err);
		if (h->n_fresh == 0 && h->n_others == 0 &&
		    sys_last_thread() == h->last)
			return 0;
		if (sys_now_ms() >= end)
			return fail_late(h, err);
		if (h->n_fresh == 0)
			sys_pause_us(PAUSE_US);
	}
}

int threads_check(struct threads *h, struct hb_error *err)
{
	int r;

	if (sys_last_thread() != h->last)
		return 0;
	for (size_t i = 0; i < h->n; i++)
		if (!is_still(&h->threads[i]))
			return 0;
	r = each(h, look, err);
	return r < 0 ? r : h->n_others == 0;
}
