/* SPDX-License-Identifier: Apache-2.0 */
#include "view/home/gitfiles.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/gitconfig.h"
#include "base/path.h"
#include "plan/filter/view_git.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "view/entry_paths.h"
#include "view/home/authorities.h"
#include "view/home/bounds.h"
#include "view/home/filtered.h"
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
	const char
		*file; /* the file that is read: includes are relative to it */
	struct {
		enum view_git_file kind;
		char *path;
	} queue[GIT_FILES_MAX];
	size_t n;
};

static void enqueue(struct gitfiles *g, enum view_git_file kind,
		    const char *path)
{
	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->queue[i].path, path) == 0)
			return;
	if (g->n == GIT_FILES_MAX) {
		g->run->n_git_files++;
		return;
	}
	g->queue[g->n].kind = kind;
	g->queue[g->n].path = strdup(path);
	g->n += g->queue[g->n].path != NULL;
}

/* As git finds it: a relative path is the file's own. */
static void note_file(void *ctx, enum view_git_file kind, const char *path)
{
	struct gitfiles *g = ctx;
	struct path_part part = path_dirname(g->file);
	char dir[PATH_MAX], found[PATH_MAX];

	(void)snprintf(dir, sizeof(dir), "%.*s", (int)part.n, part.s);
	if (filtered_path(g->run, dir, path, found))
		enqueue(g, kind, found);
}

static bool is_secret(void *ctx, const char *name, const char *value, size_t n)
{
	struct gitfiles *g = ctx;

	return filtered_is_secret(&g->run->filtered, name, value, n);
}

/* Patterns are shown as they are, but for a file with a secret in it. */
static int read_patterns(struct gitfiles *g, const char *path, char **ret_text)
{
	auto_buf struct buf text = BUF_INIT(FILE_SIZE);
	int r = filtered_read(path, &text);

	if (r < 0)
		return r;
	if (memchr(buf_str(&text), '\0', text.len) ||
	    filtered_is_secret(&g->run->filtered, "pattern", buf_str(&text),
			       text.len))
		return -EINVAL;
	return buf_take(&text, ret_text, NULL);
}

static int filter(struct gitfiles *g, const char *path, char **ret_text)
{
	auto_buf struct buf text = BUF_INIT(FILE_SIZE);
	auto_buf struct buf out = BUF_INIT(TEXT_SIZE);
	struct view_git git = { .is_secret = is_secret,
				.file = note_file,
				.ctx = g };
	int r = filtered_read(path, &text);

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
	    filtered_read(path, &text) >= 0)
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

static int add_file(struct gitfiles *g, size_t i, struct hb_error *err)
{
	const char *path = g->queue[i].path;
	struct run *run = g->run;
	struct view_entry *e = entry_of(run, path);
	char *text = NULL;
	int r;

	if (g->queue[i].kind == VIEW_GIT_AUTHORITIES)
		return authority_show(run, path, err);
	/* What the view has already is the host's own. */
	if (g->queue[i].kind == VIEW_GIT_PATTERNS && bounds_is_shown(run, path))
		return 0;
	if (bounds_is_held(run, path))
		r = -ENOENT;
	else
		r = g->queue[i].kind == VIEW_GIT_PATTERNS
			    ? read_patterns(g, path, &text)
			    : filter(g, path, &text);
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
	if (!e)
		return filtered_show(run, path, text, err);
	e->class = VIEW_TEXT;
	e->found = VIEW_FILE;
	e->source = text;
	return plan_keep(&run->plan, text, err);
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
		    entry_of(run, path))
			enqueue(&g, VIEW_GIT_INCLUDED, path);
	for (size_t i = 0; r >= 0 && i < g.n; i++)
		r = add_file(&g, i, err);
	for (size_t i = 0; i < g.n; i++)
		free(g.queue[i].path);
	find_signing(run);
	return r;
}
