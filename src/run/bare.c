/* SPDX-License-Identifier: Apache-2.0 */
#include "run/bare.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "run/publish_names.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/tree.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TMP "tmp"

#define OWN_ONLY \
	(K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS)

static int refuse(const char *what, struct hb_error *err)
{
	hb_fix(err, "leave it out, or run where there are user namespaces");
	return hb_fail(err, -HB_E_UNSUPPORTED,
		       "%s needs user namespaces, and there are none", what);
}

/* What hides something in a directory takes a mount. */
static int check_hidden(const struct run *run, const struct view_entry *e,
			struct hb_error *err)
{
	char shown[QUOTE_SHOWN], what[QUOTE_SHOWN + 16];

	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *above = &run->entries[i];

		if (!view_is_asked(above) ||
		    !view_lies_in(e->path, above->path))
			continue;
		(void)snprintf(what, sizeof(what), "hiding '%s'",
			       quote_shown(e->path, shown, sizeof(shown)));
		return refuse(what, err);
	}
	return 0;
}

/* Neither can what holds the store be shown without it. */
static int check_store(const struct run *run, struct hb_error *err)
{
	char shown[QUOTE_SHOWN], what[QUOTE_SHOWN + 64];

	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if (e->class == VIEW_HIDE || e->class == VIEW_TEXT ||
		    e->class == VIEW_EMPTY || e->class == VIEW_FRESH)
			continue;
		for (size_t k = 0; k < run->request.n_covered; k++) {
			if (!view_lies_in(run->request.covered[k], e->path))
				continue;
			(void)snprintf(
				what, sizeof(what),
				"showing '%s' without the sessions in it",
				quote_shown(e->path, shown, sizeof(shown)));
			return refuse(what, err);
		}
	}
	return 0;
}

int bare_check(const struct run *run, struct hb_error *err)
{
	const struct settings *s = &run->settings;
	const struct {
		bool is_asked;
		const char *what;
	} rows[] = {
		{ s->is_ephemeral, "--ephemeral" },
		{ s->is_direct, "--direct" },
		{ s->allow_nested, "--allow-nested" },
		{ s->marks_turns, "--mark-turns" },
		{ settings_shows_host(s), "--view host" },
		{ s->at, "--at" },
		{ run->host.is_root, "a run as root" },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].is_asked)
			return refuse(rows[i].what, err);
	for (size_t i = 0; i < s->n_items; i++) {
		const struct setting_item *item = &s->items[i];
		char what[32];

		if (item->key != KEY_EXPORT && item->key != KEY_SOCKET &&
		    (item->key != KEY_HIDE ||
		     item->origin.source == SETTING_BUILT_IN))
			continue;
		(void)snprintf(what, sizeof(what), "--%s",
			       setting_name(item->key));
		return refuse(what, err);
	}
	for (size_t i = 0; r >= 0 && i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_HIDE &&
		    run->entries[i].found != VIEW_ABSENT)
			r = check_hidden(run, &run->entries[i], err);
	return r < 0 ? r : check_store(run, err);
}

/*
 * The home directory was a command's before: what it left where we want a
 * directory or a link stays, and is not gone through.
 */
static void add_entry(int home, const char *name, const char *content,
		      bool is_text)
{
	auto_fd int dir = -1;
	auto_fd int file = -1;
	char path[PATH_MAX];
	size_t n;

	(void)snprintf(path, sizeof(path), "%s", name);
	for (n = strcspn(path, "/"); path[n];
	     n += 1 + strcspn(path + n + 1, "/")) {
		auto_fd int above = -1;
		char *last;

		path[n] = '\0';
		last = strrchr(path, '/');
		if (last)
			*last = '\0';
		above = sys_openat2(home, last ? path : ".",
				    O_PATH | O_DIRECTORY, 0, OWN_ONLY);
		if (above >= 0)
			(void)sys_mkdirat(above, last ? last + 1 : path, 0700);
		if (last)
			*last = '/';
		path[n] = '/';
	}
	n = (size_t)(strrchr(name, '/') ? strrchr(name, '/') - name : 0);
	path[n] = '\0';
	dir = sys_openat2(home, n ? path : ".", O_PATH | O_DIRECTORY, 0,
			  OWN_ONLY);
	name = n ? name + n + 1 : name;
	if (dir >= 0 && !is_text)
		(void)sys_symlinkat(content, dir, name);
	if (dir < 0 || !is_text)
		return;
	(void)sys_unlinkat(dir, name, 0);
	file = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (file >= 0)
		(void)sys_write_all(file, content, strlen(content));
}

/* What the view would have in the home directory, by its name there. */
static void fill_home(const struct run *run, int home)
{
	const char *real = run->host.home;

	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if ((e->class == VIEW_SHOW || e->class == VIEW_RO ||
		     e->class == VIEW_RW || e->class == VIEW_TEXT) &&
		    e->found != VIEW_ABSENT && view_lies_in(e->path, real) &&
		    strcmp(e->path, real) != 0)
			add_entry(home, e->path + strlen(real) + 1, e->source,
				  e->class == VIEW_TEXT);
	}
	for (size_t i = 0; i < run->n_resources; i++) {
		const struct view_resource *resource = &run->resources[i];

		if (resource->tree && resource->role == VIEW_STATE &&
		    view_lies_in(resource->inside, real) &&
		    strcmp(resource->inside, real) != 0)
			add_entry(home, resource->inside + strlen(real) + 1,
				  resource->tree, false);
	}
}

static int make_tmp(struct run *run, const struct hb_session *s,
		    struct hb_error *err)
{
	char path[PATH_MAX];
	int r;

	r = tree_remove(s->dir, TMP, err);
	if (r < 0)
		return r;
	r = sys_mkdirat(s->dir, TMP, 0700);
	if (r < 0)
		return hb_fail(err, r, "cannot make '" TMP "'");
	r = snprintf(path, sizeof(path), "%s/sessions/%s/" TMP, s->store->path,
		     s->record.name);
	if (r < 0 || r >= (int)sizeof(path))
		return hb_fail(err, -ENAMETOOLONG, "cannot keep a path");
	return plan_keep_text(&run->plan, path, &run->tmp, err);
}

/* From now on a resource is where its copy lies. */
static int move_resources(struct run *run, struct hb_error *err)
{
	char path[PATH_MAX], shown[QUOTE_SHOWN];

	for (size_t i = 0; i < run->n_resources; i++) {
		struct view_resource *resource = &run->resources[i];

		if (resource->role == VIEW_CACHE)
			continue;
		if (!resource->tree) {
			hb_fix(err, "holdback run -s OTHER --allow-degraded");
			return hb_fail(
				err, -HB_E_UNSUPPORTED,
				"the session has no copy of '%s', and there are no user namespaces",
				quote_shown(resource->source, shown,
					    sizeof(shown)));
		}
		resource->inside = resource->tree;
	}
	if (view_inside(&run->request, run->request.cwd, path) < 0)
		return hb_fail(err, -HB_E_USAGE,
			       "the working directory's name is too long");
	run->request.cwd_name = NULL;
	return plan_keep_text(&run->plan, path, &run->request.cwd, err);
}

int bare_prepare(struct run *run, struct hb_session *s, struct hb_error *err)
{
	auto_fd int home = publish_home(run, s, err);
	int r;

	if (home < 0)
		return home;
	r = make_tmp(run, s, err);
	/* By the names that they have until they are moved. */
	if (r >= 0 && run->host.home)
		fill_home(run, home);
	if (r >= 0)
		r = move_resources(run, err);
	if (r < 0)
		return r;
	run->host.home = run->host.home_dir;
	run->host.home_name = NULL;
	return 0;
}

void bare_settle(struct hb_session *s)
{
	(void)tree_remove(s->dir, TMP, NULL);
}
