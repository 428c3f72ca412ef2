/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/notify/heard.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/sock.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>

const struct box_namespace box_namespaces[BOX_NAMESPACES] = {
	{ PLAN_NS_USER, CLONE_NEWUSER, "/proc/self/ns/user" },
	{ 0, CLONE_NEWNS, "/proc/self/ns/mnt" },
	{ PLAN_NS_PID, CLONE_NEWPID, "/proc/self/ns/pid" },
	{ PLAN_NS_NET, CLONE_NEWNET, "/proc/self/ns/net" },
	{ PLAN_NS_IPC, CLONE_NEWIPC, "/proc/self/ns/ipc" },
	{ PLAN_NS_UTS, CLONE_NEWUTS, "/proc/self/ns/uts" },
	{ PLAN_NS_CGROUP, CLONE_NEWCGROUP, "/proc/self/ns/cgroup" },
};

static_assert(BOX_NAMESPACES + 2 <= SYS_RECORD_FDS,
	      "namespaces go with one record, and two others");

/*
 * The supervisor cannot get at them later: no process looks into an init that
 * is not dumpable.  They are for those who join, and for the notifier.
 */
int step_door(struct box *box, struct hb_error *err)
{
	int fds[SYS_RECORD_FDS];
	struct message message;
	size_t n = 0;
	int r = 0;

	if (!has_door(box->plan) && !heard_notified(box))
		return 0;
	fds[n++] = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
	for (size_t i = 0; i < BOX_NAMESPACES; i++)
		if (has_namespace(box->ns, &box_namespaces[i]))
			fds[n++] = sys_openat(AT_FDCWD, box_namespaces[i].path,
					      O_RDONLY, 0);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = fds[i];
	memset(&message, 0, sizeof(message));
	message.kind = MESSAGE_DOOR;
	message.value = (int)box->ns;
	if (r >= 0)
		r = sys_send_record_fds(box->report, &message, sizeof(message),
					fds, n);
	for (size_t i = 0; i < n; i++)
		fd_closep(&fds[i]);
	/* For the notifier alone it is not worth a failure. */
	if (r < 0 && has_door(box->plan))
		return hb_fail(err, r, "cannot hand over the namespaces");
	return 0;
}

int namespaces_enter(const struct namespaces *given, struct hb_error *err)
{
	size_t next = 0;
	int r;

	for (size_t i = 0; i < BOX_NAMESPACES; i++) {
		const struct box_namespace *ns = &box_namespaces[i];

		if (!has_namespace(given->ns, ns))
			continue;
		if (next >= given->n)
			return hb_fail(err, -HB_E_CHILD,
				       "a namespace of the box is missing");
		r = ns->flag == CLONE_NEWNS && given->before_mounts
			    ? given->before_mounts(given->ctx, err)
			    : 0;
		if (r < 0)
			return r;
		r = sys_setns(given->fds[next++], ns->flag);
		if (r < 0)
			return hb_fail(err, r, "cannot enter '%s' of the box",
				       ns->path);
	}
	return 0;
}
