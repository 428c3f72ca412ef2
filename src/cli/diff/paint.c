/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/paint.h"

#include "base/error.h"
#include "base/utf8.h"
#include "holdback/holdback.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FLOW_SIZE ((size_t)64 << 10)
#define RESET	  "\033[m"
#define REVERSE	  "\033[7m"
#define UPRIGHT	  "\033[27m"

/* One line may be a whole file. */
#define LIMIT_SIZE ((size_t)64 << 20)

/* git's own: bold, cyan, red, green, yellow. */
static const char *const colours[] = {
	[PAINT_PLAIN] = "",	   [PAINT_META] = "\033[1m",
	[PAINT_HUNK] = "\033[36m", [PAINT_OLD] = "\033[31m",
	[PAINT_NEW] = "\033[32m",  [PAINT_COMMIT] = "\033[33m",
};

void paint_init(struct paint *p, bool has_colour, bool is_for_terminal)
{
	*p = (struct paint){
		.has_colour = has_colour,
		.is_for_terminal = is_for_terminal,
	};
	buf_init(&p->out, LIMIT_SIZE);
}

void paint_done(struct paint *p)
{
	buf_done(&p->out);
}

static void begin(struct paint *p, enum paint_kind kind)
{
	if (p->has_colour)
		(void)buf_add_str(&p->out, colours[kind]);
}

static void end(struct paint *p, enum paint_kind kind)
{
	if (p->has_colour && colours[kind][0])
		(void)buf_add_str(&p->out, RESET);
}

void paint_words(struct paint *p, enum paint_kind kind, const char *fmt, ...)
{
	va_list ap;

	begin(p, kind);
	va_start(ap, fmt);
	(void)buf_add_vfmt(&p->out, fmt, ap);
	va_end(ap);
	end(p, kind);
	(void)buf_add_char(&p->out, '\n');
}

static int put(struct paint *p, struct hb_error *err)
{
	if (p->out.error)
		return hb_fail(err, p->out.error, "cannot make the text");
	if (p->out.len == 0)
		return 0;
	if (p->pager) {
		int r = hb_pager_write(p->pager, p->out.data, p->out.len, err);

		if (r < 0)
			return buf_fail(&p->out, r);
	} else if (fwrite(p->out.data, 1, p->out.len, stdout) != p->out.len ||
		   fflush(stdout) != 0) {
		return hb_fail(err, buf_fail(&p->out, -errno),
			       "cannot write to stdout");
	}
	p->is_begun = true;
	buf_cut(&p->out, 0);
	return 0;
}

static bool is_harmless(const char *bytes, size_t len, uint32_t code)
{
	return bytes[0] == '\t' || (len > 0 && !utf8_is_hidden(code));
}

/* What stands for a character that must not reach the terminal. */
static void add_stand_in(struct paint *p, const char *bytes, size_t len,
			 uint32_t code)
{
	unsigned char c = (unsigned char)bytes[0];

	if (p->has_colour)
		(void)buf_add_str(&p->out, REVERSE);
	if (len == 0)
		(void)buf_add_fmt(&p->out, "<%02X>", c);
	else if (c < 0x80)
		(void)buf_add_fmt(&p->out, "^%c", c ^ 0x40);
	else
		(void)buf_add_fmt(&p->out, "<U+%04X>", (unsigned)code);
	if (p->has_colour)
		(void)buf_add_str(&p->out, UPRIGHT);
}

static void add_content(struct paint *p, const char *bytes, size_t n)
{
	size_t start = 0;

	if (!p->is_for_terminal) {
		(void)buf_add(&p->out, bytes, n);
		return;
	}
	for (size_t i = 0; i < n;) {
		uint32_t code = 0;
		size_t len = utf8_next(bytes + i, n - i, &code);

		if (!is_harmless(bytes + i, len, code)) {
			(void)buf_add(&p->out, bytes + start, i - start);
			add_stand_in(p, bytes + i, len, code);
			start = i + (len ? len : 1);
			/* An error is kept, and told by who flows next. */
			(void)paint_flow(p, NULL);
		}
		i += len ? len : 1;
	}
	(void)buf_add(&p->out, bytes + start, n - start);
}

void paint_text(struct paint *p, enum paint_kind kind, const char *before,
		const char *bytes, size_t n)
{
	if (n > 0 && bytes[n - 1] == '\n')
		n--;
	begin(p, kind);
	(void)buf_add_str(&p->out, before);
	add_content(p, bytes, n);
	end(p, kind);
	(void)buf_add_char(&p->out, '\n');
}

void paint_content(struct paint *p, enum paint_kind kind, char sign,
		   const char *bytes, size_t n)
{
	const char before[] = { sign, '\0' };

	paint_text(p, kind, before, bytes, n);
}

void paint_hunk(struct paint *p, const char *head, size_t n)
{
	const char *last = NULL;
	size_t ours;

	if (n > 0 && head[n - 1] == '\n')
		n--;
	if (n > 2)
		last = memmem(head + 2, n - 2, "@@", 2);
	ours = last ? (size_t)(last + 2 - head) : n;
	begin(p, PAINT_HUNK);
	(void)buf_add(&p->out, head, ours);
	end(p, PAINT_HUNK);
	add_content(p, head + ours, n - ours);
	(void)buf_add_char(&p->out, '\n');
}

void paint_fill(struct paint *p, enum paint_kind kind, char c, size_t n)
{
	if (n == 0)
		return;
	begin(p, kind);
	(void)buf_add_fill(&p->out, c, n);
	end(p, kind);
}

void paint_raw(struct paint *p, const char *bytes, size_t n)
{
	(void)buf_add(&p->out, bytes, n);
}

int paint_flow(struct paint *p, struct hb_error *err)
{
	return p->out.error || !p->is_begun || p->out.len >= FLOW_SIZE
		       ? put(p, err)
		       : 0;
}

int paint_end(struct paint *p, struct hb_error *err)
{
	return put(p, err);
}
