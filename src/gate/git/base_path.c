/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/git/base_path.h"

#include "base/path.h"
#include "changes/resource.h"
#include "sys/file.h"

#include <string.h>

#define LINKS_MAX 40 /* as the kernel has it */

/* Of an absolute path the part behind the resource's own; NULL: outside. */
static const char *behind(const struct resource *resource, const char *path)
{
	const char *const roots[] = { resource->record->source,
				      resource->record->inside };

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		size_t n = roots[i] ? strlen(roots[i]) : 0;

		if (n > 0 && strncmp(path, roots[i], n) == 0 &&
		    (path[n] == '/' || path[n] == '\0'))
			return path + n;
	}
	return NULL;
}

static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

/* The names that are still ahead, with those of a link before them. */
static bool put_before(const char *target, const char *rest, char *ahead)
{
	char joined[PATH_MAX];

	if (path_join(target, rest, joined, sizeof(joined)) < 0)
		return false;
	memcpy(ahead, joined, strlen(joined) + 1);
	return true;
}

/* The next name of `ahead` is added to `done`. */
static bool step(const struct resource *resource, struct path_part part,
		 char *done, char *ahead, const char *rest, int *links)
{
	char target[PATH_MAX], name[NAME_MAX + 1], next[PATH_MAX];
	const char *from = target;
	ssize_t n;

	if (path_part_is(part, "..")) {
		if (!done[0])
			return false;
		cut_last(done);
		return put_before(rest, "", ahead);
	}
	if (part.n >= sizeof(name))
		return false;
	memcpy(name, part.s, part.n);
	name[part.n] = '\0';
	if (path_join(done, name, next, sizeof(next)) < 0)
		return false;
	n = sys_readlinkat(resource->base, next, target, sizeof(target) - 1);
	if (n < 0) {
		memcpy(done, next, strlen(next) + 1);
		return put_before(rest, "", ahead);
	}
	target[n] = '\0';
	if (++*links > LINKS_MAX)
		return false;
	if (target[0] == '/') {
		from = behind(resource, target);
		done[0] = '\0';
	}
	return from && put_before(from, rest, ahead);
}

bool base_path_resolve(const struct resource *resource, const char *path,
		       char ret[PATH_MAX])
{
	char ahead[PATH_MAX];
	struct path_part part;
	int links = 0;

	ret[0] = '\0';
	if (!put_before(path, "", ahead))
		return false;
	for (;;) {
		const char *at = ahead;

		if (!path_next(&at, &part))
			return ret[0] != '\0';
		if (!step(resource, part, ret, ahead, at, &links))
			return false;
	}
}

bool base_path_inside(const struct resource *resource, const char *path,
		      char ret[PATH_MAX])
{
	const char *rest = behind(resource, path);

	return rest && base_path_resolve(resource, rest, ret);
}
