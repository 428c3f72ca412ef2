/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "cli/commands/cmd.h"
#include "cli/front/table.h"
#include "holdback/holdback.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* `holdback plan`: the words after it are those of a real call. */

static int plan_run(const struct cmd_call *call, enum hb_form form,
		    char **ret_text, struct hb_error *err)
{
	struct cli_values values = { 0 };
	struct hb_run_options options;
	int r;

	r = cmd_run_words(call, call->operands, &values, &options, err);
	return r < 0 ? r : hb_plan_run(&options, form, ret_text, err);
}

int cmd_plan(const struct cmd_call *call, struct hb_error *err)
{
	enum hb_form form = call->values->json ? HB_FORM_JSON : HB_FORM_TEXT;
	char **words = call->operands;
	auto_free char *text = NULL;
	size_t n;
	int r;

	if (words[0][0] == '-') {
		/* bwrap_parse() wants the word before the options as well. */
		r = hb_plan_bwrap(call->n_operands + 1, words - 1, form, &text,
				  err);
	} else if (strcmp(words[0], "bwrap") == 0) {
		r = hb_plan_bwrap(call->n_operands, words, form, &text, err);
	} else if (strcmp(words[0], "run") == 0) {
		r = plan_run(call, form, &text, err);
	} else {
		hb_fix(err, "holdback plan run -- %s", words[0]);
		r = hb_fail(err, -HB_E_USAGE,
			    "a plan is of 'run' or of 'bwrap', not of '%s'",
			    words[0]);
	}
	if (r < 0)
		return r;
	n = strlen(text);
	if (fwrite(text, 1, n, stdout) != n || fflush(stdout) != 0)
		return hb_fail(err, -errno, "cannot write the plan");
	return HB_EXIT_OK;
}
