/* SPDX-License-Identifier: Apache-2.0 */
#include "view/entries.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/alternates.h"
#include "host/look.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/proc.h"
#include "view/borrowed.h"
#include "view/closed.h"
#include "view/direct/direct.h"
#include "view/entry_paths.h"
#include "view/home/authorities.h"
#include "view/home/bounds.h"
#include "view/home/checkouts.h"
#include "view/home/gitfiles.h"
#include "view/home/package.h"
#include "view/home/rcfiles.h"
#include "view/named_databases.h"
#include "view/passing.h"
#include "view/prepare.h"
#include "view/texts.h"
#include "view/worktrees.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct view_entry *new_entry(struct run *run,
				    const struct setting_item *item,
				    enum view_class class)
{
	struct view_entry *e = &run->entries[run->n_entries++];

	*e = (struct view_entry){ .class = class, .item = item };
	return e;
}

static bool is_at_home(const struct run *run, const char *path)
{
	return run->host.home && view_lies_in(path, run->host.home);
}

/*
 * A link may lead anywhere: to all of the home directory, or to keys.  What the
 * user asks for by name may be a project, and a single file of one may be a
 * link of dot files.
 */
static bool may_lead_to(struct run *run, const struct setting_item *item,
			const char *real)
{
	struct stat st;

	if (bounds_is_shown(run, real))
		return true;
	if (bounds_keep_out(run, real))
		return false;
	return item->origin.source != SETTING_BUILT_IN ||
	       (sys_fstatat(AT_FDCWD, real, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
		S_ISREG(st.st_mode)) ||
	       !bounds_is_checkout(run, real);
}

/* Behind a link, in any of its components. */
static int find_linked(struct run *run, const struct setting_item *item,
		       const char *path, struct hb_error *err)
{
	char real[PATH_MAX];
	struct view_entry *e;
	int r;

	if (look_real(path, real) < 0 || !may_lead_to(run, item, real))
		return 0;
	e = new_entry(run, item, VIEW_SHOW);
	e->found = VIEW_LINK;
	r = plan_keep_text(&run->plan, path, &e->path, err);
	if (r >= 0)
		r = plan_keep_text(&run->plan, real, &e->source, err);
	e->target = e->source;
	return r;
}

/* A tool's directory that is a checkout is a project. */
static int find_at_home(struct run *run, const struct setting_item *item,
			const char *path, struct hb_error *err)
{
	auto_fd int fd =
		sys_openat2(AT_FDCWD, path, O_PATH, 0, K_RESOLVE_NO_SYMLINKS);
	struct view_entry *e;
	int r;

	if (fd == -ELOOP)
		return find_linked(run, item, path, err);
	if (fd < 0 || (item->origin.source == SETTING_BUILT_IN &&
		       sys_faccessat(fd, ".git", F_OK) >= 0))
		return 0;
	e = new_entry(run, item, VIEW_SHOW);
	e->found = VIEW_DIR;
	r = plan_keep_text(&run->plan, path, &e->path, err);
	e->source = e->path;
	return r;
}

/* One call tells the cases apart; what is not there leaves no entry. */
static int find_shown(struct run *run, const struct setting_item *item,
		      const char *path, struct hb_error *err)
{
	char target[PATH_MAX];
	struct view_entry *e;
	ssize_t n;
	int r;

	if (!entries_may_exist(run, path))
		return 0;
	if (is_at_home(run, path))
		return find_at_home(run, item, path, err);
	n = sys_readlinkat(AT_FDCWD, path, target, sizeof(target));
	if (n < 0 && n != -EINVAL)
		return 0;
	e = new_entry(run, item, VIEW_SHOW);
	e->found = n < 0 ? VIEW_DIR : VIEW_LINK;
	r = plan_keep_text(&run->plan, path, &e->path, err);
	e->source = e->path;
	if (r >= 0 && n >= 0)
		r = plan_keep_text(&run->plan, target, &e->target, err);
	return r;
}

static int hide_at(struct run *run, const struct setting_item *item,
		   const char *path, bool is_dir, struct hb_error *err)
{
	struct view_entry *e = new_entry(run, item, VIEW_HIDE);

	e->found = is_dir ? VIEW_DIR : VIEW_FILE;
	return plan_keep_text(&run->plan, path, &e->path, err);
}

/* Where a resource has it, and where something else may show the host's. */
static int hide(struct run *run, const struct setting_item *item,
		const char *path, bool is_dir, struct hb_error *err)
{
	char inside[PATH_MAX];
	int r;

	if (view_inside(&run->request, path, inside) < 0)
		return entries_fail(item, err, "the path is too long");
	r = hide_at(run, item, inside, is_dir, err);
	if (r >= 0 && strcmp(inside, path) != 0)
		r = hide_at(run, item, path, is_dir, err);
	return r;
}

/*
 * The command has our uid, our groups and no capability.  It cannot read a file
 * that we cannot read, and hiding that would only cost a mount.  But a file of
 * ours it can open by a chmod.
 */
static bool is_in_reach(const char *path, const struct stat *st)
{
	return sys_faccessat(AT_FDCWD, path,
			     S_ISDIR(st->st_mode) ? X_OK : R_OK) >= 0 ||
	       st->st_uid == sys_getuid();
}

/* The directory of ours that keeps us from looking at `path`, into `path`. */
static bool find_closed(char *path)
{
	struct stat st;
	char *slash;
	int r;

	do {
		slash = strrchr(path, '/');
		if (!slash || slash == path)
			return false;
		*slash = '\0';
		r = sys_fstatat(AT_FDCWD, path, &st, 0);
	} while (r == -EACCES);
	return r >= 0 && S_ISDIR(st.st_mode) && st.st_uid == sys_getuid();
}

/* What links lead to is hidden by both of its names. */
static int find_hidden(struct run *run, const struct setting_item *item,
		       const char *path, struct hb_error *err)
{
	char real[PATH_MAX], closed[PATH_MAX], shown[QUOTE_SHOWN];
	struct stat st;
	int r;

	entries_source(run, path, real);
	/* Nothing shows it; but it may be a link to what something shows. */
	if (item->origin.source == SETTING_BUILT_IN && run->host.home &&
	    view_lies_in(path, run->host.home) &&
	    !bounds_is_exposed(run, path) && !bounds_is_exposed(run, real) &&
	    (!entries_may_exist(run, path) ||
	     sys_readlinkat(AT_FDCWD, path, real, sizeof(real)) < 0 ||
	     look_real(path, real) < 0 || !bounds_is_exposed(run, real)))
		return 0;
	r = sys_fstatat(AT_FDCWD, path, &st, 0);
	if (r == -EACCES) {
		(void)snprintf(closed, sizeof(closed), "%s", path);
		if (!find_closed(closed))
			return 0;
		path = closed;
		r = sys_fstatat(AT_FDCWD, path, &st, 0);
	}
	if (r < 0 || !is_in_reach(path, &st))
		return 0;
	r = look_real(path, real);
	if (r < 0)
		return entries_fail(item, err,
				    "cannot find the files to hide: %s",
				    hb_strerror(-r));
	/* It could take away what restrains the command elsewhere. */
	if (item->origin.source == SETTING_WORKSPACE &&
	    !view_lies_in(real, run->workspace)) {
		hb_fix(err, "hide its target in ~/.config/holdback/config");
		return entries_fail(
			item, err, "'%s' leads out of the workspace",
			quote_shown(item->value, shown, sizeof(shown)));
	}
	r = hide(run, item, path, S_ISDIR(st.st_mode), err);
	if (r >= 0 && strcmp(real, path) != 0)
		r = hide(run, item, real, S_ISDIR(st.st_mode), err);
	return r;
}

/* What was asked for by name has to be there: `ret` is what it leads to. */
static int find_real(const struct run *run, const struct setting_item *item,
		     const char *path, char *ret, struct hb_error *err)
{
	int r;

	r = look_real(path, ret);
	if (r < 0)
		return entries_fail(item, err, "cannot find '%s': %s",
				    quoted(item->value), hb_strerror(-r));
	if (run->covered && view_lies_in(ret, run->covered))
		return entries_fail(item, err, "'%s' is where sessions live",
				    quoted(item->value));
	return 0;
}

/* The real path is shown; a path that leads there is a link to it. */
static int show_real(struct run *run, struct view_entry *e, const char *path,
		     const char *real, struct hb_error *err)
{
	int r = plan_keep_text(&run->plan, real, &e->path, err);

	if (r >= 0 && strcmp(real, path) != 0)
		r = plan_keep_text(&run->plan, path, &e->name, err);
	e->source = e->path;
	e->is_real = true;
	return r;
}

static int find_asked(struct run *run, const struct setting_item *item,
		      const char *path, struct hb_error *err)
{
	char real[PATH_MAX], shown[QUOTE_SHOWN];
	struct view_entry *e;
	int r;

	(void)quote_shown(item->value, shown, sizeof(shown));
	r = find_real(run, item, path, real, err);
	if (r < 0)
		return r;
	if (path_is_beneath(real, "/proc") || path_is_beneath(real, "/sys"))
		return entries_fail(item, err,
				    "the host's '%s' is not put into the view",
				    shown);
	if (strcmp(real, "/") == 0)
		return entries_fail(
			item, err,
			"the root directory is not put into the view");
	e = new_entry(run, item, item->key == KEY_RW ? VIEW_RW : VIEW_RO);
	e->found = VIEW_DIR;
	return show_real(run, e, path, real, err);
}

/* Of another user it would be a way for files between the two. */
static bool is_own_dir(const char *path)
{
	char real[PATH_MAX];
	struct stat st;

	return look_real(path, real) >= 0 && strcmp(real, path) == 0 &&
	       sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       S_ISDIR(st.st_mode) && st.st_uid == sys_getuid();
}

/*
 * A directory that is missing, or that a link in an agent's directory leads to,
 * is none.  That of this project is made.
 */
static int find_data(struct run *run, const struct setting_item *item,
		     const char *path, struct hb_error *err)
{
	char source[PATH_MAX];
	struct view_entry *e;
	int r;

	if (passing_is_row(run, item))
		return passing_find_data(run, item, path, err);
	entries_source(run, path, source);
	if (!entries_are_shared(item) ||
	    (!is_own_dir(source) && !entries_can_make(run, item, source)) ||
	    (run->covered && view_lies_in(source, run->covered)))
		return 0;
	e = new_entry(run, item, VIEW_RW);
	e->found = VIEW_DIR;
	r = plan_keep_text(&run->plan, path, &e->path, err);
	if (r >= 0)
		r = plan_keep_text(&run->plan, source, &e->source, err);
	e->is_real = true;
	return r;
}

static int find_runs(struct run *run, const struct setting_item *item,
		     const char *path, struct hb_error *err)
{
	return passing_is_row(run, item)
		       ? passing_find_runs(run, item, path, err)
		       : 0;
}

/*
 * A directory of the workspace that is the real one.  No link leads there, so
 * that nothing in the project can point it elsewhere.
 */
static int find_exported(struct run *run, const struct setting_item *item,
			 const char *path, struct hb_error *err)
{
	char real[PATH_MAX], inside[PATH_MAX], shown[QUOTE_SHOWN];
	struct view_entry *e;
	struct stat st;
	int r;

	(void)quote_shown(item->value, shown, sizeof(shown));
	r = find_real(run, item, path, real, err);
	if (r < 0)
		return r;
	if (strcmp(real, path) != 0 || !view_lies_in(real, run->workspace) ||
	    strcmp(real, run->workspace) == 0)
		return entries_fail(item, err,
				    "'%s' is no directory below the workspace",
				    shown);
	if (sys_fstatat(AT_FDCWD, real, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode))
		return entries_fail(item, err, "'%s' is not a directory",
				    shown);
	if (view_inside(&run->request, real, inside) < 0)
		return entries_fail(item, err, "the path is too long");
	e = new_entry(run, item, VIEW_RW);
	e->found = VIEW_DIR;
	e->is_real = true;
	r = plan_keep_text(&run->plan, real, &e->source, err);
	return r < 0 ? r : plan_keep_text(&run->plan, inside, &e->path, err);
}

static int find_socket(struct run *run, const struct setting_item *item,
		       const char *path, struct hb_error *err)
{
	char real[PATH_MAX], shown[QUOTE_SHOWN];
	struct view_entry *e;
	struct stat st;
	int r;

	r = find_real(run, item, path, real, err);
	if (r < 0)
		return r;
	if (sys_fstatat(AT_FDCWD, real, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISSOCK(st.st_mode))
		return entries_fail(
			item, err, "'%s' is not a socket",
			quote_shown(item->value, shown, sizeof(shown)));
	e = new_entry(run, item, VIEW_SOCKET);
	e->found = VIEW_FILE;
	return show_real(run, e, path, real, err);
}

/* In this order: what is hidden depends on what the others show. */
static const struct {
	enum setting_key key;
	int (*find)(struct run *run, const struct setting_item *item,
		    const char *path, struct hb_error *err);
} passes[] = {
	{ KEY_SHOW, find_shown },    { KEY_RO, find_asked },
	{ KEY_DATA, find_data },     { KEY_RUNS, find_runs },
	{ KEY_RW, find_asked },	     { KEY_EXPORT, find_exported },
	{ KEY_SOCKET, find_socket }, { KEY_DB, databases_find },
	{ KEY_HIDE, find_hidden },
};

#define PASSES	  (sizeof(passes) / sizeof(passes[0]))
#define PASS_HIDE (PASSES - 1)

static int find_one(struct run *run, size_t pass,
		    const struct setting_item *item, struct hb_error *err)
{
	char path[PATH_MAX];
	int r;

	r = entries_path(run, item, item->value, path, err);
	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = passes[pass].find(run, item, path, err);
	return r;
}

static int find_all(struct run *run, size_t pass, struct hb_error *err)
{
	const struct settings *s = &run->settings;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (s->items[i].key == passes[pass].key)
			r = find_one(run, pass, &s->items[i], err);
	return r;
}

int entries_find(struct run *run, struct hb_error *err)
{
	const struct settings *s = &run->settings;
	int r;

	/* What is hidden can have two names, each at two places. */
	r = entries_more(run,
			 4 * s->n_items + TEXTS_MAX + PACKAGES_MAX +
				 GIT_FILES_MAX + WORKTREES_MAX + CHECKOUTS_MAX +
				 ALTERNATES_MAX +
				 (run->n_direct ? DIRECT_MAX : 0),
			 err);
	for (size_t pass = 0; r >= 0 && pass < PASS_HIDE; pass++)
		r = find_all(run, pass, err);
	return r;
}

static int hide_all(struct run *run, struct hb_error *err)
{
	int r = find_all(run, PASS_HIDE, err);

	if (r >= 0)
		r = checkouts_hide(run, err);
	if (r >= 0)
		r = gitfiles_find(run, err);
	if (r >= 0)
		r = rcfiles_find(run, err);
	if (r >= 0)
		r = authorities_show(run, err);
	if (r >= 0)
		r = texts_find(run, err);
	if (r >= 0)
		r = worktrees_keep(run, err);
	if (r >= 0)
		r = borrowed_show(run, err);
	if (r >= 0)
		r = direct_protect(run, err);
	if (r >= 0)
		r = closed_find(run, err);
	return r;
}

int entries_hide(struct run *run, struct hb_error *err)
{
	/* While a session is only made there is no command to hide it from. */
	int r = run->chosen ? 0 : hide_all(run, err);

	if (r < 0)
		return r;
	run->request.entries = run->entries;
	run->request.n_entries = run->n_entries;
	return 0;
}
