/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct vector {
	const char *text;
	const char *hex;
};

/* FIPS 180 and its examples. */
static const struct vector vectors[] = {
	{ "",
	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc",
	  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
	  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
	  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
};

static void standard_vectors(void)
{
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	for (size_t i = 0; i < COUNT(vectors); i++) {
		sha256_of(vectors[i].text, strlen(vectors[i].text), digest);
		sha256_hex(digest, hex);
		CHECK(strcmp(hex, vectors[i].hex) == 0);
	}
}

static void a_million_times_a(void)
{
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE], part[1000];
	struct sha256 h;

	memset(part, 'a', sizeof(part));
	sha256_init(&h);
	for (int i = 0; i < 1000; i++)
		sha256_add(&h, part, sizeof(part));
	sha256_end(&h, digest);
	sha256_hex(digest, hex);
	CHECK(strcmp(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e"
			  "046d39ccc7112cd0") == 0);
}

static void check_cut(const uint8_t *data, size_t n, size_t cut)
{
	uint8_t whole[SHA256_SIZE], parted[SHA256_SIZE];
	struct sha256 h;

	sha256_of(data, n, whole);
	sha256_init(&h);
	sha256_add(&h, data, cut);
	sha256_add(&h, NULL, 0);
	sha256_add(&h, data + cut, n - cut);
	sha256_end(&h, parted);
	CHECK(memcmp(whole, parted, SHA256_SIZE) == 0);
}

static void parts_make_no_difference(void)
{
	uint8_t data[200];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	for (size_t n = 0; n <= sizeof(data); n++)
		for (size_t cut = 0; cut <= n; cut++)
			check_cut(data, n, cut);
}

static void hex_reads_back(void)
{
	uint8_t digest[SHA256_SIZE], back[SHA256_SIZE] = { 0 };
	char hex[SHA256_HEX_SIZE + 1];

	sha256_of("abc", 3, digest);
	sha256_hex(digest, hex);
	CHECK_INT(sha256_from_hex(hex, back), 0);
	CHECK(memcmp(digest, back, SHA256_SIZE) == 0);
	hex[0] = 'B';
	CHECK_INT(sha256_from_hex(hex, back), 0);
	CHECK(memcmp(digest, back, SHA256_SIZE) == 0);

	hex[5] = 'g';
	CHECK_INT(sha256_from_hex(hex, back), -EINVAL);
	hex[5] = '0';
	hex[63] = '\0';
	CHECK_INT(sha256_from_hex(hex, back), -EINVAL);
	hex[63] = '0';
	hex[64] = '0';
	hex[65] = '\0';
	CHECK_INT(sha256_from_hex(hex, back), -EINVAL);
	CHECK_INT(sha256_from_hex("", back), -EINVAL);
	CHECK(memcmp(digest, back, SHA256_SIZE) == 0);
}

TESTS(T(standard_vectors), T(a_million_times_a), T(parts_make_no_difference),
      T(hex_reads_back))
