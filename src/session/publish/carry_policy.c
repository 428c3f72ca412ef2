/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/carry_policy.h"

#include "agent/carried.h"
#include "plan/keys.h"
#include "plan/settings.h"

#include <stddef.h>
#include <string.h>

/* What one key means for the comparison. */
static const struct line_kind {
	enum setting_key key;
	bool is_of_names; /* the host's network has it without a line */
	bool is_loss;
} kinds[] = {
	{ KEY_ALLOW, true, false },
	{ KEY_HOST_PORT, true, false },
	{ KEY_NET_LOOSE, true, false },
	{ KEY_DENY, true, true },
};

/* The value if the line is about this key; else NULL. */
static const char *value_of(const char *line, enum setting_key key)
{
	const char *name = setting_name(key);
	size_t n = strlen(name);

	return strncmp(line, name, n) == 0 && line[n] == ' ' ? line + n + 1
							     : NULL;
}

static const struct line_kind *kind_of(const char *line)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (value_of(line, kinds[i].key))
			return &kinds[i];
	return NULL;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

static bool has_line(const char *policy, const char *line)
{
	size_t n = strcspn(line, "\n");

	for (; *policy; policy = next_line(policy))
		if (strcspn(policy, "\n") == n && memcmp(policy, line, n) == 0)
			return true;
	return n == 0;
}

static enum net_mode net_of(const char *policy)
{
	for (; *policy; policy = next_line(policy)) {
		const char *word = value_of(policy, KEY_NET);
		size_t n = word ? strcspn(word, "\n") : 0;

		for (int mode = 0; word && mode < NET_MODES; mode++)
			if (strlen(key_nets[mode]) == n &&
			    memcmp(key_nets[mode], word, n) == 0)
				return (enum net_mode)mode;
	}
	return NET_NONE;
}

bool carry_policy_fits(const char *mine, const char *other)
{
	enum net_mode net = net_of(mine), others = net_of(other);
	const struct line_kind *kind;

	if (strcmp(other, CARRIED_POLICY_ANY) == 0)
		return true;
	if (net > others)
		return false;
	for (const char *line = mine; *line; line = next_line(line)) {
		kind = kind_of(line);
		if (value_of(line, KEY_NET) || (kind && kind->is_loss) ||
		    (kind && kind->is_of_names && others == NET_HOST))
			continue;
		if (!has_line(other, line))
			return false;
	}
	for (const char *line = other; *line; line = next_line(line)) {
		kind = kind_of(line);
		if (kind && kind->is_loss && net != NET_NONE &&
		    others != NET_HOST && !has_line(mine, line))
			return false;
	}
	return true;
}
