/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/module_tree.h"

#include "base/auto.h"
#include "base/gitconfig.h"
#include "git/gitrefs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_MAX ((size_t)1 << 20)
#define KEY	   "core.worktree"

/* Of type gitconfig_fn: the last one counts. */
static int note(void *ctx, const struct gitconfig_key *key)
{
	char **value = ctx;

	if (key->n_name != strlen(KEY) ||
	    memcmp(key->name, KEY, key->n_name) != 0 || !key->value ||
	    memchr(key->value, '\0', key->n_value))
		return 0;
	free(*value);
	*value = strndup(key->value, key->n_value);
	return *value ? 0 : -ENOMEM;
}

/* `path` gets a name behind it, or loses its last one; false: it cannot. */
static bool step(char path[PATH_MAX], const char *name, size_t n)
{
	size_t len = strlen(path);
	char *slash;

	if (n == 0 || (n == 1 && name[0] == '.'))
		return true;
	if (n == 2 && name[0] == '.' && name[1] == '.') {
		slash = strrchr(path, '/');
		if (len == 0)
			return false;
		*(slash ? slash : path) = '\0';
		return true;
	}
	if (len + n + 3 > PATH_MAX)
		return false;
	(void)snprintf(path + len, PATH_MAX - len, "%s%.*s", len > 0 ? "/" : "",
		       (int)n, name);
	return true;
}

int module_tree_find(int base, const char *prefix, char **ret_below)
{
	auto_free char *text = NULL;
	auto_free char *value = NULL;
	char path[PATH_MAX] = "";
	const char *at;
	int r = gitref_read_file(base, prefix, "config", CONFIG_MAX, &text);

	*ret_below = NULL;
	if (r >= 0)
		r = gitconfig_read(text, strlen(text), note, &value);
	if (r < 0 || !value)
		return r == -ENOMEM ? r : 0;
	if (value[0] == '/' || strlen(prefix) + 3 > sizeof(path))
		return 0;
	(void)snprintf(path, sizeof(path), "%s", prefix);
	for (at = value; *at;) {
		size_t n = strcspn(at, "/");

		if (!step(path, at, n))
			return 0;
		at += n + (at[n] == '/');
	}
	if (path[0] == '\0')
		return 0;
	return asprintf(ret_below, "%s/", path) < 0 ? -ENOMEM : 0;
}
