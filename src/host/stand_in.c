/* SPDX-License-Identifier: Apache-2.0 */
#include "base/env.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "host/look.h"
#include "plan/environment/view_env.h"
#include "sys/proc.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Standing in front of a program, and getting out of its way. */

/* What the variable may say, and whether the sandbox is on then. */
static const struct {
	const char *word;
	bool is_on;
} switch_words[] = {
	{ "", true },	    { "1", true },   { "true", true },
	{ "yes", true },    { "on", true },  { "0", false },
	{ "false", false }, { "no", false }, { "off", false },
};

int hb_is_switched_on(char *const *envp, struct hb_error *err)
{
	const char *value = env_get(envp, HB_SWITCH);

	if (!value)
		return 1;
	for (size_t i = 0; i < sizeof(switch_words) / sizeof(switch_words[0]);
	     i++)
		if (strcmp(value, switch_words[i].word) == 0)
			return switch_words[i].is_on;
	hb_fix(err, "unset " HB_SWITCH);
	return hb_fail(err, -HB_E_USAGE,
		       HB_SWITCH " says neither true nor false");
}

bool hb_is_inside(char *const *envp)
{
	const char *value = env_get(envp, VIEW_ENV_INSIDE);

	return value && strcmp(value, "1") == 0 && sys_has_no_new_privs();
}

bool hb_stands_for(const char *name, char *const *envp)
{
	char found[PATH_MAX], real[PATH_MAX];

	return look_command(name, env_get(envp, "PATH"), "/", found, real,
			    NULL) >= 0;
}

int hb_exec_unprotected(char *const argv[], char *const envp[],
			struct hb_error *err)
{
	char cwd[PATH_MAX], found[PATH_MAX], real[PATH_MAX];
	int r;

	r = look_real(".", cwd);
	if (r < 0)
		return hb_fail(err, r, "cannot tell the working directory");
	r = look_command(argv[0], env_get(envp, "PATH"), cwd, found, real, err);
	if (r < 0)
		return r;
	r = sys_execve(found, argv, envp);
	return hb_fail(err,
		       r == -ENOENT ? -HB_E_NOT_FOUND : -HB_E_NOT_EXECUTABLE,
		       "cannot execute it: %s", hb_strerror(-r));
}
