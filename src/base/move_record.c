/* SPDX-License-Identifier: Apache-2.0 */
#include "base/move_record.h"

#include "base/path.h"

#include <stdio.h>
#include <string.h>

static bool is_below(const char *path, size_t size)
{
	return memchr(path, '\0', size) && path[0] != '\0' && path[0] != '/' &&
	       !path_has_dotdot(path);
}

bool moving_is_sound(const struct moving *m)
{
	return m->step > MOVING_NOTHING && m->step < MOVING_STEPS &&
	       is_below(m->hidden, sizeof(m->hidden)) &&
	       strncmp(m->hidden, MOVING_HIDDEN, strlen(MOVING_HIDDEN)) == 0 &&
	       !strchr(m->hidden, '/') &&
	       is_below(m->source, sizeof(m->source)) &&
	       is_below(m->target, sizeof(m->target));
}

const char *moving_split(const char *path, char ret_parent[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	if (!slash) {
		(void)snprintf(ret_parent, PATH_MAX, ".");
		return path;
	}
	(void)snprintf(ret_parent, PATH_MAX, "%.*s", (int)(slash - path), path);
	return slash + 1;
}
