/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_CALLER_H
#define HB_BOX_NOTIFY_CALLER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * A caller whose call waits, as the notifier sees it: its words, and places by
 * its own working directory and descriptors.  `proc` is the host's /proc, which
 * has the numbers of processes that a listener tells.
 *
 * All of it may change while it is read, and the number may be another
 * process's by then.  So nothing follows from it that the box could not do by
 * itself, and sys_seccomp_notif_is_valid() is asked afterwards.
 */

/* "PID/cwd/" or "PID/fd/N/" and a path. */
#define CALLER_NAME_SIZE (PATH_MAX + 64)

struct caller_name {
	int at; /* of the notifier's: where `name` begins */
	char name[CALLER_NAME_SIZE];
};

/* The words at `address`; -ENAMETOOLONG, -EFAULT. */
int caller_word(pid_t pid, uint64_t address, char ret[PATH_MAX]);

/* The path `word`, from `dirfd` of the caller. */
int caller_name(int proc, pid_t pid, int dirfd, const char *word,
		struct caller_name *ret);

/*
 * Splits a name, which is changed: its parent, open as O_PATH, and in *ret_last
 * the last component.  -EINVAL: it has none that could be renamed.
 */
int caller_parent(struct caller_name *name, const char **ret_last);

/* The path of a directory of ours in the view; -ENOENT: it has none. */
ssize_t caller_path_of(int proc, int fd, char *buf, size_t size);

/*
 * Whether the caller has no fewer rights to files than we: the same mount and
 * user namespaces, the same root, user and groups.
 */
bool caller_is_equal(int proc, pid_t pid);

#endif
