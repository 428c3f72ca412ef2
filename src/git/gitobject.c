/* SPDX-License-Identifier: Apache-2.0 */
#include "git/gitobject.h"

#include "base/buf.h"
#include "git/githash.h"

#include <stdio.h>
#include <string.h>

#define HEAD_SIZE 32

bool git_id_parse(const char *text, size_t n, struct git_id *ret_id)
{
	if ((n != 40 && n != 64) || strspn(text, "0123456789abcdef") < n)
		return false;
	memcpy(ret_id->hex, text, n);
	ret_id->hex[n] = '\0';
	return true;
}

bool git_id_is_same(const struct git_id *a, const struct git_id *b)
{
	return strcmp(a->hex, b->hex) == 0;
}

const char *git_type_word(enum git_type type)
{
	static const char *const words[] = { [GIT_COMMIT] = "commit",
					     [GIT_TREE] = "tree",
					     [GIT_BLOB] = "blob",
					     [GIT_TAG] = "tag" };

	return type < sizeof(words) / sizeof(words[0]) ? words[type] : NULL;
}

/* "commit 123" and a NUL, which stand before the bytes. */
static size_t write_head(const struct git_object *object, char *out,
			 size_t size)
{
	return 1 + (size_t)snprintf(out, size, "%s %zu",
				    git_type_word(object->type), object->size);
}

void git_object_name(const struct git_object *object, size_t digits,
		     struct git_id *ret_id)
{
	struct githash hash;

	githash_init_object(&hash, digits, git_type_word(object->type),
			    object->size);
	githash_add(&hash, object->data, object->size);
	githash_end(&hash, ret_id);
}

/* The sum that ends zlib data. */
static uint32_t sum_of(const char *bytes, size_t n)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < n; i++) {
		a = (a + (unsigned char)bytes[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

int git_object_write(const struct git_object *object, struct buf *out)
{
	auto_buf struct buf all = BUF_INIT(SIZE_MAX / 4);
	char head[HEAD_SIZE];
	uint32_t sum;
	size_t at = 0;

	(void)buf_add(&all, head, write_head(object, head, sizeof(head)));
	(void)buf_add(&all, object->data, object->size);
	if (all.error)
		return buf_fail(out, all.error);
	(void)buf_add(out, "\x78\x01", 2);
	do {
		size_t n = all.len - at < 0xffff ? all.len - at : 0xffff;
		const unsigned char block[] = {
			at + n == all.len,	  (unsigned char)n,
			(unsigned char)(n >> 8),  (unsigned char)~n,
			(unsigned char)(~n >> 8),
		};

		(void)buf_add(out, block, sizeof(block));
		(void)buf_add(out, all.data + at, n);
		at += n;
	} while (at < all.len);
	sum = sum_of(all.data, all.len);
	for (int shift = 24; shift >= 0; shift -= 8)
		(void)buf_add_char(out, (char)(sum >> shift & 0xff));
	return out->error;
}
