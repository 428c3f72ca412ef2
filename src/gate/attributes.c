/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/attributes.h"

#include "base/buf.h"
#include "gate/items.h"

#include <string.h>

/*
 * A pattern may be quoted and have blanks in it; then parts of it are taken for
 * attributes here.  Every line that git takes for one is taken for one.
 */
#define NAME_SIZE ((size_t)8 << 10)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int add_word(struct items *items, const char *word, size_t n,
		    const char *line, size_t n_line, uint64_t number)
{
	auto_buf struct buf name = BUF_INIT(NAME_SIZE);
	const char *equal = memchr(word, '=', n);

	if (!equal)
		return 0;
	(void)buf_add(&name, word, (size_t)(equal - word));
	(void)buf_add_char(&name, '.');
	(void)buf_add(&name, equal + 1, n - (size_t)(equal - word) - 1);
	if (name.error)
		return name.error;
	return items_add(items, buf_str(&name), name.len, line, n_line, number);
}

static int read_line(struct items *items, const char *line, size_t n,
		     uint64_t number)
{
	bool is_first = true;
	size_t at = 0;
	int r = 0;

	while (r >= 0 && at < n) {
		size_t from = at;

		if (is_blank(line[at])) {
			at++;
			continue;
		}
		while (at < n && !is_blank(line[at]))
			at++;
		if (is_first && line[from] == '#')
			return 0;
		if (!is_first)
			r = add_word(items, line + from, at - from, line, n,
				     number);
		is_first = false;
	}
	return r;
}

int items_read_attributes(struct items *items, const char *text, size_t n)
{
	uint64_t number = 1;
	int r = 0;

	for (size_t at = 0; r >= 0 && at < n; number++) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end ? (size_t)(end - text) - at : n - at;

		r = read_line(items, text + at, len, number);
		at += len + 1;
	}
	return r;
}
