/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_run.h"

#include "base/error.h"
#include "cli/hand_over.h"
#include "cli/say.h"
#include "cli/table.h"
#include "holdback/holdback.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* `holdback run`: in the executable that starts fast. */

static void tell(void *context, enum hb_notice notice, const char *text)
{
	char line[PATH_MAX];

	(void)context;

	if (notice == HB_NOTICE_WEAKENED) {
		(void)snprintf(line, sizeof(line), "weakened: %s", text);
		cli_say(line);
		return;
	}
	if (hb_is_terminal(STDERR_FILENO))
		cli_say(text);
}

static bool ask(void *context, const char *question)
{
	char answer[16];

	(void)context;
	if (!hb_is_terminal(STDIN_FILENO) || !hb_is_terminal(STDERR_FILENO))
		return false;
	(void)fprintf(stderr, "holdback: %s [y/N] ", question);
	(void)fflush(stderr);
	if (!fgets(answer, sizeof(answer), stdin))
		return false;
	return answer[0] == 'y' || answer[0] == 'Y';
}

int cmd_run(char **words, enum cmd_run_how how, char *const *envp)
{
	const struct command *c = command_find(&cli_program, "run");
	struct cli_values values = { 0 };
	const struct hb_listener listener = { tell, ask, NULL };
	struct hb_run_result result = { 0 };
	struct hb_run_options options;
	struct hb_error err = { 0 };
	const char *meant;
	char line[80];
	int r;

	r = option_parse(&cli_program, c, words, &values, words, &err);
	if (r < 0)
		return cli_fail_run(&err);
	if (values.help || values.version)
		return cli_hand_over("run", &values, envp);
	cli_run_options(&values, words, envp, &options);
	r = hb_run(&options, &listener, &result, &err);
	if (r == -HB_E_NOT_FOUND && how == RUN_IMPLIED) {
		meant = command_suggest(&cli_program, words[0]);
		if (meant)
			hb_fix(&err, "did you mean 'holdback %s'?", meant);
	}
	if (r < 0)
		return cli_fail_run(&err);
	if (result.n_leftover > 0 && !result.is_quiet) {
		(void)snprintf(
			line, sizeof(line),
			"ended %u process%s that the command left behind",
			result.n_leftover, result.n_leftover == 1 ? "" : "es");
		cli_say(line);
	}
	return result.status;
}
