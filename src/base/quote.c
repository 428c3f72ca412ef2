/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* The longest piece: a code point of four bytes, each as \ooo. */
#define PIECE_MAX 16

/*
 * Writes how the next code point, or stray byte, looks between quotes,
 * and returns how many bytes of the name that was.
 */
static size_t next_piece(const char *name, size_t n, char piece[PIECE_MAX + 1],
			 size_t *ret_len)
{
	uint32_t code = 0;
	size_t len = utf8_next(name, n, &code), used = 0;

	if (len > 0 && !utf8_is_hidden(code)) {
		if (name[0] == '"' || name[0] == '\\')
			piece[used++] = '\\';
		memcpy(piece + used, name, len);
		*ret_len = used + len;
		return len;
	}
	if (len == 0)
		len = 1;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		piece[used++] = '\\';
		piece[used++] = (char)('0' + (c >> 6));
		piece[used++] = (char)('0' + (c >> 3 & 7));
		piece[used++] = (char)('0' + (c & 7));
	}
	*ret_len = used;
	return len;
}

/*
 * How many of the first bytes look the same between quotes, as nearly all do.
 * Whole runs of them are passed over or copied at once.
 */
static size_t plain_run(const char *name, size_t n)
{
	size_t i = 0;

	while (i < n && name[i] >= ' ' && name[i] <= '~' && name[i] != '"' &&
	       name[i] != '\\')
		i++;
	return i;
}

/* Whether a piece differs from what it stands for. */
static bool is_plain(const char *name, size_t n)
{
	char piece[PIECE_MAX + 1];
	size_t len, used;

	for (size_t i = plain_run(name, n); i < n;
	     i += used + plain_run(name + i + used, n - i - used)) {
		used = next_piece(name + i, n - i, piece, &len);
		if (len != used)
			return false;
	}
	return true;
}

bool quote_is_needed(const char *name, size_t n)
{
	if (n == 0 || name[0] == ' ' || name[n - 1] == ' ')
		return true;
	return !is_plain(name, n);
}

static int add_pieces(const char *name, size_t n, struct buf *out)
{
	char piece[PIECE_MAX + 1];
	size_t len;

	for (size_t i = 0; i < n;) {
		size_t run = plain_run(name + i, n - i);

		(void)buf_add(out, name + i, run);
		i += run;
		if (i == n)
			break;
		i += next_piece(name + i, n - i, piece, &len);
		(void)buf_add(out, piece, len);
	}
	return out->error;
}

int quote_name_always(const char *name, size_t n, struct buf *out)
{
	(void)buf_add_char(out, '"');
	(void)add_pieces(name, n, out);
	return buf_add_char(out, '"');
}

int quote_name(const char *name, size_t n, struct buf *out)
{
	if (quote_is_needed(name, n))
		return quote_name_always(name, n, out);
	return buf_add(out, name, n);
}

const char *quote_shown(const char *name, char *out, size_t size)
{
	static const char more[] = "...";
	size_t n = strlen(name), used = 0, len, i = 0;
	bool quoted = quote_is_needed(name, n);
	/* What must still fit after any piece: the quote, the dots, the NUL. */
	size_t tail = 1 + sizeof(more);
	char piece[PIECE_MAX + 1];

	assert(size >= 8);
	if (quoted)
		out[used++] = '"';
	i = plain_run(name, n);
	if (used + i + tail > size)
		i = size - tail - used;
	memcpy(out + used, name, i);
	used += i;
	while (i < n) {
		size_t step = next_piece(name + i, n - i, piece, &len);

		if (used + len + tail > size)
			break;
		memcpy(out + used, piece, len);
		used += len;
		i += step;
	}
	if (quoted)
		out[used++] = '"';
	memcpy(out + used, i < n ? more : "", i < n ? sizeof(more) : 1);
	return out;
}

/* The byte for which the letter after a backslash stands, or -EINVAL. */
static int letter_value(char c)
{
	static const char letters[] = "abtnvfr\"\\";
	static const char values[] = "\a\b\t\n\v\f\r\"\\";
	const char *at;

	at = c != '\0' ? strchr(letters, c) : NULL;
	return at ? (unsigned char)values[at - letters] : -EINVAL;
}

/* Reads what follows a backslash; returns the byte and moves `pos` behind it.
 */
static int read_escape(const char *text, size_t n, size_t *pos)
{
	unsigned int value = 0;
	size_t i = *pos;
	int r;

	if (i >= n)
		return -EINVAL;
	if (text[i] < '0' || text[i] > '3') {
		r = letter_value(text[i]);
		*pos = i + 1;
		return r;
	}
	if (n - i < 3)
		return -EINVAL;
	for (size_t end = i + 3; i < end; i++) {
		if (text[i] < '0' || text[i] > '7')
			return -EINVAL;
		value = value * 8 + (unsigned int)(text[i] - '0');
	}
	*pos = i;
	return (int)value;
}

int unquote_name(const char *text, size_t n, struct buf *out)
{
	size_t start = out->len, i = 1;
	int c = 0;

	if (n > 0 && memchr(text, '\0', n))
		return -EINVAL;
	if (n == 0 || text[0] != '"')
		return buf_add(out, text, n);

	while (i < n && text[i] != '"') {
		c = (unsigned char)text[i++];
		if (c == '\\')
			c = read_escape(text, n, &i);
		if (c < 0)
			break;
		(void)buf_add_char(out, (char)c);
	}
	if (c < 0 || i + 1 != n || text[i] != '"') {
		buf_cut(out, start);
		return -EINVAL;
	}
	return out->error;
}
