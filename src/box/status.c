/* SPDX-License-Identifier: Apache-2.0 */
#include "box/status.h"

#include "base/error.h"
#include "box/box.h"
#include "box/info.h"
#include "box/state.h"
#include "sys/proc.h"
#include "sys/sock.h"

#include <errno.h>
#include <sys/wait.h>

/*
 * Silence is never success.  A box that ends without the command's status, and
 * whose first process was not killed, is an error.
 */

int supervise_exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

int supervise_signal(int wait_status)
{
	return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
}

int supervise_simply(struct box *box, pid_t child,
		     struct box_result *ret_result, struct hb_error *err)
{
	struct message message;
	int status = 0, r;

	for (;;) {
		r = sys_recv_record(box->watch, &message, sizeof(message),
				    NULL);
		if (r <= 0)
			break;
		if (message.kind == MESSAGE_ERROR) {
			sys_kill_and_reap(child);
			return message_adopt(&message, err);
		}
		if (message.kind == MESSAGE_STARTED)
			ret_result->was_started = true;
		if (message.kind == MESSAGE_EXITED) {
			ret_result->status =
				supervise_exit_status(message.value);
			info_write_exit(box, ret_result->status);
			return 0;
		}
	}
	if (r < 0 && r != -ECONNRESET)
		return hb_fail(err, r, "cannot hear from the box");

	/* The end of the socket: the child is the command now, or is dead. */
	r = sys_waitpid(child, &status, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot wait for the box");
	if (!ret_result->was_started && !WIFSIGNALED(status))
		return hb_fail(err, -HB_E_CHILD, "cannot enter the sandbox");
	ret_result->status = supervise_exit_status(status);
	if (ret_result->was_started)
		info_write_exit(box, ret_result->status);
	return 0;
}

void supervise_limit(const struct box *box, const struct message *message,
		     struct box_result *result)
{
	if (message->kind == MESSAGE_CROWDED)
		result->full_pids = box->pids;
	else if ((size_t)message->value < box->plan->n_ops)
		result->full_bytes = box->plan->ops[message->value].size;
}
