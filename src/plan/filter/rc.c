/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/filter/rc.h"

#include "base/buf.h"
#include "plan/filter/rc_toml.h"
#include "plan/filter/rc_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 512
#define LINE_SIZE 4096

/* One line without its end, blanks cut off behind; false behind the last. */
static bool next_line(const char **at, char *line, int *r)
{
	size_t n = strcspn(*at, "\n");

	if (!**at)
		return false;
	if (n >= LINE_SIZE) {
		*r = -EINVAL;
		return false;
	}
	memcpy(line, *at, n);
	while (n > 0 && strchr(" \t\r", line[n - 1]))
		n--;
	line[n] = '\0';
	*at += strcspn(*at, "\n");
	*at += **at == '\n';
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t')
			*r = -EINVAL;
	return *r >= 0;
}

static bool is_comment(const char *line)
{
	line += strspn(line, " \t");
	return !line[0] || line[0] == '#' || line[0] == ';';
}

/* Parts a line at the first of `marks`; the value is NULL without one. */
static char *part_line(char *line, const char *marks)
{
	char *at = strpbrk(line, marks);
	size_t n;

	if (!at)
		return NULL;
	*at++ = '\0';
	for (n = strlen(line); n > 0 && strchr(" \t", line[n - 1]); n--)
		line[n - 1] = '\0';
	return at + strspn(at, " \t");
}

/* KEY = VALUE, or KEY[] = VALUE; a section is something else. */
static int filter_npm(struct rc *rc, const char *text, struct buf *out)
{
	char line[LINE_SIZE], name[LINE_SIZE];
	int r = 0;

	while (r >= 0 && next_line(&text, line, &r)) {
		char *key = line + strspn(line, " \t"), *value;
		size_t from = out->len, n;

		if (is_comment(line))
			continue;
		if (key[0] == '[')
			return -EINVAL;
		value = part_line(key, "=");
		n = strlen(key);
		(void)snprintf(name, sizeof(name), "%s", key);
		if (n > 2 && strcmp(key + n - 2, "[]") == 0)
			name[n - 2] = '\0';
		(void)buf_add_fmt(out, "%s = ", key);
		r = rc_add_value(rc, name, value ? value : "true", 0, out);
		if (r == 0)
			buf_cut(out, from);
		else
			(void)buf_add_char(out, '\n');
	}
	return r;
}

/* SECTION.KEY as pip knows it: dashes, and small letters. */
static void name_key(char *name, size_t size, const char *section,
		     const char *key)
{
	(void)snprintf(name, size, "%s.%s", section, key);
	for (; *name; name++) {
		if (*name == '_')
			*name = '-';
		else if (*name >= 'A' && *name <= 'Z')
			*name = (char)(*name - 'A' + 'a');
	}
}

/* A line that begins with a blank belongs to the key before. */
static int filter_pip(struct rc *rc, const char *text, struct buf *out)
{
	char line[LINE_SIZE], section[NAME_SIZE] = "", name[2 * NAME_SIZE] = "";
	bool is_open = false;
	int r = 0;

	while (r >= 0 && next_line(&text, line, &r)) {
		bool goes_on = line[0] == ' ' || line[0] == '\t';
		size_t n = strlen(line), from = out->len;
		char *value;

		if (is_comment(line))
			continue;
		if (line[0] == '[') {
			if (line[n - 1] != ']' || n >= NAME_SIZE)
				return -EINVAL;
			(void)snprintf(section, sizeof(section), "%.*s",
				       (int)n - 2, line + 1);
			(void)buf_add_fmt(out, "%s\n", line);
			name[0] = '\0';
			continue;
		}
		value = goes_on ? line + strspn(line, " \t")
				: part_line(line, "=:");
		if (!section[0] || !value || (goes_on && !name[0]) ||
		    strlen(line) >= NAME_SIZE)
			return -EINVAL;
		if (!goes_on)
			name_key(name, sizeof(name), section, line);
		/* It would belong to the key before. */
		if (goes_on && !is_open) {
			rc->n_left_out++;
			continue;
		}
		(void)buf_add_fmt(out, "%s%s", goes_on ? "   " : line,
				  goes_on ? " " : " = ");
		r = rc_add_value(rc, name, value, 0, out);
		if (r == 0)
			buf_cut(out, from);
		else
			(void)buf_add_char(out, '\n');
		is_open = goes_on ? is_open : r > 0;
	}
	return r;
}

int rc_filter(struct rc *rc, const char *text, size_t n, struct buf *out)
{
	static int (*const readers[])(struct rc *, const char *,
				      struct buf *) = {
		[RC_NPM] = filter_npm,	     [RC_PIP] = filter_pip,
		[RC_CARGO] = rc_filter_toml, [RC_UV] = rc_filter_toml,
		[RC_MISE] = rc_filter_toml,
	};
	int r;

	if (memchr(text, '\0', n))
		return -EINVAL;
	r = readers[rc->kind](rc, text, out);
	if (r >= 0)
		r = out->error;
	return r;
}
