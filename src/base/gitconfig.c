/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gitconfig.h"

#include "base/buf.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/*
 * As git reads it.  What git would refuse is -EINVAL; what is read differently
 * here could hide a key, so the grammar follows git's reader byte by byte:
 *
 *	- a key may stand behind "]" on the same line
 *	- section and key fold to lower case, a quoted subsection does not
 *	- "[a.b]" is section a with subsection b
 *	- a value goes on after a backslash at the end of the line
 *	- CR LF is LF
 */
#define NAME_SIZE  ((size_t)8 << 10)
#define VALUE_SIZE ((size_t)1 << 20)

struct reader {
	gitconfig_fn add;
	void *ctx;
	const char *text;
	size_t n, at;
	uint64_t line;
	struct buf name; /* up to `section` that of the section, with a dot */
	size_t section;
	struct buf value;
};

/* The next byte, or -1 at the end. */
static int take(struct reader *r)
{
	int c;

	if (r->at >= r->n)
		return -1;
	c = (unsigned char)r->text[r->at++];
	if (c == '\r' && r->at < r->n && r->text[r->at] == '\n')
		c = (unsigned char)r->text[r->at++];
	if (c == '\n')
		r->line++;
	return c;
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key_byte(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' ||
	       c == '\f';
}

static int add_folded(struct buf *out, int c)
{
	if (c >= 'A' && c <= 'Z')
		c |= 0x20;
	return buf_add_char(out, (char)c);
}

static void skip_line(struct reader *r)
{
	int c = take(r);

	while (c >= 0 && c != '\n')
		c = take(r);
}

/* Behind the blank after the section's name. */
static int read_subsection(struct reader *r)
{
	int c = take(r);

	while (is_blank(c) && c != '\n')
		c = take(r);
	if (c != '"')
		return -EINVAL;
	(void)buf_add_char(&r->name, '.');
	for (c = take(r); c != '"'; c = take(r)) {
		if (c == '\\')
			c = take(r);
		if (c < 0 || c == '\n')
			return -EINVAL;
		(void)buf_add_char(&r->name, (char)c);
	}
	return take(r) == ']' ? 0 : -EINVAL;
}

static int read_section(struct reader *r)
{
	int c;

	buf_cut(&r->name, 0);
	for (c = take(r); is_key_byte(c) || c == '.'; c = take(r))
		(void)add_folded(&r->name, c);
	if (c != ']') {
		if (!is_blank(c) || c == '\n' || read_subsection(r) < 0)
			return -EINVAL;
	}
	(void)buf_add_char(&r->name, '.');
	r->section = r->name.len;
	return 0;
}

/* 0, or -EINVAL for an escape that git does not know. */
static int add_escaped(struct reader *r)
{
	static const char from[] = "tbn\\\"", to[] = "\t\b\n\\\"";
	int c = take(r);
	const char *at = c > 0 ? strchr(from, c) : NULL;

	if (c == '\n')
		return 0;
	if (!at)
		return -EINVAL;
	(void)buf_add_char(&r->value, to[at - from]);
	return 0;
}

static int read_value(struct reader *r)
{
	bool is_quoted = false;
	size_t end = 0; /* without the blanks that follow */
	int c;

	for (c = take(r); c >= 0 && c != '\n'; c = take(r)) {
		if (is_blank(c) && !is_quoted) {
			if (r->value.len > 0)
				(void)buf_add_char(&r->value, (char)c);
			continue;
		}
		if ((c == '#' || c == ';') && !is_quoted) {
			skip_line(r);
			break;
		}
		if (c == '"')
			is_quoted = !is_quoted;
		else if (c == '\\' && add_escaped(r) < 0)
			return -EINVAL;
		else if (c != '\\')
			(void)buf_add_char(&r->value, (char)c);
		end = r->value.len;
	}
	buf_cut(&r->value, end);
	return is_quoted ? -EINVAL : 0;
}

static int read_key(struct reader *r, int c)
{
	struct gitconfig_key key = { 0 };
	uint64_t line = r->line;
	bool has_value = false;

	if (!is_letter(c) || r->section == 0)
		return -EINVAL;
	buf_cut(&r->name, r->section);
	buf_cut(&r->value, 0);
	for (; is_key_byte(c); c = take(r))
		(void)add_folded(&r->name, c);
	while (c == ' ' || c == '\t')
		c = take(r);
	if (c == '=') {
		has_value = true;
		if (read_value(r) < 0)
			return -EINVAL;
	} else if (c >= 0 && c != '\n') {
		return -EINVAL;
	}
	if (r->name.error || r->value.error)
		return -E2BIG;
	key.name = buf_str(&r->name);
	key.n_name = r->name.len;
	key.value = has_value ? buf_str(&r->value) : NULL;
	key.n_value = r->value.len;
	key.line = line;
	return r->add(r->ctx, &key);
}

int gitconfig_read(const char *text, size_t n, gitconfig_fn add, void *ctx)
{
	struct reader reader = {
		.add = add,
		.ctx = ctx,
		.text = text,
		.n = n,
		.line = 1,
		.name = BUF_INIT(NAME_SIZE),
		.value = BUF_INIT(VALUE_SIZE),
	};
	int c, r = 0;

	while (r >= 0 && (c = take(&reader)) >= 0) {
		if (is_blank(c))
			continue;
		if (c == '#' || c == ';')
			skip_line(&reader);
		else if (c == '[')
			r = read_section(&reader);
		else
			r = read_key(&reader, c);
	}
	buf_done(&reader.name);
	buf_done(&reader.value);
	return r;
}
