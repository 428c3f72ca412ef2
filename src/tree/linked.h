/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_LINKED_H
#define HB_TREE_LINKED_H

#include <stdbool.h>
#include <stdint.h>

struct carry;
struct hb_error;

/*
 * Copies of several names of one inode that are names of one inode again.  The
 * first copy of a group gets a name of its own in `dir` as well, which the
 * others are linked from; `prefix` keeps it apart from other files there, and
 * linked_end() removes it.
 */
struct linked {
	int dir; /* borrowed; on the file system of the copies */
	char prefix;
	bool is_used;
};

/*
 * What `carry` is about becomes `name` in the directory `to`; `group` tells
 * inodes apart.  After a failure there may be a copy in `dir`.
 */
int linked_copy(struct linked *linked, const struct carry *carry,
		uint64_t group, int to, const char *name, struct hb_error *err);

/* After the last copy, which keep the names that they were given. */
int linked_end(const struct linked *linked, struct hb_error *err);

#endif
