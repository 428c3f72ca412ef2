/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/xattrs.h"

#include "sys/attr.h"
#include "tree/bytes.h"
#include "tree/overlay.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static ssize_t list_names(int dir, const char *name, char *list, size_t size)
{
	return *name ? sys_list_xattrs_at(dir, name, list, size)
		     : sys_list_xattrs(dir, list, size);
}

int xattr_names_read(struct xattr_names *names, int dir, const char *name)
{
	ssize_t n = list_names(dir, name, names->small, sizeof(names->small));

	names->list = names->small;
	if (n == -ERANGE) {
		names->large = malloc(OVERLAY_LIST_MAX);
		if (!names->large)
			return -ENOMEM;
		names->list = names->large;
		n = list_names(dir, name, names->large, OVERLAY_LIST_MAX);
	}
	names->size = n < 0 ? 0 : (size_t)n;
	return n < 0 ? (int)n : 0;
}

void xattr_names_done(struct xattr_names *names)
{
	free(names->large);
}

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

bool xattr_list_is_whole(const struct xattr_list *list)
{
	const char *name;
	const void *value;
	size_t pos = 0, size;
	int r;

	do
		r = xattr_list_next(list, &pos, &name, &value, &size);
	while (r == 1);
	return r == 0;
}
