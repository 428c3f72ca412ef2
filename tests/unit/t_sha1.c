/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha1.h"

#include "tap.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct vector {
	const char *text;
	const char *hex;
};

/* FIPS 180 and its examples. */
static const struct vector vectors[] = {
	{ "", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
	{ "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
};

static void standard_vectors(void)
{
	char hex[SHA1_HEX_SIZE];
	struct sha1 h;

	for (size_t i = 0; i < COUNT(vectors); i++) {
		sha1_init(&h);
		sha1_add(&h, vectors[i].text, strlen(vectors[i].text));
		sha1_end_hex(&h, hex);
		CHECK(strcmp(hex, vectors[i].hex) == 0);
	}
}

static void a_million_times_a(void)
{
	char hex[SHA1_HEX_SIZE], part[1000];
	struct sha1 h;

	memset(part, 'a', sizeof(part));
	sha1_init(&h);
	for (int i = 0; i < 1000; i++)
		sha1_add(&h, part, sizeof(part));
	sha1_end_hex(&h, hex);
	CHECK(strcmp(hex, "34aa973cd4c4daa4f61eeb2bdbad27316534016f") == 0);
}

static void where_it_is_cut_does_not_matter(void)
{
	char whole[SHA1_HEX_SIZE], parted[SHA1_HEX_SIZE];
	uint8_t data[200];
	struct sha1 h;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(7 * i);
	sha1_init(&h);
	sha1_add(&h, data, sizeof(data));
	sha1_end_hex(&h, whole);
	for (size_t cut = 0; cut <= sizeof(data); cut++) {
		sha1_init(&h);
		sha1_add(&h, data, cut);
		sha1_add(&h, data + cut, sizeof(data) - cut);
		sha1_end_hex(&h, parted);
		CHECK(strcmp(whole, parted) == 0);
	}
}

/* What git says of an empty file, and of one with "hello\n". */
static void blobs_are_named_as_git_does(void)
{
	char hex[SHA1_HEX_SIZE];
	struct sha1 h;

	sha1_init_blob(&h, 0);
	sha1_end_hex(&h, hex);
	CHECK(strcmp(hex, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391") == 0);
	sha1_init_blob(&h, 6);
	sha1_add(&h, "hello\n", 6);
	sha1_end_hex(&h, hex);
	CHECK(strcmp(hex, "ce013625030ba8dba906f756967f9e9ca394464a") == 0);
}

TESTS(T(standard_vectors), T(a_million_times_a),
      T(where_it_is_cut_does_not_matter), T(blobs_are_named_as_git_does))
