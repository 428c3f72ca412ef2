/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/lead.h"
#include "box/state.h"
#include "plan/plan.h"
#include "sys/caps.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>

/*
 * init, pid 1 of the box
 * ----------------------
 *
 * It made the view; now it starts the command, reaps what is orphaned, and
 * tells the supervisor of stops and of the end.  It leads the session of the
 * command's own terminal.  The supervisor alone tells it, one byte at a time,
 * whether the command is in front there (box/lead.h).
 *
 *	(a) When the supervisor dies, init dies: by signal, and by the socket's
 *	    hang-up, because the signal alone can be lost.  With pid 1 the
 *	    kernel kills everything in the pid namespace.  A box that goes on
 *	    without its first command has another supervisor, and the hang-up
 *	    alone (box/keeper.h).
 *	(b) Nobody in the box can look into it: it is not dumpable.
 *	(c) It holds no capability, no descriptor but its own two and that of
 *	    the command's terminal, and no root but the box's.
 *
 * Signals cannot hurt it: pid 1 only gets those from inside that it handles,
 * and it handles none.
 */

#define COMMAND_STACK 65536
/* The socket, the sync descriptor, the signals and the terminal. */
#define KEEP_OTHERS  4
#define POLL_FOREVER (-1)

/* When it is looked whether the processes are too many, and then twice that. */
#define LOOK_FIRST_MS 500
#define LOOK_LAST_MS  4000

static int start_command(void *arg)
{
	command_main(arg);
}

/*
 * Held until init ends, which is what the locks are for.  `keep` has room for
 * them.
 */
static int open_lock_files(const struct box *box, int *keep,
			   struct hb_error *err)
{
	for (size_t i = 0; i < box->plan->n_lock_files; i++) {
		const char *path = box->plan->lock_files[i];
		int fd, r;

		fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
		if (fd < 0)
			return hb_fail(err, fd, "Unable to open lock file %s",
				       path);
		r = sys_read_lock(fd);
		if (r < 0)
			return hb_fail(err, r, "Unable to lock file %s", path);
		keep[i] = fd;
	}
	return 0;
}

/*
 * init drops its capabilities after the command has started, which had to
 * inherit some.  Whether it will be able to is found out before.
 */
static int rehearse_drop(const struct box *box, struct hb_error *err)
{
	struct caps own;
	int r;

	if (!box->caps)
		return 0;
	r = sys_caps_get(&own);
	if (r >= 0)
		r = sys_caps_set(&own);
	if (r < 0)
		return hb_fail(err, r, "cannot drop init's capabilities");
	return 0;
}

/* What applies to the command applies to init, as far as it can. */
static int restrict_init(struct box *box, struct hb_error *err)
{
	static const struct caps none = { 0 };
	int r;

	r = sys_caps_set(&none);
	if (r < 0)
		return hb_fail(err, r, "cannot drop init's capabilities");
	return seccomp_load_plain(box, err);
}

/* The plain loop: reports the command's end at once, reaps to the last. */
_Noreturn static void reap_simply(struct box *box, pid_t command)
{
	int status = 0, last = 1;
	pid_t pid;

	while ((pid = sys_waitpid(-1, &status, 0)) > 0) {
		if (pid != command)
			continue;
		last = status;
		message_send(box->report, MESSAGE_EXITED, status);
		/*
		 * The supervisor no longer listens; the sync fd stays until the
		 * end.
		 */
		sys_close(box->report);
		box->report = -1;
	}
	sys_exit(WIFEXITED(last) ? WEXITSTATUS(last) : 1);
}

struct watch {
	struct box *box;
	pid_t command;
	int signals; /* signalfd: SIGCHLD */
	bool has_ended;
	bool is_looked_at; /* the supervisor wants our network namespace */
	bool is_told;	   /* the supervisor has nothing more to say: end it */
	bool is_staying;   /* it says that others go on in the box */
	int n_leftover;
	int64_t look_ms; /* until the next look_for_room(); 0: there is none */
	struct lead lead;
};

/*
 * The kernel does not count refusals by the limit of the user namespace.  So a
 * trial from time to time, with the command's limit, shows whether there could
 * be one more.  Who has too many for a shorter time is not seen.
 */
static void prepare_look(struct watch *w)
{
	uint64_t n = w->box->pids + 1;

	if (w->box->pids > 0 && !w->box->has_group_pids &&
	    !is_set(w->box, PLAN_BARE) && sys_limit_processes(n, n) >= 0)
		w->look_ms = LOOK_FIRST_MS;
}

static void look_for_room(struct watch *w)
{
	pid_t pid = sys_clone(0, NULL);

	if (pid == 0)
		sys_exit(0);
	if (pid > 0)
		(void)sys_waitpid(pid, NULL, 0);
	w->look_ms = w->look_ms < LOOK_LAST_MS ? 2 * w->look_ms : LOOK_LAST_MS;
	if (pid != -EAGAIN)
		return;
	w->look_ms = 0;
	message_send(w->box->report, MESSAGE_CROWDED, 0);
}

/* Less than this, and than an eighth of all, is no room for a file. */
#define FULL_BYTES (UINT64_C(16) << 10)

/*
 * Whether a place in memory is full, which its writers were told by ENOSPC
 * alone.  A command that succeeds seldom met it in a place of temporary files.
 */
static void look_for_space(const struct box *box, bool has_failed)
{
	const struct plan *plan = box->plan;

	for (size_t i = 0; !is_set(box, PLAN_BARE) && i < plan->n_ops; i++) {
		const struct plan_op *op = &plan->ops[i];
		auto_fd int fd = -1;
		struct sys_space space;

		if (op->size == 0 ||
		    (op->kind == OP_OVERLAY
			     ? !(op->flags & PLAN_OVERLAY_TMP)
			     : !has_failed || op->kind != OP_TMPFS))
			continue;
		fd = sys_openat(AT_FDCWD, op->dest, O_PATH | O_NOFOLLOW, 0);
		if (fd < 0 || sys_space(fd, &space) < 0 ||
		    space.free_bytes >= FULL_BYTES ||
		    space.free_bytes > space.size_bytes / 8)
			continue;
		message_send(box->report, MESSAGE_FULL, (int)i);
		return;
	}
}

/* Takes in every change of state there is.  0: no process is left. */
static int take_changes(struct watch *w)
{
	struct sys_signal drop;
	bool is_alone;
	int status = 0;
	pid_t pid;

	while (sys_signalfd_next(w->signals, &drop) > 0)
		;
	while ((pid = sys_waitpid(-1, &status,
				  WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		if (pid != w->command) {
			w->n_leftover += w->has_ended && !WIFSTOPPED(status) &&
					 !WIFCONTINUED(status);
			continue;
		}
		if (WIFSTOPPED(status) &&
		    lead_is_ours(&w->lead, WSTOPSIG(status)))
			continue;
		if (WIFSTOPPED(status)) {
			lead_stopped(&w->lead, WSTOPSIG(status));
			message_send(w->box->report, MESSAGE_STOPPED,
				     WSTOPSIG(status));
		} else if (WIFCONTINUED(status)) {
			lead_continued(&w->lead);
			message_send(w->box->report, MESSAGE_CONTINUED, 0);
		} else {
			w->has_ended = true;
			look_for_space(w->box, status != 0);
			w->is_looked_at =
				status != 0 && w->box->ns & PLAN_NS_NET;
			is_alone = w->box->ns & PLAN_NS_PID &&
				   sys_kill(-1, 0) == -ESRCH;
			message_send(w->box->report,
				     is_alone ? MESSAGE_EMPTIED
					      : MESSAGE_EXITED,
				     status);
		}
	}
	return pid == -ECHILD ? 0 : 1;
}

/* The supervisor's words; the last is that there will be no more. */
static void take_word(struct watch *w)
{
	unsigned char word = 0;
	int r;

	r = sys_recv_record(w->box->report, &word, sizeof(word), NULL);
	if (r > 0)
		lead_word(&w->lead, word);
	if (r > 0 && word == LEAD_ROOM)
		message_send(w->box->report, MESSAGE_AWAKE, 0);
	if (r > 0 && word == LEAD_STAY && w->has_ended)
		w->is_staying = true;
	if (r == 0)
		w->is_told = true;
}

/*
 * Waits for a change.  -EPIPE: the supervisor is gone, -ETIME: time is up.
 */
static int await_change(struct watch *w, int timeout_ms)
{
	struct pollfd fds[2] = {
		{ .fd = w->signals, .events = POLLIN },
		{ .fd = w->box->report, .events = w->is_told ? 0 : POLLIN },
	};
	int r;

	r = sys_poll(fds, 2, timeout_ms);
	if (r < 0)
		return r;
	if (r == 0)
		return -ETIME;
	if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL))
		return -EPIPE;
	if (fds[1].revents)
		take_word(w);
	return 0;
}

/* From here on the box has no command of its own that could end. */
static void stay(struct watch *w)
{
	w->is_staying = w->has_ended = w->is_looked_at = false;
	w->command = w->lead.command = 0;
	fd_closep(&w->lead.tty);
	/* The next supervisor is not our parent: its hang-up is left. */
	(void)sys_set_parent_death_signal(0);
	message_send(w->box->report, MESSAGE_STAYS, 0);
}

/*
 * The supervisor sees those who joined out, who are not ours to end: they get
 * their own signal.  In an empty box it looks at the network
 * (box/reach.h), and closes its descriptors of the namespaces.  So the mounts
 * go with us, while it looks at the layers.  Or it says that the box goes on
 * for those who joined: then this returns true.  A box without a process is no
 * reason to leave: a client may be on its way in.  A supervisor that is stopped
 * says nothing for as long as it is, and those who joined go on meanwhile.
 */
static bool await_word(struct watch *w)
{
	if (is_set(w->box, PLAN_BARE) ||
	    (!has_door(w->box->plan) && !w->is_looked_at))
		return false;
	while (!w->is_told && !w->is_staying &&
	       await_change(w, POLL_FOREVER) >= 0)
		(void)take_changes(w);
	if (w->is_staying)
		stay(w);
	return !w->has_ended;
}

/*
 * Without a pid namespace "everybody" is the user's whole session, so it is our
 * children, again and again: an orphan becomes one.
 */
static void end_children(struct watch *w)
{
	bool is_asked = false;

	for (;;) {
		/* A stopped process starts no other meanwhile. */
		if (sys_kill_children(SIGSTOP) <= 0)
			break;
		if (!is_asked) {
			int64_t end = sys_now_ms() + BOX_GRACE_MS, now;

			(void)sys_kill_children(SIGTERM);
			(void)sys_kill_children(SIGCONT);
			while (w->box->report >= 0 &&
			       (now = sys_now_ms()) < end &&
			       await_change(w, (int)(end - now)) >= 0)
				if (take_changes(w) == 0)
					break;
			is_asked = true;
			continue;
		}
		(void)sys_kill_children(SIGKILL);
		while (sys_waitpid(-1, NULL, WNOHANG) > 0)
			w->n_leftover++;
	}
	if (w->n_leftover > 0)
		message_send(w->box->report, MESSAGE_LEFTOVER, w->n_leftover);
}

/*
 * The command has ended.  What it left behind is asked to go, then made to: a
 * process that went on would write into layers that are being read.
 */
static void end_leftovers(struct watch *w)
{
	int64_t end, now;

	if (is_set(w->box, PLAN_BARE)) {
		end_children(w);
		return;
	}
	end = sys_now_ms() + BOX_GRACE_MS;
	if (sys_kill(-1, SIGTERM) < 0)
		return;
	/* Also those that are stopped have to hear it. */
	(void)sys_kill(-1, SIGCONT);
	while ((now = sys_now_ms()) < end &&
	       await_change(w, (int)(end - now)) >= 0)
		if (take_changes(w) == 0 && sys_kill(-1, 0) == -ESRCH)
			break;
	if (sys_kill(-1, SIGKILL) >= 0)
		while (sys_waitpid(-1, NULL, 0) > 0)
			w->n_leftover++;
	if (w->n_leftover > 0)
		message_send(w->box->report, MESSAGE_LEFTOVER, w->n_leftover);
}

static void reap_until_end(struct watch *w)
{
	int r;

	while (!w->has_ended) {
		r = await_change(w, w->look_ms > 0 ? (int)w->look_ms
						   : POLL_FOREVER);
		if (r == -ETIME) {
			look_for_room(w);
		} else if (r < 0) {
			/* In a pid namespace our end is everybody's. */
			if (is_set(w->box, PLAN_BARE))
				end_children(w);
			sys_exit(1);
		}
		(void)take_changes(w);
		/* A box that is kept open has no command that could end. */
		if (w->command == 0 && w->is_told)
			w->has_ended = true;
	}
}

_Noreturn static void reap_and_tell(struct watch *w)
{
	do
		reap_until_end(w);
	while (await_word(w));
	end_leftovers(w);
	sys_exit(0);
}

/*
 * The signalfd is there before 0, 1 and 2 are closed, so that none of them is
 * ever the number of something else.
 */
static int prepare_watch(struct watch *w, struct hb_error *err)
{
	sigset_t child, before;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sys_block_signals(&child, &before);
	if (!w->box->has_mask) {
		w->box->mask = before;
		w->box->has_mask = true;
	}
	w->signals = sys_signalfd(&child);
	if (w->signals < 0)
		return hb_fail(err, w->signals, "cannot watch for signals");
	/* Before there is anybody in the box who could look. */
	if (sys_become_undumpable() < 0)
		return hb_fail(err, -EPERM, "cannot make init undumpable");
	return 0;
}

/*
 * The simple init keeps 0, 1 and 2, as bubblewrap's does.  An init that reports
 * keeps nothing of the outside, and no process may look into it.
 */
static void shed_descriptors(const struct watch *w, int *keep, size_t n)
{
	keep[n++] = w->box->report;
	keep[n++] = w->box->plan->fds[PLAN_FD_SYNC];
	keep[n++] = w->signals;
	keep[n++] = w->lead.tty;
	if (w->signals < 0) {
		fds_close_but(3, keep, n);
		return;
	}
	fds_close_but(0, keep, n);
}

_Noreturn static void give_up(const struct box *box, struct hb_error *err)
{
	err->stage = STAGE_INIT;
	message_error(box->report, err);
	sys_exit(1);
}

void init_main(struct box *box)
{
	static char stack[COMMAND_STACK] __attribute__((aligned(16)));
	/* Not on the stack: two long lists in it are seldom touched. */
	static struct watch w;
	bool tells = is_set(box, PLAN_JOBS | PLAN_WAIT_ALL);
	size_t n_locks = box->plan->n_lock_files;
	auto_free int *keep = NULL;
	struct hb_error err = { 0 };

	w.box = box;
	w.signals = w.lead.tty = -1;
	keep = calloc(n_locks + KEEP_OTHERS, sizeof(*keep));
	if (!keep) {
		(void)hb_fail(&err, -ENOMEM, "cannot keep the lock files");
		give_up(box, &err);
	}
	if (open_lock_files(box, keep, &err) < 0)
		give_up(box, &err);
	if (rehearse_drop(box, &err) < 0)
		give_up(box, &err);
	if (tells && prepare_watch(&w, &err) < 0)
		give_up(box, &err);
	if (box->plan->argv)
		w.command = sys_vfork_with(start_command, box, stack,
					   sizeof(stack), 0);
	if (w.command < 0) {
		(void)hb_fail(&err, w.command, "cannot start the command");
		give_up(box, &err);
	}
	lead_init(&w.lead, box->peer, w.command,
		  tells && box->ns & PLAN_NS_PID);
	shed_descriptors(&w, keep, n_locks);
	if (restrict_init(box, &err) < 0)
		give_up(box, &err);
	if (!box->plan->argv) {
		message_send(box->report, MESSAGE_STARTED, 0);
		sys_release_stack();
	}
	if (!tells)
		reap_simply(box, w.command);
	prepare_look(&w);
	reap_and_tell(&w);
}
