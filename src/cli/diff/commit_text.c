/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/commit_text.h"

#include "base/buf.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "cli/diff/paint.h"
#include "holdback/git.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INDENT	  "    "
#define TAB_WIDTH 8
#define ID_SHOWN  7
#define LINE_MAX  ((size_t)8 << 20) /* a commit has at most 1 MiB */

static bool is_blank(char c)
{
	return isspace((unsigned char)c) != 0;
}

void person_parse(const char *line, struct person *ret_person)
{
	const char *open = strchr(line, '<');
	const char *close = open ? strchr(open, '>') : NULL;
	const char *last = strrchr(line, '>');
	struct person p = { .name = line,
			    .name_len = strlen(line),
			    .mail = "" };
	char *end;

	if (close) {
		p.name_len = (size_t)(open - line);
		p.mail = open + 1;
		p.mail_len = (size_t)(close - open - 1);
	}
	while (p.name_len > 0 && is_blank(p.name[p.name_len - 1]))
		p.name_len--;
	if (last) {
		errno = 0;
		p.time = strtoll(last + 1, &end, 10);
		if (errno == 0 && end != last + 1 && p.time >= 0)
			p.zone = (int)strtol(end, NULL, 10);
		else
			p.time = 0;
	}
	if (p.zone < -9959 || p.zone > 9959)
		p.zone = 0;
	*ret_person = p;
}

static void paint_date(const struct person *p, struct paint *paint)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	int minutes = p->zone / 100 * 60 + p->zone % 100, zone = p->zone;
	time_t at = p->time + (int64_t)minutes * 60;
	struct tm tm;

	/* As git, which shows a date that is none so. */
	if (p->time > INT64_MAX / 2 || !gmtime_r(&at, &tm)) {
		at = 0;
		zone = 0;
		(void)gmtime_r(&at, &tm);
	}
	paint_words(paint, PAINT_PLAIN,
		    "Date:   %.3s %.3s %d %02d:%02d:%02d %d %+05d",
		    &days[tm.tm_wday * 3L], &months[tm.tm_mon * 3L], tm.tm_mday,
		    tm.tm_hour, tm.tm_min, tm.tm_sec, tm.tm_year + 1900, zone);
}

/* Tabs as blanks, up to a character that is not UTF-8: as git does. */
static void expand_tabs(const char *line, size_t n, struct buf *out)
{
	size_t column = 0, i = 0;
	uint32_t code;

	while (i < n) {
		size_t len =
			line[i] == '\t' ? 1 : utf8_next(line + i, n - i, &code);

		if (len == 0)
			break;
		if (line[i] == '\t') {
			(void)buf_add_fill(out, ' ',
					   TAB_WIDTH - column % TAB_WIDTH);
			column += TAB_WIDTH - column % TAB_WIDTH;
		} else {
			(void)buf_add(out, line + i, len);
			column++;
		}
		i += len;
	}
	(void)buf_add(out, line + i, n - i);
}

static size_t trimmed(const char *line, size_t n)
{
	while (n > 0 && is_blank(line[n - 1]))
		n--;
	return n;
}

/* Blank lines before the first and behind the last are none. */
static void paint_message(const char *text, struct paint *paint)
{
	const char *end = text + trimmed(text, strlen(text));
	bool has_begun = false;

	while (text < end) {
		auto_buf struct buf line = BUF_INIT(LINE_MAX);
		size_t n = strcspn(text, "\n");
		size_t shown = trimmed(text, n);

		if (shown > 0 && !has_begun) {
			paint_words(paint, PAINT_PLAIN, "%s", "");
			has_begun = true;
		}
		if (has_begun) {
			expand_tabs(text, shown, &line);
			paint_text(paint, PAINT_PLAIN, INDENT, buf_str(&line),
				   line.len);
		}
		text += n + (text[n] == '\n');
	}
}

/* "HEAD", "main", "tag: v1", as `git log --decorate` */
static void add_ref(const char *name, struct buf *out)
{
	static const struct {
		const char *start, *shown;
	} kinds[] = { { "refs/heads/", "" },
		      { "refs/tags/", "tag: " },
		      { "refs/remotes/", "" },
		      { "", "" } };
	size_t i = 0;

	while (strncmp(name, kinds[i].start, strlen(kinds[i].start)) != 0)
		i++;
	name += strlen(kinds[i].start);
	(void)buf_add_str(out, kinds[i].shown);
	(void)quote_name(name, strlen(name), out);
}

static void paint_first(const struct hb_commit *c, struct paint *paint)
{
	auto_buf struct buf line = BUF_INIT(LINE_MAX);

	(void)buf_add_fmt(&line, "commit %s", c->id);
	for (size_t i = 0; paint->is_for_terminal && i < c->n_refs; i++) {
		(void)buf_add_str(&line, i == 0 ? " (" : ", ");
		add_ref(c->refs[i], &line);
		if (i + 1 == c->n_refs)
			(void)buf_add_char(&line, ')');
	}
	paint_words(paint, PAINT_COMMIT, "%s", buf_str(&line));
}

void commit_text_paint(const struct hb_commit *c, struct paint *paint)
{
	auto_buf struct buf line = BUF_INIT(LINE_MAX);
	struct person author;

	paint_first(c, paint);
	if (c->is_missing) {
		paint_words(paint, PAINT_META,
			    "# the repository of the session does not have it, "
			    "or it is damaged");
		return;
	}
	for (size_t i = 0; c->n_parents > 1 && i < c->n_parents; i++)
		(void)buf_add_fmt(&line, "%s%.*s", i == 0 ? "Merge: " : " ",
				  ID_SHOWN, c->parents[i]);
	if (line.len > 0)
		paint_words(paint, PAINT_PLAIN, "%s", buf_str(&line));
	person_parse(c->author, &author);
	buf_cut(&line, 0);
	(void)buf_add(&line, author.name, author.name_len);
	(void)buf_add_fmt(&line, "%s<%.*s>", author.name_len > 0 ? " " : "",
			  (int)author.mail_len, author.mail);
	paint_text(paint, PAINT_PLAIN, "Author: ", buf_str(&line), line.len);
	paint_date(&author, paint);
	paint_message(c->message, paint);
}
