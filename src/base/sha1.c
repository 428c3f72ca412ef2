/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha1.h"

#include <stdio.h>
#include <string.h>

#define N_ROUNDS 80

static uint32_t rotate(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

static uint32_t load(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* What each twenty rounds mix of b, c and d. */
static uint32_t choose(uint32_t b, uint32_t c, uint32_t d)
{
	return d ^ (b & (c ^ d));
}

static uint32_t parity(uint32_t b, uint32_t c, uint32_t d)
{
	return b ^ c ^ d;
}

static uint32_t majority(uint32_t b, uint32_t c, uint32_t d)
{
	return (b & c) | (d & (b | c));
}

/* Twenty rounds; a loop of its own for each function, so that it is inlined. */
static inline __attribute__((always_inline)) void
rounds(uint32_t v[5], const uint32_t *w, uint32_t constant,
       uint32_t (*mix)(uint32_t b, uint32_t c, uint32_t d))
{
	uint32_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4];

	for (int i = 0; i < N_ROUNDS / 4; i++) {
		uint32_t next =
			rotate(a, 5) + mix(b, c, d) + e + constant + w[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	v[0] = a;
	v[1] = b;
	v[2] = c;
	v[3] = d;
	v[4] = e;
}

static void compress(uint32_t state[5], const uint8_t *block)
{
	uint32_t w[N_ROUNDS], v[5];

	for (int i = 0; i < 16; i++)
		w[i] = load(block + (ptrdiff_t)4 * i);
	for (int i = 16; i < N_ROUNDS; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(v, state, sizeof(v));
	rounds(v, w, 0x5a827999, choose);
	rounds(v, w + 20, 0x6ed9eba1, parity);
	rounds(v, w + 40, 0x8f1bbcdc, majority);
	rounds(v, w + 60, 0xca62c1d6, parity);
	for (int i = 0; i < 5; i++)
		state[i] += v[i];
}

void sha1_init(struct sha1 *h)
{
	*h = (struct sha1){ .state = { 0x67452301, 0xefcdab89, 0x98badcfe,
				       0x10325476, 0xc3d2e1f0 } };
}

void sha1_add(struct sha1 *h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	size_t held = h->bytes % SHA1_BLOCK_SIZE;

	h->bytes += n;
	if (held > 0) {
		size_t take = SHA1_BLOCK_SIZE - held;

		if (take > n)
			take = n;
		memcpy(h->block + held, p, take);
		if (held + take < SHA1_BLOCK_SIZE)
			return;
		compress(h->state, h->block);
		p += take;
		n -= take;
	}
	for (; n >= SHA1_BLOCK_SIZE; n -= SHA1_BLOCK_SIZE) {
		compress(h->state, p);
		p += SHA1_BLOCK_SIZE;
	}
	if (n > 0)
		memcpy(h->block, p, n);
}

void sha1_end_hex(struct sha1 *h, char hex[SHA1_HEX_SIZE])
{
	static const uint8_t padding[SHA1_BLOCK_SIZE] = { 0x80 };
	uint64_t bits = 8 * h->bytes;
	size_t held = h->bytes % SHA1_BLOCK_SIZE;
	uint8_t length[8];

	sha1_add(h, padding, held < 56 ? 56 - held : 120 - held);
	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha1_add(h, length, sizeof(length));
	for (int i = 0; i < 5; i++)
		(void)snprintf(hex + (ptrdiff_t)8 * i, 9, "%08x",
			       (unsigned)h->state[i]);
}

void sha1_init_blob(struct sha1 *h, uint64_t size)
{
	char head[32];
	int n;

	n = snprintf(head, sizeof(head), "blob %llu", (unsigned long long)size);
	sha1_init(h);
	sha1_add(h, head, (size_t)n + 1);
}
