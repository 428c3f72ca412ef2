/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_GITHASH_H
#define HB_GIT_GITHASH_H

#include "base/sha1.h"
#include "base/sha256.h"
#include "git/gitobject.h"

/* The hash of a repository, SHA-1 or SHA-256, by the digits of its names. */
struct githash {
	bool is_wide;
	struct sha1 sha1;
	struct sha256 sha256;
};

/* `digits` is 40 or 64. */
void githash_init(struct githash *hash, size_t digits);
void githash_add(struct githash *hash, const void *bytes, size_t n);

/* The hash is used up. */
void githash_end(struct githash *hash, struct git_id *ret);

/* Begins with the bytes that stand before an object's own. */
void githash_init_object(struct githash *hash, size_t digits, const char *type,
			 uint64_t size);

#endif
