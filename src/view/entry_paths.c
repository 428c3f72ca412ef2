/* SPDX-License-Identifier: Apache-2.0 */
#include "view/entry_paths.h"

#include "agent/project_name.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/look.h"
#include "plan/settings.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Start-up is measured in microseconds.  The host is asked one question about
 * each row of a profile where that is enough, and none for a secret that
 * nothing shows.
 */

int entries_fail(const struct setting_item *item, struct hb_error *err,
		 const char *fmt, ...)
{
	char where[QUOTE_SHOWN + 32], words[HB_TEXT_SIZE];
	bool is_option = item->origin.source == SETTING_OPTION;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	(void)setting_origin_words(&item->origin, item->key, where,
				   sizeof(where));
	if (is_option)
		return hb_fail(err, -HB_E_USAGE, "%s: %s", where, words);
	return hb_fail(err, -HB_E_CONFIG, "%s: key '%s': %s", where,
		       setting_name(item->key), words);
}

static bool is_home_path(const char *value)
{
	return value[0] == '~' && (value[1] == '/' || value[1] == '\0');
}

/* An agent has its state in the home directory, and nowhere else. */
static bool is_of_agent(const struct setting_item *item)
{
	return item->origin.source != SETTING_OPTION &&
	       item->origin.source != SETTING_ENVIRONMENT &&
	       (item->key == KEY_STATE || item->key == KEY_LOGIN ||
		item->key == KEY_RUNS || item->key == KEY_DATA);
}

static int check_place(const struct run *run, const struct setting_item *item,
		       const char *path, struct hb_error *err)
{
	char shown[QUOTE_SHOWN];

	if (!is_of_agent(item) ||
	    (run->host.home && view_lies_in(path, run->host.home) &&
	     strcmp(path, run->host.home) != 0))
		return 0;
	hb_fix(err, "name a path below '~/', or leave the line out");
	return entries_fail(item, err, "'%s' is not in the home directory",
			    quote_shown(item->value, shown, sizeof(shown)));
}

int entries_path(const struct run *run, const struct setting_item *item,
		 const char *value, char *ret, struct hb_error *err)
{
	enum setting_source source = item->origin.source;
	char joined[PATH_MAX], shown[QUOTE_SHOWN];
	const char *from = NULL, *rest = value;
	int r;

	if (source != SETTING_OPTION && is_home_path(value)) {
		from = run->host.home;
		rest = value + 1;
		if (!from)
			return -ENOENT;
	} else if (path_is_absolute(value)) {
		from = "/";
	} else if (source == SETTING_OPTION || source == SETTING_ENVIRONMENT) {
		from = run->cwd;
	} else if (source == SETTING_WORKSPACE || item->key == KEY_EXPORT) {
		from = run->workspace;
	}
	if (!from || !value[0])
		return entries_fail(item, err,
				    "'%s' is neither absolute nor below '~/'",
				    quote_shown(value, shown, sizeof(shown)));
	r = path_join(from, rest, joined, sizeof(joined));
	if (r >= 0)
		r = path_normalise(joined, PATH_DOTS_FOLD, ret, PATH_MAX);
	if (r < 0)
		return entries_fail(item, err, "'%s' is too long",
				    quote_shown(value, shown, sizeof(shown)));
	r = check_place(run, item, ret, err);
	if (r < 0 || (item->key != KEY_DATA && item->key != KEY_RUNS) ||
	    !project_is_named(value))
		return r;
	/* Elsewhere the agent would see, and name, another directory. */
	if (run->settings.chdir || run->settings.at || run->chosen)
		return -ENOENT;
	memcpy(joined, ret, strlen(ret) + 1);
	return project_expand(joined, run->cwd, run->workspace, ret);
}

void entries_split(const char *value, char *ret_dir, const char **ret_inside)
{
	const char *colon = NULL;

	for (const char *p = strstr(value, ":/"); p; p = strstr(p + 1, ":/"))
		colon = p;
	(void)snprintf(ret_dir, PATH_MAX, "%.*s",
		       colon ? (int)(colon - value) : (int)strlen(value),
		       value);
	*ret_inside = colon ? colon + 1 : NULL;
}

bool entries_are_shared(const struct setting_item *item)
{
	return item->origin.source != SETTING_BUILT_IN ||
	       project_is_named(item->value);
}

void entries_source(const struct run *run, const char *path, char *ret)
{
	for (size_t i = 0; i < run->n_resources; i++) {
		const struct view_resource *resource = &run->resources[i];

		if (resource->role == VIEW_STATE &&
		    view_lies_in(path, resource->inside) &&
		    path_join(resource->source, path + strlen(resource->inside),
			      ret, PATH_MAX) >= 0)
			return;
	}
	(void)snprintf(ret, PATH_MAX, "%s", path);
}

bool entries_can_make(const struct run *run, const struct setting_item *item,
		      const char *path)
{
	char above[PATH_MAX], real[PATH_MAX];
	struct stat st;
	char *slash;

	if (!item || item->origin.source != SETTING_BUILT_IN ||
	    run->settings.is_ephemeral || !run->host.home ||
	    !view_lies_in(path, run->host.home))
		return false;
	(void)snprintf(above, sizeof(above), "%s", path);
	/* A link that leads nowhere is something, and not ours. */
	while (sys_fstatat(AT_FDCWD, above, &st, AT_SYMLINK_NOFOLLOW) ==
	       -ENOENT) {
		slash = strrchr(above, '/');
		if (!slash || slash == above)
			return false;
		*slash = '\0';
	}
	return strlen(above) < strlen(path) &&
	       view_lies_in(above, run->host.home) &&
	       sys_faccessat(AT_FDCWD, above, W_OK | X_OK) >= 0 &&
	       look_real(above, real) >= 0 && strcmp(real, above) == 0;
}

int entries_more(struct run *run, size_t n, struct hb_error *err)
{
	struct view_entry *larger = reallocarray(
		run->entries, run->room_entries + n, sizeof(*larger));

	if (!larger)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	run->entries = larger;
	run->room_entries += n;
	return 0;
}

bool entries_may_exist(const struct run *run, const char *path)
{
	for (size_t i = 0; run->host.home && i < run->n_home_names; i++) {
		const struct run_names *in = &run->home_names[i];

		if (!roster_may_have(&in->names, in->dir, path))
			return false;
	}
	return true;
}

static int keep_hidden(struct run *run, const char *path)
{
	if (grow(run->hidden, run->n_hidden) < 0)
		return -ENOMEM;
	run->hidden[run->n_hidden] = strdup(path);
	return run->hidden[run->n_hidden] ? (int)run->n_hidden++ : -ENOMEM;
}

/* By the name in a setting, and by where that leads. */
static int find_hidden(struct run *run)
{
	const struct settings *s = &run->settings;
	char path[PATH_MAX], real[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n_items; i++) {
		const struct setting_item *item = &s->items[i];

		if (item->key != KEY_HIDE ||
		    entries_path(run, item, item->value, path, NULL) < 0)
			continue;
		r = keep_hidden(run, path);
		if (r >= 0 && entries_may_exist(run, path) &&
		    look_real(path, real) >= 0 && strcmp(real, path) != 0)
			r = keep_hidden(run, real);
	}
	return r;
}

bool entries_would_hide(struct run *run, const char *dir)
{
	if (!run->knows_hidden && find_hidden(run) < 0)
		return true;
	run->knows_hidden = true;
	for (size_t i = 0; i < run->n_hidden; i++)
		if (view_lies_in(run->hidden[i], dir) ||
		    view_lies_in(dir, run->hidden[i]))
			return true;
	return false;
}
