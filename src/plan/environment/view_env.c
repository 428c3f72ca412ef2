/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/environment/view_env.h"

#include "base/env.h"
#include "base/error.h"
#include "plan/environment/git_token.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A list of variables that pass, because a list of the others is never
 * complete: variables carry keys, sockets of agents, and code for interpreters.
 */

static const struct {
	const char *name, *value;
} fixed[] = {
	{ "TMPDIR", "/tmp" },
	{ VIEW_ENV_INSIDE, "1" },
};

/*
 * What git inside is told above every file.  It has no credentials, and a
 * helper that is not in the view is an error at every fetch.  It has no key,
 * and a commit that has to be signed would fail.  git does not trust a
 * directory of another user, as a workspace may be.
 */
#define GIT_KEYS(ROW)                             \
	ROW(0, "credential.helper", "")           \
	ROW(1, "commit.gpgSign", "false")         \
	ROW(2, "tag.gpgSign", "false")            \
	ROW(3, "tag.forceSignAnnotated", "false") \
	ROW(4, "safe.directory", NULL) /* the workspace, if there is one */

static const struct {
	const char *key, *word;	  /* a variable, and its value */
	const char *name, *value; /* likewise */
} git_keys[] = {
#define GIT_ROW(n, word, value) \
	{ "GIT_CONFIG_KEY_" #n, word, "GIT_CONFIG_VALUE_" #n, value },
	GIT_KEYS(GIT_ROW)
#undef GIT_ROW
};

const char *const view_env_proxies[] = {
	"HTTP_PROXY",  "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy",
	"https_proxy", "all_proxy",   "no_proxy",  NULL,
};

const char *const view_env_authorities[] = {
	"SSL_CERT_FILE",
	"NODE_EXTRA_CA_CERTS",
	"REQUESTS_CA_BUNDLE",
	"CURL_CA_BUNDLE",
	"GIT_SSL_CAINFO",
	"CARGO_HTTP_CAINFO",
	"PIP_CERT",
	"NPM_CONFIG_CAFILE",
	"npm_config_cafile",
	"DENO_CERT",
	"AWS_CA_BUNDLE",
	"CODEX_CA_CERTIFICATE",
	NULL,
};

/*
 * Where tools are.  They pass if the view has the directory, or a part of it;
 * each may be a list.
 */
static const char *const toolchains[] = {
	"ANDROID_HOME",
	"ANDROID_SDK_ROOT",
	"ASDF_DATA_DIR",
	"ASDF_DIR",
	"BUN_INSTALL",
	"CARGO_HOME",
	"CONDA_PREFIX",
	"CUDA_HOME",
	"DENO_INSTALL",
	"DOTNET_ROOT",
	"FNM_DIR",
	"GEM_HOME",
	"GEM_PATH",
	"GOENV_ROOT",
	"GOPATH",
	"GOROOT",
	"GRADLE_HOME",
	"HOMEBREW_PREFIX",
	"JAVA_HOME",
	"JDK_HOME",
	"JENV_ROOT",
	"M2_HOME",
	"MAMBA_ROOT_PREFIX",
	"MAVEN_HOME",
	"MISE_DATA_DIR",
	"NODENV_ROOT",
	"NPM_CONFIG_PREFIX",
	"NVM_BIN",
	"NVM_DIR",
	"N_PREFIX",
	"OPAM_SWITCH_PREFIX",
	"PIPX_BIN_DIR",
	"PIPX_HOME",
	"PNPM_HOME",
	"POETRY_HOME",
	"PROTO_HOME",
	"PYENV_ROOT",
	"RBENV_ROOT",
	"RUSTUP_HOME",
	"RYE_HOME",
	"SDKMAN_DIR",
	"UV_PYTHON_INSTALL_DIR",
	"UV_TOOL_DIR",
	"VIRTUAL_ENV",
	"VOLTA_HOME",
};

#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define PRIVATE_HOME "/tmp"

/* Sets from "NAME=VALUE", whose two halves have to be apart. */
static int set_entry(struct plan *plan, const char *entry, struct hb_error *err)
{
	size_t n = strcspn(entry, "=");
	char *copy = strdup(entry);
	int r;

	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot keep the environment");
	r = plan_keep(plan, copy, err);
	if (r < 0)
		return r;
	copy[n] = '\0';
	return plan_add_env(plan, ENV_SET, copy, copy + n + 1, err);
}

/*
 * PATH without what the view does not have, and without relative places.  Of a
 * directory the view may have single programs.
 */
static int set_path(const struct view_host *host, struct plan *plan,
		    struct hb_error *err)
{
	const char *from = env_get(host->envp, "PATH");
	char *list, dir[PATH_MAX];
	size_t used = 0;
	int r;

	if (!from)
		return plan_add_env(plan, ENV_SET, "PATH", DEFAULT_PATH, err);
	list = malloc(strlen(from) + 1);
	if (!list)
		return hb_fail(err, -ENOMEM, "cannot keep the environment");
	r = plan_keep(plan, list, err);
	if (r < 0)
		return r;
	for (;; from++) {
		size_t n = strcspn(from, ":");

		if (from[0] == '/' && n < sizeof(dir)) {
			memcpy(dir, from, n);
			dir[n] = '\0';
			if (view_has_part(plan, dir)) {
				if (used)
					list[used++] = ':';
				memcpy(list + used, from, n);
				used += n;
			}
		}
		from += n;
		if (!*from)
			break;
	}
	list[used] = '\0';
	return plan_add_env(plan, ENV_SET, "PATH", used ? list : DEFAULT_PATH,
			    err);
}

/* Whether a text of ours is there: the view_has() of such. */
static bool has_text(const struct plan *plan, const char *path)
{
	char found[PATH_MAX];
	const struct plan_op *op = view_find(plan, path, found);

	return op && (op->kind == OP_BIND_DATA || op->kind == OP_MASK) &&
	       op->perms != 0 && strcmp(op->dest, found) == 0;
}

/*
 * How to get out of a network that has no other way.  A certificate's file that
 * the view lacks would be worse than none: nothing would be trusted.
 */
static int set_network(const struct settings *s, const struct view_host *host,
		       struct plan *plan, struct hb_error *err)
{
	const char *dir = env_get(host->envp, "SSL_CERT_DIR");
	int r = 0;

	/* By name nothing has to know of a proxy: the relay speaks to it. */
	for (size_t i = 0;
	     r >= 0 && settings_share_net(s) && view_env_proxies[i]; i++)
		r = plan_add_env(plan, ENV_PASS, view_env_proxies[i], NULL,
				 err);
	for (size_t i = 0; r >= 0 && view_env_authorities[i]; i++) {
		const char *path = env_get(host->envp, view_env_authorities[i]);

		if (path && path[0] == '/' &&
		    (view_has(plan, path) || has_text(plan, path)))
			r = plan_add_env(plan, ENV_PASS,
					 view_env_authorities[i], NULL, err);
	}
	if (r >= 0 && dir && dir[0] == '/' && view_has(plan, dir))
		r = plan_add_env(plan, ENV_PASS, "SSL_CERT_DIR", NULL, err);
	return r;
}

/* Whether the view has each directory of a list. */
static bool has_all(const struct plan *plan, const char *list)
{
	char dir[PATH_MAX];

	for (;;) {
		size_t n = strcspn(list, ":");

		if (list[0] != '/' || n >= sizeof(dir))
			return false;
		memcpy(dir, list, n);
		dir[n] = '\0';
		if (!view_has_part(plan, dir))
			return false;
		if (!list[n])
			return true;
		list += n + 1;
	}
}

static int set_toolchains(const struct view_host *host, struct plan *plan,
			  struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < COUNT(toolchains); i++) {
		const char *list = env_get(host->envp, toolchains[i]);

		if (list && has_all(plan, list))
			r = plan_add_env(plan, ENV_PASS, toolchains[i], NULL,
					 err);
	}
	return r;
}

/* One value of the key `env`: NAME=VALUE, NAME or a pattern. */
static int set_asked(struct plan *plan, const char *word, struct hb_error *err)
{
	char *copy;
	int r;

	if (strchr(word, '='))
		return set_entry(plan, word, err);
	/* The plan outlives the settings where a session's are compiled in. */
	copy = strdup(word);
	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot keep the environment");
	r = plan_keep(plan, copy, err);
	if (r < 0)
		return r;
	return plan_add_env(plan, ENV_PASS, copy, NULL, err);
}

static int set_place(const struct view_request *request, struct plan *plan,
		     struct hb_error *err)
{
	int r = 0;

	if (request->session)
		r = plan_add_env(plan, ENV_SET, VIEW_ENV_SESSION,
				 request->session, err);
	if (r >= 0 && request->n_resources > 0)
		r = plan_add_env(plan, ENV_SET, VIEW_ENV_PROJECT,
				 request->resources[0].inside, err);
	return r;
}

/* Key and value number `n` of git's, of which the plan keeps copies. */
static int set_git_key(struct plan *plan, size_t n, const char *key,
		       const char *value, struct hb_error *err)
{
	const char *texts[4] = { NULL, key, NULL, value };
	char name[32];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < COUNT(texts); i++) {
		(void)snprintf(name, sizeof(name), "GIT_CONFIG_%s_%zu",
			       i == 0 ? "KEY" : "VALUE", n);
		r = plan_keep_text(plan, texts[i] ? texts[i] : name, &texts[i],
				   err);
	}
	for (size_t i = 0; r >= 0 && i < COUNT(texts); i += 2)
		r = plan_add_env(plan, ENV_SET, texts[i], texts[i + 1], err);
	return r;
}

/*
 * The helper is asked for one host, and by https alone.  Any user's name goes
 * with a token.
 */
static int set_token(const struct view_host *host,
		     const struct setting_item *item, size_t n,
		     struct plan *plan, struct hb_error *err)
{
	char key[GIT_TOKEN_HOST_MAX + 64], value[GIT_TOKEN_NAME_MAX + 128];
	struct git_token token;
	const char *name;
	int r;

	r = git_token_parse(item->value, &token, err);
	if (r < 0)
		return r;
	if (item->origin.source == SETTING_OPTION &&
	    !env_get(host->envp, token.name)) {
		hb_fix(err, "export %s", token.name);
		return hb_fail(err, -HB_E_USAGE,
			       "--git-token: the variable '%s' is not set",
			       token.name);
	}
	(void)snprintf(key, sizeof(key), "credential.https://%s.helper",
		       token.host);
	(void)snprintf(
		value, sizeof(value),
		"!f() { test \"$1\" != get || printf '%%s\\n' username=x-access-token \"password=$%s\"; }; f",
		token.name);
	r = set_git_key(plan, n, key, value, err);
	if (r >= 0)
		r = plan_keep_text(plan, token.name, &name, err);
	return r < 0 ? r : plan_add_env(plan, ENV_PASS, name, NULL, err);
}

static size_t count_tokens(const struct settings *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_items; i++)
		n += s->items[i].key == KEY_GIT_TOKEN;
	return n;
}

/* Behind the empty helper, which takes all others away. */
static int set_tokens(const struct settings *s, const struct view_host *host,
		      size_t n, struct plan *plan, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (s->items[i].key == KEY_GIT_TOKEN)
			r = set_token(host, &s->items[i], n++, plan, err);
	return r;
}

static int set_git(const struct view_request *request,
		   const struct view_host *host, struct plan *plan,
		   struct hb_error *err)
{
	const char *workspace =
		request->n_resources > 0 ? request->resources[0].inside : NULL;
	size_t n = COUNT(git_keys) - !workspace;
	const char *count;
	char text[16];
	int r;

	(void)snprintf(text, sizeof(text), "%zu",
		       n + count_tokens(request->settings));
	r = plan_keep_text(plan, text, &count, err);
	if (r >= 0)
		r = plan_add_env(plan, ENV_SET, "GIT_CONFIG_COUNT", count, err);
	for (size_t i = 0; r >= 0 && i < COUNT(git_keys); i++) {
		const char *value =
			git_keys[i].value ? git_keys[i].value : workspace;

		if (!value)
			continue;
		r = plan_add_env(plan, ENV_SET, git_keys[i].key,
				 git_keys[i].word, err);
		if (r >= 0)
			r = plan_add_env(plan, ENV_SET, git_keys[i].name, value,
					 err);
	}
	return r < 0 ? r : set_tokens(request->settings, host, n, plan, err);
}

int view_env(const struct view_request *request, const struct view_host *host,
	     struct plan *plan, struct hb_error *err)
{
	const char *home = host->home_name ? host->home_name : host->home;
	const struct settings *s = request->settings;
	const char *work = view_work_dir(plan);
	int r;

	r = plan_add_env(plan, ENV_CLEAR, NULL, NULL, err);
	if (r >= 0)
		r = set_path(host, plan, err);
	if (r >= 0)
		r = plan_add_env(plan, ENV_SET, "HOME",
				 home ? home : PRIVATE_HOME, err);
	for (size_t i = 0; r >= 0 && i < COUNT(fixed); i++)
		r = plan_add_env(plan, ENV_SET, fixed[i].name, fixed[i].value,
				 err);
	if (r >= 0 && work)
		r = plan_add_env(plan, ENV_SET, "AGENT_WORK_DIR", work, err);
	if (r >= 0)
		r = set_place(request, plan, err);
	if (r >= 0)
		r = set_git(request, host, plan, err);
	if (r >= 0)
		r = set_toolchains(host, plan, err);
	if (r >= 0 && settings_net(s) != NET_NONE)
		r = set_network(s, host, plan, err);
	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (s->items[i].key == KEY_ENV)
			r = set_asked(plan, s->items[i].value, err);
	return r;
}
