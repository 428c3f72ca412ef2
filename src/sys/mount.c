/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/mount.h"

#include "sys/kernel.h"
#include "sys/result.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <unistd.h>

int sys_fsopen(const char *type)
{
	return (int)RESULT(syscall(SYS_fsopen, type, K_FSOPEN_CLOEXEC));
}

static int configure(int fs, enum k_fsconfig cmd, const char *key,
		     const char *value, int aux)
{
	return (int)RESULT(syscall(SYS_fsconfig, fs, cmd, key, value, aux));
}

int sys_fsconfig_flag(int fs, const char *key)
{
	return configure(fs, K_FSCONFIG_SET_FLAG, key, NULL, 0);
}

int sys_fsconfig_string(int fs, const char *key, const char *value)
{
	return configure(fs, K_FSCONFIG_SET_STRING, key, value, 0);
}

int sys_fsconfig_fd(int fs, const char *key, int fd)
{
	return configure(fs, K_FSCONFIG_SET_FD, key, NULL, fd);
}

int sys_fsconfig_create(int fs)
{
	return configure(fs, K_FSCONFIG_CREATE, NULL, NULL, 0);
}

int sys_fsmount(int fs, unsigned attr)
{
	return (int)RESULT(syscall(SYS_fsmount, fs, K_FSMOUNT_CLOEXEC, attr));
}

int sys_clone_tree(int dirfd, const char *path, int recursive)
{
	unsigned flags = K_OPEN_TREE_CLONE | K_OPEN_TREE_CLOEXEC;

	if (recursive)
		flags |= K_AT_RECURSIVE;
	if (path[0] == '\0')
		flags |= AT_EMPTY_PATH;
	return (int)RESULT(syscall(SYS_open_tree, dirfd, path, flags));
}

int sys_attach(int mount, int target)
{
	return (int)RESULT(syscall(SYS_move_mount, mount, "", target, "",
				   K_MOVE_F_EMPTY_PATH | K_MOVE_T_EMPTY_PATH));
}

int sys_attach_at(int mount, int dir, const char *name)
{
	return (int)RESULT(syscall(SYS_move_mount, mount, "", dir, name,
				   K_MOVE_F_EMPTY_PATH));
}

static int set_attributes(int fd, const char *path, unsigned flags,
			  struct k_mount_attr *attr)
{
	return (int)RESULT(syscall(SYS_mount_setattr, fd, path, flags, attr,
				   sizeof(*attr)));
}

int sys_mount_setattr(int fd, uint64_t set, int recursive)
{
	struct k_mount_attr attr = { .set = set };

	return set_attributes(fd, "",
			      AT_EMPTY_PATH | (recursive ? K_AT_RECURSIVE : 0),
			      &attr);
}

int sys_mount_setattr_private(int fd, uint64_t set)
{
	struct k_mount_attr attr = { .set = set, .propagation = K_MS_PRIVATE };

	return set_attributes(fd, "", AT_EMPTY_PATH | K_AT_RECURSIVE, &attr);
}

int sys_mount_hide_from_clones(int fd, int hide)
{
	struct k_mount_attr attr = {
		.propagation = hide ? K_MS_UNBINDABLE : K_MS_PRIVATE,
	};

	return set_attributes(fd, "", AT_EMPTY_PATH, &attr);
}

int sys_make_all_private(void)
{
	struct k_mount_attr attr = { .propagation = K_MS_PRIVATE };

	return set_attributes(AT_FDCWD, "/", K_AT_RECURSIVE, &attr);
}

int sys_pivot_here(unsigned n_stacked)
{
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return -errno;
	/*
	 * The old root lies on top of the new one now, under the same name, and
	 * what was stacked on it on top of that.  Each call takes the topmost.
	 */
	for (unsigned i = 0; i <= n_stacked; i++)
		if (umount2(".", MNT_DETACH) < 0)
			return -errno;
	return RESULT(chdir("/"));
}

int sys_mount_overlay(const char *target, const char *options)
{
	return RESULT(mount("overlay", target, "overlay", MS_NOSUID | MS_NODEV,
			    options));
}
