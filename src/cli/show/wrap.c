/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/wrap.h"

#include "base/buf.h"
#include "holdback/holdback.h"

#include <stdbool.h>
#include <string.h>

#define COLUMNS_LEAST 20 /* less is no width to read in */
#define INDENT	      2

/* The bytes of a sequence that paints, ESC [ … m; 0: there is none here. */
static size_t paint_length(const char *text, size_t n)
{
	size_t i = 2;

	if (n < 3 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (i < n && (text[i] == ';' || (text[i] >= '0' && text[i] <= '9')))
		i++;
	return i < n && text[i] == 'm' ? i + 1 : 0;
}

size_t wrap_width(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n;) {
		size_t paint = paint_length(text + i, n - i);

		columns +=
			paint == 0 && ((unsigned char)text[i] & 0xc0) != 0x80;
		i += paint > 0 ? paint : 1;
	}
	return columns;
}

size_t wrap_columns(int fd)
{
	unsigned columns = hb_terminal_columns(fd);

	return columns < COLUMNS_LEAST ? 0 : columns;
}

/* The bytes up to the next place where a line may best be broken. */
static size_t part_of(const char *text, size_t n)
{
	static const char *const ends[] = { "; ", " · ", ": " };
	size_t part = n;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *at = memmem(text, n, ends[i], strlen(ends[i]));
		size_t end = at ? (size_t)(at - text) + strlen(ends[i]) - 1 : n;

		part = end < part ? end : part;
	}
	return part;
}

static size_t word_of(const char *text, size_t n)
{
	const char *blank = memchr(text, ' ', n);

	return blank ? (size_t)(blank - text) : n;
}

static size_t blanks_of(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] == ' ')
		i++;
	return i;
}

struct wrap {
	struct buf *out;
	size_t columns, indent;
	size_t at;    /* the column */
	size_t words; /* in this line */
};

/* Whether `width` columns after `blanks` are too many for this line. */
static bool is_full(const struct wrap *w, size_t blanks, size_t width)
{
	return w->at > w->indent && w->at + blanks + width > w->columns;
}

static void new_line(struct wrap *w, size_t *blanks)
{
	(void)buf_add_char(w->out, '\n');
	(void)buf_add_fill(w->out, ' ', w->indent);
	w->at = w->indent;
	w->words = 0;
	*blanks = 0;
}

static void add_line(struct wrap *w, const char *line, size_t n)
{
	size_t rest = 0;

	while (n > 0) {
		size_t blanks = blanks_of(line, n), skip = blanks, word, width;

		line += skip;
		n -= skip;
		if (rest == 0) {
			rest = part_of(line, n);
			width = wrap_width(line, rest);
			/* No name of a speaker stands alone. */
			if (w->words > 1 && is_full(w, blanks, width) &&
			    w->indent + width <= w->columns)
				new_line(w, &blanks);
		}
		word = word_of(line, n);
		width = wrap_width(line, word);
		if (is_full(w, blanks, width))
			new_line(w, &blanks);
		(void)buf_add_fill(w->out, ' ', blanks);
		(void)buf_add(w->out, line, word);
		w->at += blanks + width;
		w->words++;
		rest -= word < rest ? word : rest;
		line += word;
		n -= word;
		rest -= rest > 0 && n > 0;
	}
}

int wrap_text(const char *text, size_t n, size_t columns, struct buf *out)
{
	while (n > 0) {
		const char *end = memchr(text, '\n', n);
		size_t line = end ? (size_t)(end - text) : n;
		size_t indent = blanks_of(text, line) + INDENT;
		struct wrap w = { .out = out,
				  .columns = columns,
				  .indent = indent < columns / 2 ? indent
								 : INDENT };

		if (columns == 0 || wrap_width(text, line) <= columns ||
		    memchr(text, '\t', line))
			(void)buf_add(out, text, line);
		else
			add_line(&w, text, line);
		if (end)
			(void)buf_add_char(out, '\n');
		text += line + (end != NULL);
		n -= line + (end != NULL);
	}
	return out->error;
}

int wrap_cut(const char *name, size_t columns, struct buf *out)
{
	size_t n = strlen(name), width = wrap_width(name, n);

	if (width <= columns)
		return buf_add(out, name, n);
	(void)buf_add_str(out, "…");
	for (; width >= columns && width > 1; width--)
		do
			name++;
		while (((unsigned char)*name & 0xc0) == 0x80);
	return buf_add_str(out, name);
}

int wrap_cut_end(const char *words, size_t columns, struct buf *out)
{
	size_t n = strlen(words), width = wrap_width(words, n);

	if (width <= columns)
		return buf_add(out, words, n);
	for (; width >= columns && n > 0; width--)
		do
			n--;
		while (n > 0 && ((unsigned char)words[n] & 0xc0) == 0x80);
	(void)buf_add(out, words, n);
	return buf_add_str(out, "…");
}
