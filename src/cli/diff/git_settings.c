/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/git_settings.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "cli/front/table.h"
#include "cli/show/colour.h"
#include "holdback/holdback.h"
#include "holdback/session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_MAX ((size_t)1 << 20)
#define MANY	   ((size_t)1 << 16) /* variables in an environment */

/* What follows the others: less if it is there. */
#define LAST_PAGER \
	"if command -v less >/dev/null; then exec less; else exec cat; fi"

enum when {
	WHEN_UNSAID,
	WHEN_NEVER,
	WHEN_AUTO,
	WHEN_ALWAYS
};

struct wishes {
	char pager[GITCONFIG_VALUE];
	bool has_pager;
	enum when ui, diff;
	bool no_pager_colour;
};

/* As git reads a boolean; what it is, it does not say, is taken for true. */
static bool is_false(const char *value)
{
	static const char *const words[] = { "false", "no", "off", "0", "" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

static enum when when_of(const char *value)
{
	if (strcasecmp(value, "always") == 0)
		return WHEN_ALWAYS;
	if (strcasecmp(value, "never") == 0 || is_false(value))
		return WHEN_NEVER;
	return WHEN_AUTO;
}

static void take_wish(void *ctx, const char *name, const char *value)
{
	struct wishes *w = ctx;

	if (strcmp(name, "core.pager") == 0) {
		(void)snprintf(w->pager, sizeof(w->pager), "%s", value);
		w->has_pager = true;
	} else if (strcmp(name, "color.ui") == 0) {
		w->ui = when_of(value);
	} else if (strcmp(name, "color.diff") == 0) {
		w->diff = when_of(value);
	} else if (strcmp(name, "color.pager") == 0) {
		w->no_pager_colour = is_false(value);
	}
}

/* A file that is missing, unreadable or wrong says nothing: git tells of it. */
static void read_file(const char *path, struct wishes *w)
{
	auto_free char *text = NULL;
	size_t n;

	if (hb_read_own_file(path, CONFIG_MAX, &text, &n, NULL) >= 0)
		(void)gitconfig_parse(text, take_wish, w);
}

static void read_below(const char *dir, const char *name, struct wishes *w)
{
	char path[PATH_MAX];
	int n;

	if (!dir || dir[0] != '/')
		return;
	n = snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (n > 0 && (size_t)n < sizeof(path))
		read_file(path, w);
}

static void read_config(char *const *envp, struct wishes *w)
{
	const char *system = env_get(envp, "GIT_CONFIG_SYSTEM");
	const char *global = env_get(envp, "GIT_CONFIG_GLOBAL");
	const char *none = env_get(envp, "GIT_CONFIG_NOSYSTEM");
	const char *home = env_get(envp, "HOME");
	const char *xdg = env_get(envp, "XDG_CONFIG_HOME");

	if (!none || is_false(none))
		read_file(system ? system : "/etc/gitconfig", w);
	if (global) {
		read_file(global, w);
		return;
	}
	if (xdg && xdg[0])
		read_below(xdg, "git/config", w);
	else
		read_below(home, ".config/git/config", w);
	read_below(home, ".gitconfig", w);
}

static bool is_colourful(const struct cli_values *values, char *const *envp,
			 const struct wishes *w, const struct settings *s)
{
	enum when when = WHEN_AUTO;

	if (values->color)
		when = when_of(values->color);
	else if (colour_is_refused(envp))
		when = WHEN_NEVER;
	else if (w->diff != WHEN_UNSAID)
		when = w->diff;
	else if (w->ui != WHEN_UNSAID)
		when = w->ui;
	if (when != WHEN_AUTO)
		return when == WHEN_ALWAYS;
	return s->is_for_terminal && colour_is_possible(envp) &&
	       !(s->pager[0] && w->no_pager_colour);
}

static void find_pager(char *const *envp, const struct wishes *w,
		       struct settings *s)
{
	const char *const wanted[] = {
		env_get(envp, "HOLDBACK_PAGER"),
		env_get(envp, "GIT_PAGER"),
		w->has_pager ? w->pager : NULL,
		env_get(envp, "PAGER"),
		LAST_PAGER,
	};
	size_t i = 0;

	while (!wanted[i])
		i++;
	if (strcmp(wanted[i], "cat") != 0)
		(void)snprintf(s->pager, sizeof(s->pager), "%s", wanted[i]);
}

void settings_find(const struct cli_values *values, char *const *envp,
		   struct settings *ret_settings)
{
	struct settings *s = ret_settings;
	struct wishes w = { 0 };

	*s = (struct settings){
		.is_for_terminal = hb_is_terminal(STDOUT_FILENO),
	};
	read_config(envp, &w);
	if (s->is_for_terminal && !values->no_pager && !values->json)
		find_pager(envp, &w, s);
	s->has_colour = !values->json && is_colourful(values, envp, &w, s);
}

int settings_start_pager(const struct settings *settings,
			 const struct hb_session *session, char *const *envp,
			 struct hb_pager **ret_pager, struct hb_error *err)
{
	static char less[] = "LESS=FRX", lv[] = "LV=-c";
	auto_free char **env = NULL;
	size_t n = 0;

	*ret_pager = NULL;
	if (!settings->pager[0])
		return 0;
	while (n < MANY && envp[n])
		n++;
	env = calloc(n + 3, sizeof(*env));
	if (!env)
		return hb_fail(err, -ENOMEM, "cannot start the pager");
	for (size_t i = 0; i < n; i++)
		env[i] = envp[i];
	if (!env_get(envp, "LESS"))
		env[n++] = less;
	if (!env_get(envp, "LV"))
		env[n++] = lv;
	return hb_pager_start(hb_session_dir(session), settings->pager, env,
			      ret_pager, err);
}
