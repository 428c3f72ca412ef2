/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/above.h"

#include "base/path.h"

#include <string.h>

/* Where agents put work trees: the names up to there say nothing of them. */
static const char *const worktrees[] = {
	"/.claude/worktrees/",
	"/.codex/worktrees/",
	"/.cursor/worktrees/",
};

#define NAMES_ABOVE 3

const char *gate_above(const char *source, const char *home)
{
	const char *last = source + strlen(source);

	for (size_t i = 0; i < sizeof(worktrees) / sizeof(worktrees[0]); i++) {
		const char *in = strstr(source, worktrees[i]);

		if (in)
			return in + strlen(worktrees[i]);
	}
	if (home && strcmp(source, home) != 0 && path_is_beneath(source, home))
		return source + strlen(home) + 1;
	for (int i = 0; i < NAMES_ABOVE && last > source; i++)
		while (last > source && *--last != '/')
			;
	return *last == '/' ? last + 1 : last;
}
