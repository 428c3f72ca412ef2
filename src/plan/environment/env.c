/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/environment/env.h"

#include "base/error.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * From the plan's changes to an environment.
 *
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

/* `name` may be a pattern. */
static bool has_name(const char *entry, const char *name)
{
	size_t n = strcspn(name, "*");

	if (strncmp(entry, name, n) != 0 || !strchr(entry, '='))
		return false;
	return name[n] == '*' || entry[n] == '=';
}

static bool is_by_name_only(const char *entry)
{
	for (size_t i = 0; i < sizeof(by_name_only) / sizeof(by_name_only[0]);
	     i++)
		if (has_name(entry, by_name_only[i]))
			return true;
	return false;
}

/*
 * Takes every entry of that name, which has `len` bytes, out of `env`.  A
 * second entry would show through in programs that look from the other end.
 */
static size_t drop_name(char **env, size_t n, const char *name, size_t len)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (strncmp(env[i], name, len) != 0 || env[i][len] != '=')
			env[left++] = env[i];
	return left;
}

/* Writes "name=value" at *text and moves it past the terminator. */
static char *write_entry(char **text, const struct plan_env *change)
{
	size_t name_len = strlen(change->name);
	size_t value_len = strlen(change->value);
	char *entry = *text;

	memcpy(entry, change->name, name_len);
	entry[name_len] = '=';
	memcpy(entry + name_len + 1, change->value, value_len + 1);
	*text = entry + name_len + value_len + 2;
	return entry;
}

/* No name is there twice, so that there are no more than base and plan have. */
static size_t pass(char **env, size_t n, char *const *base, const char *name)
{
	bool is_pattern = strchr(name, '*');

	for (; *base; base++) {
		if (!has_name(*base, name) ||
		    (is_pattern && is_by_name_only(*base)))
			continue;
		n = drop_name(env, n, *base, strcspn(*base, "="));
		env[n++] = *base;
	}
	return n;
}

bool plan_passes(const struct plan *plan, const char *entry)
{
	bool passes = true;

	for (size_t i = 0; i < plan->n_env; i++) {
		const struct plan_env *change = &plan->env[i];

		if (change->kind == ENV_CLEAR)
			passes = false;
		else if (has_name(entry, change->name))
			passes = change->kind == ENV_SET ||
				 (change->kind == ENV_PASS &&
				  (!strchr(change->name, '*') ||
				   !is_by_name_only(entry)));
	}
	return passes;
}

int plan_environment(const struct plan *plan, char *const *base,
		     char ***ret_env, struct hb_error *err)
{
	size_t n = 0, text_size = 0;
	char **env, *text;

	while (base[n])
		n++;
	for (size_t i = 0; i < plan->n_env; i++) {
		if (plan->env[i].kind == ENV_SET)
			text_size += strlen(plan->env[i].name) +
				     strlen(plan->env[i].value) + 2;
	}
	env = malloc((n + plan->n_env + 1) * sizeof(*env) + text_size);
	if (!env)
		return hb_fail(err, -ENOMEM, "cannot make the environment");
	if (n)
		memcpy(env, base, n * sizeof(*env));
	text = (char *)(env + n + plan->n_env + 1);

	for (size_t i = 0; i < plan->n_env; i++) {
		const struct plan_env *change = &plan->env[i];

		if (change->kind == ENV_CLEAR) {
			n = 0;
			continue;
		}
		if (change->kind == ENV_PASS) {
			n = pass(env, n, base, change->name);
			continue;
		}
		n = drop_name(env, n, change->name, strlen(change->name));
		if (change->kind == ENV_SET)
			env[n++] = write_entry(&text, change);
	}
	env[n] = NULL;
	*ret_env = env;
	return 0;
}
