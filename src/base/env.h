/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_ENV_H
#define HB_BASE_ENV_H

#include <stddef.h>
#include <string.h>

/* The value of a variable in an environment that was given; NULL: not set. */
static inline const char *env_get(char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; envp[i]; i++)
		if (strncmp(envp[i], name, n) == 0 && envp[i][n] == '=')
			return envp[i] + n + 1;
	return NULL;
}

#endif
