/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/settings.h"

#include "base/env.h"
#include "base/error.h"
#include "base/kv.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/strategy_names.h"
#include "base/suggest.h"
#include "plan/environment/git_token.h"
#include "plan/environment/view_env.h"
#include "plan/network/network_value.h"
#include "plan/plan.h"
#include "plan/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * One table for every source, so that a file can say what an option can.
 *
 *	(a) Nothing that a file in the workspace says makes the view wider: each
 *	    key has a rule, and the rule of a new key is "no".
 *	(b) What cannot be understood is an error, never skipped.
 *
 * tests/unit/t_settings.c holds both.
 */

/* What the kernel can count. */
#define PIDS_MAX   4194304
#define INODES_MAX ((int64_t)1 << 40)

#define VARIABLE_PREFIX "HOLDBACK_"

/*
 * Begin like a key's variable, and are told to another command, or by the box
 * around us.
 */
static const struct {
	const char *name;
	bool is_inside;
} others[] = {
	{ VARIABLE_PREFIX "PAGER=", false },
	{ VIEW_ENV_SESSION "=", true },
	{ VIEW_ENV_PROJECT "=", true },
};

static int add_item(void *values, const struct option *option, const char *arg,
		    struct hb_error *err);

const char *const key_views[] = { "run", "host", NULL };
#define NET_WORD(id, word) [NET_##id] = (word),
const char *const key_nets[] = { NET_ROWS(NET_WORD) NULL };
const char *const key_ttys[] = { "own", "real", NULL };
const char *const key_clipboards[] = { "no", "write", NULL };
#define STRATEGY_WORD(id, name, ...) [STRATEGY_NAME_##id] = (name),
const char *const key_strategies[] = { STRATEGY_NAMES(STRATEGY_WORD) NULL };
#define GIT_WORD(id, word) [GIT_MODE_##id] = (word),
const char *const key_gits[] = { GIT_ROWS(GIT_WORD) NULL };
const char *const key_audits[] = { [AUDIT_CHANGES] = "changes",
				   [AUDIT_CALLS] = "calls",
				   [AUDIT_ALL] = "all",
				   [AUDIT_NONE] = "none",
				   NULL };
const char *const key_yes_no[] = { "yes", "no", NULL };

/* How a kind of key is read into its member. */
#define READ_SET(member_, max_) \
	.kind = OPTION_SET, .offset = offsetof(struct settings, member_)
#define READ_STRING(member_, max_) \
	.kind = OPTION_STRING, .offset = offsetof(struct settings, member_)
#define READ_SIZE(member_, max_) \
	.kind = OPTION_SIZE, .offset = offsetof(struct settings, member_)
#define READ_DECIMAL(member_, max_) \
	.kind = OPTION_DECIMAL, .offset = offsetof(struct settings, member_)
#define READ_DURATION(member_, max_) \
	.kind = OPTION_DURATION, .offset = offsetof(struct settings, member_)
#define READ_INT(member_, max_)                                           \
	.kind = OPTION_INT, .offset = offsetof(struct settings, member_), \
	.max = (max_)
#define READ_LIST(member_, max_) \
	.kind = OPTION_CALL, .arg = OPTION_ARG_REQUIRED, .call = add_item

/* clang-format off */
#define READER(id_, name_, letter_, meta_, offer_, kind_, member_, max_, choices_, rule_, word_, scope_, time_, help_) \
	[KEY_##id_] = { .name = (name_), READ_##kind_(member_, max_), .choices = (choices_) },
#define TIGHTER(id_, name_, letter_, meta_, offer_, kind_, member_, max_, choices_, rule_, word_, scope_, time_, help_) \
	[KEY_##id_] = { RULE_##rule_, (word_) },
#define SCOPE(id_, name_, letter_, meta_, offer_, kind_, member_, max_, choices_, rule_, word_, scope_, time_, help_) \
	[KEY_##id_] = FOR_##scope_,
#define TIME(id_, name_, letter_, meta_, offer_, kind_, member_, max_, choices_, rule_, word_, scope_, time_, help_) \
	[KEY_##id_] = TIME_##time_,
/* clang-format on */
#define TIME_LASTS true
#define TIME_ONCE  false

const struct option settings_table[SETTING_KEYS + 1] = { RUN_KEYS(READER) };

/* What a file in the workspace may say. */
enum rule {
	RULE_NO,   /* nothing */
	RULE_WORD, /* this one value */
	RULE_LESS, /* a smaller number */
	RULE_PATH, /* another path, inside of the workspace */
	RULE_MORE, /* one more of what takes away */
};

static const struct {
	enum rule rule;
	const char *word;
} tighter[SETTING_KEYS] = { RUN_KEYS(TIGHTER) };

/* What is about one run: no file can mean it, or not even a variable. */
static const enum {
	FOR_ANY,
	FOR_NO_PROFILE,
	FOR_ONE_RUN,
	FOR_ONE_CALL,
} meant[SETTING_KEYS] = { RUN_KEYS(SCOPE) };

static const bool lasting[SETTING_KEYS] = { RUN_KEYS(TIME) };

static const char *const source_names[SETTING_SOURCES] = {
	[SETTING_DEFAULT] = "default",
	[SETTING_BUILT_IN] = "built-in",
	[SETTING_SYSTEM] = "system",
	[SETTING_USER] = "user",
	[SETTING_ENVIRONMENT] = "environment",
	[SETTING_OPTION] = "option",
	[SETTING_SESSION] = "session",
	[SETTING_WORKSPACE] = "workspace",
};

void settings_init(struct settings *s)
{
	*s = (struct settings){ .size = SETTING_SIZE,
				.pids = PLAN_PIDS_USUAL,
				.min_free = PLAN_MIN_FREE_USUAL,
				.inodes = PLAN_USUAL,
				.inotify = PLAN_USUAL,
				.view = key_views[0],
				.net = key_nets[NET_NONE],
				.tty = key_ttys[0],
				.clipboard = key_clipboards[0],
				.audit = key_audits[0],
				.rename_directories = key_yes_no[1] };
}

void settings_done(struct settings *s)
{
	for (size_t i = 0; i < s->n_kept; i++)
		free(s->kept[i]);
	free(s->kept);
	free(s->items);
	*s = (struct settings){ 0 };
}

/* What --yolo is short for. */
#define YOLO_SECONDS 30

uint64_t settings_sync(const struct settings *s)
{
	return s->sync > 0 ? s->sync : s->is_yolo ? YOLO_SECONDS : 0;
}

bool settings_keep_log(const struct settings *s)
{
	return strcmp(s->audit, key_audits[AUDIT_NONE]) != 0;
}

bool settings_record_calls(const struct settings *s)
{
	return strcmp(s->audit, key_audits[AUDIT_CALLS]) == 0 ||
	       strcmp(s->audit, key_audits[AUDIT_ALL]) == 0;
}

bool settings_shows_host(const struct settings *s)
{
	return strcmp(s->view, key_views[1]) == 0;
}

bool settings_is_none(const char *strategy)
{
	return strcmp(strategy, key_strategies[STRATEGY_NAME_NONE]) == 0;
}

static enum net_mode mode_of(const char *word)
{
	enum net_mode mode = NET_NONE;

	while (strcmp(key_nets[mode], word) != 0)
		mode++;
	return mode;
}

/* Whether a value of `key` makes the network one by name. */
static bool names_net(enum setting_key key, enum net_mode mode)
{
	if (key == KEY_DENY)
		return mode == NET_HOST;
	if (key == KEY_PORT || key == KEY_HOST_PORT)
		return mode == NET_NONE;
	return key == KEY_ALLOW;
}

enum net_mode settings_net(const struct settings *s)
{
	enum setting_source said = s->origins[KEY_NET].source;
	enum net_mode mode = mode_of(s->net);

	if (mode == NET_NAMES || mode == NET_STRICT)
		return mode;
	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].origin.source > said &&
		    names_net(s->items[i].key, mode))
			return NET_NAMES;
	return s->net_asks && s->origins[KEY_NET_ASK].source > said ? NET_NAMES
								    : mode;
}

bool settings_share_net(const struct settings *s)
{
	return settings_net(s) == NET_HOST;
}

bool settings_net_by_name(const struct settings *s)
{
	enum net_mode mode = settings_net(s);

	return mode == NET_NAMES || mode == NET_STRICT;
}

const char *setting_name(enum setting_key key)
{
	return settings_table[key].name;
}

bool setting_is_list(enum setting_key key)
{
	return settings_table[key].kind == OPTION_CALL;
}

bool setting_lasts(enum setting_key key)
{
	return lasting[key];
}

bool setting_is_path(enum setting_key key)
{
	static const enum setting_key plain[] = { KEY_ENV,	 KEY_ALLOW,
						  KEY_DENY,	 KEY_PORT,
						  KEY_HOST_PORT, KEY_LOGIN_PORT,
						  KEY_GIT_TOKEN };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (key == plain[i])
			return false;
	return setting_is_list(key) || key == KEY_CHDIR;
}

const char *setting_source_name(enum setting_source source)
{
	return source_names[source];
}

const char *setting_origin_words(const struct setting_origin *origin,
				 enum setting_key key, char *out, size_t size)
{
	switch (origin->source) {
	case SETTING_BUILT_IN:
		(void)snprintf(out, size, "profile '%s' (built in), line %zu",
			       origin->file, origin->line);
		break;
	case SETTING_SYSTEM:
	case SETTING_USER:
	case SETTING_WORKSPACE:
		(void)snprintf(out, size, "%s:%zu", quoted(origin->file),
			       origin->line);
		break;
	case SETTING_ENVIRONMENT:
		(void)snprintf(out, size, "variable '%s'",
			       quoted(origin->file));
		break;
	case SETTING_OPTION:
		(void)snprintf(out, size, "option '--%s'", setting_name(key));
		break;
	case SETTING_SESSION:
		(void)snprintf(out, size, "session '%s'", origin->file);
		break;
	case SETTING_DEFAULT:
	case SETTING_SOURCES:
		(void)snprintf(out, size, "default");
		break;
	}
	return out;
}

/* Room for one more after the `n` of `array`; NULL if there is none. */
static void *grown(void *array, size_t n, size_t size, size_t *room)
{
	/* Enough for the built-in ones at once. */
	size_t more = *room ? *room * 2 : 320;

	if (n < *room)
		return array;
	array = reallocarray(array, more, size);
	if (array)
		*room = more;
	return array;
}

static void forget_items(struct settings *s, enum setting_key key)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].key != key)
			s->items[n++] = s->items[i];
	s->n_items = n;
}

static int add_item(void *values, const struct option *option, const char *arg,
		    struct hb_error *err)
{
	struct settings *s = values;
	void *items;
	int r;

	(void)option;
	if (!arg[0] && s->now.origin.source != SETTING_OPTION) {
		forget_items(s, s->now.key);
		return 0;
	}
	if (s->now.key == KEY_ENV && (arg[0] == '=' || arg[0] == '*' || !*arg))
		return hb_fail(err, -HB_E_USAGE, "'%s' has no name",
			       quoted(arg));
	if (s->now.key == KEY_GIT_TOKEN) {
		struct git_token token;

		r = git_token_parse(arg, &token, err);
		if (r < 0)
			return r;
	}
	/* Those that are built in are checked by a test. */
	r = s->now.origin.source == SETTING_BUILT_IN
		    ? 0
		    : network_check(s->now.key, arg, err);
	if (r < 0)
		return r;
	if (s->n_items >= SETTING_ITEMS_MAX)
		return hb_fail(err, -HB_E_USAGE, "more than %d values",
			       SETTING_ITEMS_MAX);
	items = grown(s->items, s->n_items, sizeof(*s->items), &s->room_items);
	if (!items)
		return hb_fail(err, -ENOMEM, "cannot keep it");
	s->items = items;
	s->now.value = arg;
	s->items[s->n_items++] = s->now;
	return 0;
}

/* Words for what `option_store()` said, with the place before them. */
static int fail_at(const struct settings *s, const struct hb_error *inner,
		   struct hb_error *err)
{
	const struct setting_origin *origin = &s->now.origin;
	char where[QUOTE_SHOWN + 32];
	int code = inner->code;

	if (inner->fix[0])
		hb_fix(err, "%s", inner->fix);
	if (origin->source == SETTING_OPTION)
		return hb_fail(err, -code, "option '--%s': %s",
			       setting_name(s->now.key), inner->text);
	if (code == HB_E_USAGE)
		code = HB_E_CONFIG;
	(void)setting_origin_words(origin, s->now.key, where, sizeof(where));
	return hb_fail(err, -code, "%s: key '%s': %s", where,
		       setting_name(s->now.key), inner->text);
}

static int fail_unknown(const struct setting_origin *origin, const char *key,
			struct hb_error *err)
{
	char where[QUOTE_SHOWN + 32], shown[QUOTE_SHOWN];
	struct suggestion s;

	suggestion_init(&s, key);
	for (size_t i = 0; i < SETTING_KEYS; i++)
		suggestion_offer(&s, settings_table[i].name);
	if (s.best)
		hb_fix(err, "did you mean '%s'?", s.best);
	return hb_fail(
		err, -HB_E_CONFIG, "%s: unknown key '%s'",
		setting_origin_words(origin, KEY_PROFILE, where, sizeof(where)),
		quote_shown(key, shown, sizeof(shown)));
}

static const uint64_t *number_of(const struct settings *s, enum setting_key key)
{
	return (const uint64_t *)(const void *)((const char *)s +
						settings_table[key].offset);
}

/* Whether a file in the workspace may say this. */
static bool is_tighter(const struct settings *s, enum setting_key key,
		       const char *value)
{
	switch (tighter[key].rule) {
	case RULE_WORD:
		return strcmp(value, tighter[key].word) == 0;
	case RULE_LESS: {
		struct settings asked = { 0 };
		uint64_t now = *number_of(s, key);

		if (key == KEY_INODES && now == PLAN_USUAL)
			now = plan_inodes(now, s->size);
		if (option_store(&settings_table[key], value, &asked, NULL) < 0)
			return false;
		/* To all of them 0 is no limit. */
		return *number_of(&asked, key) > 0 &&
		       (now == 0 || *number_of(&asked, key) <= now);
	}
	case RULE_PATH:
		return value[0] && !path_is_absolute(value) &&
		       value[0] != '~' && !path_has_dotdot(value);
	case RULE_MORE:
		return value[0] != '\0';
	case RULE_NO:
		break;
	}
	return false;
}

/*
 * A profile is found by the command's name, which the maker of the command
 * chose.  The user's own profiles are files of that name.
 */
static bool is_profile(const struct setting_origin *origin)
{
	static const char suffix[] = ".conf";
	size_t n = origin->file ? strlen(origin->file) : 0;

	if (origin->source == SETTING_BUILT_IN)
		return true;
	return (origin->source == SETTING_SYSTEM ||
		origin->source == SETTING_USER) &&
	       n >= sizeof(suffix) &&
	       strcmp(origin->file + n - sizeof(suffix) + 1, suffix) == 0;
}

static int check_source(const struct settings *s, const char *value,
			struct hb_error *err)
{
	const struct setting_origin *origin = &s->now.origin;

	if (origin->source == SETTING_WORKSPACE &&
	    !is_tighter(s, s->now.key, value)) {
		hb_fix(err, "put it into ~/.config/holdback/config");
		return hb_fail(err, -HB_E_CONFIG,
			       "a file in the workspace may only tighten, not "
			       "say '%s'",
			       quoted(value));
	}
	if (meant[s->now.key] == FOR_ANY || origin->source == SETTING_OPTION ||
	    origin->source == SETTING_SESSION)
		return 0;
	if (meant[s->now.key] == FOR_NO_PROFILE)
		return is_profile(origin)
			       ? hb_fail(err, -HB_E_CONFIG,
					 "a profile cannot choose the %s",
					 setting_name(s->now.key))
			       : 0;
	if (origin->source != SETTING_ENVIRONMENT)
		return hb_fail(err, -HB_E_CONFIG, "a file cannot choose the %s",
			       setting_name(s->now.key));
	if (meant[s->now.key] == FOR_ONE_CALL)
		return hb_fail(err, -HB_E_CONFIG,
			       "a variable cannot choose the %s",
			       setting_name(s->now.key));
	return 0;
}

/*
 * `--net none` or `--net host` beside an option that only a network by name
 * has: the user cannot mean both.  In files the stronger source decides.
 */
static int check_net(const struct settings *s, struct hb_error *err)
{
	static const enum setting_key keys[] = { KEY_ALLOW, KEY_DENY, KEY_PORT,
						 KEY_HOST_PORT };
	enum net_mode mode = mode_of(s->net);
	const char *other = NULL;

	if (s->origins[KEY_NET].source != SETTING_OPTION || mode == NET_NAMES ||
	    mode == NET_STRICT)
		return 0;
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
		if (s->origins[keys[k]].source == SETTING_OPTION &&
		    (keys[k] != KEY_DENY || mode == NET_HOST))
			other = setting_name(keys[k]);
	if (s->net_asks && s->origins[KEY_NET_ASK].source == SETTING_OPTION)
		other = setting_name(KEY_NET_ASK);
	if (!other)
		return 0;
	hb_fix(err, "leave '--net %s' away, or write --net allow", s->net);
	return hb_fail(err, -HB_E_USAGE,
		       "'--net %s' and '--%s' contradict each other", s->net,
		       other);
}

int settings_set(struct settings *s, const char *key, const char *value,
		 const struct setting_origin *origin, struct hb_error *err)
{
	const struct option *o = option_find(settings_table, key);
	struct hb_error inner = { 0 };
	int r;

	if (!o)
		return fail_unknown(origin, key, err);
	s->now = (struct setting_item){
		.key = (enum setting_key)(o - settings_table),
		.origin = *origin,
	};
	r = check_source(s, value, &inner);
	if (r >= 0)
		r = option_store(o, value, s, &inner);
	/* To the kernel that would be no limit at all. */
	if (r >= 0 && s->size == 0) {
		hb_fix(&inner, "give a number with K, M or G, such as 64M");
		r = hb_fail(&inner, -HB_E_USAGE, "it is 0");
	}
	if (r >= 0 && s->now.key == KEY_NET_PROXY)
		r = network_check(KEY_NET_PROXY, value, &inner);
	if (r < 0)
		return fail_at(s, &inner, err);
	s->origins[s->now.key] = *origin;
	return origin->source == SETTING_OPTION ? check_net(s, err) : 0;
}

static const char *keep(struct settings *s, const char *text)
{
	char *copy = strdup(text);
	void *kept;

	if (!copy)
		return NULL;
	kept = grown(s->kept, s->n_kept, sizeof(*s->kept), &s->room_kept);
	if (!kept) {
		free(copy);
		return NULL;
	}
	s->kept = kept;
	s->kept[s->n_kept++] = copy;
	return copy;
}

int settings_read(struct settings *s, enum setting_source source,
		  const char *name, const char *text, size_t n,
		  struct hb_error *err)
{
	struct setting_origin origin = { .source = source };
	auto_kv_reader struct kv_reader reader = { 0 };
	struct kv_entry entry;
	const char *value;
	int r;

	origin.file = keep(s, name);
	if (!origin.file)
		return hb_fail(err, -ENOMEM, "cannot keep the settings");
	kv_reader_init(&reader, origin.file, text, n);
	while ((r = kv_next(&reader, &entry, err)) > 0) {
		if (!kv_is_string(&entry))
			return kv_fail(&reader, &entry, err,
				       "there is a NUL in the value");
		value = keep(s, entry.value);
		if (!value)
			return hb_fail(err, -ENOMEM,
				       "cannot keep the settings");
		origin.line = entry.line;
		r = settings_set(s, entry.key, value, &origin, err);
		if (r < 0)
			return r;
	}
	return r;
}

static bool is_other(char *const *envp, const char *variable)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strncmp(variable, others[i].name, strlen(others[i].name)) ==
			    0 &&
		    (!others[i].is_inside || env_get(envp, VIEW_ENV_INSIDE)))
			return true;
	return false;
}

/* The key that a variable says, or that it is none of ours. */
static bool key_of_variable(char *const *envp, size_t at,
			    char key[KV_KEY_MAX + 1])
{
	const size_t skip = strlen(VARIABLE_PREFIX);
	const char *variable = envp[at];
	size_t n = strcspn(variable, "=");

	if (strncmp(variable, VARIABLE_PREFIX, skip) != 0 || !variable[n] ||
	    is_other(envp, variable))
		return false;
	if (n > KV_KEY_MAX)
		n = KV_KEY_MAX;
	for (size_t i = skip; i < n; i++) {
		char c = variable[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		key[i - skip] = (char)(c == '_' ? '-' : c);
	}
	key[n - skip] = '\0';
	return true;
}

const char *settings_variable(char *const *envp, enum setting_key key)
{
	const char *value = NULL;
	char name[KV_KEY_MAX + 1];

	for (size_t i = 0; envp[i]; i++)
		if (key_of_variable(envp, i, name) &&
		    strcmp(name, setting_name(key)) == 0)
			value = strchr(envp[i], '=') + 1;
	return value;
}

/*
 * The next path of a list, as PATH has them; "\\:" is a colon of a path.  1, or
 * 0 at the end.
 */
static int next_path(const char **at, char *ret, size_t size)
{
	const char *p = *at;
	size_t n = 0;

	if (!p)
		return 0;
	for (; *p && *p != ':' && n < size; p++) {
		if (p[0] == '\\' && p[1] == ':')
			p++;
		ret[n++] = *p;
	}
	if (n == size)
		return -ENAMETOOLONG;
	ret[n] = '\0';
	*at = *p ? p + 1 : NULL;
	return n > 0 ? 1 : -EINVAL;
}

static int set_paths(struct settings *s, const char *key, const char *value,
		     const struct setting_origin *origin, struct hb_error *err)
{
	char part[PATH_MAX], where[QUOTE_SHOWN + 32];
	const char *at = value, *path;
	int r;

	while ((r = next_path(&at, part, sizeof(part))) > 0) {
		path = keep(s, part);
		if (!path)
			return hb_fail(err, -ENOMEM,
				       "cannot keep the settings");
		r = settings_set(s, key, path, origin, err);
		if (r < 0)
			return r;
	}
	if (r == 0)
		return 0;
	(void)setting_origin_words(origin, KEY_PROFILE, where, sizeof(where));
	hb_fix(err, "write paths with one ':' between them");
	return hb_fail(err, -HB_E_CONFIG, "%s: a path is %s", where,
		       r == -EINVAL ? "empty" : "too long");
}

/* The colon of a login is before its keys. */
static bool is_divided(enum setting_key key)
{
	return setting_is_list(key) && setting_is_path(key) &&
	       key != KEY_LOGIN && key != KEY_PUBLISH;
}

/* A list of paths is divided; an empty value empties it. */
static int set_variable(struct settings *s, const char *key, const char *value,
			bool is_one, const struct setting_origin *origin,
			struct hb_error *err)
{
	const struct option *o = option_find(settings_table, key);
	enum setting_key found = (enum setting_key)(o ? o - settings_table : 0);
	int r = 0;

	if (!o || !is_divided(found) || !value[0])
		return settings_set(s, key, value, origin, err);
	if (is_one)
		r = settings_set(s, key, value, origin, err);
	/* A project with such a path must not uncover the others. */
	return r < 0 || (is_one && found != KEY_HIDE)
		       ? r
		       : set_paths(s, key, value, origin, err);
}

int settings_environment(struct settings *s, char *const *envp,
			 settings_path_fn is_there, void *ctx,
			 struct hb_error *err)
{
	char key[KV_KEY_MAX + 1], name[KV_KEY_MAX + 1];
	const char *value;
	int r;

	for (size_t i = 0; envp[i]; i++) {
		struct setting_origin origin = { SETTING_ENVIRONMENT, NULL, 0 };

		if (!key_of_variable(envp, i, key))
			continue;
		(void)snprintf(name, sizeof(name), "%.*s",
			       (int)strcspn(envp[i], "="), envp[i]);
		origin.file = keep(s, name);
		if (!origin.file)
			return hb_fail(err, -ENOMEM,
				       "cannot keep the settings");
		value = strchr(envp[i], '=') + 1;
		r = set_variable(s, key, value,
				 strchr(value, ':') && is_there &&
					 is_there(ctx, value),
				 &origin, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int settings_profile(struct settings *s, const char *name, struct hb_error *err)
{
	const struct profile *profile = profile_find(name);
	struct setting_origin origin = { SETTING_BUILT_IN, NULL, 0 };
	int r;

	if (!profile)
		return 0;
	origin.file = profile->name;
	for (size_t i = 0; i < profile->n; i++) {
		const struct profile_entry *e = &profile->entries[i];

		origin.line = e->line;
		r = settings_set(s, e->key, e->value, &origin, err);
		if (r < 0)
			return r;
	}
	return 1;
}

const char *settings_tty(const struct settings *s)
{
	return s->has_own_terminal ? key_ttys[0] : s->tty;
}

const char *settings_text(const struct settings *s, enum setting_key key,
			  char *out, size_t size)
{
	const struct option *o = &settings_table[key];
	const void *at = (const char *)s + o->offset;

	if (o->kind == OPTION_SET)
		return *(const bool *)at ? "yes" : "no";
	if (o->kind == OPTION_STRING)
		return *(const char *const *)at;
	/* What the host makes of the usual is not known here. */
	if (o->kind == OPTION_CALL || *(const uint64_t *)at == PLAN_USUAL)
		return NULL;
	if (o->kind == OPTION_DECIMAL)
		(void)snprintf(out, size, "%" PRIu64 ".%03" PRIu64,
			       *(const uint64_t *)at / 1000,
			       *(const uint64_t *)at % 1000);
	else
		(void)snprintf(out, size, "%" PRIu64, *(const uint64_t *)at);
	return out;
}
