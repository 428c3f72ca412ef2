/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_BYTES_H
#define HB_TREE_BYTES_H

#include <stdint.h>

/* Numbers as they are stored: little-endian, at any address. */
static inline uint32_t bytes_get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static inline uint64_t bytes_get64(const uint8_t *p)
{
	return (uint64_t)bytes_get32(p) | (uint64_t)bytes_get32(p + 4) << 32;
}

static inline void bytes_put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline void bytes_put64(uint8_t *p, uint64_t v)
{
	bytes_put32(p, (uint32_t)v);
	bytes_put32(p + 4, (uint32_t)(v >> 32));
}

/*
 * A row X(member, place, bits) of a table of fields, between the struct at `o`
 * and the bytes at `p`.  So writer and reader have one table.
 */
#define BYTES_PUT(member, at, bits) \
	bytes_put##bits(p + (at), (uint##bits##_t)o->member);
#define BYTES_GET(member, at, bits) \
	o->member = (__typeof__(o->member))bytes_get##bits(p + (at));

#endif
