/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <errno.h>
#include <string.h>

/* The cube roots of the first 64 primes: the first 32 bits behind the point. */
static const uint32_t K[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t load(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void store(uint8_t *p, uint32_t x)
{
	p[0] = (uint8_t)(x >> 24);
	p[1] = (uint8_t)(x >> 16);
	p[2] = (uint8_t)(x >> 8);
	p[3] = (uint8_t)x;
}

static void expand(const uint8_t *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = load(block + (ptrdiff_t)4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
		uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/*
 * One round.  The standard's next a to h are the same variables under the name
 * of their neighbour.  Nothing is moved: with some libraries that takes longer
 * than the round.
 */
static void mix(uint32_t v[8], unsigned round, uint32_t input)
{
	uint32_t a = v[-round & 7], e = v[(4 - round) & 7];
	uint32_t b = v[(1 - round) & 7], f = v[(5 - round) & 7];
	uint32_t c = v[(2 - round) & 7], g = v[(6 - round) & 7];
	uint32_t *h = &v[(7 - round) & 7];
	uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
	uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
	uint32_t t = *h + s1 + ((e & f) ^ (~e & g)) + K[round] + input;

	v[(3 - round) & 7] += t;
	*h = t + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

static void compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], v[8];

	expand(block, w);
	memcpy(v, state, sizeof(v));
	for (unsigned i = 0; i < 64; i++)
		mix(v, i, w[i]);
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *h)
{
	/* The square roots of the first eight primes, in the same way. */
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
					   0xa54ff53a, 0x510e527f, 0x9b05688c,
					   0x1f83d9ab, 0x5be0cd19 };

	*h = (struct sha256){ 0 };
	memcpy(h->state, start, sizeof(start));
}

void sha256_add(struct sha256 *h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	size_t used = h->bytes % SHA256_BLOCK_SIZE, part;

	h->bytes += n;
	while (n > 0) {
		if (used == 0 && n >= SHA256_BLOCK_SIZE) {
			compress(h->state, p);
			part = SHA256_BLOCK_SIZE;
		} else {
			part = SHA256_BLOCK_SIZE - used;
			part = part < n ? part : n;
			memcpy(h->block + used, p, part);
			used = (used + part) % SHA256_BLOCK_SIZE;
			if (used == 0)
				compress(h->state, h->block);
		}
		p += part;
		n -= part;
	}
}

void sha256_end(struct sha256 *h, uint8_t digest[SHA256_SIZE])
{
	static const uint8_t padding[SHA256_BLOCK_SIZE] = { 0x80 };
	uint64_t bits = h->bytes * 8;
	size_t used = h->bytes % SHA256_BLOCK_SIZE;
	uint8_t length[8];

	store(length, (uint32_t)(bits >> 32));
	store(length + 4, (uint32_t)bits);
	/* One bit, then zeroes until the length fills the last block. */
	sha256_add(h, padding, used < 56 ? 56 - used : 120 - used);
	sha256_add(h, length, sizeof(length));
	for (size_t i = 0; i < 8; i++)
		store(digest + 4 * i, h->state[i]);
}

void sha256_of(const void *bytes, size_t n, uint8_t digest[SHA256_SIZE])
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, bytes, n);
	sha256_end(&h, digest);
}

void sha256_hex(const uint8_t digest[SHA256_SIZE], char hex[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_SIZE; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[SHA256_HEX_SIZE - 1] = '\0';
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -EINVAL;
}

int sha256_from_hex(const char *hex, uint8_t digest[SHA256_SIZE])
{
	uint8_t result[SHA256_SIZE];

	if (strnlen(hex, SHA256_HEX_SIZE) != SHA256_HEX_SIZE - 1)
		return -EINVAL;
	for (size_t i = 0; i < SHA256_SIZE; i++) {
		int high = nibble(hex[2 * i]), low = nibble(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		result[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(digest, result, sizeof(result));
	return 0;
}
