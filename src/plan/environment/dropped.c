/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/environment/dropped.h"

#include "plan/environment/env.h"
#include "plan/environment/view_env.h"
#include "plan/plan.h"
#include "plan/settings.h"

#include <stdbool.h>
#include <string.h>

/* How variables of agents and of the services that they use begin. */
static const struct {
	const char *prefix;
	bool is_shared; /* other programs have them as well */
} families[] = {
	{ "ANTHROPIC_", false }, { "CLAUDE_", false },	   { "OPENAI_", false },
	{ "CODEX_", false },	 { "GEMINI_", false },	   { "GOOGLE_", false },
	{ "OPENCODE_", false },	 { "OPENROUTER_", false }, { "AIDER_", false },
	{ "DEEPSEEK_", false },	 { "GROQ_", false },	   { "VERTEX_", false },
	{ "AWS_", true },	 { "AZURE_", true },
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A variable that the profile of the command itself names. */
static bool is_of_profile(const struct setting_item *item)
{
	return item->key == KEY_ENV &&
	       item->origin.source == SETTING_BUILT_IN && item->origin.file &&
	       strcmp(item->origin.file, PROFILE_BASE) != 0;
}

/* Which families the command may want, as bits. */
static unsigned find_families(const struct settings *s)
{
	bool has_profile = false;
	unsigned wanted = 0;

	for (size_t i = 0; i < s->n_items; i++) {
		if (!is_of_profile(&s->items[i]))
			continue;
		has_profile = true;
		for (size_t k = 0; k < FAMILIES; k++)
			if (begins(s->items[i].value, families[k].prefix))
				wanted |= 1U << k;
	}
	for (size_t k = 0;
	     !has_profile && settings_net(s) != NET_NONE && k < FAMILIES; k++)
		if (!families[k].is_shared)
			wanted |= 1U << k;
	return wanted;
}

static bool is_wanted(unsigned wanted, const char *entry)
{
	for (size_t k = 0; k < FAMILIES; k++)
		if (wanted >> k & 1 && begins(entry, families[k].prefix))
			return true;
	return false;
}

/* A certificate that was not found leaves an agent without a service. */
static bool is_authority(const struct settings *s, const char *entry)
{
	size_t n = strcspn(entry, "=");

	for (size_t i = 0;
	     settings_net(s) != NET_NONE && view_env_authorities[i]; i++)
		if (strlen(view_env_authorities[i]) == n &&
		    begins(entry, view_env_authorities[i]) && entry[n])
			return true;
	return false;
}

size_t dropped_find(const struct settings *s, const struct plan *plan,
		    char *const *envp, const char **ret, size_t max)
{
	unsigned wanted = find_families(s);
	size_t n = 0;

	for (; *envp; envp++) {
		if ((!is_wanted(wanted, *envp) && !is_authority(s, *envp)) ||
		    plan_passes(plan, *envp))
			continue;
		if (n < max)
			ret[n] = *envp;
		n++;
	}
	return n;
}
