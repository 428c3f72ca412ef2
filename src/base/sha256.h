/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_SHA256_H
#define HB_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

/*
 * SHA-256 (FIPS 180-4), for naming what was reviewed and for chaining the audit
 * log.  Nothing here is secret, so nothing is wiped.
 */
#define SHA256_SIZE	  32
#define SHA256_HEX_SIZE	  (2 * SHA256_SIZE + 1)
#define SHA256_BLOCK_SIZE 64

struct sha256 {
	uint32_t state[8];
	uint64_t bytes; /* so far */
	uint8_t block[SHA256_BLOCK_SIZE];
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *bytes, size_t n);

/* Writes the digest.  The struct is used up: init it again before reuse. */
void sha256_end(struct sha256 *h, uint8_t digest[SHA256_SIZE]);

/* All three for one run of bytes. */
void sha256_of(const void *bytes, size_t n, uint8_t digest[SHA256_SIZE]);

/* As lower-case hexadecimal digits with a NUL. */
void sha256_hex(const uint8_t digest[SHA256_SIZE], char hex[SHA256_HEX_SIZE]);

/*
 * The inverse: exactly 64 digits of either case.  Returns 0, or -EINVAL with
 * `digest` untouched.
 */
int sha256_from_hex(const char *hex, uint8_t digest[SHA256_SIZE]);

#endif
