/* SPDX-License-Identifier: Apache-2.0 */
#include "view/passing.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/path.h"
#include "plan/settings.h"
#include "plan/view_place.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* A file at the top of the home directory that is copied. */
#define COPY_MAX ((size_t)4 << 20)

bool passing_is_row(const struct run *run, const struct setting_item *item)
{
	return run->settings.is_ephemeral &&
	       item->origin.source == SETTING_BUILT_IN;
}

static bool has_entry(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if ((e->class == VIEW_FRESH || e->class == VIEW_PASSING ||
		     e->class == VIEW_COPY) &&
		    strcmp(e->path, path) == 0)
			return true;
	}
	return false;
}

/* `source` is borrowed from the plan; NULL: the path itself. */
static int add(struct run *run, const struct setting_item *item,
	       const char *path, const char *source, enum view_class class,
	       enum view_found found, struct hb_error *err)
{
	struct view_entry e = { .class = class, .found = found, .item = item };
	int r;

	if (has_entry(run, path))
		return 0;
	r = entries_more(run, 1, err);
	if (r >= 0)
		r = plan_keep_text(&run->plan, path, &e.path, err);
	e.source = source ? source : e.path;
	if (r >= 0)
		run->entries[run->n_entries++] = e;
	return r;
}

/* A link counts as a file: where it leads is not shown by it then. */
static int leave_out(struct run *run, const struct setting_item *item,
		     const char *path, struct hb_error *err)
{
	struct stat st;

	if ((run->covered && view_lies_in(path, run->covered)) ||
	    sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return add(run, item, path, NULL, VIEW_FRESH,
		   S_ISDIR(st.st_mode) ? VIEW_DIR : VIEW_FILE, err);
}

static int leave_out_all(struct run *run, const struct setting_item *item,
			 const char *pattern, struct hb_error *err)
{
	char block[8192] __attribute__((aligned(8)));
	struct path_part dir = path_dirname(pattern);
	char path[PATH_MAX];
	auto_fd int fd = -1;
	ssize_t n;
	int r = 0;

	(void)snprintf(path, sizeof(path), "%.*s", (int)dir.n, dir.s);
	n = fd = sys_openat(AT_FDCWD, path, DIR_FLAGS, 0);
	if (n < 0)
		return n == -ENOENT || n == -ENOTDIR || n == -ELOOP
			       ? 0
			       : hb_fail_at(err, (int)n, path, "cannot list");
	while (r >= 0 && (n = sys_getdents(fd, block, sizeof(block))) > 0)
		for (ssize_t at = 0; r >= 0 && at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (!glob_match(pattern + dir.n + 1, e->name, 0) ||
			    strcmp(e->name, ".") == 0 ||
			    strcmp(e->name, "..") == 0)
				continue;
			if (snprintf(path, sizeof(path), "%.*s/%s", (int)dir.n,
				     dir.s, e->name) >= (int)sizeof(path))
				return hb_fail_at(err, -ENAMETOOLONG, path,
						  "cannot leave out");
			r = leave_out(run, item, path, err);
		}
	return r < 0 ? r : (int)n;
}

int passing_find_data(struct run *run, const struct setting_item *item,
		      const char *path, struct hb_error *err)
{
	return strchr(strrchr(path, '/'), '*')
		       ? leave_out_all(run, item, path, err)
		       : leave_out(run, item, path, err);
}

/* Whether a directory in memory hides the host's there. */
static bool lies_in_fresh(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_FRESH &&
		    run->entries[i].found == VIEW_DIR &&
		    view_lies_in(path, run->entries[i].path))
			return true;
	return false;
}

/* A file that lies in no state directory: the home is in memory. */
static int copy(struct run *run, const struct setting_item *item,
		const char *path, struct hb_error *err)
{
	struct path_part dir = path_dirname(path);
	auto_fd int fd = -1;
	struct stat st;
	char *text;
	ssize_t n;
	int r;

	if (!run->host.home || strlen(run->host.home) != dir.n ||
	    memcmp(run->host.home, dir.s, dir.n) != 0)
		return 0;
	fd = sys_openat(AT_FDCWD, path,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size > COPY_MAX)
		return 0;
	text = malloc((size_t)st.st_size + 1);
	n = text ? sys_pread_full(fd, text, (size_t)st.st_size, 0) : -ENOMEM;
	if (n < 0) {
		free(text);
		return hb_fail_at(err, (int)n, path, "cannot read");
	}
	text[n] = '\0';
	r = plan_keep(&run->plan, text, err);
	return r < 0 ? r
		     : add(run, item, path, text, VIEW_COPY, VIEW_FILE, err);
}

int passing_find_runs(struct run *run, const struct setting_item *item,
		      const char *path, struct hb_error *err)
{
	struct stat st;

	if (strchr(path, '*') ||
	    sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return copy(run, item, path, err);
	return S_ISDIR(st.st_mode) && lies_in_fresh(run, path)
		       ? add(run, item, path, NULL, VIEW_PASSING, VIEW_DIR, err)
		       : 0;
}
