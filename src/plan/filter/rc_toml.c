/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/filter/rc_toml.h"

#include "base/buf.h"
#include "plan/filter/rc_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * The part of TOML that these files are written in: tables, dotted and quoted
 * keys, strings in one line, arrays, inline tables.  A text with anything else
 * is not understood, and not shown.
 *
 * Each value is written with its whole key below its table's line.  So an
 * inline table of which a part is left out needs no commas.
 */
#define NAME_SIZE  512
#define VALUE_SIZE 4096
#define DEPTH_MAX  4

struct toml {
	struct rc *rc;
	struct buf *out;
	const char *at;
	char table[NAME_SIZE]; /* its name; "" at first */
	char head[NAME_SIZE];  /* its line, until that is written */
};

static void skip_blanks(struct toml *t, bool also_lines)
{
	for (;;) {
		t->at += strspn(t->at, also_lines ? " \t\r\n" : " \t");
		if (!also_lines || *t->at != '#')
			return;
		t->at += strcspn(t->at, "\n");
	}
}

/* Adds a piece to a name, and its bytes to the raw one. */
static int add_piece(char *name, const char *from, size_t n)
{
	size_t len = strlen(name);

	if (len + n + 2 >= NAME_SIZE)
		return -EINVAL;
	(void)snprintf(name + len, NAME_SIZE - len, "%s%.*s", len ? "." : "",
		       (int)n, from);
	return 0;
}

/* The end of a string in one line, behind its quote; NULL: there is none. */
static const char *string_end(const char *at)
{
	char quote = *at;

	if (at[1] == quote && at[2] == quote)
		return NULL;
	for (at++; *at && *at != '\n'; at++) {
		if (*at == quote)
			return at + 1;
		if (quote == '"' && *at == '\\' && at[1])
			at++;
	}
	return NULL;
}

/* A key with dots; `raw` gets its bytes, `name` its pieces. */
static int read_key(struct toml *t, char *name, char *raw)
{
	const char *from;

	raw[0] = '\0';
	do {
		const char *end;
		bool is_quoted;
		int r;

		t->at += raw[0] ? 1 : 0;
		skip_blanks(t, false);
		from = t->at;
		is_quoted = *from == '"' || *from == '\'';
		end = is_quoted
			      ? string_end(from)
			      : from + strspn(from, "abcdefghijklmnopqrstuvwxyz"
						    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
						    "0123456789_-");
		if (!end || end == from ||
		    (is_quoted && memchr(from, '\\', (size_t)(end - from))))
			return -EINVAL;
		r = add_piece(raw, from, (size_t)(end - from));
		if (r >= 0)
			r = add_piece(name, from + is_quoted,
				      (size_t)(end - from) -
					      (is_quoted ? 2 : 0));
		if (r < 0)
			return r;
		t->at = end;
		skip_blanks(t, false);
	} while (*t->at == '.');
	return 0;
}

/* A user's name in a table's name would be shown with any key of it. */
static bool has_login(const char *name)
{
	return strstr(name, "://") && strchr(name, '@');
}

static int read_table(struct toml *t)
{
	bool is_list = t->at[1] == '[';
	char raw[NAME_SIZE - 8];
	const char *close = is_list ? "]]" : "]";
	int r;

	t->at += 1 + is_list;
	t->table[0] = '\0';
	r = read_key(t, t->table, raw);
	if (r < 0 || strncmp(t->at, close, strlen(close)) != 0)
		return -EINVAL;
	t->at += strlen(close);
	(void)snprintf(t->head, sizeof(t->head), "%s%s%s\n",
		       is_list ? "[[" : "[", raw, close);
	/* Each one of a list is there, also an empty one. */
	if (is_list && !has_login(t->table)) {
		(void)buf_add_str(t->out, t->head);
		t->head[0] = '\0';
	}
	return 0;
}

/* The end of an array with all that it holds; NULL: it has none. */
static const char *array_end(const char *at)
{
	size_t depth = 0;

	for (; *at; at++) {
		if (*at == '"' || *at == '\'') {
			at = string_end(at);
			if (!at)
				return NULL;
			at--;
		} else if (*at == '#') {
			at += strcspn(at, "\n");
			if (!*at)
				return NULL;
		} else if (*at == '[') {
			depth++;
		} else if (*at == ']' && --depth == 0) {
			return at + 1;
		}
	}
	return NULL;
}

/* Takes the bytes up to `end` out of the text. */
static int take(struct toml *t, const char *end, size_t edge, char *ret)
{
	size_t n = end ? (size_t)(end - t->at) : 0;

	if (!end || n < 2 * edge || n - 2 * edge >= VALUE_SIZE)
		return -EINVAL;
	memcpy(ret, t->at + edge, n - 2 * edge);
	ret[n - 2 * edge] = '\0';
	t->at = end;
	return 0;
}

/* A login in an array: the array is left out, because none of it is cut. */
static bool is_plain_array(const char *value)
{
	return !(strstr(value, "://") && strchr(value, '@'));
}

static int add_value(struct toml *t, const char *name, const char *raw)
{
	bool is_string = *t->at == '"' || *t->at == '\'';
	bool is_array = *t->at == '[';
	char quote = '\0', value[VALUE_SIZE];
	size_t from = t->out->len;
	const char *end;
	int r;

	if (is_string)
		quote = *t->at;
	if (is_string)
		end = string_end(t->at);
	else
		end = is_array ? array_end(t->at)
			       : t->at + strcspn(t->at, " \t\r\n#,}]");
	r = take(t, end, is_string, value);
	if (r < 0 || (!is_string && !value[0]))
		return -EINVAL;
	if (has_login(t->table) || (is_array && !is_plain_array(value))) {
		t->rc->n_left_out++;
		return 0;
	}
	(void)buf_add_str(t->out, t->head);
	(void)buf_add_fmt(t->out, "%s = ", raw);
	r = rc_add_value(t->rc, name, value, quote, t->out);
	if (r == 0)
		buf_cut(t->out, from);
	if (r > 0) {
		t->head[0] = '\0';
		(void)buf_add_char(t->out, '\n');
	}
	return r;
}

/* KEY = VALUE, where both may have more of them in it. */
static int read_pair(struct toml *t, const char *above_name,
		     const char *above_raw, unsigned depth)
{
	char name[NAME_SIZE], raw[NAME_SIZE], own[NAME_SIZE];
	int r;

	(void)snprintf(name, sizeof(name), "%s", above_name);
	(void)snprintf(raw, sizeof(raw), "%s", above_raw);
	r = read_key(t, name, own);
	if (r >= 0)
		r = add_piece(raw, own, strlen(own));
	if (r < 0 || *t->at != '=' || depth > DEPTH_MAX)
		return -EINVAL;
	t->at++;
	skip_blanks(t, false);
	if (*t->at != '{')
		return add_value(t, name, raw);
	do {
		t->at++;
		skip_blanks(t, false);
		if (*t->at == '}')
			break;
		r = read_pair(t, name, raw, depth + 1);
		skip_blanks(t, false);
	} while (r >= 0 && *t->at == ',');
	if (r < 0 || *t->at != '}')
		return -EINVAL;
	t->at++;
	return 0;
}

int rc_filter_toml(struct rc *rc, const char *text, struct buf *out)
{
	struct toml t = { .rc = rc, .out = out, .at = text };
	int r = 0;

	for (skip_blanks(&t, true); r >= 0 && *t.at; skip_blanks(&t, true)) {
		r = *t.at == '[' ? read_table(&t)
				 : read_pair(&t, t.table, "", 0);
		if (r < 0)
			return r;
		/* Nothing else stands in the line. */
		skip_blanks(&t, false);
		if (*t.at && !strchr("#\r\n", *t.at))
			return -EINVAL;
	}
	return r;
}
