/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/say.h"

#include "base/error.h"
#include "cli/show/exit.h"
#include "holdback/holdback.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE     (HB_TEXT_SIZE + 160)
#define COLUMNS_LEAST 40 /* less is no width to read in */

#define INDENT 2

/* The columns of so many bytes. */
static size_t width_of(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

/* The bytes up to the next place where a line may best be broken. */
static size_t part_of(const char *text)
{
	static const char *const ends[] = { "; ", " · ", ": " };
	size_t n = strlen(text);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *at = strstr(text, ends[i]);
		size_t end = at ? (size_t)(at - text) + strlen(ends[i]) - 1 : n;

		n = end < n ? end : n;
	}
	return n;
}

static size_t new_line(void)
{
	(void)fprintf(stderr, "\n%*s", INDENT, "");
	return INDENT;
}

/*
 * In lines of that many columns.  A part that fits in a line stays whole, such
 * as a command to be typed; and so does a word that does not.
 */
static void put_wrapped(const char *line, size_t columns)
{
	size_t at = 0, rest = 0, width, n;

	while (*line) {
		size_t blanks = strspn(line, " ");

		line += blanks;
		if (rest == 0) {
			rest = part_of(line);
			width = width_of(line, rest);
			if (at > INDENT && at + blanks + width > columns &&
			    INDENT + width <= columns) {
				at = new_line();
				blanks = 0;
			}
		}
		n = strcspn(line, " ");
		width = width_of(line, n);
		if (at > INDENT && at + blanks + width > columns) {
			at = new_line();
			blanks = 0;
		}
		(void)fprintf(stderr, "%*s", (int)blanks, "");
		(void)fwrite(line, 1, n, stderr);
		at += blanks + width;
		rest -= n < rest ? n : rest;
		line += n;
		rest -= rest > 0 && *line == ' ';
	}
	(void)fputc('\n', stderr);
}

/*
 * Names in a message are bytes of a stranger: none speaks to the terminal.  A
 * line for people is as wide as their terminal; a command to be copied is not
 * broken.
 */
static void say_line(const char *before, const char *words, bool is_whole)
{
	unsigned columns = is_whole ? 0 : hb_terminal_columns(STDERR_FILENO);
	char line[LINE_SIZE];
	int n;

	n = snprintf(line, sizeof(line), "%s%s", before, words);
	if (n < 0)
		return;
	for (char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	if (columns < COLUMNS_LEAST)
		(void)fprintf(stderr, "%s\n", line);
	else
		put_wrapped(line, columns);
}

void cli_say(const char *words)
{
	say_line("holdback: ", words, false);
}

static void say_error(const char *before, const struct hb_error *err)
{
	char words[LINE_SIZE];

	/* Our own codes are said by the words; the kernel's need its own. */
	if (err->code >= HB_E_UNSUPPORTED)
		(void)snprintf(words, sizeof(words), "%s", err->text);
	else
		hb_error_format(err, words, sizeof(words));
	say_line(before, words, false);
	if (cli_fix_of(err)[0])
		say_line("fix: ", cli_fix_of(err), true);
}

int cli_fail(const struct hb_error *err)
{
	say_error("holdback: ", err);
	return (int)cli_exit_of(err);
}

int cli_fail_run(const struct hb_error *err)
{
	char before[32];

	if (err->code == HB_E_NOT_FOUND || err->code == HB_E_NOT_EXECUTABLE) {
		say_error("holdback: ", err);
		return err->code == HB_E_NOT_FOUND ? HB_EXIT_NOT_FOUND
						   : HB_EXIT_NOT_EXECUTABLE;
	}
	(void)snprintf(before, sizeof(before), "holdback: [%d] ",
		       (int)cli_exit_of(err));
	say_error(before, err);
	return HB_EXIT_OURS;
}

int cli_end(int status, const struct hb_death *death)
{
	(void)fflush(stdout);
	(void)fflush(stderr);
	hb_die_of(death);
	return status;
}
