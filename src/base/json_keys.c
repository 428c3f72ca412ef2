/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_keys.h"

#include "base/buf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define KEY_MAX 64

/* Where a scan is. */
struct scan {
	const char *text;
	size_t n, at;
	size_t depth;
	uint8_t is_object[JSON_READ_DEPTH_MAX];
};

/* A member of the outermost object: the value's first byte and its end. */
struct member {
	const char *key;
	size_t n_key;
	size_t from, to;
	bool is_found;
	size_t end;   /* of the last member before the closing brace */
	size_t count; /* of all members */

	/* Instead of all that: told every member, at any depth. */
	json_member_fn each;
	void *ctx;
};

static int peek(const struct scan *s)
{
	return s->at < s->n ? (unsigned char)s->text[s->at] : -1;
}

static void skip_blanks(struct scan *s)
{
	while (peek(s) == ' ' || peek(s) == '\t' || peek(s) == '\n' ||
	       peek(s) == '\r')
		s->at++;
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(int c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int skip_escape(struct scan *s)
{
	int c = peek(s);

	s->at++;
	if (c == 'u') {
		for (int i = 0; i < 4; i++, s->at++)
			if (!is_hex(peek(s)))
				return -EINVAL;
		return 0;
	}
	return c > 0 && strchr("\"\\/bfnrt", c) ? 0 : -EINVAL;
}

static int skip_string(struct scan *s)
{
	if (peek(s) != '"')
		return -EINVAL;
	for (s->at++; peek(s) >= ' '; s->at++) {
		if (peek(s) == '"') {
			s->at++;
			return 0;
		}
		if (peek(s) != '\\')
			continue;
		s->at++;
		if (skip_escape(s) < 0)
			return -EINVAL;
		s->at--;
	}
	return -EINVAL;
}

static int skip_digits(struct scan *s)
{
	if (!is_digit(peek(s)))
		return -EINVAL;
	while (is_digit(peek(s)))
		s->at++;
	return 0;
}

static int skip_number(struct scan *s)
{
	if (peek(s) == '-')
		s->at++;
	if (peek(s) == '0')
		s->at++;
	else if (skip_digits(s) < 0)
		return -EINVAL;
	if (peek(s) == '.') {
		s->at++;
		if (skip_digits(s) < 0)
			return -EINVAL;
	}
	if (peek(s) != 'e' && peek(s) != 'E')
		return 0;
	s->at++;
	if (peek(s) == '+' || peek(s) == '-')
		s->at++;
	return skip_digits(s);
}

static int skip_word(struct scan *s)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if (s->n - s->at >= n &&
		    memcmp(s->text + s->at, words[i], n) == 0) {
			s->at += n;
			return 0;
		}
	}
	return -EINVAL;
}

/* A value that holds no other. */
static int skip_plain(struct scan *s)
{
	if (peek(s) == '"')
		return skip_string(s);
	if (peek(s) == '-' || is_digit(peek(s)))
		return skip_number(s);
	return skip_word(s);
}

/* The name of a member and its colon. */
static int skip_key(struct scan *s, struct member *m, bool *ret_is_it)
{
	size_t from = s->at + 1;

	if (skip_string(s) < 0)
		return -EINVAL;
	*ret_is_it = m && s->depth == 1 && s->at - 1 - from == m->n_key &&
		     memcmp(s->text + from, m->key, m->n_key) == 0;
	skip_blanks(s);
	if (peek(s) != ':')
		return -EINVAL;
	s->at++;
	skip_blanks(s);
	return 0;
}

static int open_one(struct scan *s)
{
	if (s->depth >= JSON_READ_DEPTH_MAX)
		return -EINVAL;
	s->is_object[s->depth++] = peek(s) == '{';
	s->at++;
	skip_blanks(s);
	return 0;
}

static int close_of(const struct scan *s)
{
	return s->is_object[s->depth - 1] ? '}' : ']';
}

/* A member of the outermost object begins or ends here. */
static int note(struct scan *s, struct member *m, bool begins, bool is_it)
{
	if (!m || s->depth != 1)
		return 0;
	if (begins) {
		m->count++;
		if (is_it && m->is_found)
			return -EINVAL;
		if (is_it) {
			m->is_found = true;
			m->from = s->at;
			m->to = 0;
		}
		return 0;
	}
	m->end = s->at;
	if (m->is_found && m->to == 0)
		m->to = s->at;
	return 0;
}

/* After a value: what may follow it, up to where the next one begins. */
static int next_value(struct scan *s, struct member *m, bool *ret_more)
{
	for (;;) {
		int r = note(s, m, false, false);

		if (r < 0)
			return r;
		if (s->depth == 0) {
			*ret_more = false;
			return 0;
		}
		skip_blanks(s);
		if (peek(s) == ',') {
			s->at++;
			skip_blanks(s);
			*ret_more = true;
			return 0;
		}
		if (peek(s) != close_of(s))
			return -EINVAL;
		s->at++;
		s->depth--;
	}
}

/* One value with its key, if it has one: opens it or skips it. */
static int begin_value(struct scan *s, struct member *m, bool *ret_is_open)
{
	struct json_member found = { .depth = s->depth };
	size_t from = s->at;
	bool is_it = false;
	int r;

	if (s->depth > 0 && s->is_object[s->depth - 1]) {
		if (skip_key(s, m, &is_it) < 0 || note(s, m, true, is_it) < 0)
			return -EINVAL;
		found.key = s->text + from + 1;
		found.n_key = strcspn(found.key, "\"");
	}
	*ret_is_open = peek(s) == '{' || peek(s) == '[';
	from = s->at;
	r = *ret_is_open ? open_one(s) : skip_plain(s);
	if (r >= 0 && m && m->each && found.key) {
		found.value = *ret_is_open ? NULL : s->text + from;
		found.n = *ret_is_open ? 0 : s->at - from;
		m->each(m->ctx, &found);
	}
	return r;
}

static int scan_object(const char *text, size_t n, struct member *m)
{
	struct scan s = { .text = text, .n = n };
	bool more = true, is_open;

	skip_blanks(&s);
	if (peek(&s) != '{')
		return -EINVAL;
	if (m)
		m->end = s.at + 1;
	while (more) {
		if (begin_value(&s, m, &is_open) < 0)
			return -EINVAL;
		/* Something is in it, or it is closed at once. */
		if (is_open && peek(&s) != close_of(&s))
			continue;
		if (is_open) {
			s.at++;
			s.depth--;
		}
		if (next_value(&s, m, &more) < 0)
			return -EINVAL;
	}
	skip_blanks(&s);
	return s.at == n ? 0 : -EINVAL;
}

int json_check_object(const char *text, size_t n)
{
	return scan_object(text, n, NULL);
}

/* `from` with one member as `ours` has it. */
static int take_one(const struct buf *from, const char *ours, size_t n_ours,
		    const char *key, size_t n_key, struct buf *out)
{
	struct member here = { .key = key, .n_key = n_key };
	struct member there = here;
	int r;

	r = scan_object(from->data, from->len, &here);
	if (r >= 0)
		r = scan_object(ours, n_ours, &there);
	if (r < 0)
		return r;
	if (!there.is_found)
		return buf_add(out, from->data, from->len);
	(void)buf_add(out, from->data, here.is_found ? here.from : here.end);
	if (!here.is_found)
		(void)buf_add_fmt(out,
				  "%s\n  \"%.*s\": ", here.count > 0 ? "," : "",
				  (int)n_key, key);
	(void)buf_add(out, ours + there.from, there.to - there.from);
	if (here.is_found)
		return buf_add(out, from->data + here.to, from->len - here.to);
	if (here.count == 0)
		(void)buf_add_char(out, '\n');
	return buf_add(out, from->data + here.end, from->len - here.end);
}

int json_take_keys(const char *host, size_t n_host, const char *ours,
		   size_t n_ours, const char *keys, struct buf *out)
{
	auto_buf struct buf a = BUF_INIT(out->limit);
	auto_buf struct buf b = BUF_INIT(out->limit);
	struct buf *from = &a, *to = &b;
	int r;

	r = buf_add(from, host, n_host);
	if (r >= 0 && scan_object(host, n_host, NULL) < 0)
		r = -EINVAL;
	while (r >= 0 && *keys) {
		size_t n = strcspn(keys, ",");
		struct buf *other = from;

		if (n == 0 || n > KEY_MAX)
			return -EINVAL;
		buf_cut(to, 0);
		r = take_one(from, ours, n_ours, keys, n, to);
		from = to;
		to = other;
		keys += n + (keys[n] == ',');
	}
	return r < 0 ? r : buf_add(out, from->data, from->len);
}

int json_each_member(const char *text, size_t n, json_member_fn fn, void *ctx)
{
	struct member m = { .key = "", .each = fn, .ctx = ctx };

	return scan_object(text, n, &m);
}
