/* SPDX-License-Identifier: Apache-2.0 */
#include "view/home/rcfiles.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/path.h"
#include "plan/filter/rc.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "view/entry_paths.h"
#include "view/home/authorities.h"
#include "view/home/bounds.h"
#include "view/home/filtered.h"
#include "view/prepare.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define FILE_SIZE ((size_t)256 << 10)

static const struct {
	const char *name;
	enum rc_kind kind;
} files[RC_FILES] = {
	{ ".npmrc", RC_NPM },
	{ ".config/pip/pip.conf", RC_PIP },
	{ ".pip/pip.conf", RC_PIP },
	{ ".cargo/config.toml", RC_CARGO },
	{ ".cargo/config", RC_CARGO },
	{ ".config/uv/uv.toml", RC_UV },
	{ ".config/mise/config.toml", RC_MISE },
};

struct reading {
	struct run *run;
	struct hb_error *err;
};

static bool is_secret(void *ctx, const char *name, const char *value, size_t n)
{
	struct reading *reading = ctx;

	return filtered_is_secret(&reading->run->filtered, name, value, n);
}

static int show_authorities(void *ctx, const char *path)
{
	struct reading *reading = ctx;
	char found[PATH_MAX];

	return filtered_path(reading->run, NULL, path, found)
		       ? authority_show(reading->run, found, reading->err)
		       : 0;
}

/* Our own lines hide the file itself, and not what is shown of it. */
static bool is_hidden_by_user(const struct run *run, const char *path)
{
	const struct settings *s = &run->settings;
	char hidden[PATH_MAX];

	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].key == KEY_HIDE &&
		    s->items[i].origin.source != SETTING_BUILT_IN &&
		    entries_path(run, &s->items[i], s->items[i].value, hidden,
				 NULL) >= 0 &&
		    view_lies_in(path, hidden))
			return true;
	return false;
}

static int show_file(struct reading *reading, size_t i, const char *path)
{
	auto_buf struct buf text = BUF_INIT(FILE_SIZE);
	auto_buf struct buf out = BUF_INIT(2 * FILE_SIZE);
	struct run *run = reading->run;
	struct rc rc = { .kind = files[i].kind,
			 .is_secret = is_secret,
			 .show = show_authorities,
			 .ctx = reading };
	char *shown;
	int r = filtered_read(path, &text);

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = rc_filter(&rc, buf_str(&text), text.len, &out);
	if (r == -ENOMEM)
		return hb_fail(reading->err, r, "cannot read '%s'", path);
	run->rc_lacks[i].name = files[i].name;
	run->rc_lacks[i].is_whole = r < 0;
	run->rc_lacks[i].n_keys = rc.n_left_out;
	if (r < 0)
		return 0;
	r = buf_take(&out, &shown, NULL);
	if (r >= 0)
		r = entries_more(run, 1, reading->err);
	return r < 0 ? hb_fail(reading->err, r, "cannot make the view")
		     : filtered_show(run, path, shown, reading->err);
}

int rcfiles_find(struct run *run, struct hb_error *err)
{
	struct reading reading = { .run = run, .err = err };
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r >= 0 && run->host.home && i < RC_FILES; i++)
		if (path_join(run->host.home, files[i].name, path,
			      sizeof(path)) >= 0 &&
		    entries_may_exist(run, path) &&
		    !bounds_is_exposed(run, path) &&
		    !is_hidden_by_user(run, path))
			r = show_file(&reading, i, path);
	return r;
}
