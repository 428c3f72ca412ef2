/* SPDX-License-Identifier: Apache-2.0 */
#include "view/policy.h"

#include "base/buf.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "plan/settings.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define LINE_MAX_BYTES ((size_t)64 << 10)

static int add(struct session_record *record, const char *key,
	       const char *value, struct hb_error *err)
{
	auto_buf struct buf line = BUF_INIT(LINE_MAX_BYTES);

	(void)buf_add_str(&line, key);
	(void)buf_add_char(&line, '=');
	(void)buf_add_str(&line, value);
	if (line.error)
		return hb_fail(err, line.error, "cannot keep the settings");
	return record_add_policy(record, buf_str(&line), err);
}

static bool is_built_in(const struct setting_origin *origin)
{
	return origin->source == SETTING_BUILT_IN ||
	       origin->source == SETTING_DEFAULT;
}

static int add_item(const struct run *run, const struct setting_item *item,
		    struct session_record *record, struct hb_error *err)
{
	char path[PATH_MAX];
	int r;

	if (is_built_in(&item->origin))
		return 0;
	if (!setting_is_path(item->key))
		return add(record, setting_name(item->key), item->value, err);
	r = entries_path(run, item, item->value, path, err);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : add(record, setting_name(item->key), path, err);
}

static int add_list(const struct run *run, enum setting_key key,
		    struct session_record *record, struct hb_error *err)
{
	const struct settings *s = &run->settings;
	bool has_built_in = false;
	int r = 0;

	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].key == key && is_built_in(&s->items[i].origin))
			has_built_in = true;
	/* The user emptied it, or the profile has none: both are this. */
	if (!has_built_in)
		r = add(record, setting_name(key), "", err);
	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (s->items[i].key == key)
			r = add_item(run, &s->items[i], record, err);
	return r;
}

/* The profile that was used is the one of this name, or else the general one.
 */
static const char *profile_of(const struct run *run)
{
	const char *name = run->settings.profile;

	if (!name)
		name = run->program;
	return name ? name : PROFILE_GENERIC;
}

/*
 * The network that is in force: what was said in two places at first is said in
 * one here, and `net` alone would win.
 */
static int add_net(const struct settings *s, struct session_record *record,
		   struct hb_error *err)
{
	const char *word = key_nets[settings_net(s)];

	if (is_built_in(&s->origins[KEY_NET]) && strcmp(word, s->net) == 0)
		return 0;
	return add(record, setting_name(KEY_NET), word, err);
}

int policy_record(const struct run *run, struct session_record *record,
		  struct hb_error *err)
{
	const struct settings *s = &run->settings;
	int r;

	r = add(record, setting_name(KEY_PROFILE), profile_of(run), err);
	for (int key = 0; r >= 0 && key < SETTING_KEYS; key++) {
		char text[32];

		if (!setting_lasts(key))
			continue;
		if (key == KEY_NET)
			r = add_net(s, record, err);
		else if (setting_is_list(key))
			r = add_list(run, key, record, err);
		else if (!is_built_in(&s->origins[key]))
			r = add(record, setting_name(key),
				settings_text(s, key, text, sizeof(text)), err);
	}
	return r;
}

static int set_line(const struct session_record *record, const char *line,
		    struct settings *s, struct hb_error *err)
{
	const struct setting_origin origin = { SETTING_SESSION, record->name,
					       0 };
	const char *equals = strchr(line, '=');
	char key[32];
	size_t n = equals ? (size_t)(equals - line) : 0;
	int r;

	if (!equals || n >= sizeof(key)) {
		hb_fix(err,
		       "restore the file 'session' in its directory, or "
		       "holdback cleanup -y @%s, which discards its changes",
		       record->name);
		return hb_fail(err, -HB_E_CORRUPT,
			       "the session file has a setting without a key");
	}
	memcpy(key, line, n);
	key[n] = '\0';
	if (strcmp(key, setting_name(KEY_PROFILE)) != 0)
		return settings_set(s, key, equals + 1, &origin, err);
	r = settings_profile(s, PROFILE_BASE, err);
	if (r >= 0)
		r = settings_profile(s, equals + 1, err);
	if (r == 0)
		r = settings_profile(s, PROFILE_GENERIC, err);
	return r;
}

int policy_load(const struct session_record *record,
		const struct hb_run_options *options, struct settings *s,
		struct hb_error *err)
{
	const struct setting_origin origin = { .source = SETTING_OPTION };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < record->n_policy; i++)
		r = set_line(record, record->policy[i], s, err);
	for (size_t i = 0; r >= 0 && i < options->n_settings; i++)
		r = settings_set(s, options->settings[i].key,
				 options->settings[i].value, &origin, err);
	return r;
}
