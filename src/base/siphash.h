/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_SIPHASH_H
#define HB_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * SipHash-1-3: 64 bits of some bytes, a tenth of the cost of SHA-256.
 *
 * With a random key an attacker cannot choose bytes that collide, so it may
 * index hostile names.  With a fixed key it tells a torn record from a whole
 * one, and no more: an attacker who knows the key can forge it.
 */
struct siphash_key {
	uint64_t k0, k1;
};

uint64_t siphash(const struct siphash_key *key, const void *bytes, size_t n);

#endif
