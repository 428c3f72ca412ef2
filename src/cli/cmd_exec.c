/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_exec.h"

#include "base/auto.h"
#include "base/error.h"
#include "cli/cmd_session.h"
#include "cli/doc.h"
#include "cli/hand_over.h"
#include "cli/say.h"
#include "cli/table.h"
#include "holdback/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `holdback exec`: in the executable that starts fast. */

static int find_command(const struct cmd_call *call, char ***ret_argv,
			struct hb_error *err)
{
	const char *ref;
	int first, r;

	r = cmd_session_operand(call, true, &ref, &first, err);
	if (r < 0)
		return r;
	/* Options ended at the session's name, so these dashes are still there.
	 */
	if (first > 0 && call->operands[first] &&
	    strcmp(call->operands[first], "--") == 0)
		first++;
	*ret_argv = call->operands + first;
	if (**ret_argv)
		return 0;
	hb_fix(err, "holdback exec @SESSION -- COMMAND");
	return hb_fail(err, -HB_E_USAGE, "there is no command to run");
}

static void tell_end(const struct cli_values *values,
		     const struct hb_exec_result *result)
{
	struct doc doc = { 0 };

	if (result->has_timed_out)
		cli_say_timeout();
	cli_say_leftover(result->n_leftover);
	if (!values->json)
		return;
	doc_begin(&doc, true, "exec");
	doc_uint(&doc, "status", (uint64_t)result->status);
	doc_uint(&doc, "leftover", result->n_leftover);
	(void)doc_end(&doc, NULL);
	doc_done(&doc);
}

struct run {
	char **argv;
	struct hb_exec_result *result;
};

static int run_in(const struct cmd_call *call, struct hb_session *session,
		  int rest, void *ctx, struct hb_error *err)
{
	const struct run *run = ctx;

	(void)rest;
	return hb_session_exec(session, run->argv, call->envp, run->result,
			       err);
}

static int run(const struct cmd_call *call, enum hb_open how,
	       struct hb_exec_result *ret_result, struct hb_error *err)
{
	struct run run = { .result = ret_result };
	int r = find_command(call, &run.argv, err);

	return r < 0 ? r : cmd_with_session(call, how, true, run_in, &run, err);
}

int cmd_exec(char **argv, enum cmd_exec_where where, char *const *envp)
{
	const struct command *c = command_find(&cli_program, "exec");
	auto_free char **words = cli_copy_words(argv + 2);
	struct cli_values values = { 0 };
	struct cmd_call call = { .values = &values,
				 .operands = words,
				 .envp = envp };
	struct hb_exec_result result = { 0 };
	struct hb_error err = { 0 };
	int r;

	r = words ? option_parse(&cli_program, c, words, &values, words, &err)
		  : hb_fail(&err, -ENOMEM, "cannot keep the words");
	if (r < 0)
		return cli_fail_run(&err);
	if (values.help || values.version)
		return cli_hand_over("exec", &values, envp);
	call.n_operands = r;
	r = run(&call, where == EXEC_IN_FRONT ? HB_OPEN_QUICK : HB_OPEN_CHANGE,
		&result, &err);
	/* A crash is to be made up for first. */
	if (r == -EAGAIN && err.code == 0)
		r = hb_exec_helper("commands", argv, envp, &err);
	if (r < 0) {
		if (values.json)
			doc_error("exec", &err);
		return cli_fail_run(&err);
	}
	tell_end(&values, &result);
	return result.status;
}
