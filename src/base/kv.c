/* SPDX-License-Identifier: Apache-2.0 */
#include "base/kv.h"

#include "base/error.h"
#include "base/quote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct span {
	const char *s;
	size_t n;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span trim(struct span t)
{
	while (t.n > 0 && is_blank(t.s[0])) {
		t.s++;
		t.n--;
	}
	while (t.n > 0 && is_blank(t.s[t.n - 1]))
		t.n--;
	return t;
}

static bool has_control(struct span t)
{
	for (size_t i = 0; i < t.n; i++) {
		unsigned char c = (unsigned char)t.s[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

static bool is_key(struct span t)
{
	if (t.n == 0 || t.n > KV_KEY_MAX || t.s[0] < 'a' || t.s[0] > 'z')
		return false;
	for (size_t i = 1; i < t.n; i++) {
		char c = t.s[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '-'))
			return false;
	}
	return true;
}

void kv_reader_init(struct kv_reader *k, const char *name, const void *text,
		    size_t n)
{
	*k = (struct kv_reader){ .name = name, .text = text, .left = n };
	buf_init(&k->value, KV_LINE_MAX);
}

void kv_reader_done(struct kv_reader *k)
{
	buf_done(&k->value);
	k->left = 0;
}

static int refuse(struct kv_reader *k, struct hb_error *err, const char *what)
{
	if (k->line == 0)
		k->line = 1;
	k->error = hb_fail(err, -HB_E_CONFIG, "%s:%zu: %s", quoted(k->name),
			   k->line, what);
	return k->error;
}

/* Takes the next line, without its end, off the text. */
static struct span take_line(struct kv_reader *k)
{
	const char *end = memchr(k->text, '\n', k->left);
	struct span t = { k->text, end ? (size_t)(end - k->text) : k->left };
	size_t used = t.n + (end ? 1 : 0);

	k->text += used;
	k->left -= used;
	k->line++;
	return t;
}

static int read_entry(struct kv_reader *k, struct span t, struct kv_entry *ret,
		      struct hb_error *err)
{
	const char *equals = memchr(t.s, '=', t.n);
	struct span key, value;
	int r;

	if (!equals)
		return refuse(k, err, "there is no '='");
	key = trim((struct span){ t.s, (size_t)(equals - t.s) });
	value = trim(
		(struct span){ equals + 1, t.n - (size_t)(equals - t.s) - 1 });
	if (!is_key(key))
		return refuse(k, err, "the text before '=' is no key");
	if (k->count >= KV_COUNT_MAX)
		return refuse(k, err, "there are too many entries");

	buf_cut(&k->value, 0);
	r = unquote_name(value.s, value.n, &k->value);
	if (r == -EINVAL)
		return refuse(k, err, "the quoted value is malformed");
	if (r < 0) {
		k->error = r;
		return hb_fail(err, r, "cannot hold a value");
	}

	k->count++;
	memcpy(ret->key, key.s, key.n);
	ret->key[key.n] = '\0';
	ret->value = buf_str(&k->value);
	ret->len = k->value.len;
	ret->line = k->line;
	return 1;
}

int kv_next(struct kv_reader *k, struct kv_entry *ret, struct hb_error *err)
{
	struct span t;

	if (k->error < 0)
		return hb_fail(err, k->error, "the reader has failed before");
	if (k->line == 0 && k->left > KV_FILE_MAX)
		return refuse(k, err, "the file is too large");

	while (k->left > 0) {
		t = take_line(k);
		if (t.n > KV_LINE_MAX)
			return refuse(k, err, "the line is too long");
		if (has_control(t))
			return refuse(k, err,
				      "there is an unquoted control character");
		t = trim(t);
		if (t.n > 0 && t.s[0] != '#')
			return read_entry(k, t, ret, err);
	}
	return 0;
}

int kv_fail(const struct kv_reader *k, const struct kv_entry *entry,
	    struct hb_error *err, const char *fmt, ...)
{
	char words[HB_TEXT_SIZE], shown[QUOTE_SHOWN];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return hb_fail(err, -HB_E_CONFIG, "%s:%zu: %s",
		       quote_shown(k->name, shown, sizeof(shown)), entry->line,
		       words);
}

bool kv_is_string(const struct kv_entry *entry)
{
	return !memchr(entry->value, '\0', entry->len);
}

void kv_writer_init(struct kv_writer *w, struct buf *out)
{
	assert(out->len == 0);
	*w = (struct kv_writer){ .out = out };
}

/* Ends the line that began at `start`, or takes it back if it is too long. */
static int end_line(struct kv_writer *w, size_t start)
{
	if (w->out->error < 0 || w->out->len - start > KV_LINE_MAX ||
	    w->out->len >= KV_FILE_MAX) {
		buf_cut(w->out, start);
		return buf_fail(w->out, -E2BIG);
	}
	if (buf_add_char(w->out, '\n') < 0)
		buf_cut(w->out, start);
	return w->out->error;
}

int kv_add(struct kv_writer *w, const char *key, const void *value, size_t n)
{
	size_t start = w->out->len;

	assert(is_key((struct span){ key, strlen(key) }));
	if (w->count >= KV_COUNT_MAX)
		return buf_fail(w->out, -E2BIG);
	w->count++;
	(void)buf_add_fmt(w->out, "%s = ", key);
	(void)quote_name(value, n, w->out);
	return end_line(w, start);
}

int kv_add_str(struct kv_writer *w, const char *key, const char *value)
{
	return kv_add(w, key, value, strlen(value));
}

int kv_add_fmt(struct kv_writer *w, const char *key, const char *fmt, ...)
{
	auto_buf struct buf value = BUF_INIT(KV_LINE_MAX);
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_add_vfmt(&value, fmt, ap);
	va_end(ap);
	if (r < 0)
		return buf_fail(w->out, r);
	return kv_add(w, key, buf_str(&value), value.len);
}
