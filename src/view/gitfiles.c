/* SPDX-License-Identifier: Apache-2.0 */
#include "view/gitfiles.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/gitconfig.h"
#include "base/path.h"
#include "gate/scan/scan.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_git.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "view/bounds.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE ((size_t)256 << 10)
#define TEXT_SIZE ((size_t)1 << 20)

static const char *const names[] = { ".gitconfig", ".config/git/config" };

struct gitfiles {
	struct run *run;
	struct scan *scan; /* made for the first value */
	bool has_secret;
	const char
		*file; /* the file that is read: includes are relative to it */
	char *queue[GIT_FILES_MAX];
	size_t n;
};

static int note_secret(void *ctx, const struct scan_finding *finding,
		       struct hb_error *err)
{
	struct gitfiles *g = ctx;

	(void)finding;
	(void)err;
	g->has_secret = true;
	return 0;
}

/* What cannot be judged is taken for one. */
static bool is_secret(void *ctx, const char *name, const char *value, size_t n)
{
	struct gitfiles *g = ctx;

	g->has_secret = false;
	if (n == 0)
		return false;
	if (!g->scan && scan_new(&g->scan, NULL) < 0)
		return true;
	scan_begin(g->scan, note_secret, g);
	return scan_add(g->scan, name, strlen(name), NULL) < 0 ||
	       scan_add(g->scan, " = ", 3, NULL) < 0 ||
	       scan_add(g->scan, value, n, NULL) < 0 ||
	       scan_add(g->scan, "\n", 1, NULL) < 0 ||
	       scan_end(g->scan, NULL) < 0 || g->has_secret;
}

/* As git finds it: "~/" is the home directory, the rest is the file's own. */
static void note_include(void *ctx, const char *path)
{
	struct gitfiles *g = ctx;
	const char *home = g->run->host.home;
	char joined[PATH_MAX], found[PATH_MAX];
	struct path_part dir = path_dirname(g->file);
	int n;

	if (strncmp(path, "~/", 2) == 0)
		n = snprintf(joined, sizeof(joined), "%s/%s", home, path + 2);
	else if (path_is_absolute(path))
		n = snprintf(joined, sizeof(joined), "%s", path);
	else
		n = snprintf(joined, sizeof(joined), "%.*s/%s", (int)dir.n,
			     dir.s, path);
	if (n < 0 || (size_t)n >= sizeof(joined) ||
	    path_normalise(joined, PATH_DOTS_FOLD, found, sizeof(found)) < 0)
		return;
	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->queue[i], found) == 0)
			return;
	if (g->n == GIT_FILES_MAX) {
		g->run->n_git_files++;
		return;
	}
	g->queue[g->n] = strdup(found);
	g->n += g->queue[g->n] != NULL;
}

/* -ENOENT: there is none. */
static int read_text(const char *path, struct buf *ret)
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

static int filter(struct gitfiles *g, const char *path, char **ret_text)
{
	auto_buf struct buf text = BUF_INIT(FILE_SIZE);
	auto_buf struct buf out = BUF_INIT(TEXT_SIZE);
	struct view_git git = { .is_secret = is_secret,
				.include = note_include,
				.ctx = g };
	int r = read_text(path, &text);

	g->file = path;
	if (r >= 0)
		r = view_git_filter(&git, buf_str(&text), text.len, &out);
	if (r >= 0)
		r = buf_take(&out, ret_text, NULL);
	if (r >= 0)
		g->run->n_git_keys += git.n_left_out;
	g->run->signs = g->run->signs || git.signs;
	return r;
}

/* Of type gitconfig_fn. */
static int note_signing(void *ctx, const struct gitconfig_key *key)
{
	struct run *run = ctx;

	run->signs = run->signs || view_git_signs(key);
	return 0;
}

/* Of files that the view shows as they are; only a line comes of it. */
static void look_at(struct run *run, const char *dir, const char *name)
{
	auto_buf struct buf text = BUF_INIT(FILE_SIZE);
	char path[PATH_MAX];

	if (!run->signs && path_join(dir, name, path, sizeof(path)) >= 0 &&
	    read_text(path, &text) >= 0)
		(void)gitconfig_read(buf_str(&text), text.len, note_signing,
				     run);
}

static void find_signing(struct run *run)
{
	look_at(run, "/etc", "gitconfig");
	for (size_t i = 0; i < run->n_resources; i++) {
		look_at(run, run->resources[i].source, ".git/config");
		/* The repository of a worktree. */
		if (strcmp(path_basename(run->resources[i].source).s, ".git") ==
		    0)
			look_at(run, run->resources[i].source, "config");
	}
}

/* The entry that shows the path itself; NULL: none does. */
static struct view_entry *entry_of(struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_SHOW &&
		    strcmp(run->entries[i].path, path) == 0)
			return &run->entries[i];
	return NULL;
}

static int add_file(struct gitfiles *g, const char *path, struct hb_error *err)
{
	struct run *run = g->run;
	struct view_entry *e = entry_of(run, path);
	char *text = NULL, *copy;
	int r;

	r = bounds_is_held(run, path) ? -ENOENT : filter(g, path, &text);
	if (r >= 0 && !e && entries_would_hide(run, path)) {
		free(text);
		r = -EACCES;
	}
	if (r == -ENOMEM)
		return hb_fail(err, r, "cannot read the git configuration");
	if (r < 0) {
		run->n_git_files += r != -ENOENT;
		if (e)
			e->found = VIEW_ABSENT;
		return 0;
	}
	r = plan_keep(&run->plan, text, err);
	copy = r < 0 ? NULL : strdup(path);
	if (r >= 0 && !copy)
		r = hb_fail(err, -ENOMEM, "cannot make the view");
	if (r >= 0)
		r = plan_keep(&run->plan, copy, err);
	if (r < 0)
		return r;
	if (!e) {
		e = &run->entries[run->n_entries++];
		*e = (struct view_entry){ .path = copy };
	}
	e->class = VIEW_TEXT;
	e->found = VIEW_FILE;
	e->source = text;
	return 0;
}

int gitfiles_find(struct run *run, struct hb_error *err)
{
	struct gitfiles g = { .run = run };
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0;
	     run->host.home && i < sizeof(names) / sizeof(names[0]); i++)
		if (path_join(run->host.home, names[i], path, sizeof(path)) >=
			    0 &&
		    entry_of(run, path)) {
			g.queue[g.n] = strdup(path);
			g.n += g.queue[g.n] != NULL;
		}
	for (size_t i = 0; r >= 0 && i < g.n; i++)
		r = add_file(&g, g.queue[i], err);
	for (size_t i = 0; i < g.n; i++)
		free(g.queue[i]);
	scan_free(g.scan);
	find_signing(run);
	return r;
}
