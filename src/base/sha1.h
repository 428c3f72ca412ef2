/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_SHA1_H
#define HB_BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

/*
 * SHA-1 (FIPS 180-4), which is how git names contents in a patch.  For nothing
 * that has to be safe: collisions can be made.
 */
#define SHA1_SIZE	20
#define SHA1_HEX_SIZE	(2 * SHA1_SIZE + 1)
#define SHA1_BLOCK_SIZE 64

struct sha1 {
	uint32_t state[5];
	uint64_t bytes; /* so far */
	uint8_t block[SHA1_BLOCK_SIZE];
};

void sha1_init(struct sha1 *h);
void sha1_add(struct sha1 *h, const void *bytes, size_t n);

/* Writes the digest as lower-case digits with a NUL.  `h` is used up. */
void sha1_end_hex(struct sha1 *h, char hex[SHA1_HEX_SIZE]);

/* Begins with what git puts before the bytes of a file of that size. */
void sha1_init_blob(struct sha1 *h, uint64_t size);

#endif
