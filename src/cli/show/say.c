/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/say.h"

#include "base/error.h"
#include "cli/show/exit.h"
#include "holdback/holdback.h"

#include <stdio.h>

#define LINE_SIZE (HB_TEXT_SIZE + 160)

/* Names in a message are bytes of a stranger: none speaks to the terminal. */
static void say_line(const char *before, const char *words)
{
	char line[LINE_SIZE];
	int n;

	n = snprintf(line, sizeof(line), "%s%s", before, words);
	if (n < 0)
		return;
	for (char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	(void)fprintf(stderr, "%s\n", line);
}

void cli_say(const char *words)
{
	say_line("holdback: ", words);
}

static void say_error(const char *before, const struct hb_error *err)
{
	char words[LINE_SIZE];

	/* Our own codes are said by the words; the kernel's need its own. */
	if (err->code >= HB_E_UNSUPPORTED)
		(void)snprintf(words, sizeof(words), "%s", err->text);
	else
		hb_error_format(err, words, sizeof(words));
	say_line(before, words);
	if (cli_fix_of(err)[0])
		say_line("fix: ", cli_fix_of(err));
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
