/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/state.h"
#include "sys/caps.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

/*
 * Tries, as the command, what must now fail.  Everything here is also done by
 * an earlier stage; this is the proof that it took, and it stops what would
 * otherwise run with less than it was promised.
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
	for (unsigned cap = 0; cap <= LAST_CAP; cap++) {
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

static int prove_no_userns(struct hb_error *err)
{
	if (sys_unshare(CLONE_NEWUSER) >= 0)
		return hb_fail(
			err, -HB_E_UNSUPPORTED,
			"creation of new user namespaces was not disabled as requested");
	return 0;
}

static int prove_root(struct hb_error *err)
{
	auto_fd int root = -1;
	auto_fd int above = -1;
	struct sys_place a, b;
	char cwd[BOX_CWD_SIZE];
	ssize_t n;

	root = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
	above = sys_openat(AT_FDCWD, "/..", O_PATH | O_DIRECTORY, 0);
	if (root < 0 || above < 0 || sys_place(root, &a) < 0 ||
	    sys_place(above, &b) < 0 || a.ino != b.ino || a.mnt_id != b.mnt_id)
		return hb_fail(err, -EPERM, "there is something above '/'");
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

int step_prove(struct box *box, struct hb_error *err)
{
	int r = 0;

	if (is_set(box, PLAN_NO_USERNS | PLAN_PROVE_NO_USERNS))
		r = prove_no_userns(err);
	if (r < 0 || !is_set(box, PLAN_PROVE))
		return r;
	r = prove_caps(box, err);
	if (r >= 0)
		r = prove_root(err);
	if (r >= 0 && is_set(box, PLAN_CLOSE_FDS))
		r = prove_fds(box, err);
	return r;
}
