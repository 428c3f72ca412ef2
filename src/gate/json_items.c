/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/json_items.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/json_keys.h"
#include "gate/items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The text is checked as a whole first, so that what reads it here meets
 * nothing but JSON.  Names are taken as they are meant, without escapes: else
 * one could be hidden by writing it differently.
 */
#define NAME_SIZE  ((size_t)64 << 10)
#define VALUE_SIZE ((size_t)4 << 20)

struct frame {
	bool is_object, is_member;
	bool wants_key;
	size_t name;   /* length of its own name */
	size_t from;   /* where it begins */
	uint64_t line; /* of its key */
};

struct reader {
	struct items *items;
	const char *text;
	size_t n, at;
	uint64_t line, key_line;
	struct buf name, value;
	size_t depth;
	struct frame frames[JSON_READ_DEPTH_MAX];
};

static struct frame *top(struct reader *r)
{
	return r->depth > 0 ? &r->frames[r->depth - 1] : NULL;
}

static int emit(struct reader *r, size_t from, uint64_t line)
{
	if (r->name.error)
		return r->name.error;
	if (r->value.error)
		return r->value.error;
	return items_add_meant(r->items, buf_str(&r->name), r->name.len,
			       r->text + from, r->at - from, buf_str(&r->value),
			       r->value.len, line);
}

static unsigned read_hex(const char *s)
{
	unsigned n = 0;

	for (int i = 0; i < 4; i++) {
		unsigned c = (unsigned char)s[i];

		n = n << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return n;
}

/* What a rule asks for is ASCII: anything else need only not look like it. */
static void add_escaped(struct reader *r, struct buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	char c = r->text[r->at++];
	const char *at = strchr(from, c);

	if (c == 'u') {
		unsigned code = read_hex(r->text + r->at);

		r->at += 4;
		c = '\x7f';
		if (code > 0 && code < 0x80)
			c = (char)code;
	} else if (at) {
		c = to[at - from];
	}
	(void)buf_add_char(out, c);
}

/* A string, as it is meant. */
static void read_string(struct reader *r, struct buf *out)
{
	for (r->at++; r->text[r->at] != '"';) {
		char c = r->text[r->at++];

		if (c == '\\')
			add_escaped(r, out);
		else
			(void)buf_add_char(out, c);
	}
	r->at++;
}

static void read_key(struct reader *r)
{
	buf_cut(&r->name, top(r)->name);
	if (r->name.len > 0)
		(void)buf_add_char(&r->name, '.');
	r->key_line = r->line;
	read_string(r, &r->name);
	top(r)->wants_key = false;
}

static int read_plain(struct reader *r)
{
	size_t from = r->at;

	buf_cut(&r->value, 0);
	if (r->text[r->at] == '"')
		read_string(r, &r->value);
	else
		while (r->at < r->n && !strchr(" \t\n\r,]}", r->text[r->at]))
			r->at++;
	return top(r)->is_object ? emit(r, from, r->key_line) : 0;
}

static void open_one(struct reader *r)
{
	const struct frame *parent = top(r);
	struct frame *f = &r->frames[r->depth++];

	*f = (struct frame){
		.is_object = r->text[r->at] == '{',
		.is_member = parent && parent->is_object,
		.wants_key = r->text[r->at] == '{',
		.name = r->name.len,
		.from = r->at++,
		.line = r->key_line,
	};
}

static int close_one(struct reader *r)
{
	const struct frame *f = top(r);

	r->at++;
	r->depth--;
	buf_cut(&r->name, f->name);
	buf_cut(&r->value, 0);
	return f->is_member ? emit(r, f->from, f->line) : 0;
}

static int step(struct reader *r)
{
	struct frame *f = top(r);

	switch (r->text[r->at]) {
	case '\n':
		r->line++;
		r->at++;
		return 0;
	case ' ':
	case '\t':
	case '\r':
	case ':':
		r->at++;
		return 0;
	case ',':
		f->wants_key = f->is_object;
		r->at++;
		return 0;
	case '{':
	case '[':
		open_one(r);
		return 0;
	case '}':
	case ']':
		return close_one(r);
	default:
		if (!f->wants_key)
			return read_plain(r);
		read_key(r);
		return 0;
	}
}

int items_read_json(struct items *items, const char *text, size_t n)
{
	struct reader reader = {
		.items = items,
		.text = text,
		.n = n,
		.at = items_skip_mark(text, n),
		.line = 1,
		.name = BUF_INIT(NAME_SIZE),
		.value = BUF_INIT(VALUE_SIZE),
	};
	int r = 0;

	if (json_check_object(text + reader.at, n - reader.at) < 0)
		return -EINVAL;
	while (r >= 0 && reader.at < n)
		r = step(&reader);
	buf_done(&reader.name);
	buf_done(&reader.value);
	return r;
}

/* Behind the comment that begins at `i`, which becomes blanks; or `i`. */
static size_t blank_comment(char *text, size_t n, size_t i)
{
	char kind = '\0';
	size_t end = i;

	if (i + 1 < n && text[i] == '/')
		kind = text[i + 1];
	if (kind == '/') {
		while (end < n && text[end] != '\n')
			end++;
	} else if (kind == '*') {
		for (end = i + 2; end + 1 < n; end++)
			if (text[end] == '*' && text[end + 1] == '/')
				break;
		end = end + 1 < n ? end + 2 : n;
	}
	for (; i < end; i++)
		if (text[i] != '\n')
			text[i] = ' ';
	return end;
}

static size_t skip_string(const char *text, size_t n, size_t i)
{
	for (i++; i < n && text[i] != '"'; i++)
		i += text[i] == '\\';
	return i + 1;
}

/* What is more than JSON becomes blanks, so that lines stay where they are. */
static void blank_more(char *text, size_t n)
{
	size_t comma = n; /* the last, if nothing but blanks follows so far */

	for (size_t i = 0; i < n;) {
		size_t end = blank_comment(text, n, i);

		if (end > i) {
			i = end;
			continue;
		}
		if ((text[i] == '}' || text[i] == ']') && comma < n)
			text[comma] = ' ';
		if (!strchr(" \t\r\n", text[i]))
			comma = text[i] == ',' ? i : n;
		i = text[i] == '"' ? skip_string(text, n, i) : i + 1;
	}
}

int items_read_jsonc(struct items *items, const char *text, size_t n)
{
	auto_free char *copy = malloc(n + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, n);
	copy[n] = '\0';
	blank_more(copy, n);
	return items_read_json(items, copy, n);
}
