/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/state.h"
#include "sys/caps.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>

/*
 * Why there is no user namespace.  The kernel answers EPERM to nearly all of
 * it, so the host's switches are looked at, the most specific first.
 */

struct cause {
	int code;	     /* the errno it shows as; 0: any */
	const char *file;    /* a switch of the host; NULL: none to look at */
	long value;	     /* the value that means this cause */
	bool (*is_it)(void); /* or what else tells; NULL: nothing */
	const char *words;
	const char *fix;
};

/*
 * The kernel gives no user namespace to a process whose root is not that of its
 * mount namespace.  The root of a mount may be one all the same.
 */
static bool is_chroot(void)
{
	auto_fd int root = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);

	return root >= 0 && !sys_is_mount_root(root);
}

/* Something was mounted on "/" after we had it: ".." crosses it. */
static bool is_covered(void)
{
	auto_fd int root = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
	auto_fd int above =
		sys_openat(AT_FDCWD, "/..", O_PATH | O_DIRECTORY, 0);
	struct sys_place a, b;

	return root >= 0 && above >= 0 && sys_place(root, &a) >= 0 &&
	       sys_place(above, &b) >= 0 &&
	       (a.ino != b.ino || a.mnt_id != b.mnt_id);
}

/*
 * To map root into a new user namespace takes CAP_SETFCAP.  Otherwise root in
 * there could write capabilities to files that count outside.
 */
static bool is_powerless_root(void)
{
	struct caps caps;

	return sys_getuid() == 0 && sys_caps_get(&caps) >= 0 &&
	       !(caps.permitted >> K_CAP_SETFCAP & 1);
}

static const struct cause causes[] = {
	{ ENOSPC, "/proc/sys/user/max_user_namespaces", 0, NULL,
	  "user namespaces are switched off (user.max_user_namespaces is 0)",
	  "sysctl user.max_user_namespaces=10000" },
	{ ENOSPC, NULL, 0, NULL,
	  "the limit on user namespaces is reached, or we are in a box that allows none",
	  "raise user.max_user_namespaces, or run outside of the other sandbox" },
	{ EUSERS, NULL, 0, NULL, "user namespaces are nested too deeply",
	  "run outside of the other sandbox" },
	/* A filter answers before the limit does. */
	{ EPERM, "/proc/sys/user/max_user_namespaces", 0, NULL,
	  "we are in a sandbox that allows no user namespaces",
	  "give --allow-nested to the outer run, or run outside of the other sandbox" },
	{ EPERM, "/proc/sys/kernel/unprivileged_userns_clone", 0, NULL,
	  "unprivileged user namespaces are switched off (kernel.unprivileged_userns_clone is 0)",
	  "sysctl kernel.unprivileged_userns_clone=1" },
	{ 0, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1, NULL,
	  "AppArmor does not let unprivileged programs use user namespaces",
	  "install an AppArmor profile that allows userns for holdback, or: sysctl kernel.apparmor_restrict_unprivileged_userns=0" },
	{ EINVAL, NULL, 0, NULL, "this kernel has no user namespaces",
	  "use a kernel with CONFIG_USER_NS" },
	{ EPERM, NULL, 0, is_chroot,
	  "our root directory is not that of a mount: in a chroot there are no user namespaces",
	  "enter it with something that uses pivot_root instead: systemd-nspawn -D DIR" },
	{ EPERM, NULL, 0, is_covered,
	  "something is mounted over our root directory, and then there are no user namespaces",
	  "unmount it, or start from where it is the root" },
	{ EPERM, NULL, 0, is_powerless_root,
	  "we are root without capabilities, as in another sandbox, and may not map root into a user namespace",
	  "run it as an ordinary user, or outside of the other sandbox" },
	{ EPERM, NULL, 0, NULL,
	  "a seccomp filter or security module of the container we run in refuses user namespaces, or we are in a chroot",
	  "docker: --security-opt seccomp=unconfined; podman and systemd-nspawn allow them" },
};

static int has_value(const char *file, long value)
{
	char text[32];
	char *end;

	if (sys_read_file_at(AT_FDCWD, file, text, sizeof(text)) <= 0)
		return 0;
	return strtol(text, &end, 10) == value && end != text;
}

int explain_userns(int r, struct hb_error *err)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		const struct cause *c = &causes[i];

		if (c->code != 0 && c->code != -r)
			continue;
		if (c->file && !has_value(c->file, c->value))
			continue;
		if (c->is_it && !c->is_it())
			continue;
		hb_fix(err, "%s", c->fix);
		return hb_fail(err, r, "%s", c->words);
	}
	return r;
}

/* Whether a child with such namespaces can be had. */
static bool can_clone(unsigned long flags)
{
	pid_t pid = sys_clone(flags, NULL);

	if (pid == 0)
		sys_exit(0);
	if (pid > 0)
		(void)sys_waitpid(pid, NULL, 0);
	return pid > 0;
}

static const struct {
	unsigned long flag;
	const char *name, *fix;
} kinds[] = {
	{ CLONE_NEWNET, "network", "--net host, if that may be" },
	{ CLONE_NEWPID, "pid", NULL },
	{ CLONE_NEWNS, "mount", NULL },
	{ CLONE_NEWIPC, "ipc", NULL },
	{ CLONE_NEWUTS, "uts", NULL },
	{ CLONE_NEWCGROUP, "cgroup", NULL },
};

int explain_kind(int r, unsigned long flag, struct hb_error *err)
{
	size_t i = 0;

	while (kinds[i].flag != flag)
		i++;
	if (kinds[i].fix)
		hb_fix(err, "%s", kinds[i].fix);
	hb_fix(err, "raise the limits that 'sysctl -a --pattern user.max_' "
		    "shows as 0; in docker: --security-opt seccomp=unconfined");
	return hb_fail(err, r, "there is no %s namespace to be had",
		       kinds[i].name);
}

int explain_clone(int r, unsigned long flags, struct hb_error *err)
{
	if (!(flags & CLONE_NEWUSER))
		return r;
	if (!can_clone(CLONE_NEWUSER))
		return explain_userns(r, err);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (flags & kinds[i].flag &&
		    !can_clone(CLONE_NEWUSER | kinds[i].flag))
			return explain_kind(r, kinds[i].flag, err);
	return r;
}
