/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/links.h"

#include "sys/durable.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define LINKS	 "links"
#define KEY_SIZE 48

static void key_of(size_t from, uint64_t ino, char key[KEY_SIZE])
{
	(void)snprintf(key, KEY_SIZE, "%zx-%llx", from,
		       (unsigned long long)ino);
}

void links_begin(struct links *links, int dir)
{
	*links = (struct links){ .dir = dir, .fd = -1 };
}

void links_end(struct links *links)
{
	if (links->fd < 0)
		return;
	sys_close(links->fd);
	links->fd = -1;
	(void)tree_remove(links->dir, LINKS, NULL);
}

int links_reuse(struct links *links, size_t from, uint64_t ino, int dir,
		const char *name)
{
	char key[KEY_SIZE];

	if (links->fd < 0)
		return -ENOENT;
	key_of(from, ino, key);
	return sys_linkat(links->fd, key, dir, name);
}

int links_keep(struct links *links, size_t from, uint64_t ino, int dir,
	       const char *name)
{
	char key[KEY_SIZE];

	if (links->fd < 0) {
		/* What an interruption left would be names of other files. */
		(void)tree_remove(links->dir, LINKS, NULL);
		if (sys_mkdirat(links->dir, LINKS, 0700) < 0)
			return 0;
		links->fd = sys_openat(links->dir, LINKS,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
		if (links->fd < 0)
			return 0;
	}
	key_of(from, ino, key);
	return sys_linkat(dir, name, links->fd, key) >= 0;
}
