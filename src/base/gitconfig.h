/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_GITCONFIG_H
#define HB_BASE_GITCONFIG_H

#include <stddef.h>
#include <stdint.h>

/* One line of a git-config(1) file: SECTION.KEY or SECTION.SUBSECTION.KEY. */
struct gitconfig_key {
	const char *name; /* section and key in lower case */
	size_t n_name;
	const char *value; /* NULL: it has none, which git takes for true */
	size_t n_value;
	uint64_t line;
};

/* A negated code ends the reading, which returns it. */
typedef int (*gitconfig_fn)(void *ctx, const struct gitconfig_key *key);

/*
 * Calls `add` with each key that the text says, in its order; strings last
 * until it returns, and may have any byte in them.  Any bytes may come in.  The
 * text begins behind its byte order mark.  -EINVAL: git would not read it,
 * -E2BIG: too much, -ENOMEM, or what `add` said.
 */
int gitconfig_read(const char *text, size_t n, gitconfig_fn add, void *ctx);

#endif
