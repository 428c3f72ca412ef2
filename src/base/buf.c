/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

void buf_init(struct buf *b, size_t limit)
{
	assert(limit <= SIZE_MAX / 4);
	*b = (struct buf){ .limit = limit };
}

void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ .limit = b->limit };
}

int buf_fail(struct buf *b, int r)
{
	assert(r < 0);
	if (b->error == 0)
		b->error = r;
	return b->error;
}

/* Makes room for n more bytes and the NUL. */
static int grow(struct buf *b, size_t n)
{
	size_t need, room;
	char *data;

	if (b->error < 0)
		return b->error;
	if (n > b->limit - b->len)
		return buf_fail(b, -E2BIG);

	need = b->len + n + 1;
	if (need <= b->room)
		return 0;

	room = b->room ? b->room : FIRST_ROOM;
	while (room < need)
		room *= 2;
	data = realloc(b->data, room);
	if (!data)
		return buf_fail(b, -ENOMEM);
	b->data = data;
	b->room = room;
	return 0;
}

int buf_add(struct buf *b, const void *bytes, size_t n)
{
	int r;

	r = grow(b, n);
	if (r < 0)
		return r;
	if (n > 0)
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int buf_add_str(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_add_char(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int buf_add_fill(struct buf *b, char c, size_t n)
{
	int r;

	r = grow(b, n);
	if (r < 0)
		return r;
	memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int buf_add_vfmt(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n, r;

	if (b->error < 0)
		return b->error;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return buf_fail(b, -EINVAL);

	r = grow(b, (size_t)n);
	if (r < 0)
		return r;
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
	return 0;
}

int buf_add_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_add_vfmt(b, fmt, ap);
	va_end(ap);
	return r;
}

void buf_cut(struct buf *b, size_t len)
{
	assert(len <= b->len);
	b->len = len;
	if (b->data)
		b->data[len] = '\0';
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

int buf_take(struct buf *b, char **ret_data, size_t *ret_len)
{
	int r;

	/* Someone who frees the result must get memory, empty or not. */
	r = grow(b, 0);
	if (r < 0)
		return r;
	b->data[b->len] = '\0';

	*ret_data = b->data;
	if (ret_len)
		*ret_len = b->len;
	*b = (struct buf){ .limit = b->limit };
	return 0;
}
