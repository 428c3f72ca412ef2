/* SPDX-License-Identifier: Apache-2.0 */
#include "run/places.h"

#include "agent/project_name.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
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

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* Who owns a directory of gemini: see project_name.h. */
static int make_marker(const struct run *run, int dir, const char *name)
{
	auto_fd int fd = -1;
	int r;

	fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
			0600);
	if (fd == -EEXIST)
		return 0;
	r = fd < 0 ? fd : sys_write_all(fd, run->cwd, strlen(run->cwd));
	/* Half a path would be another owner. */
	if (r < 0 && fd >= 0)
		(void)sys_unlinkat(dir, name, 0);
	return r;
}

/* Makes `path`, which is below the home directory, and the way there. */
static int make_path(const struct run *run, const char *path,
		     const char *marker, struct hb_error *err)
{
	const char *home = run->host.home, *rest = path + strlen(home);
	auto_fd int dir = sys_openat(AT_FDCWD, home, DIR_FLAGS, 0);
	int r = dir;

	while (r >= 0 && *(rest += strspn(rest, "/"))) {
		size_t n = strcspn(rest, "/");
		char name[NAME_MAX + 1];
		int next;

		if (n > NAME_MAX)
			return hb_fail_at(err, -ENAMETOOLONG, path,
					  "cannot make");
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, rest);
		r = sys_mkdirat(dir, name, 0700);
		if (r < 0 && r != -EEXIST)
			break;
		next = sys_openat(dir, name, DIR_FLAGS, 0);
		rest += n;
		/* The directory of the project is the last but one. */
		if (next >= 0 && marker && *rest && !strchr(rest + 1, '/'))
			r = make_marker(run, next, marker);
		fd_closep(&dir);
		dir = next;
		r = next < 0 ? next : (r == -EEXIST ? 0 : r);
	}
	return r < 0 ? hb_fail_at(err, r, path, "cannot make") : 0;
}

static bool lies_in_state(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_resources; i++)
		if (run->resources[i].role == VIEW_STATE &&
		    view_lies_in(path, run->resources[i].source))
			return true;
	return false;
}

void places_leave_data(struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if (e->class != VIEW_RW || !e->item ||
		    e->item->key != KEY_DATA || !lies_in_state(run, e->source))
			run->entries[n++] = *e;
	}
	run->n_entries = run->request.n_entries = n;
}

static bool is_missing(const char *path)
{
	return sys_faccessat(AT_FDCWD, path, F_OK) == -ENOENT;
}

int places_make_state(const struct run *run, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < run->n_resources; i++) {
		const struct view_resource *resource = &run->resources[i];

		if (resource->role == VIEW_STATE &&
		    entries_can_make(run, resource->item, resource->source))
			r = make_path(run, resource->source, NULL, err);
	}
	return r;
}

/* Whether a path lies in a directory that is real, and is not that. */
static bool lies_in_data(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if (e->class == VIEW_RW && e->item &&
		    e->item->key == KEY_DATA && strcmp(path, e->path) != 0 &&
		    view_lies_in(path, e->path))
			return true;
	}
	return false;
}

/* The path of a row `runs` that is a directory in a real one. */
static bool find_covered(const struct run *run, const struct setting_item *item,
			 char *ret)
{
	return item->key == KEY_RUNS && !strchr(item->value, '*') &&
	       entries_path(run, item, item->value, ret, NULL) >= 0 &&
	       lies_in_data(run, ret);
}

int places_make_data(const struct run *run, struct hb_error *err)
{
	char path[PATH_MAX], source[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if (e->class == VIEW_RW && e->item &&
		    e->item->key == KEY_DATA && is_missing(e->source) &&
		    entries_can_make(run, e->item, e->source))
			r = make_path(run, e->source,
				      project_marker(e->item->value), err);
	}
	for (size_t i = 0; r >= 0 && i < run->settings.n_items; i++) {
		if (!find_covered(run, &run->settings.items[i], path))
			continue;
		entries_source(run, path, source);
		if (is_missing(source))
			r = make_path(run, source, NULL, err);
	}
	return r;
}

static int cover(struct run *run, const struct setting_item *item,
		 const char *path, struct hb_error *err)
{
	for (size_t i = 0; i < run->n_resources; i++) {
		const struct view_resource *resource = &run->resources[i];
		const char *top =
			resource->tree ? resource->tree : resource->upper;
		struct view_entry *e;
		char source[PATH_MAX];
		int r;

		if (resource->role != VIEW_STATE || !top ||
		    !view_lies_in(path, resource->inside))
			continue;
		if (path_join(top, path + strlen(resource->inside) + 1, source,
			      sizeof(source)) < 0)
			return hb_fail_at(err, -ENAMETOOLONG, path,
					  "cannot show");
		e = &run->entries[run->n_entries];
		*e = (struct view_entry){ .class = VIEW_RW,
					  .found = VIEW_DIR,
					  .item = item };
		r = plan_keep_text(&run->plan, path, &e->path, err);
		if (r >= 0)
			r = plan_keep_text(&run->plan, source, &e->source, err);
		if (r >= 0)
			run->n_entries++;
		return r;
	}
	/* A real directory, in which the agent would obey a file. */
	hb_fix(err, "move '%.300s' away: it is no directory of your own", path);
	return hb_fail(err, -HB_E_STATE, "'%.300s' would be real", path);
}

int places_cover(struct run *run, struct hb_error *err)
{
	const struct settings *s = &run->settings;
	struct view_entry *entries;
	char path[PATH_MAX];
	int r = 0;

	entries = reallocarray(run->entries, run->n_entries + s->n_items + 1,
			       sizeof(*entries));
	if (!entries)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	run->entries = entries;
	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (find_covered(run, &s->items[i], path))
			r = cover(run, &s->items[i], path, err);
	run->request.entries = run->entries;
	run->request.n_entries = run->n_entries;
	return r;
}
