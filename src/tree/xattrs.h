/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_XATTRS_H
#define HB_TREE_XATTRS_H

#include <stdbool.h>
#include <stddef.h>

/* The names of an object's extended attributes, each with its NUL. */
struct xattr_names {
	const char *list;
	size_t size;
	char small[1024], *large;
};

/*
 * Reads them, of the object `name` in `dir` or, with "", of `dir` itself.  0 or
 * -errno; to be released either way.
 */
int xattr_names_read(struct xattr_names *names, int dir, const char *name);
void xattr_names_done(struct xattr_names *names);
#define auto_xattr_names __attribute__((cleanup(xattr_names_done)))

/*
 * Names and values of extended attributes, one after the other, as a journal
 * has them: docs/formats/journal.md.  Borrowed.
 */
struct xattr_list {
	const void *data;
	size_t size;
};

/*
 * Reads the next of a list: `*pos` starts at 0.  1, 0 at the end, -EBADMSG if
 * the list is damaged.
 */
int xattr_list_next(const struct xattr_list *list, size_t *pos,
		    const char **ret_name, const void **ret_value,
		    size_t *ret_size);

/* Whether it can be read to its end. */
bool xattr_list_is_whole(const struct xattr_list *list);

#endif
