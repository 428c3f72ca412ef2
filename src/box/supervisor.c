/* SPDX-License-Identifier: Apache-2.0 */
#include "box/supervisor.h"

#include "base/auto.h"
#include "base/event.h"
#include "box/box.h"
#include "box/info.h"
#include "box/state.h"
#include "box/terminal.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

/*
 * Silence is never success: a box that ends without having told the command's
 * status, and whose first process was not killed by somebody, is an error.
 */

int supervise_exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

/*
 * init may be in the command's hands: under the bubblewrap front end it can be
 * traced, and with it its end of the socket.  So the words need not end.
 */
static int adopt(struct hb_error *err, const struct report *report)
{
	if (err) {
		*err = report->error;
		err->text[sizeof(err->text) - 1] = '\0';
		err->fix[sizeof(err->fix) - 1] = '\0';
	}
	return report->error.code > 0 ? -report->error.code : -HB_E_CHILD;
}

int supervise_simply(struct box *box, pid_t child,
		     struct box_result *ret_result, struct hb_error *err)
{
	struct report report;
	int status = 0, r;

	for (;;) {
		r = sys_recv_record(box->watch, &report, sizeof(report), NULL);
		if (r <= 0)
			break;
		if (report.kind == REPORT_ERROR) {
			sys_kill_and_reap(child);
			return adopt(err, &report);
		}
		if (report.kind == REPORT_STARTED)
			ret_result->was_started = true;
		if (report.kind == REPORT_EXITED) {
			ret_result->status =
				supervise_exit_status(report.value);
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

/* What the loop works on. */
struct loop {
	struct box *box;
	struct terminal *terminal;
	const struct event_sink *events;
	struct box_result *result;
	struct hb_error *err;
	int signals;
	pid_t child;
	bool has_status;  /* the command's end was told */
	bool is_over;	  /* the box is gone */
	int failure;	  /* negated code: what init or the command told */
	int64_t deadline; /* when to end it, or to kill it; 0: never */
};

static void on_report(struct loop *l)
{
	struct report report;
	pid_t sender = 0;
	int r;

	r = sys_recv_record(l->box->watch, &report, sizeof(report), &sender);
	if (r <= 0) {
		/* init is going; its pidfd will say when it is gone. */
		fd_closep(&l->box->watch);
		return;
	}
	switch (report.kind) {
	case REPORT_ERROR:
		/* The first is the cause; init fails by it as well. */
		if (l->failure == 0)
			l->failure = adopt(l->err, &report);
		break;
	case REPORT_STARTED:
		l->result->was_started = true;
		terminal_started(l->terminal, sender);
		event_report(l->events,
			     &(struct event){ .kind = EVENT_STARTED,
					      .path = l->box->plan->argv[0],
					      .a = sender });
		break;
	case REPORT_STOPPED:
		terminal_stopped(l->terminal, report.value, l->signals);
		break;
	case REPORT_EXITED:
		l->has_status = true;
		l->result->status = supervise_exit_status(report.value);
		break;
	case REPORT_LEFTOVER:
		l->result->n_leftover = (unsigned)report.value;
		break;
	case REPORT_CONTINUED:
		break;
	}
}

static void on_signal(struct loop *l)
{
	struct sys_signal signal;

	while (sys_signalfd_next(l->signals, &signal) > 0)
		terminal_signal(l->terminal, &signal);
}

static void on_end(struct loop *l)
{
	int status = 0;

	l->is_over = true;
	if (sys_waitpid(l->child, &status, 0) < 0)
		return;
	if (!l->has_status &&
	    (WIFSIGNALED(status) || l->result->has_timed_out)) {
		l->has_status = true;
		l->result->status = supervise_exit_status(status);
	}
}

/* First it is asked to end; what is left after the grace is killed. */
static void on_deadline(struct loop *l)
{
	if (l->result->has_timed_out) {
		/* Without a pid namespace only init can end the others. */
		if (is_set(l->box, PLAN_BARE))
			fd_closep(&l->box->watch);
		else
			(void)sys_kill(l->child, SIGKILL);
		l->deadline = 0;
		return;
	}
	l->result->has_timed_out = true;
	l->deadline = sys_now_ms() + BOX_GRACE_MS;
	terminal_signal(l->terminal, &(struct sys_signal){ .number = SIGTERM,
							   .code = SI_USER });
}

static int64_t deadline_of(uint64_t seconds)
{
	const uint64_t most = UINT64_C(1) << 40; /* longer than anybody waits */

	return sys_now_ms() + (int64_t)(seconds < most ? seconds : most) * 1000;
}

/* How long to wait for the next event. */
static int time_left(const struct loop *l)
{
	int64_t left;

	if (l->deadline == 0)
		return -1;
	left = l->deadline - sys_now_ms();
	if (left < 0)
		return 0;
	return left < INT_MAX ? (int)left : INT_MAX;
}

/*
 * Reports come before the end: what init said in its last moment is still in
 * the socket when the pidfd says that it is gone.
 */
struct source {
	int fd;
	void (*ready)(struct loop *l);
};

static void run_loop(struct loop *l, int pidfd)
{
	enum {
		REPORTS,
		SIGNALS,
		END,
		SOURCES
	};

	while (!l->is_over) {
		const struct source sources[SOURCES] = {
			[REPORTS] = { l->box->watch, on_report },
			[SIGNALS] = { l->signals, on_signal },
			[END] = { pidfd, on_end },
		};
		struct pollfd fds[SOURCES];
		int r;

		for (int i = 0; i < SOURCES; i++)
			fds[i] = (struct pollfd){ .fd = sources[i].fd,
						  .events = POLLIN };
		r = sys_poll(fds, SOURCES, time_left(l));
		if (r < 0)
			return;
		if (r == 0 && time_left(l) == 0)
			on_deadline(l);
		for (int i = 0; i < SOURCES; i++) {
			if (!fds[i].revents)
				continue;
			sources[i].ready(l);
			/* The next look at the table may differ. */
			break;
		}
	}
}

int supervise(struct box *box, struct terminal *terminal, pid_t child,
	      int pidfd, int signals, const struct event_sink *events,
	      struct box_result *ret_result, struct hb_error *err)
{
	struct loop l = {
		.box = box,
		.terminal = terminal,
		.events = events,
		.result = ret_result,
		.err = err,
		.signals = signals,
		.child = child,
	};

	if (box->plan->limits.seconds)
		l.deadline = deadline_of(box->plan->limits.seconds);
	run_loop(&l, pidfd);
	if (!l.is_over) {
		sys_kill_and_reap(child);
		return hb_fail(err, -HB_E_CHILD, "cannot watch the box");
	}
	if (l.failure < 0)
		return l.failure;
	if (!l.has_status)
		return hb_fail(err, -HB_E_CHILD, "cannot enter the sandbox");
	event_report(events, &(struct event){ .kind = EVENT_ENDED,
					      .a = ret_result->status });
	return 0;
}
