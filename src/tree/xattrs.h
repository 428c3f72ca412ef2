/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_XATTRS_H
#define HB_TREE_XATTRS_H

#include <stddef.h>

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

#endif
