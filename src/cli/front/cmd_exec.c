/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/cmd_exec.h"

#include "base/auto.h"
#include "base/error.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/choose.h"
#include "cli/front/hand_over.h"
#include "cli/front/here.h"
#include "cli/front/table.h"
#include "cli/front/table_run.h"
#include "cli/show/doc.h"
#include "cli/show/reports.h"
#include "cli/show/say.h"
#include "holdback/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* exec, shell and keep: in the executable that starts fast. */

/* How the words after the session become a command. */
enum takes {
	TAKES_COMMAND, /* they are one */
	TAKES_SHELL,   /* there are none: the user's shell */
	TAKES_NOTHING, /* there is none: the box is held open */
};

static const struct {
	const char *name;
	enum takes takes;
} kinds[] = {
	{ "exec", TAKES_COMMAND },
	{ "shell", TAKES_SHELL },
	{ "keep", TAKES_NOTHING },
};

bool cmd_is_exec(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return true;
	return false;
}

static enum takes what_takes(const char *name)
{
	size_t i = 0;

	while (strcmp(kinds[i].name, name) != 0)
		i++;
	return kinds[i].takes;
}

static char *find_shell(char *const *envp)
{
	static char usual[] = "/bin/sh";

	for (; *envp; envp++)
		if (strncmp(*envp, "SHELL=/", 7) == 0)
			return *envp + 6;
	return usual;
}

static int find_command(const struct cmd_call *call, const char **ret_ref,
			char ***ret_argv, struct hb_error *err)
{
	int first, r;

	r = cmd_session_operand(call, true, ret_ref, &first, err);
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

static void show_end(const struct reports *reports,
		     const struct hb_exec_result *result)
{
	auto_doc struct doc doc = { .fd = reports->json_fd };

	if (doc.fd == 0)
		return;
	doc_begin(&doc, true, reports->command);
	doc_str(&doc, "event", "ended");
	if (reports->session[0])
		doc_str(&doc, "session", reports->session);
	doc_uint(&doc, "status", (uint64_t)result->status);
	doc_uint(&doc, "leftover", result->n_leftover);
	doc_bool(&doc, "joined", result->has_joined);
	if (result->death.signal > 0)
		doc_uint(&doc, "signal", (uint64_t)result->death.signal);
	if (result->n_nested >= 0)
		doc_uint(&doc, "nested_refused", (uint64_t)result->n_nested);
	(void)doc_end(&doc, NULL);
}

/* Session and command by the operands; `shell` is the user's. */
static int read_operands(const struct cmd_call *call, enum takes takes,
			 char **shell, const char **ret_ref, char ***ret_argv,
			 struct hb_error *err)
{
	int rest;

	if (takes == TAKES_COMMAND)
		return find_command(call, ret_ref, ret_argv, err);
	*ret_argv = takes == TAKES_SHELL ? shell : NULL;
	return cmd_session_operand(call, false, ret_ref, &rest, err);
}

/*
 * Without a name no two sessions here may have changes.  -EAGAIN without words:
 * to look takes the memory of the other executable.
 */
static int check_choice(struct hb_store *store, const char *command,
			const char *ref, enum cmd_exec_where where,
			struct hb_error *err)
{
	auto_free struct here *here = NULL;

	if (!cmd_names_none(ref))
		return 0;
	if (where == EXEC_BEHIND)
		return choose_only(store, command, CHOOSE_BY_PENDING, err);
	return here_find(store, &here, NULL) >= 0 && here->n > 1 ? -EAGAIN : 0;
}

int cmd_exec(char **argv, enum cmd_exec_where where, char *const *envp)
{
	const struct command *c = command_find(&cli_program, argv[1]);
	auto_free char **words = cli_copy_words(argv + 2);
	char *shell[] = { find_shell(envp), NULL };
	struct cli_values values = { 0 };
	struct reports reports;
	struct cmd_call call = { .values = &values,
				 .operands = words,
				 .envp = envp,
				 .reports = &reports };
	struct hb_exec_result result = { 0 };
	struct hb_store *store = NULL;
	struct hb_error err = { 0 };
	const char *ref = NULL;
	char **command = NULL;
	int back = -1, r;

	reports_init(&reports, envp);
	r = words ? option_parse(&cli_program, c, words, &values, words, &err)
		  : hb_fail(&err, -ENOMEM, "cannot keep the words");
	if (r < 0)
		return cli_fail_run(&err);
	if (values.help || values.version)
		return cli_hand_over(argv[1], &values, envp);
	call.n_operands = r;
	reports.command = argv[1];
	if (what_takes(argv[1]) == TAKES_NOTHING)
		reports.envp = envp;
	r = cli_json_fd(&values, &err);
	reports.json_fd = r > 0 ? r : 0;
	if (r >= 0)
		r = hb_work_in(values.directory, &back, &err);
	if (r >= 0)
		r = read_operands(&call, what_takes(argv[1]), shell, &ref,
				  &command, &err);
	if (r >= 0)
		r = cmd_open_store(&call, false, &store, &err);
	if (r >= 0)
		r = check_choice(store, argv[1], ref, where, &err);
	if (r >= 0)
		r = hb_exec(store, ref,
			    values.is_joining	     ? HB_OPEN_JOIN
			    : where == EXEC_IN_FRONT ? HB_OPEN_QUICK
						     : HB_OPEN_CHANGE,
			    command, envp, values.pty ? "own" : values.tty,
			    &result, &err);
	hb_store_free(store);
	/* A crash is to be made up for first. */
	if (r == -EAGAIN && err.code == 0) {
		hb_work_back(back);
		r = hb_exec_helper("commands", argv, envp, &err);
	}
	if (r < 0) {
		if (reports.json_fd > 0)
			doc_error(reports.json_fd, argv[1], &err, NULL);
		return cli_fail_run(&err);
	}
	show_end(&reports, &result);
	return cli_end(result.status, &result.death);
}
