/* SPDX-License-Identifier: Apache-2.0 */
#include "run/beside/sync_child.h"

#include "base/auto.h"
#include "holdback/holdback.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#define FIRST_OTHER 3
#define FIRST_TIMES 2
#define FAILED	    127

/* In the process of its own. */
static _Noreturn void work(const struct hb_session *session, uint64_t seconds,
			   pid_t parent)
{
	static char name[] = "holdback", command[] = "sync",
		    every[] = "--every", first[] = "--first",
		    dir[] = "--state-dir";
	char store[PATH_MAX], ref[RECORD_NAME_MAX + 2], time[32], wait[32];
	char *argv[] = { name, command, every, time, first,
			 wait, dir,	store, ref,  NULL };
	int null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
	int r = null;
	sigset_t none;

	(void)sigemptyset(&none);
	(void)snprintf(store, sizeof(store), "%s", session->store->path);
	(void)snprintf(ref, sizeof(ref), "@%s", session->record.name);
	(void)snprintf(time, sizeof(time), "%" PRIu64 "s", seconds);
	(void)snprintf(wait, sizeof(wait), "%" PRIu64 "s",
		       FIRST_TIMES * seconds);
	(void)sys_setsid();
	for (int i = 0; r >= 0 && i < FIRST_OTHER; i++)
		r = sys_dup_to(null, i);
	if (r >= 0)
		r = sys_close_range(FIRST_OTHER, UINT_MAX);
	if (r >= 0)
		r = sys_set_parent_death_signal(SIGTERM);
	if (r >= 0 && sys_getppid() == parent &&
	    sys_restore_signals(&none) >= 0)
		(void)hb_exec_helper("commands", argv, session->store->envp,
				     NULL);
	sys_exit(FAILED);
}

void sync_child_begin(struct sync_child *s, const struct hb_session *session,
		      uint64_t seconds)
{
	const pid_t parent = sys_getpid();

	if (seconds == 0 || s->pid > 0)
		return;
	s->pid = sys_clone(0, &s->pidfd);
	if (s->pid == 0)
		work(session, seconds, parent);
	if (s->pid < 0)
		*s = SYNC_CHILD_NONE;
}

void sync_child_part(struct sync_child *s)
{
	fd_closep(&s->pidfd);
	*s = SYNC_CHILD_NONE;
}

void sync_child_end(struct sync_child *s)
{
	if (s->pid <= 0)
		return;
	(void)sys_pidfd_kill(s->pidfd, SIGKILL);
	(void)sys_waitpid(s->pid, NULL, 0);
	sync_child_part(s);
}
