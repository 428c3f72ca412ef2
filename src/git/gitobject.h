/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_GITOBJECT_H
#define HB_GIT_GITOBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* The name of an object: 40 digits (SHA-1) or 64 (SHA-256), or none. */
#define GIT_HEX_SIZE 65
struct git_id {
	char hex[GIT_HEX_SIZE];
};

/* Exactly `n` lower-case digits, 40 or 64 of them. */
bool git_id_parse(const char *text, size_t n, struct git_id *ret_id);
bool git_id_is_same(const struct git_id *a, const struct git_id *b);

/* Numbers as packs have them. */
enum git_type {
	GIT_COMMIT = 1,
	GIT_TREE = 2,
	GIT_BLOB = 3,
	GIT_TAG = 4,
};

/* "commit" and the like; NULL: no such type. */
const char *git_type_word(enum git_type type);

/* One object in memory; the caller frees `data`, which a NUL follows. */
struct git_object {
	enum git_type type;
	char *data;
	size_t size;
};

/* The name that an object has; `digits` is 40 or 64. */
void git_object_name(const struct git_object *object, size_t digits,
		     struct git_id *ret_id);

/*
 * Adds the object as a file of its own has it: zlib data, without compression,
 * which every reader understands.
 */
int git_object_write(const struct git_object *object, struct buf *out);

#endif
