/* SPDX-License-Identifier: Apache-2.0 */
#include "view/repository/worktrees.h"

#include "base/auto.h"
#include "base/path.h"
#include "plan/view.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/proc.h"
#include "view/prepare.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define INSIDE (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_XDEV)

struct keeping {
	struct run *run;
	int dir;
	size_t n;
};

/*
 * The path that worktrees/NAME/gitdir names.  A command may have written it, so
 * it has to be that of a file of the user's which is there.
 */
static bool read_place(int dir, const char *name, char *ret)
{
	char file[NAME_MAX + sizeof("/gitdir")], line[PATH_MAX];
	auto_fd int fd = -1;
	struct stat st;
	size_t len;
	ssize_t n;

	(void)snprintf(file, sizeof(file), "%s/gitdir", name);
	fd = sys_openat2(dir, file, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			 INSIDE);
	if (fd < 0 || sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	n = sys_read(fd, line, sizeof(line) - 1);
	if (n <= 0 || (size_t)n >= sizeof(line) - 1 ||
	    memchr(line, '\0', (size_t)n))
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	len = strlen(line);
	return path_is_absolute(line) && len > 5 &&
	       strcmp(line + len - 5, "/.git") == 0 &&
	       path_normalise(line, PATH_DOTS_REFUSE, ret, PATH_MAX) >= 0 &&
	       strcmp(line, ret) == 0 &&
	       sys_fstatat(AT_FDCWD, ret, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       S_ISREG(st.st_mode) &&
	       (sys_getuid() == 0 || st.st_uid == sys_getuid());
}

static int keep_one(void *ctx, const char *name, struct hb_error *err)
{
	struct keeping *k = ctx;
	struct run *run = k->run;
	char place[PATH_MAX];
	const char *path;
	int r;

	if (k->n == WORKTREES_MAX || strlen(name) > NAME_MAX ||
	    !read_place(k->dir, name, place))
		return 0;
	r = plan_keep_text(&run->plan, place, &path, err);
	if (r < 0)
		return r;
	k->n++;
	run->entries[run->n_entries++] = (struct view_entry){
		.class = VIEW_EMPTY,
		.found = VIEW_FILE,
		.path = path,
		.source = "",
	};
	return 0;
}

int worktrees_keep(struct run *run, struct hb_error *err)
{
	char path[PATH_MAX];
	struct keeping k = { .run = run };
	auto_fd int dir = -1;

	if (path_join(run->workspace, ".git/worktrees", path, sizeof(path)) < 0)
		return 0;
	for (size_t i = 0; i < run->n_resources; i++)
		if (run->resources[i].role == VIEW_GIT &&
		    path_join(run->resources[i].source, "worktrees", path,
			      sizeof(path)) < 0)
			return 0;
	dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
			 0);
	if (dir < 0)
		return 0;
	k.dir = dir;
	return store_each_name(dir, keep_one, &k, err);
}
