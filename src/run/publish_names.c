/* SPDX-License-Identifier: Apache-2.0 */
#include "run/publish_names.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "session/publish/publish.h"
#include "session/session.h"
#include "store/store.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool publish_is_login(enum setting_key key)
{
	return key == KEY_LOGIN || key == KEY_PUBLISH;
}

/* FILE:KEY,KEY: what follows the last colon, if no slash does. */
void publish_split(const char *value, struct publish_item *item)
{
	const char *colon = strrchr(value, ':');

	if (colon && strchr(colon, '/'))
		colon = NULL;
	(void)snprintf(item->path, sizeof(item->path), "%.*s",
		       colon ? (int)(colon - value) : (int)strlen(value),
		       value);
	(void)snprintf(item->keys, sizeof(item->keys), "%s",
		       colon ? colon + 1 : "");
}

/* Where an item lies, or that it cannot be one. */
static bool find_place(const struct run *run, struct publish_item *item)
{
	struct path_part rest;

	for (size_t i = 0; i < run->n_kept; i++) {
		const struct view_resource *resource =
			&run->resources[run->n_direct + i];

		if (resource->role == VIEW_STATE &&
		    view_lies_in(item->path, resource->source)) {
			item->resource = (int64_t)run->numbers[i];
			return true;
		}
	}
	rest = path_dirname(item->path);
	item->resource = -1;
	return run->host.home && strlen(run->host.home) == rest.n &&
	       memcmp(run->host.home, rest.s, rest.n) == 0;
}

int publish_home(struct run *run, struct hb_session *s, struct hb_error *err)
{
	char path[PATH_MAX];
	auto_fd int fd = publish_make_home(s, err);
	int r;

	if (fd < 0)
		return fd;
	r = snprintf(path, sizeof(path), "%s/sessions/%s/" PUBLISH_HOME,
		     s->store->path, s->record.name);
	if (r < 0 || r >= (int)sizeof(path))
		return hb_fail(err, -ENAMETOOLONG,
			       "cannot make a home directory");
	r = plan_keep_text(&run->plan, path, &run->host.home_dir, err);
	return r < 0 ? r : take_fd(&fd);
}

/* Every file of the settings that can be one; what cannot is left out. */
static int note_items(struct run *run, struct hb_session *s,
		      struct publish_list *list, struct hb_error *err)
{
	const struct settings *settings = &run->settings;
	auto_fd int home = -1;
	int r;

	for (size_t i = 0; i < settings->n_items; i++) {
		struct publish_item item;
		char path[PATH_MAX];

		if (!publish_is_login(settings->items[i].key))
			continue;
		item = (struct publish_item){ 0 };
		publish_split(settings->items[i].value, &item);
		r = entries_path(run, &settings->items[i], item.path, path,
				 err);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		entries_source(run, path, item.path);
		if (!find_place(run, &item))
			continue;
		if (item.resource < 0 && home < 0) {
			home = publish_home(run, s, err);
			if (home < 0)
				return home;
		}
		publish_note(list, &item, home);
	}
	return 0;
}

int publish_prepare(struct run *run, struct hb_session *s, struct hb_error *err)
{
	struct publish_list list;
	int r;

	publish_begin(&list);
	r = note_items(run, s, &list, err);
	if (r >= 0)
		r = publish_write(&list, s, err);
	publish_done(&list);
	return r;
}
