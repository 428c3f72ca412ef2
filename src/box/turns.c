/* SPDX-License-Identifier: Apache-2.0 */
#include "box/turns.h"

#include "base/auto.h"
#include "base/error.h"
#include "plan/inner.h"
#include "plan/plan.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

/* The rest between two marks is so many times as long as the last one took. */
#define REST_TIMES 9

#define FIRST_OTHER 3

/* An exit status holds one byte: errno, or our own codes from here on. */
#define STATUS_OWN 128

static int status_of(int r)
{
	if (r <= -HB_E_UNSUPPORTED)
		return STATUS_OWN - r - HB_E_UNSUPPORTED;
	return r < 0 ? -r % STATUS_OWN : 0;
}

static int code_of(int status)
{
	if (!WIFEXITED(status))
		return HB_E_CHILD;
	status = WEXITSTATUS(status);
	return status < STATUS_OWN ? status
				   : HB_E_UNSUPPORTED + status - STATUS_OWN;
}

static void answer(struct turns *t, int code)
{
	const struct turn_answer a = { .magic = TURN_MAGIC, .code = code };

	if (t->client >= 0)
		(void)sys_offer_record(t->client, &a, sizeof(a));
	fd_closep(&t->client);
}

/*
 * It has nothing of the supervisor's.  An end of the box's socket in it would
 * keep init alive, and the listener would keep the door open.
 */
static _Noreturn void work(const struct plan *plan)
{
	int null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
	int r = null;

	(void)sys_setsid();
	for (int i = 0; r >= 0 && i < FIRST_OTHER; i++)
		r = sys_dup_to(null, i);
	if (r >= 0)
		r = sys_close_range(FIRST_OTHER, UINT_MAX);
	if (r >= 0)
		r = plan->turn(plan->turn_context);
	sys_exit(status_of(r));
}

void turns_begin(struct turns *t, const struct plan *plan)
{
	t->client = sys_accept(t->listener);
	if (t->client < 0)
		return;
	t->since = sys_now_ms();
	t->pid = sys_clone(0, &t->work);
	if (t->pid == 0)
		work(plan);
	if (t->pid > 0)
		return;
	answer(t, -t->pid);
	t->pid = 0;
}

int64_t turns_end(struct turns *t)
{
	int64_t rest = (sys_now_ms() - t->since) * REST_TIMES;
	int status = 0, r;

	r = t->pid > 0 ? sys_waitpid(t->pid, &status, 0) : -ECHILD;
	fd_closep(&t->work);
	t->pid = 0;
	answer(t, r < 0 ? -r : code_of(status));
	return rest > TURNS_REST_MS ? rest : TURNS_REST_MS;
}

void turns_leave(struct turns *t)
{
	fd_closep(&t->work);
	fd_closep(&t->client);
}

void turns_part(struct turns *t)
{
	fd_closep(&t->work);
	t->pid = 0;
	answer(t, EAGAIN);
}

/* The door is closed: no process of ours has the lock any more. */
void turns_done(struct turns *t)
{
	if (t->work >= 0) {
		(void)sys_pidfd_kill(t->work, SIGKILL);
		(void)turns_end(t);
	}
	t->listener = -1;
}

int turns_ask(void)
{
	auto_fd int fd = sys_connect_at(AT_FDCWD, TURNS_SOCKET);
	struct turn_answer a = { 0 };
	int r = fd;

	if (r >= 0)
		r = sys_recv_record(fd, &a, sizeof(a), NULL);
	if (r < 0)
		return r;
	return r == 0 || a.magic != TURN_MAGIC ? -EIO : -a.code;
}
