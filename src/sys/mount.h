/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_MOUNT_H
#define HB_SYS_MOUNT_H

#include <stdint.h>

/*
 * The descriptor-based mount API; conventions of sys/file.h.  Attributes are
 * K_MOUNT_* of sys/kernel.h.  A mount descriptor that is closed before it was
 * attached takes its mount with it.
 */

int sys_fsopen(const char *type);
int sys_fsconfig_flag(int fs, const char *key);
int sys_fsconfig_string(int fs, const char *key, const char *value);
int sys_fsconfig_fd(int fs, const char *key, int fd);
int sys_fsconfig_create(int fs);
int sys_fsmount(int fs, unsigned attr);

/* A detached copy of the mount at `path`, and of all below it. */
int sys_clone_tree(int dirfd, const char *path, int recursive);

/* Attaches the detached `mount` on the object that `target` refers to. */
int sys_attach(int mount, int target);

/* The same on the entry `name` of the directory `dir`; no link is followed. */
int sys_attach_at(int mount, int dir, const char *name);

/* Sets `set` on the mount at `fd`; with `recursive` on all below it as well. */
int sys_mount_setattr(int fd, uint64_t set, int recursive);

/* The same, and makes them private: nothing propagates in or out. */
int sys_mount_setattr_private(int fd, uint64_t set);

/*
 * Keeps the mount at `fd` out of every later sys_clone_tree() above it, or
 * makes it an ordinary private mount again.
 */
int sys_mount_hide_from_clones(int fd, int hide);

/* Makes every mount of this namespace private. */
int sys_make_all_private(void);

/*
 * The working directory becomes the root; the old one, and the `n_stacked`
 * mounts that lie on top of it, are detached.
 */
int sys_pivot_here(unsigned n_stacked);

/*
 * mount(2) of an overlay with `options`, a comma-separated list, on the
 * directory `target`, nosuid and nodev.  For kernels whose fsconfig() takes no
 * single layers.
 */
int sys_mount_overlay(const char *target, const char *options);

#endif
