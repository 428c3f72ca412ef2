/* SPDX-License-Identifier: Apache-2.0 */
#include "view/workspace.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "holdback/holdback.h"
#include "host/look.h"
#include "host/worktree.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The workspace and its repository; or what a session has. */
#define ALWAYS_MAX RECORD_RESOURCES_MAX

/* A home by any name: root's idea of home is not that of the directory's owner.
 */
static bool looks_like_home(const char *dir)
{
	static const char *const signs[] = { ".ssh", ".gnupg" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (path_join(dir, signs[i], path, sizeof(path)) >= 0 &&
		    sys_faccessat(AT_FDCWD, path, F_OK) >= 0)
			return true;
	return false;
}

/* A place that the settings hide is no workspace. */
static bool is_hidden(const struct run *run, const char *path)
{
	const struct settings *s = &run->settings;
	char hidden[PATH_MAX];

	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].key == KEY_HIDE &&
		    entries_path(run, &s->items[i], s->items[i].value, hidden,
				 NULL) >= 0 &&
		    view_lies_in(path, hidden))
			return true;
	return false;
}

static bool is_home(const struct run *run, const char *path)
{
	return run->host.home && strcmp(path, run->host.home) == 0;
}

static bool may_have_home(const struct run *run)
{
	const struct hb_report question = {
		.kind = HB_REPORT_ASKED,
		.text = "the home directory would be the workspace: the command "
			"could read all of it but known keys; go on?",
	};

	return report_send(run->listener, &question);
}

static const char *refuses(const struct run *run, const char *path)
{
	const char *why = view_refuses_workspace(path, run->host.home);

	if (why)
		return why;
	if (is_home(run, path))
		return may_have_home(run)
			       ? NULL
			       : "the home directory cannot be a workspace";
	if (is_hidden(run, path))
		return "a directory that is hidden in the view cannot be a workspace";
	if (looks_like_home(path))
		return "a directory that holds keys cannot be a workspace";
	return NULL;
}

/* `source` and `inside` are copied. */
static int add_resource(struct run *run, enum view_role role,
			const char *source, const char *inside, bool is_direct,
			const struct setting_item *item, struct hb_error *err)
{
	struct view_resource *resource = &run->resources[run->n_resources];
	size_t n = strlen(source) + 1, k = strlen(inside) + 1;
	struct stat st;
	char *copy;
	int r;

	r = sys_fstatat(AT_FDCWD, source, &st, 0);
	if (r == -ENOENT && entries_can_make(run, item, source)) {
		st.st_mode = 0700;
		r = 0;
	}
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", source);
	copy = malloc(n + k);
	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	memcpy(copy, source, n);
	memcpy(copy + n, inside, k);
	r = plan_keep(&run->plan, copy, err);
	if (r < 0)
		return r;
	*resource = (struct view_resource){
		.role = role,
		.is_direct = is_direct,
		.source = copy,
		.inside = copy + n,
		.mode = st.st_mode & 01777,
		.item = item,
	};
	run->n_resources++;
	if (resource->is_direct)
		run->n_direct++;
	else if (role != VIEW_CACHE && run->n_kept < RECORD_RESOURCES_MAX) {
		run->numbers[run->n_kept] = run->n_kept;
		run->n_kept++;
	}
	run->request.resources = run->resources;
	run->request.n_resources = run->n_resources;
	return 0;
}

/* Where --at puts the workspace. */
static int find_at(struct run *run, char *ret, struct hb_error *err)
{
	const struct setting_item item = {
		.key = KEY_AT,
		.value = run->settings.at,
		.origin = run->settings.origins[KEY_AT],
	};

	if (!path_is_absolute(item.value) ||
	    path_normalise(item.value, PATH_DOTS_REFUSE, ret, PATH_MAX) < 0)
		return entries_fail(&item, err, "'%s' is not absolute",
				    quoted(item.value));
	if (view_refuses_workspace(ret, run->host.home) || is_home(run, ret))
		return entries_fail(&item, err, "the view has its own '%s'",
				    quoted(item.value));
	return 0;
}

static int make_room(struct run *run, struct hb_error *err)
{
	run->resources = calloc(run->settings.n_items + ALWAYS_MAX,
				sizeof(*run->resources));
	if (!run->resources)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	return 0;
}

/* A session that `create` made has no roles: the first is where the work is. */
static enum view_role role_of(const struct session_record *record, size_t i)
{
	enum view_role role = role_named(record->resources[i].role);

	if (role < VIEW_ROLES)
		return role;
	return i == 0 ? VIEW_WORKSPACE : VIEW_COW;
}

/* These come first: `create` has one strategy for all that it was told. */
static bool is_none(const struct session_record *record, size_t i)
{
	return settings_is_none(record->resources[i].effective);
}

int workspace_of_session(struct run *run, struct hb_error *err)
{
	const struct session_record *record = run->session->record;
	int r;

	if (run->settings.is_direct) {
		hb_fix(err, "leave one of --direct and --session out");
		return hb_fail(err, -HB_E_USAGE,
			       "a directory of a session cannot be direct");
	}
	run->settings.is_direct = is_none(record, 0);
	r = make_room(run, err);
	for (size_t i = 0; r >= 0 && i < record->n_resources; i++) {
		if (run->session->gone[i])
			continue;
		if (run->n_resources == 0)
			r = plan_keep_text(&run->plan,
					   record->resources[i].source,
					   &run->workspace, err);
		if (r >= 0)
			r = add_resource(run, role_of(record, i),
					 record->resources[i].source,
					 record->resources[i].inside,
					 is_none(record, i), NULL, err);
		if (r >= 0 && run->n_kept > 0)
			run->numbers[run->n_kept - 1] = i;
	}
	return r;
}

int workspace_chosen(struct run *run, struct hb_error *err)
{
	const struct session_record *record = run->chosen;
	int r = make_room(run, err);

	if (r >= 0)
		r = plan_keep_text(&run->plan, record->resources[0].source,
				   &run->workspace, err);
	for (size_t i = 0; r >= 0 && i < record->n_resources; i++) {
		if (!is_home(run, record->resources[i].source) ||
		    may_have_home(run))
			continue;
		hb_fix(err, "name a directory in it");
		return hb_fail(err, -HB_E_USAGE,
			       "the home directory cannot be a workspace");
	}
	for (size_t i = 0; r >= 0 && i < record->n_resources; i++)
		r = add_resource(run, role_of(record, i),
				 record->resources[i].source,
				 record->resources[i].inside, false, NULL, err);
	return r;
}

int workspace_find(struct run *run, struct hb_error *err)
{
	char inside[PATH_MAX], common[PATH_MAX], shown[QUOTE_SHOWN];
	const char *why;
	int r;

	r = make_room(run, err);
	if (r < 0)
		return r;
	look_workspace(run->cwd, run->host.home, inside);
	r = plan_keep_text(&run->plan, inside, &run->workspace, err);
	if (r < 0)
		return r;
	why = refuses(run, run->workspace);
	if (why) {
		hb_fix(err, "change to the directory of a project");
		return hb_fail(
			err, -HB_E_USAGE, "%s: '%s'", why,
			quote_shown(run->workspace, shown, sizeof(shown)));
	}
	r = run->settings.at ? find_at(run, inside, err) : 0;
	if (r >= 0)
		r = add_resource(run, VIEW_WORKSPACE, run->workspace, inside,
				 run->settings.is_direct, NULL, err);
	if (r < 0)
		return r;
	r = worktree_find(run->workspace, common, &run->worktree_why);
	if (r > 0 && view_refuses_workspace(common, run->host.home))
		run->worktree_why = "its common directory cannot be shown";
	else if (r > 0)
		return add_resource(run, VIEW_GIT, common, common,
				    run->settings.is_direct, NULL, err);
	return 0;
}

/* What two resources would both hold could not be said to belong to either. */
static bool overlaps(const struct run *run, const char *source,
		     const char *inside)
{
	for (size_t i = 0; i < run->n_resources; i++) {
		const struct view_resource *other = &run->resources[i];

		if (view_lies_in(source, other->source) ||
		    view_lies_in(other->source, source) ||
		    view_lies_in(inside, other->inside) ||
		    view_lies_in(other->inside, inside))
			return true;
	}
	return false;
}

static int add_cow(struct run *run, const struct setting_item *item,
		   struct hb_error *err)
{
	char dir[PATH_MAX], path[PATH_MAX], source[PATH_MAX], inside[PATH_MAX];
	const char *at, *why;
	struct stat st;
	int r;

	entries_split(item->value, dir, &at);
	r = entries_path(run, item, dir, path, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = look_real(path, source);
	if (r >= 0)
		r = sys_fstatat(AT_FDCWD, source, &st, 0);
	if (r >= 0 && !S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	if (r < 0)
		return entries_fail(item, err, "cannot find '%s': %s",
				    quoted(item->value), hb_strerror(-r));
	if (path_normalise(at ? at : source, PATH_DOTS_REFUSE, inside,
			   sizeof(inside)) < 0)
		return entries_fail(item, err, "'%s' is not a plain path",
				    quoted(item->value));
	why = view_refuses_workspace(source, run->host.home);
	if (!why)
		why = view_refuses_workspace(inside, run->host.home);
	if (why || is_home(run, source) || is_home(run, inside))
		return entries_fail(item, err, "'%s' cannot be held back",
				    quoted(item->value));
	if (overlaps(run, source, inside))
		return entries_fail(item, err,
				    "'%s' and another directory that is held "
				    "back overlap",
				    quoted(item->value));
	return add_resource(run, VIEW_COW, source, inside, false, item, err);
}

/* The object at the path, or the nearest one above it. */
static int find_there(const char *path, char *ret, struct stat *st)
{
	int r;

	(void)snprintf(ret, PATH_MAX, "%s", path);
	for (;;) {
		char *slash = strrchr(ret, '/');

		r = sys_fstatat(AT_FDCWD, ret, st, AT_SYMLINK_NOFOLLOW);
		if ((r != -ENOENT && r != -ENOTDIR) || !slash || slash == ret)
			return r;
		*slash = '\0';
	}
}

/*
 * Where the directory of an agent's state cannot be.  The agent would make one
 * in a home directory that is gone at the end, and its state with it.
 */
static int check_state(const struct setting_item *item, const char *path,
		       struct hb_error *err)
{
	char there[PATH_MAX], shown[QUOTE_SHOWN], wanted[QUOTE_SHOWN];
	struct stat st, end;
	int r = find_there(path, there, &st);

	/* It is missing, or run/told/mistakes.h has words for it. */
	if (r < 0 || S_ISDIR(st.st_mode))
		return 0;
	(void)quote_shown(there, shown, sizeof(shown));
	(void)quote_shown(path, wanted, sizeof(wanted));
	r = sys_fstatat(AT_FDCWD, there, &end, 0);
	if (r < 0 && S_ISLNK(st.st_mode)) {
		hb_fix(err, "make the directory that it leads to, or: rm %s",
		       shown);
		return entries_fail(item, err,
				    "'%s' is a link that leads nowhere, and "
				    "the agent's state could not be kept",
				    shown);
	}
	if (r >= 0 && !S_ISDIR(end.st_mode)) {
		hb_fix(err, "move '%s' away", shown);
		return entries_fail(item, err,
				    "'%s' is no directory, and the agent's "
				    "state could not be kept",
				    shown);
	}
	if (r < 0 || strcmp(there, path) == 0)
		return 0;
	hb_fix(err, "mkdir -p %s", wanted);
	return entries_fail(item, err,
			    "'%s' is a link, and '%s' does not exist", shown,
			    wanted);
}

/* A link to a directory that cannot be held back, or is so already. */
static int fail_linked(const struct setting_item *item, const char *path,
		       const char *source, struct hb_error *err)
{
	char shown[QUOTE_SHOWN], end[QUOTE_SHOWN];

	hb_fix(err,
	       "make '%s' a directory, or run holdback in another one; "
	       "--ephemeral keeps no state",
	       quote_shown(path, shown, sizeof(shown)));
	return entries_fail(item, err,
			    "'%s' leads to '%s', where the agent's state could "
			    "not be kept",
			    shown, quote_shown(source, end, sizeof(end)));
}

static bool is_dir(const char *path)
{
	struct stat st;

	return sys_fstatat(AT_FDCWD, path, &st, 0) >= 0 && S_ISDIR(st.st_mode);
}

/* The same directory by another name, as where the home is a link. */
static bool is_held(const struct run *run, const char *source)
{
	for (size_t i = 0; i < run->n_resources; i++)
		if (run->resources[i].role == VIEW_STATE &&
		    strcmp(run->resources[i].source, source) == 0)
			return true;
	return false;
}

/* Where a directory that is missing can be made; a link may lead there. */
static bool find_missing(const struct run *run, const struct setting_item *item,
			 const char *path, char *ret)
{
	char there[PATH_MAX], real[PATH_MAX];
	struct stat st;

	return find_there(path, there, &st) >= 0 && strcmp(there, path) != 0 &&
	       look_real(there, real) >= 0 &&
	       path_join(real, path + strlen(there), ret, PATH_MAX) >= 0 &&
	       entries_can_make(run, item, ret);
}

/* A directory that is missing, or part of something else, is none. */
static int add_if_there(struct run *run, enum view_role role,
			const struct setting_item *item, struct hb_error *err)
{
	char path[PATH_MAX], source[PATH_MAX];
	bool is_kept = role == VIEW_STATE && !run->settings.is_ephemeral;
	int r;

	r = entries_path(run, item, item->value, path, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if ((role != VIEW_STATE || !find_missing(run, item, path, source)) &&
	    (!entries_may_exist(run, path) || !is_dir(path) ||
	     sys_faccessat(AT_FDCWD, path, R_OK | X_OK) < 0 ||
	     look_real(path, source) < 0))
		return is_kept ? check_state(item, path, err) : 0;
	if (view_refuses_workspace(source, run->host.home) ||
	    is_home(run, source) || overlaps(run, source, path))
		return is_kept && strcmp(source, path) != 0 &&
				       !is_held(run, source)
			       ? fail_linked(item, path, source, err)
			       : 0;
	return add_resource(run, role, source, path, false, item, err);
}

int workspace_find_more(struct run *run, struct hb_error *err)
{
	const struct settings *s = &run->settings;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (s->items[i].key == KEY_COW && !run->session &&
		    !(run->chosen &&
		      s->items[i].origin.source == SETTING_OPTION))
			r = add_cow(run, &s->items[i], err);
	/* The kept ones first: see run.n_kept. */
	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (s->items[i].key == KEY_STATE && !run->session)
			r = add_if_there(run, VIEW_STATE, &s->items[i], err);
	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (s->items[i].key == KEY_CACHE)
			r = add_if_there(run, VIEW_CACHE, &s->items[i], err);
	return r;
}
