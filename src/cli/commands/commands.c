/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "cli/commands/cmd.h"
#include "cli/commands/go_on.h"
#include "cli/front/cmd_exec.h"
#include "cli/front/cmd_run.h"
#include "cli/front/hand_over.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/reports.h"
#include "cli/show/say.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/*
 * libexec/holdback/commands: every command that need not start in a moment.
 * Executed by `holdback` with the words that it was given.
 */

/* The table's references are weak; these make a missing function an error. */
#define FUNCTION(name) cmd_##name,
static int (*const needed[])(const struct cmd_call *, struct hb_error *)
	__attribute__((used, retain)) = { COMMANDS(FUNCTION) };

static int dispatch(const struct command *c, struct cmd_call *call,
		    struct hb_error *err)
{
	struct evidence evidence;
	int r;

	if (!c->run)
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' is not done by this program", c->name);
	evidence_init(&evidence);
	call->evidence = call->values->json ? &evidence : NULL;
	r = c->run(call, err);
	if (r < 0 && call->values->json)
		doc_error(0, c->name, err, &evidence);
	evidence_done(&evidence);
	return r;
}

/* `words` begin with the command's name, or are options of the program. */
static int run(char **words, struct hb_error *err)
{
	const struct command *c = command_find(&cli_program, words[0]);
	struct cli_values values = { 0 };
	struct reports reports;
	struct cmd_call call = { .values = &values,
				 .operands = words + 1,
				 .envp = environ,
				 .reports = &reports };
	int unused, r;

	reports_init(&reports, environ);

	if (!c && words[0][0] != '-')
		return command_unknown(&cli_program, words[0], err);
	if (!c)
		call.operands = words;
	r = option_parse(&cli_program, c, call.operands, &values, call.operands,
			 err);
	if (r < 0)
		return r;
	call.n_operands = r;
	if (values.version)
		return cmd_version(&call, err);
	if (values.help || !c)
		return cmd_print_help(c ? c->name : NULL, err);
	r = hb_work_in(values.directory, &unused, err);
	if (r < 0)
		return r;
	return dispatch(c, &call, err);
}

/* A run behind: in the session that the user wants to go on in, if any. */
static int run_chosen(char **words)
{
	char session[HB_SESSION_NAME_SIZE] = "";
	auto_free char **chosen = NULL;
	struct hb_error err = { 0 };
	int r = go_on_choose(words, environ, session, &err);

	if (r > 0 && session[0]) {
		chosen = cli_words_in(session, words);
		r = chosen ? 1
			   : hb_fail(&err, -ENOMEM, "cannot keep the words");
	}
	if (r < 0)
		return cli_fail_run(&err);
	if (r == 0) {
		cli_say("nothing was run");
		return HB_EXIT_OURS;
	}
	return cmd_run(chosen ? chosen + 2 : words, RUN_BEHIND, environ);
}

int main(int argc, char **argv)
{
	struct hb_error err = { 0 };
	int r;

	if (argc < 2) {
		r = cmd_print_help(NULL, &err);
		return r < 0 ? cli_fail(&err) : r;
	}
	if (cmd_is_exec(argv[1]))
		return cmd_exec(argv, EXEC_BEHIND, environ);
	if (strcmp(argv[1], "run") == 0)
		return run_chosen(argv + 2);
	r = run(argv + 1, &err);
	return r < 0 ? cli_fail(&err) : r;
}
