/* SPDX-License-Identifier: Apache-2.0 */
#include "base/siphash.h"

/* "somepseudorandomlygeneratedbytes", as the algorithm's authors have it. */
#define START_0 0x736f6d6570736575ULL
#define START_1 0x646f72616e646f6dULL
#define START_2 0x6c7967656e657261ULL
#define START_3 0x7465646279746573ULL

#define LAST_ROUNDS 3

struct state {
	uint64_t a, b, c, d;
};

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void mix(struct state *s)
{
	s->a += s->b;
	s->b = rotate(s->b, 13) ^ s->a;
	s->a = rotate(s->a, 32);
	s->c += s->d;
	s->d = rotate(s->d, 16) ^ s->c;
	s->a += s->d;
	s->d = rotate(s->d, 21) ^ s->a;
	s->c += s->b;
	s->b = rotate(s->b, 17) ^ s->c;
	s->c = rotate(s->c, 32);
}

/* Up to eight bytes, the first of them the lowest. */
static uint64_t word(const unsigned char *p, size_t n)
{
	uint64_t w = 0;

	for (size_t i = 0; i < n; i++)
		w |= (uint64_t)p[i] << 8 * i;
	return w;
}

static void absorb(struct state *s, uint64_t w)
{
	s->d ^= w;
	mix(s);
	s->a ^= w;
}

uint64_t siphash(const struct siphash_key *key, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	struct state s = { START_0 ^ key->k0, START_1 ^ key->k1,
			   START_2 ^ key->k0, START_3 ^ key->k1 };
	size_t left = n;

	for (; left >= 8; left -= 8, p += 8)
		absorb(&s, word(p, 8));
	absorb(&s, word(p, left) | (uint64_t)n << 56);
	s.c ^= 0xff;
	for (int i = 0; i < LAST_ROUNDS; i++)
		mix(&s);
	return s.a ^ s.b ^ s.c ^ s.d;
}
