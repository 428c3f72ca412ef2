/* SPDX-License-Identifier: Apache-2.0 */
#include "box/nested.h"

#include "base/auto.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/seccomp.h"
#include "sys/signal.h"

#include <errno.h>

/*
 * The listener of the command's filter
 * ------------------------------------
 *
 *	(a) Every answer is EPERM.  Nothing of a call is looked at, so that
 *	    nothing in it can be wrong or change meanwhile.
 *	(b) A call that is not answered fails: with its process, or with ENOSYS
 *	    once the listener is closed.
 *	(c) While the listener is open no process inside can have one: EBUSY.
 *	    Once it is closed one could, and a newer listener may let calls
 *	    go on that this filter was to hear of.  So there is a listener
 *	    only where the kernel's limit of user namespaces refuses them
 *	    too.
 *	(d) The kernel counts calls before it shows them to poll(), and
 *	    a caller that dies leaves its count.  So recv() after POLLIN finds
 *	    a call, or says -ENOENT; it does not wait.
 *
 * tests/box/nested.py, tests/unit/t_notified.c
 */

bool nested_wants(const struct box *box)
{
	return box->plan->argv && is_set(box, PLAN_FILTER) &&
	       is_set(box, PLAN_NO_USERNS) &&
	       !is_set(box, PLAN_FILTER_NESTED | PLAN_BARE);
}

void nested_take(struct nested *n, const int *fds, size_t n_fds)
{
	bool is_wanted = n_fds == 1 && n->listener < 0;

	for (size_t i = 0; i < n_fds && !is_wanted; i++)
		sys_close(fds[i]);
	if (is_wanted)
		n->listener = fds[0];
}

void nested_start(struct nested *n)
{
	n->is_counted = n->listener >= 0;
	n->n = 0;
}

/* -ENOENT: the caller is gone.  -EPIPE: the last of all callers is. */
static int refuse(int listener, short revents)
{
	struct k_seccomp_notif call;
	int r;

	if (!(revents & POLLIN))
		return -EPIPE;
	r = sys_seccomp_notif_recv(listener, &call);
	return r < 0 ? r : sys_seccomp_notif_answer(listener, call.id, EPERM);
}

void nested_answer(struct nested *n, short revents)
{
	int r = refuse(n->listener, revents);

	if (r >= 0)
		n->n++;
	else if (r != -ENOENT)
		fd_closep(&n->listener);
}

void nested_done(struct nested *n)
{
	fd_closep(&n->listener);
}
