/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/say.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/show/colour.h"
#include "cli/show/exit.h"
#include "cli/show/wrap.h"
#include "holdback/holdback.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE (HB_TEXT_SIZE + 160)
#define TEXT_SIZE ((size_t)4 << 20)

void cli_put(const char *text)
{
	auto_buf struct buf out = BUF_INIT(TEXT_SIZE);

	if (wrap_text(text, strlen(text), wrap_columns(STDERR_FILENO), &out) >=
	    0)
		(void)fputs(buf_str(&out), stderr);
	else
		(void)fputs(text, stderr);
}

/* The words before a line, and how they look. */
struct before {
	const char *words;
	enum colour colour;
	bool is_whole; /* a command to be copied: the line is not broken */
};

/* Names in a message are bytes of a stranger: none speaks to the terminal. */
static void say_line(const struct before *before, const char *words)
{
	bool has_colour = colour_is_on(STDERR_FILENO);
	char line[LINE_SIZE], text[LINE_SIZE + 64];

	(void)snprintf(line, sizeof(line), "%s", words);
	for (char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	(void)snprintf(text, sizeof(text), "%s%s%s%s\n",
		       colour_begin(has_colour, before->colour), before->words,
		       colour_end(has_colour, before->colour), line);
	if (before->is_whole)
		(void)fputs(text, stderr);
	else
		cli_put(text);
}

void cli_say(const char *words)
{
	say_line(&(struct before){ .words = "holdback: " }, words);
}

void cli_warn(const char *words)
{
	say_line(&(struct before){ .words = "holdback: ",
				   .colour = COLOUR_WARNING },
		 words);
}

static void say_error(const char *before, const struct hb_error *err)
{
	const struct before fix = {
		.words = "fix: ", .colour = COLOUR_HEAD, .is_whole = true
	};
	char words[LINE_SIZE];

	/* Our own codes are said by the words; the kernel's need its own. */
	if (err->code >= HB_E_UNSUPPORTED)
		(void)snprintf(words, sizeof(words), "%s", err->text);
	else
		hb_error_format(err, words, sizeof(words));
	say_line(&(struct before){ .words = before, .colour = COLOUR_DELETED },
		 words);
	if (cli_fix_of(err)[0])
		say_line(&fix, cli_fix_of(err));
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
