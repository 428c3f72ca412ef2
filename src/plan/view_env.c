/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view_env.h"

#include "base/error.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_place.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * A list of what may pass, because a list of what may not is never complete:
 * variables carry keys, sockets of agents, and code for interpreters.
 */

/*
 * What opens a door or runs code: a pattern does not pass these, only their own
 * name does.
 */
static const char *const by_name_only[] = {
	"SSH_AUTH_SOCK",
	"SSH_AGENT_PID",
	"GPG_AGENT_INFO",
	"DBUS_*",
	"DISPLAY",
	"WAYLAND_DISPLAY",
	"XAUTHORITY",
	"KUBECONFIG",
	"SSH_ASKPASS",
	"GIT_ASKPASS",
	"SUDO_ASKPASS",
	"LD_*",
	"BASH_ENV",
	"ENV",
	"NODE_OPTIONS",
	"PYTHONSTARTUP",
	"PERL5OPT",
	"RUBYOPT",
	"JAVA_TOOL_OPTIONS",
	"TMUX",
	"VSCODE_IPC_*",
	"XDG_*",
	"HOLDBACK*",
	"HOME",
	"PATH",
	"PWD",
	"TMPDIR",
	"GIT_CONFIG_*",
};

/*
 * git inside has no credentials to help with, and a helper of the host that is
 * not in the view is an error at every fetch.
 */
static const struct {
	const char *name, *value;
} fixed[] = {
	{ "TMPDIR", "/tmp" },
	{ "HOLDBACK", "1" },
	{ "GIT_CONFIG_KEY_0", "credential.helper" },
	{ "GIT_CONFIG_VALUE_0", "" },
};

#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define PRIVATE_HOME "/tmp"

static bool is_named(const char *entry, const char *name)
{
	size_t n = strcspn(name, "*");

	if (strncmp(entry, name, n) != 0 || !strchr(entry, '='))
		return false;
	return name[n] == '*' || entry[n] == '=';
}

static bool is_by_name_only(const char *entry)
{
	for (size_t i = 0; i < COUNT(by_name_only); i++)
		if (is_named(entry, by_name_only[i]))
			return true;
	return false;
}

static const char *find(char *const *envp, const char *name)
{
	for (size_t i = 0; envp[i]; i++)
		if (is_named(envp[i], name))
			return strchr(envp[i], '=') + 1;
	return NULL;
}

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

/* PATH without what the view does not have, and without relative places. */
static int set_path(const struct view_host *host, struct plan *plan,
		    struct hb_error *err)
{
	const char *from = find(host->envp, "PATH");
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
			if (view_has(plan, dir)) {
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

/* All of the caller's that a pattern names. */
static int pass_pattern(const struct view_host *host, struct plan *plan,
			const char *pattern, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && host->envp[i]; i++)
		if (is_named(host->envp[i], pattern) &&
		    !is_by_name_only(host->envp[i]))
			r = set_entry(plan, host->envp[i], err);
	return r;
}

/* One value of the key `env`: NAME=VALUE, NAME or a pattern. */
static int set_asked(const struct view_host *host, struct plan *plan,
		     const char *word, struct hb_error *err)
{
	const char *value;

	if (strchr(word, '='))
		return set_entry(plan, word, err);
	if (strchr(word, '*'))
		return pass_pattern(host, plan, word, err);
	value = find(host->envp, word);
	if (!value)
		return 0;
	return plan_add_env(plan, ENV_SET, word, value, err);
}

/* git does not trust what another user owns, as a workspace may be. */
static int set_git(const struct view_request *request, struct plan *plan,
		   struct hb_error *err)
{
	bool has_workspace = request->n_resources > 0;
	int r;

	r = plan_add_env(plan, ENV_SET, "GIT_CONFIG_COUNT",
			 has_workspace ? "2" : "1", err);
	if (r >= 0 && has_workspace)
		r = plan_add_env(plan, ENV_SET, "GIT_CONFIG_KEY_1",
				 "safe.directory", err);
	if (r >= 0 && has_workspace)
		r = plan_add_env(plan, ENV_SET, "GIT_CONFIG_VALUE_1",
				 request->resources[0].inside, err);
	return r;
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
		r = set_git(request, plan, err);
	for (size_t i = 0; r >= 0 && i < s->n_items; i++)
		if (s->items[i].key == KEY_ENV)
			r = set_asked(host, plan, s->items[i].value, err);
	return r;
}
