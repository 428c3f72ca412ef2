/* SPDX-License-Identifier: Apache-2.0 */
#include "git/githash.h"

#include <stdio.h>

void githash_init(struct githash *hash, size_t digits)
{
	hash->is_wide = digits == (size_t)2 * SHA256_SIZE;
	if (hash->is_wide)
		sha256_init(&hash->sha256);
	else
		sha1_init(&hash->sha1);
}

void githash_add(struct githash *hash, const void *bytes, size_t n)
{
	if (hash->is_wide)
		sha256_add(&hash->sha256, bytes, n);
	else
		sha1_add(&hash->sha1, bytes, n);
}

void githash_end(struct githash *hash, struct git_id *ret)
{
	uint8_t digest[SHA256_SIZE];

	if (!hash->is_wide) {
		sha1_end_hex(&hash->sha1, ret->hex);
		return;
	}
	sha256_end(&hash->sha256, digest);
	sha256_hex(digest, ret->hex);
}

void githash_init_object(struct githash *hash, size_t digits, const char *type,
			 uint64_t size)
{
	char head[64];
	int n = snprintf(head, sizeof(head), "%s %llu", type,
			 (unsigned long long)size);

	githash_init(hash, digits);
	githash_add(hash, head, (size_t)n + 1);
}
