/* SPDX-License-Identifier: Apache-2.0 */
#include "box/cgroup.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 *	ours/                 controllers are handed down from here
 *	    holdback/         we, if `ours` held us: who divides may hold nobody
 *	    holdback-box-N/   the limits
 *	        box/          the processes
 *
 *	(a) The processes are one level below the limits: a command that may
 *	    make namespaces can mount the group that it is in, and its files
 *	    belong to the user.  What is above that it cannot see.
 *	(b) What a killed supervisor left is used again: the lock on the
 *	    directory says that it is not in use.
 *	(c) What was written is read back, and that somebody is in the group is
 *	    asked of the kernel: a limit that is not in force stops the run.
 *
 * tests/unit/t_cgroup.c holds these.
 */

#define OWN_GROUP  "holdback"
#define BOX	   "box"
#define GROUPS_MAX 256
#define TEXT_SIZE  4096

#define NO_LIMIT "max"

/* Also of a host that keeps both versions. */
static const char *const mounts[] = { "/sys/fs/cgroup",
				      "/sys/fs/cgroup/unified" };

static int refuse(struct hb_error *err, const char *why, const char *what)
{
	bool is_root = sys_geteuid() == 0;

	hb_fix(err, "systemd-run %s--scope -p Delegate=yes holdback ...",
	       is_root ? "" : "--user ");
	return hb_fail(
		err, -HB_E_UNSUPPORTED,
		"the limit needs a control group (version 2) that is ours to divide: %s%s",
		why, what);
}

/* Our group's path, below the mount. */
static int own_path(char *ret, size_t size)
{
	char text[TEXT_SIZE], *line, *end;

	if (sys_read_file_at(AT_FDCWD, "/proc/self/cgroup", text,
			     sizeof(text)) < 0)
		return -ENOENT;
	for (line = text; *line; line = end + 1) {
		end = strchrnul(line, '\n');
		if (strncmp(line, "0::/", 4) == 0)
			break;
		if (!*end)
			return -ENOENT;
	}
	if (!*line || strstr(line, "/../"))
		return -ENOENT;
	*end = '\0';
	if ((size_t)snprintf(ret, size, "%s", line + 3) >= size)
		return -ENAMETOOLONG;
	return 0;
}

static int open_own(int *ret_fd, struct hb_error *err)
{
	char own[PATH_MAX / 2], path[PATH_MAX];
	size_t end;

	if (own_path(own, sizeof(own)) < 0)
		return refuse(err, "we are in none", "");
	/* We have stepped aside before: what we divide is above. */
	end = strlen(own) - (sizeof("/" OWN_GROUP) - 1);
	if (end < sizeof(own) && strcmp(own + end, "/" OWN_GROUP) == 0)
		own[end] = '\0';
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		auto_fd int fd = -1;

		(void)snprintf(path, sizeof(path), "%s%s", mounts[i], own);
		fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
		if (fd < 0 || sys_faccessat(fd, "cgroup.controllers", F_OK) < 0)
			continue;
		*ret_fd = take_fd(&fd);
		return 0;
	}
	return refuse(err, "none is mounted at ", mounts[0]);
}

/* Whether the words of a file have this one. */
static bool has_word(int dir, const char *file, const char *word)
{
	char text[TEXT_SIZE];
	size_t n = strlen(word);

	if (sys_read_file_at(dir, file, text, sizeof(text)) < 0)
		return false;
	for (const char *s = text; *s; s += strcspn(s, " \n")) {
		s += strspn(s, " \n");
		if (strcspn(s, " \n") == n && strncmp(s, word, n) == 0)
			return true;
	}
	return false;
}

static bool is_alone(int dir)
{
	char text[64], own[32];

	(void)snprintf(own, sizeof(own), "%d\n", (int)sys_getpid());
	return sys_read_file_at(dir, "cgroup.procs", text, sizeof(text)) > 0 &&
	       strcmp(text, own) == 0;
}

/* A group with a process in it hands nothing down. */
static int step_aside(int dir)
{
	int r = sys_mkdirat(dir, OWN_GROUP, 0755);

	if (r < 0 && r != -EEXIST)
		return r;
	return sys_write_file_at(dir, OWN_GROUP "/cgroup.procs", "0");
}

static int hand_down(int dir, const struct cgroup_limit *limit,
		     struct hb_error *err)
{
	char word[64];
	int r;

	if (!has_word(dir, "cgroup.controllers", limit->controller))
		return refuse(err, "ours has no controller for ",
			      limit->controller);
	if (has_word(dir, "cgroup.subtree_control", limit->controller))
		return 0;
	(void)snprintf(word, sizeof(word), "+%s", limit->controller);
	r = sys_write_file_at(dir, "cgroup.subtree_control", word);
	if (r == -EBUSY && is_alone(dir)) {
		r = step_aside(dir);
		if (r >= 0)
			r = sys_write_file_at(dir, "cgroup.subtree_control",
					      word);
	}
	if (r == -EBUSY)
		return refuse(err, "others are in ours", "");
	if (r < 0)
		return refuse(err,
			      "ours does not hand down: ", hb_strerror(-r));
	return 0;
}

/* 1: it is ours now; 0: another process has it, or it has just gone. */
static int claim(struct cgroup *c)
{
	auto_fd int dir = -1;
	int r;

	r = sys_mkdirat(c->above, c->name, 0755);
	if (r < 0 && r != -EEXIST)
		return r;
	dir = sys_openat(c->above, c->name, O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	if (sys_flock(dir) < 0)
		return 0;
	r = sys_mkdirat(dir, BOX, 0755);
	if (r == -ENOENT || r == -ENODEV || r == -EEXIST)
		/* What is in it may still be dying. */
		r = sys_unlinkat(dir, BOX, AT_REMOVEDIR) < 0
			    ? -EBUSY
			    : sys_mkdirat(dir, BOX, 0755);
	if (r < 0)
		return r == -EBUSY || r == -ENOENT || r == -ENODEV ? 0 : r;
	c->dir = take_fd(&dir);
	return 1;
}

static int limit(const struct cgroup *c, const struct cgroup_limit *l,
		 struct hb_error *err)
{
	char text[TEXT_SIZE];
	int r;

	r = sys_write_file_at(c->dir, l->file, l->value);
	if (r == -ENOENT && l->is_optional)
		return 0;
	if (r >= 0)
		r = (int)sys_read_file_at(c->dir, l->file, text, sizeof(text));
	if (r >= 0 && strncmp(text, NO_LIMIT, sizeof(NO_LIMIT) - 1) == 0)
		r = -EINVAL;
	if (r < 0)
		return refuse(err, "cannot set it: ", hb_strerror(-r));
	return 0;
}

static int make(struct cgroup *c, const struct cgroup_limit *limits, size_t n,
		struct hb_error *err)
{
	int r;

	r = open_own(&c->above, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = hand_down(c->above, &limits[i], err);
	if (r < 0)
		return r;
	r = 0;
	for (unsigned i = 1; r == 0 && i <= GROUPS_MAX; i++) {
		(void)snprintf(c->name, sizeof(c->name), "holdback-box-%u", i);
		r = claim(c);
	}
	if (r <= 0)
		return refuse(err, "cannot make one: ",
			      hb_strerror(r == 0 ? EBUSY : -r));
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = limit(c, &limits[i], err);
	return r;
}

int cgroup_make(const struct cgroup_limit *limits, size_t n,
		struct cgroup *ret_cgroup, struct hb_error *err)
{
	struct cgroup c = CGROUP_NONE;
	int r = make(&c, limits, n, err);

	if (r < 0) {
		cgroup_remove(&c);
		return r;
	}
	*ret_cgroup = c;
	return 0;
}

int cgroup_enter(const struct cgroup *cgroup, pid_t pid, struct hb_error *err)
{
	char text[TEXT_SIZE];
	int r;

	(void)snprintf(text, sizeof(text), "%d", (int)pid);
	r = sys_write_file_at(cgroup->dir, BOX "/cgroup.procs", text);
	if (r < 0)
		return refuse(err,
			      "cannot put the box into one: ", hb_strerror(-r));
	r = (int)sys_read_file_at(cgroup->dir, "cgroup.events", text,
				  sizeof(text));
	if (r < 0 || !strstr(text, "populated 1"))
		return refuse(err, "the box is not in it", "");
	return 0;
}

uint64_t cgroup_refused_pids(const struct cgroup *cgroup)
{
	char text[TEXT_SIZE];

	/* Of all below: version 6.11 counts where the limit is, older in BOX.
	 */
	for (int i = 0; i < 2 && cgroup->dir >= 0; i++) {
		const char *file = i == 0 ? "pids.events" : BOX "/pids.events";

		if (sys_read_file_at(cgroup->dir, file, text, sizeof(text)) >
			    0 &&
		    strncmp(text, "max ", 4) == 0 &&
		    strtoull(text + 4, NULL, 10))
			return strtoull(text + 4, NULL, 10);
	}
	return 0;
}

void cgroup_remove(struct cgroup *cgroup)
{
	if (cgroup->dir >= 0) {
		(void)sys_unlinkat(cgroup->dir, BOX, AT_REMOVEDIR);
		(void)sys_unlinkat(cgroup->above, cgroup->name, AT_REMOVEDIR);
	}
	fd_closep(&cgroup->dir);
	fd_closep(&cgroup->above);
}
