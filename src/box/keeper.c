/* SPDX-License-Identifier: Apache-2.0 */
#include "box/keeper.h"

#include "base/auto.h"
#include "box/door.h"
#include "box/notify/heard.h"
#include "box/relayed.h"
#include "box/state.h"
#include "box/terminal.h"
#include "box/turns.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/sock.h"

#include <fcntl.h>

#define FIRST_OTHER 3

/*
 * The caller does not know the keeper, and gave it nothing: a reader of a pipe
 * would wait for its end.  All of our own is close-on-exec.
 */
static void close_given(void)
{
	int null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
	int fd = FIRST_OTHER - 1;

	for (int i = 0; i < FIRST_OTHER; i++) {
		if (null >= 0)
			(void)sys_dup_to(null, i);
		else
			sys_close(i);
	}
	if (null >= FIRST_OTHER)
		sys_close(null);
	while ((fd = sys_find_fd_above(fd, -1)) >= 0)
		if (!sys_has_cloexec(fd))
			sys_close(fd);
}

static void become_keeper(const struct keeper *k)
{
	const struct plan *plan = k->box->plan;

	(void)sys_setsid();
	close_given();
	terminal_forget(k->terminal);
	door_keep(k->door);
	turns_part(k->turns);
	if (plan->handed)
		plan->handed(plan->handed_context);
	heard_go_on(k->heard);
}

static void leave(const struct keeper *k)
{
	door_done(k->door);
	heard_leave(k->heard);
	if (k->box->relayed)
		relayed_leave(k->box->relayed);
	turns_leave(k->turns);
	fd_closep(&k->box->watch);
	/* Not removed: others are in it. */
	fd_closep(&k->box->cgroup.dir);
	fd_closep(&k->box->cgroup.above);
}

int keeper_part(const struct keeper *k)
{
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	char byte;
	pid_t pid;
	int r;

	r = sys_socket_pair(&ours, &theirs);
	if (r < 0)
		return r;
	heard_part(k->heard);
	pid = sys_clone(0, NULL);
	if (pid == 0) {
		become_keeper(k);
		return 0;
	}
	if (pid < 0) {
		heard_go_on(k->heard);
		return pid;
	}
	/* Until it is ready: who looks after us finds it at the door. */
	fd_closep(&theirs);
	(void)sys_recv_record(ours, &byte, sizeof(byte), NULL);
	leave(k);
	return 1;
}
