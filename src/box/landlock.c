/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/landlock.h"

#include "base/auto.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/*
 * The writable part of the view once more, as a landlock ruleset: a second
 * lock that does not depend on mount flags.  What may be written follows from
 * the plan's own operations, so that the two cannot drift apart.
 */

#define FS_ABI_1                                                               \
	(K_LANDLOCK_EXECUTE | K_LANDLOCK_WRITE_FILE | K_LANDLOCK_READ_FILE |   \
	 K_LANDLOCK_READ_DIR | K_LANDLOCK_REMOVE_DIR |                         \
	 K_LANDLOCK_REMOVE_FILE | K_LANDLOCK_MAKE_CHAR | K_LANDLOCK_MAKE_DIR | \
	 K_LANDLOCK_MAKE_REG | K_LANDLOCK_MAKE_SOCK | K_LANDLOCK_MAKE_FIFO |   \
	 K_LANDLOCK_MAKE_BLOCK | K_LANDLOCK_MAKE_SYM)
#define FS_READ \
	(K_LANDLOCK_EXECUTE | K_LANDLOCK_READ_FILE | K_LANDLOCK_READ_DIR)
#define FS_DEVICE \
	(K_LANDLOCK_WRITE_FILE | K_LANDLOCK_TRUNCATE | K_LANDLOCK_IOCTL_DEV)
#define FS_FILE                                                              \
	(K_LANDLOCK_EXECUTE | K_LANDLOCK_WRITE_FILE | K_LANDLOCK_READ_FILE | \
	 K_LANDLOCK_TRUNCATE | K_LANDLOCK_IOCTL_DEV)

/* The first that can refuse to empty a file. */
#define BARE_ABI 3

/* What each version of the interface added to the file rights. */
static const struct {
	int abi;
	uint64_t fs, scoped;
} added[] = {
	{ 1, FS_ABI_1, 0 },
	{ 2, K_LANDLOCK_REFER, 0 },
	{ 3, K_LANDLOCK_TRUNCATE, 0 },
	{ 5, K_LANDLOCK_IOCTL_DEV, 0 },
	{ 6, 0, K_LANDLOCK_SCOPE_ABSTRACT | K_LANDLOCK_SCOPE_SIGNAL },
};

static uint64_t op_rights(const struct plan_op *op)
{
	if (op->kind == OP_PROC)
		return FS_READ | K_LANDLOCK_WRITE_FILE | K_LANDLOCK_TRUNCATE;
	if (!(plan_kinds[op->kind].traits & OP_IS_WRITABLE) ||
	    op->flags & (PLAN_RO | PLAN_OVERLAY_RO | PLAN_COVER))
		return op->kind == OP_DEV ? FS_READ | FS_DEVICE : 0;
	return ~0ULL;
}

bool landlock_has_rule(const struct plan_op *op)
{
	return op_rights(op) != 0;
}

static int allow_path(int ruleset, const char *path, uint64_t rights,
		      struct hb_error *err)
{
	auto_fd int fd = -1;
	struct stat st;
	int r;

	fd = sys_openat(AT_FDCWD, path, O_PATH, 0);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'", path);
	r = sys_fstat(fd, &st);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", path);
	if (!S_ISDIR(st.st_mode))
		rights &= FS_FILE;
	r = sys_landlock_allow(ruleset, fd, rights);
	if (r < 0)
		return hb_fail(err, r, "cannot allow '%s'", path);
	return 0;
}

/* What may be done with a file that was opened with `flags`. */
static uint64_t rights_of(int flags)
{
	static const uint64_t rights[] = {
		[O_RDONLY] = K_LANDLOCK_READ_FILE,
		[O_WRONLY] = K_LANDLOCK_WRITE_FILE | K_LANDLOCK_TRUNCATE,
		[O_RDWR] = K_LANDLOCK_READ_FILE | K_LANDLOCK_WRITE_FILE |
			   K_LANDLOCK_TRUNCATE,
	};
	int mode = flags & O_ACCMODE;

	if (flags < 0 || flags & O_PATH || mode > O_RDWR)
		return 0;
	return rights[mode] | K_LANDLOCK_IOCTL_DEV;
}

/*
 * The caller's files 0, 1 and 2 may be opened again by their magic links, but
 * not for more than the caller opened them for.  They lie in the host's mounts,
 * which are writable.  Pipes and sockets take no rule and need none.
 */
static void allow_stdio(int ruleset, uint64_t handled)
{
	char name[32];

	for (int i = 0; i < 3; i++) {
		uint64_t rights = rights_of(sys_fd_flags(i)) & handled;
		auto_fd int fd = -1;

		(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", i);
		fd = sys_openat(AT_FDCWD, name, O_PATH, 0);
		if (fd >= 0 && rights)
			(void)sys_landlock_allow(ruleset, fd, rights);
	}
}

static int add_rules(const struct box *box, int ruleset, uint64_t handled,
		     struct hb_error *err)
{
	int r;

	/* Without a root of our own only what is named can be read. */
	r = is_set(box, PLAN_BARE)
		    ? 0
		    : allow_path(ruleset, "/", handled & FS_READ, err);
	for (size_t i = 0; r >= 0 && i < box->plan->n_ops; i++) {
		const struct plan_op *op = &box->plan->ops[i];
		uint64_t rights = op_rights(op) & handled;

		if (is_set(box, PLAN_BARE) && !rights)
			rights = handled & FS_READ;
		if (rights)
			r = allow_path(ruleset, op->dest, rights, err);
	}
	if (r >= 0)
		allow_stdio(ruleset, handled);
	return r;
}

/*
 * Nothing tells whether a ruleset is in force but what it refuses.  Where there
 * are scopes, that is a socket from before.
 */
static int enter(int ruleset, uint64_t scoped, struct hb_error *err)
{
	auto_fd int before = -1;
	int r;

	if (scoped & K_LANDLOCK_SCOPE_ABSTRACT) {
		before = sys_abstract_socket();
		if (before < 0)
			return hb_fail(err, before, "cannot make a socket");
	}
	r = sys_landlock_restrict(ruleset);
	if (r < 0)
		return hb_fail(err, r, "cannot enter the landlock ruleset");
	if (before >= 0 && sys_abstract_reach(before) != -EPERM)
		return hb_fail(err, -EPERM,
			       "the landlock ruleset is not in force");
	return 0;
}

int step_landlock(struct box *box, struct hb_error *err)
{
	uint64_t fs = 0, scoped = 0;
	auto_fd int ruleset = -1;
	int abi, r;

	if (!is_set(box, PLAN_LANDLOCK | PLAN_FILTER_NESTED))
		return 0;
	abi = sys_landlock_abi();
	/* Without TRUNCATE files can be emptied wherever they are. */
	if (is_set(box, PLAN_BARE) && abi < BARE_ABI) {
		hb_fix(err, "use Linux 6.2 or later, with landlock");
		return hb_fail(
			err, abi < 0 ? abi : -EOPNOTSUPP,
			"without namespaces landlock is all there is, and this kernel's is not enough");
	}
	/* Without REFER every rename between directories would fail. */
	if (abi < 2)
		return 0;
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		if (added[i].abi > abi)
			break;
		fs |= added[i].fs;
		scoped |= added[i].scoped;
	}
	/*
	 * In a process group of its own the pid namespace keeps signals in, and
	 * the scope would keep commands that join the box later apart.
	 */
	if (box->group == GROUP_OWN && !is_set(box, PLAN_BARE))
		scoped &= ~K_LANDLOCK_SCOPE_SIGNAL;

	/* Under rules for files no process mounts, not even further in. */
	if (!is_set(box, PLAN_LANDLOCK))
		fs = 0;
	if (!fs && !scoped)
		return 0;
	ruleset = sys_landlock_create(fs, scoped);
	if (ruleset < 0)
		return hb_fail(err, ruleset, "cannot make a landlock ruleset");
	r = fs ? add_rules(box, ruleset, fs, err) : 0;
	if (r < 0)
		return r;
	return enter(ruleset, scoped, err);
}
