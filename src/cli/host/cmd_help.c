/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/error.h"
#include "base/option_help.h"
#include "base/shells/option_complete.h"
#include "cli/commands/cmd.h"
#include "cli/front/table.h"
#include "cli/show/wrap.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* What is said about the tables: help, the list for tests, completions. */

#define TEXT_LIMIT (1U << 20)

static int put(const struct buf *text, struct hb_error *err)
{
	if (text->error)
		return hb_fail(err, text->error, "cannot make the text");
	if (fputs(buf_str(text), stdout) < 0 || fflush(stdout) != 0)
		return hb_fail(err, -errno, "cannot write the text");
	return HB_EXIT_OK;
}

int cmd_print_help(const char *name, struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(TEXT_LIMIT);
	auto_buf struct buf fitting = BUF_INIT(TEXT_LIMIT);
	const struct command *c = NULL;

	if (name) {
		c = command_find(&cli_program, name);
		if (!c)
			return command_unknown(&cli_program, name, err);
	}
	(void)option_help(&cli_program, c, &text);
	(void)wrap_text(text.data, text.len, wrap_columns(STDOUT_FILENO),
			&fitting);
	return put(&fitting, err);
}

int cmd_version(const struct cmd_call *call, struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(TEXT_LIMIT);

	(void)call;
	(void)buf_add_str(&text, "holdback " HB_VERSION "\n");
	return put(&text, err);
}

int cmd_help(const struct cmd_call *call, struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(TEXT_LIMIT);

	if (!call->values->list)
		return cmd_print_help(call->operands[0], err);
	(void)option_list(&cli_program, &text);
	return put(&text, err);
}

int cmd_completion(const struct cmd_call *call, struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(TEXT_LIMIT);
	const char *shell = call->operands[0];

	for (int i = 0; i < OPTION_SHELLS; i++) {
		if (strcmp(shell, option_shell_names[i]) != 0)
			continue;
		(void)option_completion(&cli_program, (enum option_shell)i,
					&text);
		return put(&text, err);
	}
	hb_fix(err, "bash, zsh and fish are known");
	return hb_fail(err, -HB_E_USAGE, "there is no completion for '%s'",
		       shell);
}
