/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_ITEMS_H
#define HB_GATE_ITEMS_H

#include "base/sha256.h"
#include "gate/rules.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What a file says, as far as a rule asks: names with their values.  A name may
 * come several times; all of its values, in their order, are one.
 */
#define ITEMS_MAX 1024

/*
 * So many bytes of names and values are looked at in all.  A value may hold
 * others, and a name may stand in each of many, so that is not the length of
 * the text.  Real files come nowhere near.
 */
#define ITEMS_WORK_MAX ((size_t)16 << 20)

struct item {
	char *name;
	uint8_t values[SHA256_SIZE];
	uint64_t line; /* where it was said last */
};

struct items {
	const struct gate_rule *rule; /* names that it does not ask for go */
	struct item *items;
	size_t n;
	size_t work; /* bytes looked at so far */
};

void items_done(struct items *items);
#define auto_items __attribute__((cleanup(items_done)))

/* 0, -E2BIG beyond the limits, or -ENOMEM. */
int items_add(struct items *items, const char *name, size_t n_name,
	      const char *value, size_t n_value, uint64_t line);

/*
 * The same for a value that is not written as it is meant: `meant` is what
 * `value` of a rule is about.
 */
int items_add_meant(struct items *items, const char *name, size_t n_name,
		    const char *value, size_t n_value, const char *meant,
		    size_t n_meant, uint64_t line);

/* What became of the item since: enum gate_on, or 0 for the same values. */
unsigned items_news(const struct items *old, const struct item *item);

/* Whether there is an item of this name. */
bool items_know(const struct items *items, const char *name);

/*
 * Readers: add what the text says.  Any bytes may come in.  -EINVAL: it is not
 * of that format, -E2BIG: too much, -ENOMEM.
 */

/* How long the byte order mark is that the text begins with; 0: none. */
size_t items_skip_mark(const char *text, size_t n);

#endif
