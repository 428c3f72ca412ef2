/* SPDX-License-Identifier: Apache-2.0 */
#include "view/home/filtered.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/path.h"
#include "gate/scan/scan.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "sys/file.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void filtered_done(struct filtered *f)
{
	scan_free(f->scan);
}

static int note_secret(void *ctx, const struct scan_finding *finding,
		       struct hb_error *err)
{
	struct filtered *f = ctx;

	(void)finding;
	(void)err;
	f->has_secret = true;
	return 0;
}

bool filtered_is_secret(void *ctx, const char *name, const char *value,
			size_t n)
{
	struct filtered *f = ctx;

	f->has_secret = false;
	if (n == 0)
		return false;
	if (!f->scan && scan_new(&f->scan, NULL) < 0)
		return true;
	scan_begin(f->scan, note_secret, f);
	return scan_add(f->scan, name, strlen(name), NULL) < 0 ||
	       scan_add(f->scan, " = ", 3, NULL) < 0 ||
	       scan_add(f->scan, value, n, NULL) < 0 ||
	       scan_add(f->scan, "\n", 1, NULL) < 0 ||
	       scan_end(f->scan, NULL) < 0 || f->has_secret;
}

int filtered_read(const char *path, struct buf *ret)
{
	auto_fd int fd =
		sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	char block[4096];
	struct stat st;
	ssize_t n;
	int r = fd;

	if (r >= 0)
		r = sys_fstat(fd, &st);
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	while ((n = sys_read(fd, block, sizeof(block))) > 0)
		(void)buf_add(ret, block, (size_t)n);
	return n < 0 ? (int)n : ret->error;
}

bool filtered_path(const struct run *run, const char *dir, const char *path,
		   char *ret)
{
	static const char *const homes[] = { "~/", "${HOME}/", "$HOME/" };
	char joined[PATH_MAX];

	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
		if (strncmp(path, homes[i], strlen(homes[i])) == 0) {
			dir = run->host.home;
			path += strlen(homes[i]);
			break;
		}
	if (path_is_absolute(path))
		dir = "/";
	return dir && path_join(dir, path, joined, sizeof(joined)) >= 0 &&
	       path_normalise(joined, PATH_DOTS_FOLD, ret, PATH_MAX) >= 0;
}

int filtered_show(struct run *run, const char *path, char *text,
		  struct hb_error *err)
{
	struct view_entry e = { .class = VIEW_TEXT,
				.found = VIEW_FILE,
				.source = text };
	int r = plan_keep(&run->plan, text, err);

	if (r >= 0)
		r = plan_keep_text(&run->plan, path, &e.path, err);
	if (r >= 0)
		run->entries[run->n_entries++] = e;
	return r;
}
