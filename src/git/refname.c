/* SPDX-License-Identifier: Apache-2.0 */
#include "git/refname.h"

#include "base/buf.h"

#include <string.h>

#define REFS	      "refs/"
#define LOCK	      ".lock"
#define COMPONENT_MAX 100 /* a file's name, with ".lock" behind it */

static bool is_bad_char(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f || strchr("~^:?*[\\", c);
}

static bool ends_in_lock(const char *name, size_t n)
{
	size_t k = strlen(LOCK);

	return n >= k && memcmp(name + n - k, LOCK, k) == 0;
}

static bool is_component(const char *name, size_t n)
{
	if (n == 0 || name[0] == '.' || ends_in_lock(name, n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (is_bad_char(name[i]) ||
		    (i + 1 < n && name[i] == '.' && name[i + 1] == '.') ||
		    (i + 1 < n && name[i] == '@' && name[i + 1] == '{'))
			return false;
	return true;
}

bool refname_is_valid(const char *name)
{
	if (strncmp(name, REFS, strlen(REFS)) != 0 ||
	    name[strlen(name) - 1] == '.')
		return false;
	for (;;) {
		size_t n = strcspn(name, "/");

		if (!is_component(name, n))
			return false;
		if (name[n] == '\0')
			return true;
		name += n + 1;
	}
}

void refname_add_component(struct buf *out, const char *text)
{
	size_t start = out->len;

	for (; *text && out->len - start < COMPONENT_MAX; text++) {
		bool is_start = out->len == start;
		char last = '.', c = *text;
		bool is_bad;

		if (!is_start)
			last = out->data[out->len - 1];
		is_bad = is_bad_char(*text) || *text == '/' ||
			 (*text == '.' && last == '.') ||
			 (*text == '{' && last == '@') ||
			 (*text == '-' && is_start);

		if (is_bad)
			c = '_';
		if (buf_add_char(out, c) < 0)
			return;
	}
	while (out->len > start && out->data[out->len - 1] == '.')
		buf_cut(out, out->len - 1);
	if (ends_in_lock(buf_str(out) + start, out->len - start))
		(void)buf_add_char(out, '_');
	if (out->len == start)
		(void)buf_add_char(out, '_');
}
