/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/line_items.h"

#include "gate/items.h"

#include <string.h>

/* Formats that are read line by line. */

typedef int line_fn(struct items *items, const char *line, size_t n,
		    uint64_t number);

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int each_line(struct items *items, const char *text, size_t n,
		     line_fn *fn)
{
	uint64_t number = 1;
	int r = 0;

	for (size_t at = items_skip_mark(text, n); r >= 0 && at < n; number++) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end ? (size_t)(end - text) - at : n - at;
		size_t from = at, to = at + len;

		while (from < to && is_blank(text[from]))
			from++;
		while (to > from && is_blank(text[to - 1]))
			to--;
		if (to > from)
			r = fn(items, text + from, to - from, number);
		at += len + 1;
	}
	return r;
}

static int add_line(struct items *items, const char *line, size_t n,
		    uint64_t number)
{
	return line[0] == '#' ? 0 : items_add(items, line, n, "", 0, number);
}

int items_read_lines(struct items *items, const char *text, size_t n)
{
	return each_line(items, text, n, add_line);
}

/* A lock file also names home pages, from where nothing is fetched. */
static bool is_fetched(const char *line, size_t n)
{
	static const char *const words[] = { "resolved", "tarball", "source",
					     "registry", "remote",  "url" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(line, n, words[i], strlen(words[i])))
			return true;
	return false;
}

static int add_hosts(struct items *items, const char *line, size_t n,
		     uint64_t number)
{
	static const char mark[] = "://";
	const char *end = line + n, *at = line;
	int r = 0;

	if (!is_fetched(line, n))
		return 0;
	while (r >= 0 &&
	       (at = memmem(at, (size_t)(end - at), mark, strlen(mark)))) {
		const char *from = at + strlen(mark), *to = from;

		for (; to < end && !strchr("/\"' \t,)?#", *to); to++)
			if (*to == '@')
				from = to + 1;
		if (to > from)
			r = items_add(items, from, (size_t)(to - from), "", 0,
				      number);
		at = to;
	}
	return r;
}

int items_read_hosts(struct items *items, const char *text, size_t n)
{
	return each_line(items, text, n, add_hosts);
}
