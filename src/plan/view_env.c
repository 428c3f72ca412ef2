/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view_env.h"

#include "base/error.h"
#include "plan/plan.h"
#include "plan/view.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * A list of what may pass, because a list of what may not is never complete:
 * variables carry keys, sockets of agents, and code for interpreters.
 */

/* A name that ends with '*' stands for all that begin with it. */
static const char *const passed[] = {
	"USER",	   "LOGNAME", "SHELL",	  "TERM",   "COLORTERM", "LANG",
	"LC_*",	   "TZ",      "TZDIR",	  "EDITOR", "VISUAL",	 "PAGER",
	"COLUMNS", "LINES",   "NO_COLOR", "CI",
};

/* Keys and settings of a program that are for that program alone. */
static const struct {
	const char *program, *name;
} of_program[] = {
	{ "claude", "ANTHROPIC_*" },   { "claude", "CLAUDE_*" },
	{ "codex", "OPENAI_*" },       { "codex", "CODEX_*" },
	{ "gemini", "GEMINI_*" },      { "opencode", "OPENCODE_*" },
	{ "opencode", "ANTHROPIC_*" }, { "opencode", "OPENAI_*" },
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
	{ "GIT_CONFIG_COUNT", "1" },
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

static bool may_pass(const char *entry, const char *program)
{
	for (size_t i = 0; i < COUNT(passed); i++)
		if (is_named(entry, passed[i]))
			return true;
	for (size_t i = 0; program && i < COUNT(of_program); i++)
		if (strcmp(program, of_program[i].program) == 0 &&
		    is_named(entry, of_program[i].name))
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

/* One word of --env: a value, or the caller's. */
static int set_asked(const struct view_host *host, struct plan *plan,
		     const char *word, struct hb_error *err)
{
	const char *value;

	if (strchr(word, '='))
		return set_entry(plan, word, err);
	value = find(host->envp, word);
	if (!value)
		return 0;
	return plan_add_env(plan, ENV_SET, word, value, err);
}

int view_env(const struct view_request *request, const struct view_host *host,
	     struct plan *plan, struct hb_error *err)
{
	const char *home = host->home_name ? host->home_name : host->home;
	int r;

	r = plan_add_env(plan, ENV_CLEAR, NULL, NULL, err);
	for (size_t i = 0; r >= 0 && host->envp[i]; i++)
		if (may_pass(host->envp[i], request->program))
			r = set_entry(plan, host->envp[i], err);
	if (r >= 0)
		r = set_path(host, plan, err);
	if (r >= 0)
		r = plan_add_env(plan, ENV_SET, "HOME",
				 home ? home : PRIVATE_HOME, err);
	for (size_t i = 0; r >= 0 && i < COUNT(fixed); i++)
		r = plan_add_env(plan, ENV_SET, fixed[i].name, fixed[i].value,
				 err);
	for (size_t i = 0; r >= 0 && i < request->n_env; i++)
		r = set_asked(host, plan, request->env[i], err);
	return r;
}
