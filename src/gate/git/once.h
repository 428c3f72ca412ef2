/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GIT_ONCE_H
#define HB_GATE_GIT_ONCE_H

#include "base/siphash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What was there before: a set of strings, kept as 64 bits each.  The key is
 * random, so an attacker cannot choose two that are taken for one.
 */
#define ONCE_MAX ((size_t)1 << 18)

struct once {
	struct siphash_key key;
	uint64_t *slots; /* open addressing; 0: free */
	size_t room, n;
};

/* -errno: no random key.  once_done() in any case. */
int once_init(struct once *once);
void once_done(struct once *once);
#define auto_once __attribute__((cleanup(once_done)))

/*
 * Adds the `n` bytes.  1: they are new; 0: they were there.  A full set knows
 * nothing more: 1 for everything else.  -ENOMEM.
 */
int once_add(struct once *once, const void *bytes, size_t n);
bool once_has(const struct once *once, const void *bytes, size_t n);

#endif
