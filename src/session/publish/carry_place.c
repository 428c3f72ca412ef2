/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/carry_place.h"

#include "base/auto.h"
#include "base/path.h"
#include "session/session.h"
#include "sys/attr.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

bool carry_is_state(const struct hb_session *s, size_t resource)
{
	return strcmp(s->record.resources[resource].role, "state") == 0;
}

size_t carry_find_resource(const struct hb_session *s, const char *path)
{
	const size_t n = s->record.n_resources;
	size_t found = n;

	/* The innermost: resource_add_apart() may have put one into another.
	 */
	for (size_t i = 0; i < n; i++) {
		const char *source = s->record.resources[i].source;

		if (carry_is_state(s, i) && !s->resources[i].is_gone &&
		    strcmp(path, source) != 0 &&
		    path_is_beneath(path, source) &&
		    (found == n ||
		     strlen(source) >
			     strlen(s->record.resources[found].source)))
			found = i;
	}
	return found;
}

int carry_open_parents(const struct hb_session *s, size_t resource,
		       const char *path, int *ret_base)
{
	auto_fd int dir =
		sys_openat(s->resources[resource].upper, ".", DIR_FLAGS, 0);
	auto_fd int below =
		sys_openat(s->resources[resource].base, ".", DIR_FLAGS, 0);
	const char *slash;
	int r;

	for (; (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		struct sys_attr attr = { .mode = 0700 };
		int next;

		if (dir < 0 || slash - path > NAME_MAX)
			return dir < 0 ? dir : -ENAMETOOLONG;
		(void)snprintf(name, sizeof(name), "%.*s", (int)(slash - path),
			       path);
		next = below < 0 ? -1 : sys_openat(below, name, DIR_FLAGS, 0);
		/* The host has something else there by now. */
		if (next < 0 && below >= 0 && next != -ENOENT)
			return -ESTALE;
		if (next >= 0)
			(void)sys_attr_at(next, "", &attr);
		fd_closep(&below);
		below = next < 0 ? -1 : next;
		r = sys_mkdirat(dir, name, 0700);
		if (r < 0 && r != -EEXIST)
			return r;
		next = sys_openat(dir, name, DIR_FLAGS, 0);
		if (next >= 0 && r >= 0)
			(void)sys_fchmod(next, attr.mode & 0777);
		fd_closep(&dir);
		dir = next;
	}
	*ret_base = take_fd(&below);
	return take_fd(&dir);
}
