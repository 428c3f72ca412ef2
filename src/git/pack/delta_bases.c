/* SPDX-License-Identifier: Apache-2.0 */
#include "git/pack/delta_bases.h"

#include <stdlib.h>

/*
 * A ring of entries in the order of their arrival, and a table that finds the
 * last one of each hash.  Two of one hash: the older is not found any more, and
 * goes when its turn comes.
 */
#define ENTRIES	  4096
#define ENTRY_MAX (DELTA_BASES_BYTES / 4)

struct base {
	const struct gitpack *pack; /* NULL: none */
	uint64_t offset;
	struct git_object object;
};

struct delta_bases {
	struct base ring[ENTRIES];
	uint16_t found[ENTRIES]; /* by hash: the place in the ring */
	size_t oldest, n, bytes;
};

struct delta_bases *delta_bases_new(void)
{
	return calloc(1, sizeof(struct delta_bases));
}

static void drop_oldest(struct delta_bases *b)
{
	struct base *base = &b->ring[b->oldest];

	free(base->object.data);
	b->bytes -= base->object.size;
	*base = (struct base){ 0 };
	b->oldest = (b->oldest + 1) % ENTRIES;
	b->n--;
}

void delta_bases_free(struct delta_bases *bases)
{
	while (bases && bases->n > 0)
		drop_oldest(bases);
	free(bases);
}

static size_t hash_of(const struct gitpack *pack, uint64_t offset)
{
	uint64_t h = offset * 0x9e3779b97f4a7c15U ^ (uintptr_t)pack;

	return (size_t)(h >> 40 ^ h) % ENTRIES;
}

const struct git_object *delta_bases_find(const struct delta_bases *bases,
					  const struct gitpack *pack,
					  uint64_t offset)
{
	const struct base *base =
		&bases->ring[bases->found[hash_of(pack, offset)]];

	return base->pack == pack && base->offset == offset ? &base->object
							    : NULL;
}

void delta_bases_add(struct delta_bases *bases, const struct gitpack *pack,
		     uint64_t offset, const struct git_object *object)
{
	size_t at;

	if (object->size > ENTRY_MAX) {
		free(object->data);
		return;
	}
	while (bases->n == ENTRIES ||
	       bases->bytes + object->size > DELTA_BASES_BYTES)
		drop_oldest(bases);
	at = (bases->oldest + bases->n++) % ENTRIES;
	bases->ring[at] = (struct base){ pack, offset, *object };
	bases->bytes += object->size;
	bases->found[hash_of(pack, offset)] = (uint16_t)at;
}
