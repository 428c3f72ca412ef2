/* SPDX-License-Identifier: Apache-2.0 */
#include "box/box.h"

#include "base/auto.h"
#include "base/buf.h"
#include "box/info.h"
#include "box/limits.h"
#include "box/notify/heard.h"
#include "box/pty.h"
#include "box/relayed.h"
#include "box/source.h"
#include "box/stage.h"
#include "box/state.h"
#include "box/status.h"
#include "box/supervisor.h"
#include "box/terminal.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * From a plan to a running box, the supervisor's side.  Everything possible is
 * prepared before clone(), because the child may not allocate.  Then the child
 * carries the stages out while the supervisor waits for its word.
 */

#define FILTER_LIMIT (32768 * sizeof(struct k_sock_filter))

static int read_filter(struct box *box, int fd, struct hb_error *err)
{
	auto_buf struct buf code = BUF_INIT(FILTER_LIMIT);
	struct raw_filter *filter = &box->filters[box->n_filters];
	char block[4096], *data;
	size_t len;
	ssize_t n;
	int r;

	while ((n = sys_read(fd, block, sizeof(block))) > 0)
		if (buf_add(&code, block, (size_t)n) < 0)
			return hb_fail(err, code.error,
				       "Can't read seccomp data");
	if (n < 0)
		return hb_fail(err, (int)n, "Can't read seccomp data");
	if (code.len == 0 || code.len % sizeof(struct k_sock_filter) != 0)
		return hb_fail(err, -HB_E_USAGE,
			       "Invalid seccomp data, must be multiple of 8");
	r = buf_take(&code, &data, &len);
	if (r < 0)
		return hb_fail(err, r, "Can't read seccomp data");
	sys_close(fd);
	filter->code = (struct k_sock_filter *)(void *)data;
	filter->n = len / sizeof(struct k_sock_filter);
	box->n_filters++;
	return 0;
}

static int read_filters(struct box *box, struct hb_error *err)
{
	const struct plan *plan = box->plan;

	if (plan->n_filter_fds == 0)
		return 0;
	box->filters = calloc(plan->n_filter_fds, sizeof(*box->filters));
	if (!box->filters)
		return hb_fail(err, -ENOMEM, "cannot keep the filters");
	for (size_t i = 0; i < plan->n_filter_fds; i++) {
		int r = read_filter(box, plan->filter_fds[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Descriptors that the caller gave us by number are for us, not for the
 * command.  Only the sync descriptor belongs to pid 1.
 */
static int claim_descriptors(const struct box *box, struct hb_error *err)
{
	const struct plan *plan = box->plan;
	int r;

	for (int i = 0; i < PLAN_FD_COUNT; i++) {
		if (plan->fds[i] < 0 ||
		    (i == PLAN_FD_SYNC && is_set(box, PLAN_AS_PID_1)))
			continue;
		r = sys_set_cloexec(plan->fds[i], 1);
		if (r < 0)
			return hb_fail(err, r, "cannot use fd %d",
				       plan->fds[i]);
	}
	for (size_t i = 0; i < plan->n_ops; i++) {
		if (plan->ops[i].fd < 0)
			continue;
		r = sys_set_cloexec(plan->ops[i].fd, 1);
		if (r < 0)
			return hb_fail(err, r, "cannot use fd %d",
				       plan->ops[i].fd);
	}
	return 0;
}

static int prepare(struct box *box, char *const *envp, struct hb_error *err)
{
	const struct plan *plan = box->plan;
	int r;

	r = box_identify(box, err);
	if (r < 0)
		return r;
	box->has_init =
		!is_set(box, PLAN_AS_PID_1) &&
		(box->ns & PLAN_NS_PID || is_set(box, PLAN_BARE) ||
		 plan->n_lock_files > 0 || plan->fds[PLAN_FD_SYNC] >= 0);
	box->wants_go = plan->fds[PLAN_FD_INFO] >= 0 ||
			plan->fds[PLAN_FD_JSON_STATUS] >= 0 ||
			is_set(box, PLAN_MAP_ALL) || plan->limits.memory ||
			plan->limits.cpus ||
			(plan->limits.pids && !plan->limits.is_pids_usual);
	box->is_net_beside =
		box->ns & PLAN_NS_NET && is_set(box, PLAN_JOBS) && !plan->net;
	r = claim_descriptors(box, err);
	if (r >= 0)
		r = box_lists_make(box, envp, err);
	if (r >= 0)
		r = read_filters(box, err);
	if (r >= 0)
		r = source_resolve_all(box, err);
	if (r >= 0)
		r = limits_prepare(box, err);
	if (r < 0)
		return r;
	r = sys_socket_pair(&box->watch, &box->report);
	if (r < 0)
		return hb_fail(err, r, "cannot make the report socket");
	if (box->wants_go || plan->meanwhile || has_relay(box)) {
		/* No pipe: a child that is dead by then must not be our end. */
		r = sys_socket_pair(&box->go_rd, &box->go_wr);
		if (r < 0)
			return hb_fail(err, r, "cannot make the go socket");
	}
	return 0;
}

_Noreturn static void child_main(struct box *box)
{
	struct hb_error err = { 0 };
	int r;

	fd_closep(&box->watch);
	r = box->peer >= 0 ? pty_move_in(box->peer) : 0;
	if (r < 0)
		(void)hb_fail(&err, r, "cannot move to a terminal");
	if (r < 0 || stage_run_view(box, &err) < 0) {
		message_error(box->report, &err);
		sys_exit(1);
	}
	if (box->has_init)
		init_main(box);
	command_main(box);
}

/*
 * A pid namespace that is entered applies to children only, and a new one
 * cannot be made below it from outside.  So a process has to be in it first: a
 * child that shares our memory and descriptors, and makes the box as our own
 * child.  The box is set up on a copy of that child's stack, which must be
 * large enough.  Untouched pages cost nothing.
 */
#define BOX_STACK (1U << 20)

struct clone_request {
	struct box *box;
	unsigned long flags;
	pid_t pid; /* as seen from the pid namespace that was entered */
	int pidfd;
};

static int clone_from_within(void *arg)
{
	struct clone_request *request = arg;

	request->pid =
		sys_clone(request->flags | CLONE_PARENT, &request->pidfd);
	if (request->pid == 0)
		child_main(request->box);
	sys_exit(0);
}

static pid_t clone_below_pidns(struct box *box, unsigned long flags)
{
	static char stack[BOX_STACK] __attribute__((aligned(16)));
	struct clone_request request = { .box = box,
					 .flags = flags,
					 .pidfd = -1 };
	auto_fd int pidfd = -1;
	pid_t pid;

	pid = sys_vfork_with(clone_from_within, &request, stack, sizeof(stack),
			     CLONE_FILES);
	if (pid < 0)
		return pid;
	(void)sys_waitpid(pid, NULL, 0);
	if (request.pid < 0)
		return request.pid;
	pidfd = request.pidfd;
	return sys_pidfd_pid(pidfd);
}

static int join_namespaces(const struct plan *plan, struct hb_error *err)
{
	int r;

	if (plan->fds[PLAN_FD_USERNS] >= 0) {
		r = sys_setns(plan->fds[PLAN_FD_USERNS], CLONE_NEWUSER);
		if (r == -EINVAL)
			return hb_fail(
				err, -HB_E_USAGE,
				"Joining the specified user namespace failed, it might not be a descendant of the current user namespace.");
		if (r < 0)
			return hb_fail(
				err, r,
				"Joining specified user namespace failed");
	}
	if (plan->fds[PLAN_FD_PIDNS] >= 0) {
		r = sys_setns(plan->fds[PLAN_FD_PIDNS], CLONE_NEWPID);
		if (r < 0)
			return hb_fail(err, r, "Setting pidns failed");
	}
	return 0;
}

static int clone_child(struct box *box, pid_t *ret_pid, int *ret_pidfd,
		       struct hb_error *err)
{
	unsigned long flags = 0;
	pid_t pid;
	int r;

	for (size_t i = 0; i < BOX_NAMESPACES; i++)
		if (has_namespace(box->ns, &box_namespaces[i]) &&
		    !(is_set(box, PLAN_BARE) && box_namespaces[i].ns == 0))
			flags |= (unsigned long)box_namespaces[i].flag;
	if (box->is_net_beside)
		flags &= ~(unsigned long)CLONE_NEWNET;
	r = join_namespaces(box->plan, err);
	if (r < 0)
		return r;
	if (box->plan->fds[PLAN_FD_PIDNS] >= 0 && box->ns & PLAN_NS_PID) {
		pid = clone_below_pidns(box, flags);
	} else {
		pid = sys_clone(flags, ret_pidfd);
		if (pid == 0)
			child_main(box);
	}
	if (pid < 0) {
		err->stage = STAGE_CLONE;
		(void)hb_fail(err, pid, "Creating new namespace failed");
		return explain_clone(pid, flags, err);
	}
	*ret_pid = pid;
	return 0;
}

static int send_go(struct box *box, struct hb_error *err)
{
	char byte = 1;
	int r = sys_send_record(box->go_wr, &byte, 1);

	/* A child that is already dead tells its reason by the socket. */
	if (r < 0 && r != -EPIPE)
		return hb_fail(err, r, "cannot release the box");
	return 0;
}

/* What only the supervisor can do between clone() and the first stage. */
static int begin_child(struct box *box, pid_t child, struct hb_error *err)
{
	int block = box->plan->fds[PLAN_FD_USERNS_BLOCK];
	char byte;
	int r;

	if (is_set(box, PLAN_MAP_ALL)) {
		r = ids_map_all(child, err);
		if (r < 0)
			return r;
	}
	if (box->cgroup.dir >= 0) {
		r = cgroup_enter(&box->cgroup, child, err);
		if (r < 0)
			return r;
	}
	r = info_write_start(box, child, err);
	if (r < 0)
		return r;
	if (block >= 0) {
		(void)sys_read(block, &byte, 1);
		sys_close(block);
	}
	return send_go(box, err);
}

/* The supervisor's part of the set-up, at the child's side and beside it. */
static int release_child(struct box *box, pid_t child, struct hb_error *err)
{
	const struct plan *plan = box->plan;
	int r = 0;

	fd_closep(&box->report);
	fd_closep(&box->go_rd);
	if (box->wants_go)
		r = begin_child(box, child, err);
	if (r >= 0 && plan->meanwhile) {
		plan->meanwhile(plan->meanwhile_context);
		r = send_go(box, err);
	}
	/* The last word: that the network is there. */
	if (box->relayed)
		box->relayed->go = take_fd(&box->go_wr);
	fd_closep(&box->go_wr);
	return r;
}

static void close_all(struct box *box)
{
	fd_closep(&box->report);
	fd_closep(&box->watch);
	fd_closep(&box->go_rd);
	fd_closep(&box->go_wr);
	for (size_t i = 0; i < box->n_filters; i++)
		free((void *)(uintptr_t)box->filters[i].code);
	free(box->filters);
	cgroup_remove(&box->cgroup);
	source_free_all(box);
	box_lists_free(box);
}

/*
 * Descriptors passed to the command are its own: a reader of a pipe must not
 * wait for our end as well.
 */
static void close_others(const struct box *box)
{
	int keep[2] = { box->watch, box->plan->fds[PLAN_FD_JSON_STATUS] };

	fds_close_but(3, keep, 2);
}

static int run_simply(struct box *box, struct box_result *ret_result,
		      struct hb_error *err)
{
	pid_t child = -1;
	int r;

	r = clone_child(box, &child, NULL, err);
	if (r < 0)
		return r;
	r = release_child(box, child, err);
	if (r < 0) {
		sys_kill_and_reap(child);
		return r;
	}
	if (is_set(box, PLAN_DIE_WITH_PARENT))
		(void)sys_set_parent_death_signal(SIGKILL);
	close_others(box);
	return supervise_simply(box, child, ret_result, err);
}

/* Before there is a child: a port that is taken is a reason not to begin. */
static int begin_network(struct box *box, struct relayed *relayed,
			 const struct hb_listener *listener,
			 struct hb_error *err)
{
	int r;

	if (!has_relay(box))
		return 0;
	r = relayed_init(relayed, box->plan->net, listener, err);
	if (r < 0)
		relayed_done(relayed);
	else
		box->relayed = relayed;
	return r;
}

static int run_with_jobs(struct box *box, const struct hb_listener *listener,
			 struct box_result *ret_result, struct hb_error *err)
{
	struct terminal terminal;
	struct relayed relayed;
	auto_fd int signals = -1;
	auto_fd int pidfd = -1;
	pid_t child = -1;
	sigset_t set;
	int r;

	box_handled_signals(&set);
	/* The command's pid, as we see it, comes with its first message. */
	r = sys_want_credentials(box->watch);
	if (r < 0)
		return hb_fail(err, r, "cannot ask for credentials");
	r = sys_block_signals(&set, &box->mask);
	if (r < 0)
		return hb_fail(err, r, "cannot block signals");
	r = begin_network(box, &relayed, listener, err);
	if (r < 0) {
		(void)sys_restore_signals(&box->mask);
		return r;
	}
	box->has_mask = true;
	box->heard = heard_wants(box);
	r = terminal_init(&terminal, box, &box->watch, err);
	signals = r < 0 ? -1 : sys_signalfd(&set);
	if (r >= 0 && signals < 0)
		r = hb_fail(err, signals, "cannot watch for signals");
	/* A box without a command is kept: for it memory counts. */
	if (r >= 0 && !box->plan->argv)
		sys_release_stack();
	if (r >= 0)
		r = clone_child(box, &child, &pidfd, err);
	if (r >= 0) {
		terminal_moved(&terminal);
		r = release_child(box, child, err);
		if (r >= 0)
			r = supervise(box, &terminal, child, pidfd, signals,
				      listener, ret_result, err);
		else
			sys_kill_and_reap(child);
	}
	if (box->relayed)
		relayed_done(box->relayed);
	box->relayed = NULL;
	terminal_done(&terminal, signals);
	ret_result->clipboard = terminal.clipboard;
	ret_result->death.is_typed =
		terminal_typed(&terminal, ret_result->death.signal);
	/* A signal that waits would end us before the caller's work is done. */
	if (r >= 0 && box->plan->emptied && ret_result->n_staying == 0 &&
	    !ret_result->is_keeper && !ret_result->was_lent)
		box->plan->emptied(box->plan->emptied_context);
	(void)sys_restore_signals(&box->mask);
	return r;
}

int box_run(const struct plan *plan, char *const *envp,
	    const struct hb_listener *listener, struct box_result *ret_result,
	    struct hb_error *err)
{
	struct box box = {
		.plan = plan,
		BOX_NO_DESCRIPTORS,
	};
	struct box_result result = { 0 };
	struct hb_error local = { 0 };
	int r;

	if (!err)
		err = &local;
	r = prepare(&box, envp, err);
	if (r >= 0 && plan->net && !is_set(&box, PLAN_JOBS))
		r = hb_fail(err, -HB_E_USAGE,
			    "the network by name needs a supervisor");
	if (r >= 0)
		r = is_set(&box, PLAN_JOBS)
			    ? run_with_jobs(&box, listener, &result, err)
			    : run_simply(&box, &result, err);
	if (box.has_group_pids && cgroup_refused_pids(&box.cgroup) > 0)
		result.full_pids = box.pids;
	close_all(&box);
	/* bubblewrap has no stages. */
	if (r < 0)
		return is_set(&box, PLAN_BWRAP_WORDS) ? r : stage_fail(err, r);
	*ret_result = result;
	return 0;
}
