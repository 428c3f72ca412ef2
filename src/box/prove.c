/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/filter/filter.h"
#include "box/state.h"
#include "sys/caps.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

/*
 * Tries, as the command, what must now fail.  An earlier stage did everything
 * that is tried here.  This is the proof that it took, and it stops a command
 * with a weaker sandbox than promised.
 */

#define LAST_CAP 63

static int prove_caps(const struct box *box, struct hb_error *err)
{
	struct caps caps;
	int r;

	r = sys_caps_get(&caps);
	if (r < 0)
		return hb_fail(err, r, "cannot read the capabilities");
	if ((caps.effective | caps.permitted | caps.inheritable) & ~box->caps)
		return hb_fail(err, -EPERM, "capabilities are left");
	for (unsigned cap = 0; cap <= LAST_CAP && !is_set(box, PLAN_BARE);
	     cap++) {
		if (box->caps >> cap & 1)
			continue;
		r = sys_caps_is_bound(cap);
		if (r == -EINVAL)
			break;
		if (r != 0)
			return hb_fail(err, -EPERM,
				       "the bounding set is not empty");
	}
	return 0;
}

static int prove_no_userns(struct box *box, struct hb_error *err)
{
	int r = sys_unshare(CLONE_NEWUSER);

	/* The supervisor could not listen: the filter is to do without it. */
	if (r == -ENOSYS && box->heard) {
		box->is_deaf = box->heard & ~(1U << FILTER_REFUSED);
		box->heard = 0;
		r = seccomp_load_plain(box, err);
		if (r < 0)
			return r;
		r = sys_unshare(CLONE_NEWUSER);
	}
	if (r >= 0)
		return hb_fail(
			err, -HB_E_UNSUPPORTED,
			"creation of new user namespaces was not disabled as requested");
	return 0;
}

/* Calls would fail that have to work: box/notify/heard.h. */
static int prove_hearing(const struct box *box, struct hb_error *err)
{
	if (!box->is_deaf)
		return 0;
	hb_fix(err, is_set(box, PLAN_CALLS) ? "--audit changes"
					    : "--rename-directories no");
	return hb_fail(err, -HB_E_UNSUPPORTED,
		       "the supervisor does not hear the command's calls");
}

static bool is_same(const struct sys_place *a, const struct sys_place *b)
{
	return a->ino == b->ino && a->mnt_id == b->mnt_id;
}

static int prove_root(const struct box *box, struct hb_error *err)
{
	const struct sys_place *made = &box->root_place;
	auto_fd int root = -1;
	auto_fd int above = -1;
	struct sys_place a, b;
	char cwd[BOX_CWD_SIZE];
	ssize_t n;

	root = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
	above = sys_openat(AT_FDCWD, "/..", O_PATH | O_DIRECTORY, 0);
	if (root < 0 || sys_place(root, &a) < 0 || !is_same(&a, made))
		return hb_fail(err, -EPERM,
			       "'/' is not the root that was made for it");
	if (above < 0 || sys_place(above, &b) < 0 || !is_same(&b, made))
		return hb_fail(err, -EPERM, "there is something above '/'");
	/* All that is read-only became so in the same way. */
	if (!is_set(box, PLAN_KEEP_ROOT_RW) && !sys_is_read_only(root))
		return hb_fail(err, -EPERM, "'/' is not read-only");
	n = sys_getcwd(cwd, sizeof(cwd));
	if (n < 0 || cwd[0] != '/')
		return hb_fail(err, -EPERM,
			       "the working directory is outside of the box");
	return 0;
}

/* As seen in the box's own /proc; a view without one was closed unseen. */
static int prove_fds(const struct box *box, struct hb_error *err)
{
	int fd = sys_find_fd_above(2, box->report);

	if (fd >= 0)
		return hb_fail(err, -EPERM, "descriptor %d is open", fd);
	if (fd != -ENOENT)
		return hb_fail(err, fd, "cannot list the descriptors");
	return 0;
}

static int prove_process(const struct box *box, struct hb_error *err)
{
	if (!sys_has_no_new_privs())
		return hb_fail(err, -EPERM, "no_new_privs is not set");
	/* On no descriptor: only a filter answers before that is seen. */
	if (is_set(box, PLAN_FILTER) && sys_tty_type(-1, ' ') != -EPERM)
		return hb_fail(err, -EPERM, "the filter is not in force");
	if (box->group == GROUP_OWN && sys_getpgrp() != sys_getpid())
		return hb_fail(err, -EPERM, "there is no process group");
	return 0;
}

/* Landlock's rules are the only wall: "/" is in none of them. */
static int prove_wall(struct hb_error *err)
{
	auto_fd int root = sys_openat(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY, 0);

	if (root != -EACCES)
		return hb_fail(err, -EPERM,
			       "the landlock ruleset is not in force");
	return 0;
}

int step_prove(struct box *box, struct hb_error *err)
{
	int r = 0;

	if (is_set(box, PLAN_NO_USERNS | PLAN_PROVE_NO_USERNS))
		r = prove_no_userns(box, err);
	if (r >= 0)
		r = prove_hearing(box, err);
	if (r < 0 || !is_set(box, PLAN_PROVE))
		return r;
	r = prove_caps(box, err);
	if (r >= 0)
		r = is_set(box, PLAN_BARE) ? prove_wall(err)
					   : prove_root(box, err);
	if (r >= 0)
		r = prove_process(box, err);
	if (r >= 0 && is_set(box, PLAN_CLOSE_FDS))
		r = prove_fds(box, err);
	return r;
}
