/* SPDX-License-Identifier: Apache-2.0 */
#include "git/gittree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* "100644" has six digits, and old trees have a zero before "40000". */
#define DIGITS_MAX 7

void gittree_open(struct gittree *tree, const struct git_object *object,
		  size_t digits)
{
	*tree = (struct gittree){ object->data, object->data + object->size,
				  digits / 2 };
}

/* As git's canon_mode(). */
enum gittree_mode gittree_mode(unsigned mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return mode & S_IXUSR ? GITTREE_PROGRAM : GITTREE_FILE;
	case S_IFLNK:
		return GITTREE_LINK;
	case S_IFDIR:
		return GITTREE_DIR;
	default:
		return GITTREE_MODULE;
	}
}

int gittree_next(struct gittree *tree, struct gittree_entry *ret_entry)
{
	const char *at = tree->at, *end;
	unsigned mode = 0;
	size_t n;

	if (at == tree->end)
		return 0;
	for (n = 0; at < tree->end && *at >= '0' && *at <= '7'; n++)
		mode = mode << 3 | (unsigned)(*at++ - '0');
	if (n == 0 || n > DIGITS_MAX || at == tree->end || *at++ != ' ')
		return -EBADMSG;
	end = memchr(at, '\0', (size_t)(tree->end - at));
	if (!end || end == at || (size_t)(tree->end - end) <= tree->id_size)
		return -EBADMSG;
	*ret_entry = (struct gittree_entry){ .mode = gittree_mode(mode),
					     .name = at,
					     .name_len = (size_t)(end - at),
					     .id = end + 1 };
	tree->at = end + 1 + tree->id_size;
	return 1;
}

void gittree_id(const struct gittree *tree, const struct gittree_entry *entry,
		struct git_id *ret_id)
{
	static const char digits[] = "0123456789abcdef";
	char *out = ret_id->hex;

	for (size_t i = 0; i < tree->id_size; i++) {
		unsigned char byte = (unsigned char)entry->id[i];

		*out++ = digits[byte >> 4];
		*out++ = digits[byte & 15];
	}
	*out = '\0';
}
