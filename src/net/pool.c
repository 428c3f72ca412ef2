/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pool.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

#define LISTED_FIRST 0xc6120100U
#define OTHERS_FIRST 0xc6130000U
#define POOL_NET     (0xc6120000U >> 17)
#define V6_PREFIX    12

static const unsigned char prefix_v6[V6_PREFIX] = { 0xfd, 0x68, 0x62, 0x64,
						    0x6b };

struct pool_name {
	struct pool_name *next; /* of the bucket */
	uint32_t number;
	bool is_listed;
	char host[];
};

/* FNV-1a, folded: a box that makes its names collide slows itself down. */
static uint32_t bucket_of(const char *s)
{
	uint32_t h = 2166136261U;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619U;
	return (h ^ h >> 15) % BUCKETS;
}

static bool make_room(struct pool *p)
{
	if (!p->buckets)
		p->buckets = calloc(BUCKETS, sizeof(struct pool_name *));
	if (!p->listed)
		p->listed = calloc(POOL_LISTED, sizeof(struct pool_name *));
	if (!p->others)
		p->others = calloc(POOL_OTHERS, sizeof(struct pool_name *));
	return p->buckets && p->listed && p->others;
}

static void forget(struct pool *p, struct pool_name *name)
{
	struct pool_name **at = &p->buckets[bucket_of(name->host)];

	while (*at && *at != name)
		at = &(*at)->next;
	if (*at)
		*at = name->next;
	free(name);
}

static struct pool_name *add(struct pool *p, const char *host, bool is_listed)
{
	struct pool_name **bucket = &p->buckets[bucket_of(host)], **slot;
	size_t n = strlen(host) + 1;
	struct pool_name *name;

	if (is_listed && p->n_listed == POOL_LISTED)
		return NULL;
	name = malloc(sizeof(*name) + n);
	if (!name)
		return NULL;
	memcpy(name->host, host, n);
	name->is_listed = is_listed;
	name->number =
		is_listed ? p->n_listed++ : p->next_other++ % POOL_OTHERS;
	if (is_listed && p->kept && !(*p->kept)[name->number][0])
		memcpy((*p->kept)[name->number], host, n);
	slot = is_listed ? &p->listed[name->number] : &p->others[name->number];
	if (*slot)
		forget(p, *slot);
	*slot = name;
	name->next = *bucket;
	*bucket = name;
	return name;
}

bool pool_assign(struct pool *p, const char *host, bool is_listed,
		 struct in_addr *ret_v4, struct in6_addr *ret_v6)
{
	struct pool_name *name;
	uint32_t low;

	if (!make_room(p))
		return false;
	for (name = p->buckets[bucket_of(host)]; name; name = name->next)
		if (name->is_listed == is_listed &&
		    strcmp(name->host, host) == 0)
			break;
	if (!name)
		name = add(p, host, is_listed);
	if (!name)
		return false;
	low = htonl((is_listed ? LISTED_FIRST : OTHERS_FIRST) + name->number);
	ret_v4->s_addr = low;
	memcpy(ret_v6->s6_addr, prefix_v6, V6_PREFIX);
	memcpy(ret_v6->s6_addr + V6_PREFIX, &low, sizeof(low));
	return true;
}

void pool_restore(struct pool *p, pool_kept *kept)
{
	p->kept = kept;
	if (!kept || !make_room(p))
		return;
	while (p->n_listed < POOL_LISTED && (*kept)[p->n_listed][0]) {
		const char *text = (*kept)[p->n_listed];
		char host[HOSTNAME_SIZE];

		if (!hostname_normalize(text, strnlen(text, HOSTNAME_SIZE),
					host))
			p->n_listed++;
		else if (!add(p, host, true))
			return;
	}
}

const char *pool_find(const struct pool *p, const struct in6_addr *address,
		      bool *ret_is_ours)
{
	const struct pool_name *name = NULL;
	uint32_t low;

	memcpy(&low, address->s6_addr + V6_PREFIX, sizeof(low));
	low = ntohl(low);
	*ret_is_ours =
		(IN6_IS_ADDR_V4MAPPED(address) && low >> 17 == POOL_NET) ||
		memcmp(address->s6_addr, prefix_v6, V6_PREFIX) == 0;
	if (!*ret_is_ours)
		return NULL;
	if (p->listed && low - LISTED_FIRST < POOL_LISTED)
		name = p->listed[low - LISTED_FIRST];
	else if (p->others && low - OTHERS_FIRST < POOL_OTHERS)
		name = p->others[low - OTHERS_FIRST];
	return name ? name->host : NULL;
}

void pool_done(struct pool *p)
{
	for (uint32_t i = 0; p->listed && i < p->n_listed; i++)
		free(p->listed[i]);
	for (uint32_t i = 0; p->others && i < POOL_OTHERS; i++)
		free(p->others[i]);
	free(p->buckets);
	free(p->listed);
	free(p->others);
	*p = (struct pool){ 0 };
}
