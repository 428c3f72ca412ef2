/* SPDX-License-Identifier: Apache-2.0 */
#include "run/order.h"

#include "audit/audit.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "base/sha256.h"
#include "plan/settings.h"
#include "plan/view_place.h"
#include "view/prepare.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* More of a command is not recorded. */
#define WORDS_MAX ((size_t)4 << 10)

/* All settings of a run: a limit for the hash, and one for the text. */
#define SETTINGS_MAX ((size_t)1 << 20)
#define SHOWN_MAX    4096

/* The value of an option may be a secret: the log has its place alone. */
static int add_word(const char *word, bool is_value, struct buf *out)
{
	const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;
	size_t n = equals ? (size_t)(equals - word) + 1 : strlen(word);
	int r = 0;

	if (word[0] != '-' && is_value)
		return buf_add_str(out, "...");
	r = strchr(word, ' ') ? quote_name_always(word, n, out)
			      : quote_name(word, n, out);
	return r != 0 || !equals ? r : buf_add_str(out, "...");
}

void order_tell_words(const struct hb_listener *listener, const char *session,
		      const char *source, char *const *words)
{
	auto_buf struct buf text = BUF_INIT(WORDS_MAX);

	for (size_t i = 0; words && words[i]; i++) {
		if (i > 0 && buf_add_char(&text, ' ') < 0)
			break;
		if (add_word(words[i], i > 0 && words[i - 1][0] == '-', &text))
			break;
	}
	(void)report_send(listener,
			  &(struct hb_report){ .kind = HB_REPORT_ORDERED,
					       .session = session,
					       .source = source,
					       .text = words ? buf_str(&text)
							     : "(held open)" });
}

static bool is_usual(const struct setting_origin *origin)
{
	return origin->source == SETTING_DEFAULT ||
	       origin->source == SETTING_BUILT_IN;
}

static void add_pair(const char *key, const char *value, size_t n,
		     struct buf *out)
{
	(void)buf_add_fmt(out, "%s%s=", out->len > 0 ? " " : "", key);
	(void)quote_name(value, n, out);
}

/* Of a variable the name: its value may be a secret, also to a hash. */
static size_t shown_size(int key, const char *value)
{
	const char *equals = key == KEY_ENV ? strchr(value, '=') : NULL;

	return equals ? (size_t)(equals + 1 - value) : strlen(value);
}

static void add_settings(const struct settings *s, struct buf *out)
{
	char text[32];

	for (int key = 0; key < SETTING_KEYS; key++) {
		const char *value;

		if (setting_is_list(key) || is_usual(&s->origins[key]))
			continue;
		value = settings_text(s, key, text, sizeof(text));
		value = value ? value : "";
		add_pair(setting_name(key), value, strlen(value), out);
	}
	for (size_t i = 0; i < s->n_items; i++) {
		int key = s->items[i].key;
		const char *value = s->items[i].value;

		if (!is_usual(&s->items[i].origin))
			add_pair(setting_name(key), value,
				 shown_size(key, value), out);
	}
}

/* The hash is of all that is not built in; a version has one `base`. */
static void tell_policy(const struct run *run, const char *session)
{
	const struct settings *s = &run->settings;
	auto_buf struct buf all = BUF_INIT(SETTINGS_MAX);
	const char *name = s->profile ? s->profile : run->program;
	char text[SHOWN_MAX], hex[SHA256_HEX_SIZE];
	uint8_t digest[SHA256_SIZE];

	(void)buf_add_fmt(&all, "profile=%s net=%s",
			  name ? name : PROFILE_GENERIC,
			  key_nets[settings_net(s)]);
	add_settings(s, &all);
	if (all.error)
		return;
	sha256_of(all.data, all.len, digest);
	sha256_hex(digest, hex);
	(void)snprintf(text, sizeof(text), "%s sha256:%s",
		       all.len < sizeof(text) - sizeof(hex) - 8 ? all.data
								: "(long)",
		       hex);
	(void)report_send(run->listener,
			  &(struct hb_report){ .kind = HB_REPORT_POLICY,
					       .session = session,
					       .text = text });
}

void order_tell(const struct run *run, const char *session)
{
	struct audit *audit = audit_of(run->listener);
	const char *source =
		run->n_resources > 0 ? run->resources[0].source : NULL;

	if (!audit)
		return;
	if (!session)
		audit_about(audit, NULL, NULL, source);
	order_tell_words(run->listener, session, source,
			 run->options->keeps_open ? NULL : run->options->argv);
	tell_policy(run, session);
}

/* A path as the user has it, absolute. */
static int find_file(const struct run *run, char ret[PATH_MAX],
		     struct hb_error *err)
{
	const char *given = run->settings.log;
	char joined[PATH_MAX];
	int r;

	if (path_is_absolute(given))
		r = path_normalise(given, PATH_DOTS_FOLD, ret, PATH_MAX);
	else if (given[0] == '~' && given[1] == '/' && run->host.home)
		r = path_join(run->host.home, given + 2, ret, PATH_MAX);
	else {
		r = path_join(run->cwd, given, joined, sizeof(joined));
		if (r >= 0)
			r = path_normalise(joined, PATH_DOTS_FOLD, ret,
					   PATH_MAX);
	}
	return r < 0 ? hb_fail(err, r, "cannot use the log file '%s'",
			       quoted(given))
		     : 0;
}

/* Whether the command has it, with changes that are held back or real. */
static const char *find_writable(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_resources; i++)
		if (view_lies_in(path, run->resources[i].source))
			return run->resources[i].source;
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_RW &&
		    view_lies_in(path, run->entries[i].path))
			return run->entries[i].path;
	return NULL;
}

int order_open_log(const struct run *run, struct hb_error *err)
{
	struct audit *audit = audit_of(run->listener);
	char path[PATH_MAX];
	const char *place;
	int r;

	if (!run->settings.log || !audit)
		return 0;
	r = find_file(run, path, err);
	if (r < 0)
		return r;
	place = find_writable(run, path);
	if (!place)
		return audit_copy_to(audit, path, err);
	hb_fix(err, "a file outside of '%s'", quoted(place));
	return hb_fail(err, -HB_E_USAGE,
		       "the command could write the log file '%s'",
		       quoted(path));
}
