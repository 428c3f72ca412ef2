/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

/*
 * A network namespace takes the kernel as long as all mounts of a view.  Both
 * are made at the same time: a process beside init makes the namespace, which
 * init enters before the host's /proc goes.  The process has init's memory and
 * descriptors, and is gone before anything else is started.
 *
 * If that fails, init makes the namespace itself, and tells why it cannot.
 */

#define MAKER_STACK 16384

static int make(void *arg)
{
	int *ret = arg;
	int r = sys_unshare(CLONE_NEWNET);

	if (r >= 0)
		r = sys_loopback_up();
	if (r >= 0)
		r = sys_openat(AT_FDCWD, "/proc/self/ns/net", O_RDONLY, 0);
	*ret = r;
	sys_exit(0);
}

int net_bring_up(struct hb_error *err)
{
	int r = sys_loopback_up();

	if (r < 0)
		return hb_fail(err, r, "loopback: Failed to bring it up");
	return 0;
}

void net_begin_beside(struct box *box)
{
	static char stack[MAKER_STACK] __attribute__((aligned(16)));

	box->net.fd = -EAGAIN;
	box->net.pid =
		sys_fork_beside(make, &box->net.fd, stack, sizeof(stack));
}

int step_netns(struct box *box, struct hb_error *err)
{
	int r;

	if (!box->is_net_beside)
		return 0;
	r = box->net.pid;
	if (r > 0)
		r = sys_waitpid(box->net.pid, NULL, 0);
	if (r > 0)
		r = box->net.fd;
	if (r >= 0) {
		r = sys_setns(box->net.fd, CLONE_NEWNET);
		sys_close(box->net.fd);
	}
	if (r >= 0)
		return 0;
	r = sys_unshare(CLONE_NEWNET);
	if (r < 0)
		return explain_kind(
			hb_fail(err, r, "Creating new namespace failed"),
			CLONE_NEWNET, err);
	return net_bring_up(err);
}
