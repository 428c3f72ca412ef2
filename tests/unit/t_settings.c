/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/profile.h"
#include "plan/settings.h"

#include "base/error.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_text(struct settings *s, enum setting_source source,
		     const char *text, struct hb_error *err)
{
	return settings_read(s, source, "f", text, strlen(text), err);
}

static void refuses(enum setting_source source, const char *text,
		    const char *words, const char *fix)
{
	struct hb_error err = { 0 };
	struct settings s;

	settings_init(&s);
	CHECK_INT(read_text(&s, source, text, &err), -HB_E_CONFIG);
	if (!strstr(err.text, words) || !strstr(err.fix, fix)) {
		printf("# '%s': '%s' fix '%s'\nBail out!\n", text, err.text,
		       err.fix);
		exit(1);
	}
	settings_done(&s);
}

static const char *value(const struct settings *s, enum setting_key key,
			 size_t n)
{
	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].key == key && n-- == 0)
			return s->items[i].value;
	return NULL;
}

static bool is(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static void every_key_has_a_row(void)
{
	for (int i = 0; i < SETTING_KEYS; i++) {
		CHECK(settings_table[i].name != NULL);
		CHECK(option_find(settings_table, settings_table[i].name) ==
		      &settings_table[i]);
	}
	CHECK(settings_table[SETTING_KEYS].name == NULL);
}

static void every_profile_is_understood(void)
{
	static const char *const wanted[] = { "aider",	 "base",   "claude",
					      "codex",	 "gemini", "generic",
					      "opencode" };
	const struct profile *p;
	struct settings s;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		p = profile_at(i);
		CHECK(p && is(p->name, wanted[i]));
		CHECK(p->summary[0] && p->n > 0);
		settings_init(&s);
		CHECK_INT(settings_profile(&s, p->name, NULL), 1);
		settings_done(&s);
	}
	CHECK(profile_at(7) == NULL);
	settings_init(&s);
	CHECK_INT(settings_profile(&s, "none", NULL), 0);
	CHECK_INT(settings_profile(&s, "claude", NULL), 1);
	CHECK(is(s.net, "allow"));
	CHECK_INT(s.origins[KEY_NET].source, SETTING_BUILT_IN);
	CHECK(is(s.origins[KEY_NET].file, "claude"));
	CHECK_INT(s.origins[KEY_NET].line, 2);
	settings_done(&s);
}

static void later_wins_and_lists_grow(void)
{
	const struct setting_origin option = { .source = SETTING_OPTION };
	char text[32], words[64];
	struct settings s;

	settings_init(&s);
	CHECK(is(s.net, "none"));
	CHECK_INT(read_text(&s, SETTING_SYSTEM,
			    "# c\nnet = host\nro = /a\nsize = 64M\n", NULL),
		  0);
	CHECK_INT(read_text(&s, SETTING_USER,
			    "ro = \"/b c\"\nno-ptrace = yes\nnet=none", NULL),
		  0);
	CHECK_INT(settings_set(&s, "ro", "/c", &option, NULL), 0);
	CHECK(is(s.net, "none"));
	CHECK_INT(s.origins[KEY_NET].line, 3);
	CHECK(s.no_ptrace);
	CHECK_INT(s.size, 64 << 20);
	CHECK(is(value(&s, KEY_RO, 0), "/a"));
	CHECK(is(value(&s, KEY_RO, 1), "/b c"));
	CHECK(is(value(&s, KEY_RO, 2), "/c"));
	CHECK(is(settings_text(&s, KEY_SIZE, text, sizeof(text)), "67108864"));
	CHECK(is(settings_text(&s, KEY_NO_PTRACE, text, sizeof(text)), "yes"));
	CHECK(is(setting_origin_words(&s.items[1].origin, KEY_RO, words,
				      sizeof(words)),
		 "f:1"));
	CHECK(is(setting_origin_words(&s.items[2].origin, KEY_RO, words,
				      sizeof(words)),
		 "option '--ro'"));
	/* An empty value forgets what was there. */
	CHECK_INT(read_text(&s, SETTING_USER, "ro =\nro = /d\n", NULL), 0);
	CHECK(is(value(&s, KEY_RO, 0), "/d"));
	CHECK(!value(&s, KEY_RO, 1));
	settings_done(&s);
}

static void what_is_not_understood_is_refused(void)
{
	refuses(SETTING_USER, "x\n", "f:1: there is no '='", "");
	refuses(SETTING_USER, "\nnett = host", "f:2: unknown key 'nett'",
		"did you mean 'net'?");
	refuses(SETTING_USER, "net = hots", "f:1: key 'net': 'hots'",
		"did you mean 'host'?");
	refuses(SETTING_USER, "size = 1X", "f:1: key 'size'", "64M");
	refuses(SETTING_USER, "size = 0", "f:1: key 'size': it is 0", "64M");
	refuses(SETTING_USER, "no-ptrace = maybe", "neither yes nor no",
		"no-ptrace = yes");
	refuses(SETTING_USER, "env = =x", "has no name", "");
	refuses(SETTING_USER, "env = *", "has no name", "");
	refuses(SETTING_USER, "profile = claude",
		"a file cannot choose the profile", "");
	refuses(SETTING_USER, "ro = \"a\\000b\"", "f:1: ", "");
}

/* Each key, with a value that weakens and, where there is one, with another. */
static const struct {
	enum setting_key key;
	const char *weaker, *tighter;
} keys[SETTING_KEYS] = {
	[KEY_PROFILE] = { KEY_PROFILE, "claude", NULL },
	[KEY_SESSION] = { KEY_SESSION, "other", NULL },
	[KEY_EPHEMERAL] = { KEY_EPHEMERAL, "yes", NULL },
	[KEY_DIRECT] = { KEY_DIRECT, "yes", NULL },
	[KEY_CODE] = { KEY_CODE, "x.py", NULL },
	[KEY_SIZE] = { KEY_SIZE, "2G", "1M" },
	[KEY_MEMORY] = { KEY_MEMORY, "0", "1M" },
	[KEY_CPUS] = { KEY_CPUS, "0", "1.5" },
	[KEY_PIDS] = { KEY_PIDS, "0", "10" },
	[KEY_TIMEOUT] = { KEY_TIMEOUT, "0", "10m" },
	[KEY_MIN_FREE] = { KEY_MIN_FREE, "0", NULL },
	/* More than fit into the default size. */
	[KEY_INODES] = { KEY_INODES, "262145", "262144" },
	[KEY_INOTIFY] = { KEY_INOTIFY, "1", NULL },
	[KEY_SHOW] = { KEY_SHOW, "/home", NULL },
	[KEY_HIDE] = { KEY_HIDE, "/usr", "secret/keys" },
	[KEY_RO] = { KEY_RO, "inside", NULL },
	[KEY_RW] = { KEY_RW, "/home", NULL },
	[KEY_COW] = { KEY_COW, "/home", NULL },
	[KEY_CACHE] = { KEY_CACHE, "/home", NULL },
	[KEY_STATE] = { KEY_STATE, "/home", NULL },
	[KEY_DATA] = { KEY_DATA, "/home", NULL },
	[KEY_LOGIN] = { KEY_LOGIN, "/home/x", NULL },
	[KEY_RUNS] = { KEY_RUNS, "/home/x", NULL },
	[KEY_PUBLISH] = { KEY_PUBLISH, "/home/x", NULL },
	[KEY_EXPORT] = { KEY_EXPORT, "out", NULL },
	[KEY_SOCKET] = { KEY_SOCKET, "/run/docker.sock", NULL },
	[KEY_AT] = { KEY_AT, "/x", NULL },
	[KEY_ENV] = { KEY_ENV, "SSH_AUTH_SOCK", NULL },
	[KEY_VIEW] = { KEY_VIEW, "host", NULL },
	[KEY_NET] = { KEY_NET, "host", "none" },
	[KEY_ALLOW] = { KEY_ALLOW, "example.com", NULL },
	[KEY_DENY] = { KEY_DENY, "", "example.com" },
	[KEY_PORT] = { KEY_PORT, "3000", NULL },
	[KEY_HOST_PORT] = { KEY_HOST_PORT, "3000", NULL },
	[KEY_LOGIN_PORT] = { KEY_LOGIN_PORT, "login:1455", NULL },
	[KEY_NET_ASK] = { KEY_NET_ASK, "yes", "no" },
	[KEY_NET_PROXY] = { KEY_NET_PROXY, "none", NULL },
	[KEY_NET_LOOSE] = { KEY_NET_LOOSE, "yes", "no" },
	[KEY_GIT_TOKEN] = { KEY_GIT_TOKEN, "X", NULL },
	[KEY_VERIFY] = { KEY_VERIFY, "yes", NULL },
	[KEY_CHDIR] = { KEY_CHDIR, "/", NULL },
	[KEY_NO_PTRACE] = { KEY_NO_PTRACE, "no", "yes" },
	[KEY_TTY] = { KEY_TTY, "real", "own" },
	[KEY_PTY] = { KEY_PTY, "no", "yes" },
	[KEY_CLIPBOARD] = { KEY_CLIPBOARD, "write", "no" },
	[KEY_ALLOW_NESTED] = { KEY_ALLOW_NESTED, "yes", "no" },
	[KEY_RENAME_DIRECTORIES] = { KEY_RENAME_DIRECTORIES, "yes", "no" },
	[KEY_MARK_TURNS] = { KEY_MARK_TURNS, "yes", "no" },
	[KEY_REQUIRE] = { KEY_REQUIRE, "no", "yes" },
	[KEY_ALLOW_DEGRADED] = { KEY_ALLOW_DEGRADED, "yes", "no" },
	[KEY_AUDIT] = { KEY_AUDIT, "none", "changes" },
	[KEY_LOG] = { KEY_LOG, "/x", NULL },
	[KEY_GATE_RUN] = { KEY_GATE_RUN, "true", NULL },
	[KEY_STRATEGY] = { KEY_STRATEGY, "copy_on_write", NULL },
	[KEY_GIT] = { KEY_GIT, "files", "branch" },
	[KEY_GO_ON] = { KEY_GO_ON, "-c", NULL },
	[KEY_QUIET] = { KEY_QUIET, "yes", NULL },
	[KEY_SYNC] = { KEY_SYNC, "30s", NULL },
	[KEY_YOLO] = { KEY_YOLO, "yes", NULL },
};

static void a_workspace_only_tightens(void)
{
	struct settings s;
	char text[64];

	for (int i = 0; i < SETTING_KEYS; i++) {
		CHECK(keys[i].weaker != NULL);
		(void)snprintf(text, sizeof(text), "%s = %s",
			       setting_name(keys[i].key), keys[i].weaker);
		refuses(SETTING_WORKSPACE, text, "may only tighten",
			"~/.config/holdback/config");
		/* Nor is anything forgotten. */
		(void)snprintf(text, sizeof(text),
			       "%s =", setting_name(keys[i].key));
		refuses(SETTING_WORKSPACE, text, "may only tighten", "");
		if (!keys[i].tighter)
			continue;
		(void)snprintf(text, sizeof(text), "%s = %s",
			       setting_name(keys[i].key), keys[i].tighter);
		settings_init(&s);
		CHECK_INT(read_text(&s, SETTING_WORKSPACE, text, NULL), 0);
		settings_done(&s);
	}
	refuses(SETTING_WORKSPACE, "hide = ../x", "may only tighten", "");
	refuses(SETTING_WORKSPACE, "hide = ~/x", "may only tighten", "");
	refuses(SETTING_WORKSPACE, "size = 0", "may only tighten", "");
}

static void no_profile_chooses_the_view(void)
{
	static const struct {
		enum setting_source source;
		const char *file;
		int r;
	} rows[] = {
		{ SETTING_BUILT_IN, "host", -HB_E_CONFIG },
		{ SETTING_SYSTEM, "/etc/holdback/make.conf", -HB_E_CONFIG },
		{ SETTING_USER, "/h/.config/holdback/make.conf", -HB_E_CONFIG },
		{ SETTING_WORKSPACE, "/p/.holdback.conf", -HB_E_CONFIG },
		{ SETTING_SYSTEM, "/etc/holdback/config", 0 },
		{ SETTING_USER, "/h/.config/holdback/config", 0 },
		{ SETTING_ENVIRONMENT, "HOLDBACK_VIEW", 0 },
		{ SETTING_OPTION, NULL, 0 },
		{ SETTING_SESSION, "s", 0 },
	};
	struct settings s;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct setting_origin origin = { rows[i].source,
						       rows[i].file, 1 };

		settings_init(&s);
		CHECK(!settings_shows_host(&s));
		CHECK_INT(settings_set(&s, "view", "host", &origin, NULL),
			  rows[i].r);
		CHECK_INT(settings_shows_host(&s), rows[i].r == 0);
		settings_done(&s);
	}
}

static void variables_are_keys(void)
{
	char net[] = "HOLDBACK_NET=host", trace[] = "HOLDBACK_NO_PTRACE=yes";
	char own[] = "HOLDBACK=1", other[] = "NET=none";
	char pager[] = "HOLDBACK_PAGER=less", code[] = "HOLDBACK_CODE=x";
	char wrong[] = "HOLDBACK_NETT=host";
	char *good[] = { net, own, other, trace, pager, NULL };
	char *bad[] = { wrong, NULL }, *no_file[] = { code, NULL };
	struct hb_error err = { 0 };
	struct settings s;

	settings_init(&s);
	CHECK_INT(settings_environment(&s, good, NULL, NULL, NULL), 0);
	CHECK(is(s.net, "host"));
	CHECK(s.no_ptrace);
	CHECK(is(s.origins[KEY_NET].file, "HOLDBACK_NET"));
	CHECK_INT(settings_environment(&s, bad, NULL, NULL, &err),
		  -HB_E_CONFIG);
	CHECK(strstr(err.text, "variable 'HOLDBACK_NETT': unknown key"));
	CHECK(is(err.fix, "did you mean 'net'?"));
	CHECK_INT(settings_environment(&s, no_file, NULL, NULL, NULL),
		  -HB_E_CONFIG);
	settings_done(&s);
}

/* Of type settings_path_fn: as if there were these. */
static bool is_whole(void *ctx, const char *path)
{
	(void)ctx;
	return strstr(path, "/whole:") != NULL;
}

static void lists_in_variables_are_divided(void)
{
	static const struct {
		const char *variable, *values[4];
		int r;
	} rows[] = {
		{ "HOLDBACK_RO=/a:/b", { "/a", "/b" }, 0 },
		{ "HOLDBACK_RO=/a\\:/b:/c", { "/a:/b", "/c" }, 0 },
		{ "HOLDBACK_COW=/a", { "/a" }, 0 },
		{ "HOLDBACK_HIDE=x y:~/z", { "x y", "~/z" }, 0 },
		{ "HOLDBACK_ALLOW=a.example:80", { "a.example:80" }, 0 },
		{ "HOLDBACK_ENV=A=b:c", { "A=b:c" }, 0 },
		{ "HOLDBACK_RO=/whole:/b", { "/whole:/b" }, 0 },
		{ "HOLDBACK_COW=~/whole:b", { "~/whole:b" }, 0 },
		{ "HOLDBACK_HIDE=/whole:/b",
		  { "/whole:/b", "/whole", "/b" },
		  0 },
		{ "HOLDBACK_LOGIN=~/f:a,b", { "~/f:a,b" }, 0 },
		{ "HOLDBACK_PUBLISH=~/f:a,b", { "~/f:a,b" }, 0 },
		{ "HOLDBACK_RO=", { NULL }, 0 },
		{ "HOLDBACK_RO=/a::/b", { NULL }, -HB_E_CONFIG },
		{ "HOLDBACK_RO=/a:", { NULL }, -HB_E_CONFIG },
		{ "HOLDBACK_RO=:", { NULL }, -HB_E_CONFIG },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *copy = strdup(rows[i].variable);
		char *envp[] = { copy, NULL };
		struct hb_error err = { 0 };
		struct settings s;

		settings_init(&s);
		CHECK_INT(settings_environment(&s, envp, is_whole, NULL, &err),
			  rows[i].r);
		if (rows[i].r < 0)
			CHECK(strstr(err.text, "a path is empty"));
		for (size_t k = 0; rows[i].r >= 0 && k < 4; k++)
			CHECK(k < s.n_items ? rows[i].values[k] &&
						      is(s.items[k].value,
							 rows[i].values[k])
					    : !rows[i].values[k]);
		settings_done(&s);
		free(copy);
	}
}

static void there_are_limits(void)
{
	const struct setting_origin option = { .source = SETTING_OPTION };
	struct hb_error err = { 0 };
	struct settings s;
	int r = 0;

	settings_init(&s);
	for (size_t i = 0; r >= 0 && i <= SETTING_ITEMS_MAX; i++)
		r = settings_set(&s, "ro", "/x", &option, &err);
	CHECK_INT(r, -HB_E_USAGE);
	CHECK_INT(s.n_items, SETTING_ITEMS_MAX);
	settings_done(&s);
}

TESTS(T(every_key_has_a_row), T(every_profile_is_understood),
      T(later_wins_and_lists_grow), T(what_is_not_understood_is_refused),
      T(a_workspace_only_tightens), T(no_profile_chooses_the_view),
      T(variables_are_keys), T(lists_in_variables_are_divided),
      T(there_are_limits))
