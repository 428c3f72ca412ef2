/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Who the box is: id maps and the user namespaces around them.
 *
 * One id is mapped, the caller's own, by default to itself.  The child writes
 * its maps through the host's /proc, which is still there.  The supervisor
 * writes only maps that need the caller's privileges (every id, as root).
 */

#define MAP_TEXT_SIZE 4096

/* `file` is a file of /proc/self; `self` that directory or AT_FDCWD. */
static int write_own(int self, const char *file, const char *text)
{
	if (self >= 0)
		file += sizeof("/proc/self/") - 1;
	return sys_write_file_at(self, file, text);
}

static int write_map(int self, const char *file, unsigned in, unsigned out)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%u %u 1\n", in, out);
	return write_own(self, file, text);
}

static int write_maps(int self, const struct box *box, unsigned out_uid,
		      unsigned out_gid, struct hb_error *err)
{
	int r;

	r = write_own(self, "/proc/self/setgroups", "deny");
	if (r >= 0)
		r = write_map(self, "/proc/self/uid_map", box->in_uid, out_uid);
	if (r >= 0)
		r = write_map(self, "/proc/self/gid_map", box->in_gid, out_gid);
	if (r < 0)
		return explain_userns(
			hb_fail(err, r, "cannot map the user's ids"), err);
	return 0;
}

int step_ids(struct box *box, struct hb_error *err)
{
	const struct plan *plan = box->plan;
	int r;

	if (plan->fds[PLAN_FD_USERNS] >= 0) {
		if (plan->uid < 0 && plan->gid < 0)
			return 0;
		r = sys_setids(box->in_uid, box->in_gid);
		if (r < 0)
			return hb_fail(err, r, "cannot become uid %u",
				       box->in_uid);
		return 0;
	}
	if (!(box->ns & PLAN_NS_USER) || is_set(box, PLAN_MAP_ALL) ||
	    plan->fds[PLAN_FD_USERNS_BLOCK] >= 0)
		return 0;
	return write_maps(AT_FDCWD, box, box->uid, box->gid, err);
}

/* "inside outside count" lines become "inside inside count". */
static int identity_of(const char *file, char *text, size_t size)
{
	char own[MAP_TEXT_SIZE];
	size_t used = 0;
	ssize_t n;

	n = sys_read_file_at(AT_FDCWD, file, own, sizeof(own));
	if (n < 0)
		return (int)n;
	for (char *line = own; *line; line += strcspn(line, "\n") + 1) {
		unsigned long in, count;
		char *next;
		int w;

		/* The kernel's own format: inside, outside, count. */
		in = strtoul(line, &next, 10);
		(void)strtoul(next, &next, 10);
		count = strtoul(next, &next, 10);
		if (*next != '\n')
			return -EBADMSG;
		w = snprintf(text + used, size - used, "%lu %lu %lu\n", in, in,
			     count);
		if (w < 0 || (size_t)w >= size - used)
			return -E2BIG;
		used += (size_t)w;
	}
	return 0;
}

int ids_map_all(pid_t pid, struct hb_error *err)
{
	static const char *const files[] = { "uid_map", "gid_map" };
	char own[32], theirs[48], text[MAP_TEXT_SIZE];

	for (size_t i = 0; i < 2; i++) {
		int r;

		(void)snprintf(own, sizeof(own), "/proc/self/%s", files[i]);
		(void)snprintf(theirs, sizeof(theirs), "/proc/%d/%s", (int)pid,
			       files[i]);
		r = identity_of(own, text, sizeof(text));
		if (r >= 0)
			r = sys_write_file_at(AT_FDCWD, theirs, text);
		if (r < 0) {
			err->stage = STAGE_IDS;
			return explain_userns(
				hb_fail(err, r, "cannot write '%s'", theirs),
				err);
		}
	}
	return 0;
}

/*
 * What watches files is counted for the user, on the whole machine: half of it
 * stays for the rest.  The host's /proc says how much that is.
 */
static int limit_watchers(uint64_t asked, struct hb_error *err)
{
	static const struct {
		const char *all, *ours;
		bool is_asked; /* by the key; of watches it is always half */
	} rows[] = {
		{ "/proc/sys/fs/inotify/max_user_instances",
		  "/proc/sys/user/max_inotify_instances", true },
		{ "/proc/sys/fs/inotify/max_user_watches",
		  "/proc/sys/user/max_inotify_watches", false },
	};
	char text[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned long n;
		int r;

		/* A kernel without them has nothing to be taken. */
		if (sys_read_file_at(AT_FDCWD, rows[i].all, text,
				     sizeof(text)) < 0)
			continue;
		n = strtoul(text, NULL, 10) / 2;
		if (rows[i].is_asked && asked != PLAN_USUAL)
			n = asked;
		(void)snprintf(text, sizeof(text), "%lu", n);
		r = sys_write_file_at(AT_FDCWD, rows[i].ours, text);
		if (r < 0 && r != -ENOENT)
			return hb_fail(err, r, "cannot write to %s",
				       rows[i].ours);
	}
	return 0;
}

/*
 * Without capabilities inside, the limit of the box's own user namespace is
 * enough: no process in it can raise it again.  With some, the command could,
 * so the limit is set on a user namespace above the one the command runs in.
 */
int step_no_userns(struct box *box, struct hb_error *err)
{
	int r;

	if (!is_set(box, PLAN_NO_USERNS))
		return 0;
	r = sys_write_file_at(AT_FDCWD, "/proc/sys/user/max_user_namespaces",
			      box->caps ? "1" : "0");
	if (r < 0)
		return hb_fail(
			err, r,
			"cannot write to /proc/sys/user/max_user_namespaces");
	if (is_set(box, PLAN_LIMITS) && box->plan->limits.inotify)
		r = limit_watchers(box->plan->limits.inotify, err);
	if (r < 0 || !box->caps)
		return r;
	box->proc_self =
		sys_openat(AT_FDCWD, "/proc/self", O_PATH | O_DIRECTORY, 0);
	if (box->proc_self < 0)
		return hb_fail(err, box->proc_self, "cannot open '/proc/self'");
	return 0;
}

int step_nest(struct box *box, struct hb_error *err)
{
	int fd = box->plan->fds[PLAN_FD_USERNS2];
	int r;

	if (fd >= 0) {
		r = sys_setns(fd, CLONE_NEWUSER);
		if (r < 0)
			return hb_fail(err, r, "Setting userns2 failed");
	}
	if (box->proc_self >= 0) {
		r = sys_unshare(CLONE_NEWUSER);
		if (r < 0)
			return hb_fail(err, r, "cannot nest a user namespace");
		r = write_maps(box->proc_self, box, box->in_uid, box->in_gid,
			       err);
		if (r < 0)
			return r;
		fd_closep(&box->proc_self);
	}
	return 0;
}

static int await_go(const struct box *box, struct hb_error *err)
{
	char byte;
	ssize_t n = sys_read(box->go_rd, &byte, 1);

	if (n != 1)
		return hb_fail(err, n < 0 ? (int)n : -EPIPE,
			       "the supervisor is gone");
	return 0;
}

/*
 * The hang-up of the supervisor's socket is the second sign of its death.  The
 * signal alone is lost if it dies before we ask for it.
 */
int step_parent(struct box *box, struct hb_error *err)
{
	int r;

	if (is_set(box, PLAN_DIE_WITH_PARENT)) {
		struct pollfd socket = { .fd = box->report };

		/* Without a pid namespace init has to live to end the others.
		 */
		r = is_set(box, PLAN_BARE)
			    ? sys_become_subreaper()
			    : sys_set_parent_death_signal(SIGKILL);
		if (r < 0)
			return hb_fail(err, r, "cannot bind to the parent");
		if (sys_poll(&socket, 1, 0) != 0)
			return hb_fail(err, -EPIPE, "the supervisor is gone");
	}
	fd_closep(&box->go_wr);
	return box->wants_go ? await_go(box, err) : 0;
}

int step_block(struct box *box, struct hb_error *err)
{
	int fd = box->plan->fds[PLAN_FD_BLOCK];
	char byte;
	ssize_t n;
	int r;

	r = box->plan->meanwhile ? await_go(box, err) : 0;
	/* A relay that cannot confine itself ends the box before the command.
	 */
	if (r >= 0 && has_relay(box))
		r = await_go(box, err);
	fd_closep(&box->go_rd);
	if (r < 0 || fd < 0)
		return r;
	n = sys_read(fd, &byte, 1);
	sys_close(fd);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read from the block fd");
	return 0;
}
