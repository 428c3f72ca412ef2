/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/colour.h"

#include "base/env.h"
#include "holdback/holdback.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const char *const starts[] = {
	[COLOUR_NONE] = "",
	[COLOUR_HEAD] = "\033[1m",
	[COLOUR_ADDED] = "\033[32m",
	[COLOUR_DELETED] = "\033[31m",
	[COLOUR_CHANGED] = "\033[33m",
	[COLOUR_WARNING] = "\033[1;33m",
};

bool colour_is_refused(char *const *envp)
{
	const char *none = env_get(envp, "NO_COLOR");

	return none && none[0];
}

bool colour_is_possible(char *const *envp)
{
	const char *term = env_get(envp, "TERM");

	return term && term[0] && strcmp(term, "dumb") != 0;
}

bool colour_is_on(int fd)
{
	return hb_is_terminal(fd) && !colour_is_refused(environ) &&
	       colour_is_possible(environ);
}

enum colour colour_of_kind(char kind)
{
	switch (kind) {
	case 'A':
		return COLOUR_ADDED;
	case 'D':
		return COLOUR_DELETED;
	default:
		return COLOUR_CHANGED;
	}
}

const char *colour_begin(bool is_on, enum colour colour)
{
	return is_on ? starts[colour] : "";
}

const char *colour_end(bool is_on, enum colour colour)
{
	return is_on && colour != COLOUR_NONE ? "\033[m" : "";
}
