/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/xattrs.h"

#include "tree/bytes.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int xattr_list_next(const struct xattr_list *list, size_t *pos,
		    const char **ret_name, const void **ret_value,
		    size_t *ret_size)
{
	const uint8_t *at = (const uint8_t *)list->data + *pos;
	size_t left = list->size - *pos;
	uint32_t name, value;

	if (left == 0)
		return 0;
	if (left < 8)
		return -EBADMSG;
	name = bytes_get32(at);
	value = bytes_get32(at + 4);
	left -= 8;
	/* The name comes with its NUL, which is the only one in it. */
	if (name < 2 || name > left || value > left - name ||
	    memchr(at + 8, '\0', name) != at + 8 + name - 1)
		return -EBADMSG;
	*ret_name = (const char *)at + 8;
	*ret_value = at + 8 + name;
	*ret_size = value;
	*pos += 8 + (size_t)name + value;
	return 1;
}
