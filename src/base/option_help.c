/* SPDX-License-Identifier: Apache-2.0 */
#include "base/option_help.h"

#include "base/buf.h"
#include "base/option.h"

#include <string.h>

#define WIDTH  80
#define COLUMN 26 /* where the explanations begin */

/* Adds words from column `at` on, which is where the line stands, in lines. */
static void add_wrapped(struct buf *out, size_t at, const char *text)
{
	size_t column = at, n;

	while (*text) {
		n = strcspn(text, " ");
		if (column > at && column + 1 + n >= WIDTH) {
			(void)buf_add_char(out, '\n');
			(void)buf_add_fill(out, ' ', at);
			column = at;
		}
		if (column > at) {
			(void)buf_add_char(out, ' ');
			column++;
		}
		(void)buf_add(out, text, n);
		column += n;
		text += n;
		text += strspn(text, " ");
	}
	(void)buf_add_char(out, '\n');
}

/* A label that began at `start`, then its explanation in the right column. */
static void end_label(struct buf *out, size_t start, const char *text)
{
	size_t n = out->len - start;

	if (n + 2 > COLUMN) {
		(void)buf_add_char(out, '\n');
		n = 0;
	}
	(void)buf_add_fill(out, ' ', COLUMN - n);
	add_wrapped(out, COLUMN, text);
}

static void add_argument(struct buf *out, const struct option *o)
{
	const char *metavar = option_metavar(o);

	if (!metavar)
		return;
	if (option_arg_of(o) == OPTION_ARG_OPTIONAL)
		(void)buf_add_fmt(out, "[=%s]", metavar);
	else
		(void)buf_add_fmt(out, " %s", metavar);
}

static void add_option(struct buf *out, const struct option *o)
{
	size_t start = out->len;

	if (o->letter)
		(void)buf_add_fmt(out, "  -%c, --%s", o->letter, o->name);
	else
		(void)buf_add_fmt(out, "      --%s", o->name);
	add_argument(out, o);
	if (o->sigil)
		(void)buf_add_fmt(out, ", %c%s", o->sigil, option_metavar(o));
	end_label(out, start, o->help ? o->help : "");
}

static void add_options(struct buf *out, const struct option *table,
			const char *heading)
{
	const char *last = NULL;

	for (const struct option *o = table; o && o->name; o++) {
		if (o->group)
			heading = o->group;
		if (o->is_hidden)
			continue;
		if (!last || strcmp(heading, last) != 0)
			(void)buf_add_fmt(out, "\n%s:\n", heading);
		last = heading;
		add_option(out, o);
	}
}

static void add_commands(struct buf *out, const struct program *p)
{
	const char *heading = "Commands";

	for (const struct command *c = p->commands; c && c->name; c++) {
		size_t start;

		if (c->group)
			heading = c->group;
		if (c->flags & COMMAND_HIDDEN)
			continue;
		if (heading)
			(void)buf_add_fmt(out, "\n%s:\n", heading);
		heading = NULL;
		start = out->len;
		(void)buf_add_fmt(out, "  %s", c->name);
		end_label(out, start, c->summary);
	}
}

/* Paragraphs are kept apart by their empty lines and filled anew. */
static void add_paragraphs(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		struct buf line = BUF_INIT(out->limit);

		(void)buf_add_char(out, '\n');
		if (buf_add(&line, text, n) < 0)
			(void)buf_fail(out, line.error);
		add_wrapped(out, 0, buf_str(&line));
		buf_done(&line);
		text += n;
		text += strspn(text, "\n");
	}
}

static void add_examples(struct buf *out, const char *lines)
{
	if (!lines)
		return;
	(void)buf_add_str(out, "\nExamples:\n");
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		(void)buf_add_str(out, "  ");
		(void)buf_add(out, lines, n);
		(void)buf_add_char(out, '\n');
		lines += n + (lines[n] == '\n');
	}
}

int option_help(const struct program *p, const struct command *c,
		struct buf *out)
{
	const char *synopsis = c ? c->synopsis : "COMMAND [OPTIONS]";
	size_t start = out->len;

	(void)buf_add_fmt(out, "usage: %s%s%s", p->name, c ? " " : "",
			  c ? c->name : "");
	if (synopsis && synopsis[0]) {
		(void)buf_add_char(out, ' ');
		add_wrapped(out, out->len - start, synopsis);
	} else {
		(void)buf_add_char(out, '\n');
	}
	add_paragraphs(out, c ? c->summary : p->summary);
	if (c && c->about)
		add_paragraphs(out, c->about);
	add_examples(out, c ? c->examples : p->examples);
	if (c)
		add_options(out, c->options, "Options");
	if (c)
		add_options(out, c->shared, "Options of the view");
	else
		add_commands(out, p);
	add_options(out, p->options,
		    c ? "Options of every command" : "Options");
	if (!c)
		(void)buf_add_fmt(out, "\n'%s COMMAND --help' tells more.\n",
				  p->name);
	return out->error;
}

static void list_options(struct buf *out, const char *command,
			 const struct option *table)
{
	for (const struct option *o = table; o && o->name; o++) {
		const char *metavar = option_metavar(o);
		bool optional = option_arg_of(o) == OPTION_ARG_OPTIONAL;

		if (o->is_hidden)
			continue;
		(void)buf_add_fmt(out, "%s\t--%s\t", command, o->name);
		if (o->letter)
			(void)buf_add_fmt(out, "-%c\t", o->letter);
		else
			(void)buf_add_str(out, "-\t");
		(void)buf_add_fmt(out, "%s%s%s\n", optional ? "[" : "",
				  metavar ? metavar : "-", optional ? "]" : "");
	}
}

int option_list(const struct program *p, struct buf *out)
{
	list_options(out, "-", p->options);
	for (const struct command *c = p->commands; c && c->name; c++) {
		if (c->flags & COMMAND_HIDDEN)
			continue;
		(void)buf_add_fmt(out, "%s\t-\t-\t-\n", c->name);
		list_options(out, c->name, c->options);
		list_options(out, c->name, c->shared);
	}
	return out->error;
}
