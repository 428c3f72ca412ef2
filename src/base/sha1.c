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

/* What round `i` mixes in of b, c and d, and its constant. */
static uint32_t mix(int i, const uint32_t v[5])
{
	uint32_t b = v[1], c = v[2], d = v[3];

	if (i < 20)
		return ((b & c) | (~b & d)) + 0x5a827999;
	if (i < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (i < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

static void compress(uint32_t state[5], const uint8_t *block)
{
	uint32_t w[N_ROUNDS], v[5];

	for (int i = 0; i < 16; i++)
		w[i] = load(block + (ptrdiff_t)4 * i);
	for (int i = 16; i < N_ROUNDS; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < N_ROUNDS; i++) {
		uint32_t next = rotate(v[0], 5) + mix(i, v) + v[4] + w[i];

		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate(v[1], 30);
		v[1] = v[0];
		v[0] = next;
	}
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
