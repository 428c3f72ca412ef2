/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_OVERLAY_H
#define HB_TEST_OVERLAY_H

#include "trees.h"

#include <sched.h>
#include <sys/mount.h>

/*
 * A real overlay over a tree, in a user and mount namespace of its own: what
 * the kernel writes into the upper, not what we believe it writes.
 */
#define OVERLAY_IMPOSSIBLE 77

static inline void write_proc(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(OVERLAY_IMPOSSIBLE);
	(void)close(fd);
}

static inline void enter_overlay(const struct tree *t)
{
	char text[512];
	unsigned uid = geteuid(), gid = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		_exit(OVERLAY_IMPOSSIBLE);
	write_proc("/proc/self/setgroups", "deny");
	(void)snprintf(text, sizeof(text), "0 %u 1", uid);
	write_proc("/proc/self/uid_map", text);
	(void)snprintf(text, sizeof(text), "0 %u 1", gid);
	write_proc("/proc/self/gid_map", text);
	(void)snprintf(text, sizeof(text),
		       "userxattr,index=off,xino=off,lowerdir=%s/base,"
		       "upperdir=%s/upper,workdir=%s/work",
		       t->path, t->path, t->path);
	if (chdir(t->path) < 0 ||
	    mount("overlay", "view", "overlay", 0, text) < 0 ||
	    chdir("view") < 0)
		_exit(OVERLAY_IMPOSSIBLE);
}

/*
 * Runs `act` in the view of base and upper, and waits for it.  The work
 * directory is a new one each time.  False: this host cannot.
 */
static inline bool in_overlay(struct tree *t, void (*act)(void *ctx), void *ctx)
{
	int work, status;
	pid_t pid;

	if (mkdirat(t->top, "work", 0755) < 0) {
		work = openat(t->top, "work", O_RDONLY | O_CLOEXEC);
		CHECK(work >= 0);
		tree_empty(work);
		(void)close(work);
	}
	(void)mkdirat(t->top, "view", 0755);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		enter_overlay(t);
		act(ctx);
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == OVERLAY_IMPOSSIBLE)
		return false;
	CHECK_INT(status, 0);
	return true;
}

/* Runs a script in the view; it has to succeed. */
static inline void run_script(void *script)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0) {
		(void)execl("/bin/sh", "sh", "-euc", script, (char *)NULL);
		_exit(127);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

#endif
