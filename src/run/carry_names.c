/* SPDX-License-Identifier: Apache-2.0 */
#include "run/carry_names.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"
#include "net/rule.h"
#include "plan/keys.h"
#include "plan/settings.h"
#include "run/publish_names.h"
#include "session/open.h"
#include "session/publish/carry_fill.h"
#include "session/publish/carry_note.h"
#include "session/publish/carry_place.h"
#include "session/publish/publish.h"
#include "session/session.h"
#include "sys/file.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What makes a run able to do more, beside its own directories. */
static const enum setting_key widening[] = { KEY_RO,  KEY_SHOW,	  KEY_RW,
					     KEY_COW, KEY_EXPORT, KEY_SOCKET };

static void add_word(struct buf *out, const char *key, const char *value)
{
	/* A line each; what has a line's end in it fits no other. */
	(void)buf_add_fmt(out, "%s %s\n", key,
			  strchr(value, '\n') ? "?" : value);
}

static int add_lists(const struct run *run, struct buf *out)
{
	const struct settings *s = &run->settings;
	char path[PATH_MAX];

	for (size_t i = 0; i < s->n_items; i++) {
		const struct setting_item *item = &s->items[i];
		bool counts = false;

		for (size_t k = 0; k < sizeof(widening) / sizeof(widening[0]);
		     k++)
			counts |= item->key == widening[k];
		if (!counts || item->origin.source == SETTING_BUILT_IN)
			continue;
		if (entries_path(run, item, item->value, path, NULL) >= 0)
			add_word(out, setting_name(item->key), path);
	}
	return out->error;
}

/* Rules of the network that are not the profile's own. */
static const enum setting_key net_rules[] = { KEY_ALLOW, KEY_DENY,
					      KEY_HOST_PORT };

/* Longer lists are named by their hash, and fit the same list alone. */
#define NET_RULES_TEXT 1024
#define NET_RULES_ALL  ((size_t)NET_RULES_MAX * (NET_RULE_MAX + 16))

static void add_net_rules(const struct settings *s, enum setting_key key,
			  struct buf *out)
{
	auto_buf struct buf all = BUF_INIT(NET_RULES_ALL);
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].key == key &&
		    s->items[i].origin.source != SETTING_BUILT_IN)
			add_word(&all, setting_name(key), s->items[i].value);
	if (all.error < 0)
		(void)buf_fail(out, all.error);
	if (all.len <= NET_RULES_TEXT) {
		(void)buf_add_str(out, buf_str(&all));
		return;
	}
	sha256_of(buf_str(&all), all.len, digest);
	sha256_hex(digest, hex);
	add_word(out, setting_name(key), hex);
}

static void add_network(const struct settings *s, struct buf *out)
{
	enum net_mode mode = settings_net(s);

	if (mode == NET_NONE)
		return;
	add_word(out, setting_name(KEY_NET), key_nets[mode]);
	if (mode == NET_HOST)
		return;
	if (s->net_is_loose)
		add_word(out, setting_name(KEY_NET_LOOSE), "yes");
	for (size_t k = 0; k < sizeof(net_rules) / sizeof(net_rules[0]); k++)
		add_net_rules(s, net_rules[k], out);
}

static int find_policy(const struct run *run, struct carry_note *note,
		       struct hb_error *err)
{
	const struct settings *s = &run->settings;
	auto_buf struct buf out = BUF_INIT(sizeof(note->policy) - 1);

	add_network(s, &out);
	if (settings_shows_host(s))
		add_word(&out, "view", s->view);
	if (strcmp(settings_tty(s), "real") == 0)
		add_word(&out, "tty", "real");
	if (s->allow_nested)
		add_word(&out, "allow-nested", "yes");
	if (s->is_direct)
		add_word(&out, "direct", "yes");
	if (run->is_bare)
		add_word(&out, "allow-degraded", "yes");
	if (add_lists(run, &out) < 0)
		return hb_fail(err, out.error,
			       "too many directories, or rules of the network");
	memcpy(note->policy, buf_str(&out), out.len + 1);
	return 0;
}

static int add_rule(const struct run *run, const struct setting_item *item,
		    struct carry_note *note, struct hb_error *err)
{
	static const struct {
		enum setting_key key;
		enum state_class class;
	} classes[] = {
		{ KEY_DATA, STATE_DATA },
		{ KEY_LOGIN, STATE_LOGIN },
		{ KEY_PUBLISH, STATE_LOGIN },
		{ KEY_RUNS, STATE_RUNS },
	};
	struct publish_item split = { 0 };
	char path[PATH_MAX], source[PATH_MAX];
	int r;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		/* A real directory has nothing that could be carried. */
		if (item->key != classes[i].key ||
		    (item->key == KEY_DATA && entries_are_shared(item)))
			continue;
		publish_split(item->value, &split);
		r = entries_path(run, item, split.path, path, err);
		if (r >= 0) {
			entries_source(run, path, source);
			r = carry_note_rule(note, classes[i].class, source,
					    split.keys);
		}
		if (r >= 0)
			note->rules[note->n_rules - 1].is_hidden =
				item->key == KEY_DATA;
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

/* Whose state it is: the record has the profile's name. */
static void find_agent(const struct hb_session *s, struct carry_note *note)
{
	const char *profile = record_profile(&s->record);

	if (profile[0])
		(void)snprintf(note->agent, sizeof(note->agent), "%s", profile);
}

/* A conversation that is real is gone on with anywhere. */
static void find_resume(const struct run *run, struct carry_note *note)
{
	const struct settings *s = &run->settings;
	bool is_carried = false;

	for (size_t i = 0; i < s->n_items; i++) {
		if (s->items[i].key != KEY_DATA)
			continue;
		if (entries_are_shared(&s->items[i]))
			return;
		is_carried = true;
	}
	if (s->go_on && is_carried)
		(void)snprintf(note->resume, sizeof(note->resume),
			       "holdback %s %s", note->agent, s->go_on);
}

static bool has_state(const struct run *run, const struct hb_session *s)
{
	for (size_t i = 0; i < s->record.n_resources; i++)
		if (carry_is_state(s, i))
			return true;
	for (size_t i = 0; i < run->settings.n_items; i++)
		if (publish_is_login(run->settings.items[i].key))
			return true;
	return false;
}

/* With --direct the session has the agent's directories alone. */
static int find_project(const struct run *run, const struct hb_session *s,
			struct carry_note *note, struct hb_error *err)
{
	auto_fd int dir = -1;

	(void)snprintf(note->where, sizeof(note->where), "%s",
		       run->settings.is_direct ? run->workspace
					       : s->record.resources[0].source);
	if (!run->settings.is_direct)
		return shelf_find_project(s->resources[0].base, &note->project,
					  err);
	dir = sys_openat(AT_FDCWD, run->workspace, O_RDONLY | O_DIRECTORY, 0);
	return dir < 0 ? hb_fail(err, dir, "cannot open the project")
		       : shelf_find_project(dir, &note->project, err);
}

int carry_prepare(struct run *run, struct hb_session *s, struct hb_error *err)
{
	auto_carry_note struct carry_note note = { 0 };
	int r;

	find_agent(s, &note);
	/* What a check command does is not kept. */
	if (s->record.checks[0] || !has_state(run, s) ||
	    !shelf_is_agent(note.agent))
		return 0;
	(void)snprintf(note.home, sizeof(note.home), "%s",
		       run->host.home ? run->host.home : "");
	note.is_quiet = run->settings.is_quiet;
	find_resume(run, &note);
	r = find_policy(run, &note, err);
	for (size_t i = 0; r >= 0 && i < run->settings.n_items; i++)
		r = add_rule(run, &run->settings.items[i], &note, err);
	if (r >= 0)
		r = session_open_resources(s, err);
	if (r >= 0)
		r = find_project(run, s, &note, err);
	if (r >= 0)
		r = publish_note_pending(s, err);
	return r < 0 ? r : carry_fill(s, &note, err);
}

int carry_prepare_home(const struct run *run, struct hb_session *s,
		       struct hb_error *err)
{
	auto_fd int home = run->host.home_dir ? publish_make_home(s, err) : -1;

	if (!run->host.home_dir)
		return 0;
	return home < 0 ? home : carry_fill_home(s, home, err);
}
