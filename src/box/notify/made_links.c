/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/made_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

/* FNV-1a, of 64 bits. */
#define HASH_BASIS UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

uint64_t made_links_path(uint64_t above, const char *name)
{
	uint64_t hash = HASH_BASIS ^ above;

	for (const char *p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * HASH_PRIME;
	/* A slash, which no name has. */
	return (hash ^ '/') * HASH_PRIME;
}

int made_links_add(struct made_links *links, uint64_t path,
		   const struct stat *source, const struct stat *twin)
{
	if (links->n == links->room) {
		size_t room = links->room ? 2 * links->room : FIRST_ROOM;
		struct made_link *more =
			realloc(links->links, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		links->links = more;
		links->room = room;
	}
	links->links[links->n++] = (struct made_link){
		.path = path,
		.source = source->st_ino,
		.twin = twin->st_ino,
		.size = twin->st_size,
		.mtime = twin->st_mtim,
	};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct made_link *x = a, *y = b;

	return (x->path > y->path) - (x->path < y->path);
}

void made_links_sort(struct made_links *links)
{
	if (links->n > 0)
		qsort(links->links, links->n, sizeof(*links->links), compare);
}

const struct made_link *made_links_find(const struct made_links *links,
					uint64_t path)
{
	const struct made_link key = { .path = path };

	return links->n == 0 ? NULL
			     : bsearch(&key, links->links, links->n,
				       sizeof(key), compare);
}

void made_links_free(struct made_links *links)
{
	free(links->links);
	*links = (struct made_links){ 0 };
}

bool made_link_is_source(const struct made_link *link, const struct stat *st)
{
	/* An overlay that looks the name up afresh gives it the twin's. */
	return link && (link->source == st->st_ino || link->twin == st->st_ino);
}

bool made_link_is_twin(const struct made_link *link, const struct stat *st)
{
	return link && link->twin == st->st_ino;
}

bool made_link_is_same(const struct made_link *link, const struct stat *st)
{
	return link && link->size == st->st_size &&
	       memcmp(&link->mtime, &st->st_mtim, sizeof(link->mtime)) == 0;
}
