/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_MADE_LINKS_H
#define HB_BOX_NOTIFY_MADE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * The links that a twin was made of (box/notify/twin.h), in memory.  They are
 * needed while the source is removed.  They tell a name that another process
 * has deleted from a name that it has made.  And they tell an old file from the
 * file that took its place.
 */
struct made_link {
	uint64_t path;	       /* made_links_path() */
	uint64_t source, twin; /* inode numbers; an overlay has two */
	off_t size;	       /* both as they were */
	struct timespec mtime;
};

struct made_links {
	struct made_link *links;
	size_t n, room;
};

/* The number of the path of `name` in the directory with the number `above`. */
uint64_t made_links_path(uint64_t above, const char *name);

/* -ENOMEM: it is not there. */
int made_links_add(struct made_links *links, uint64_t path,
		   const struct stat *source, const struct stat *twin);

/* After the last one was added, and before the first is looked for. */
void made_links_sort(struct made_links *links);

/* NULL: no link of ours has this path. */
const struct made_link *made_links_find(const struct made_links *links,
					uint64_t path);
void made_links_free(struct made_links *links);

/* Whether this is the file that was linked, and the link; NULL is neither. */
bool made_link_is_source(const struct made_link *link, const struct stat *st);
bool made_link_is_twin(const struct made_link *link, const struct stat *st);

/* Whether the contents are those of then, as far as size and time tell. */
bool made_link_is_same(const struct made_link *link, const struct stat *st);

#endif
