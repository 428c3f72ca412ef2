/* SPDX-License-Identifier: Apache-2.0 */
#include "base/siphash.h"

#include "tap.h"

#include <stddef.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The bytes 0, 1, 2, ... under a key of zeroes: PYTHONHASHSEED=0 has them. */
static const struct {
	size_t n;
	uint64_t hash;
} vectors[] = {
	{ 1, 0x68a914128e01e473 },   { 7, 0x2f098ab0c751325a },
	{ 8, 0xead411e67ebe2eea },   { 9, 0x75927f9d95124362 },
	{ 15, 0xf30eb725bb91c9ea },  { 16, 0x8972188433a5c5b7 },
	{ 63, 0x385d3e39e5f37359 },  { 64, 0x75e05fd5bbc870c6 },
	{ 200, 0x7176378efd9e8a23 },
};

static void vectors_of_another_implementation(void)
{
	const struct siphash_key none = { 0, 0 };
	unsigned char bytes[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	for (size_t i = 0; i < COUNT(vectors); i++)
		CHECK(siphash(&none, bytes, vectors[i].n) == vectors[i].hash);
}

static void each_half_of_the_key_counts(void)
{
	const struct siphash_key a = { 1, 2 }, b = { 1, 3 }, c = { 0, 2 };

	CHECK(siphash(&a, "x", 1) != siphash(&b, "x", 1));
	CHECK(siphash(&a, "x", 1) != siphash(&c, "x", 1));
}

TESTS(T(vectors_of_another_implementation), T(each_half_of_the_key_counts))
