/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/differ.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/commands/cmd.h"
#include "cli/front/table.h"
#include "cli/show/say.h"
#include "holdback/session.h"

#include <string.h>

#define TEXT_MAX ((size_t)4 << 20)

/* `option`: besides --no-pager; NULL: all changes, through the pager. */
static void show(const struct cmd_call *call,
		 const struct hb_session_info *info, char *option,
		 const char *path)
{
	static char name[] = "holdback", diff[] = "diff",
		    pager[] = "--no-pager", dir[] = "--state-dir";
	const char *state_dir = call->values->state_dir;
	auto_buf struct buf at = BUF_INIT(TEXT_MAX);
	auto_buf struct buf session = BUF_INIT(TEXT_MAX);
	auto_buf struct buf state = BUF_INIT(TEXT_MAX);
	char *argv[9] = { name, diff };
	struct hb_error err = { 0 };
	size_t n = 2;
	int status;

	(void)buf_add_str(&at, path ? path : "");
	(void)buf_add_fmt(&session, "@%s", info->name);
	(void)buf_add_str(&state, state_dir ? state_dir : "");
	if (at.error || session.error || state.error)
		return;
	if (option) {
		argv[n++] = pager;
		argv[n++] = option;
	}
	if (state_dir) {
		argv[n++] = dir;
		argv[n++] = state.data;
	}
	argv[n++] = session.data;
	if (path)
		argv[n++] = at.data;
	if (hb_run_helper("diff", argv, call->envp, &status, &err) < 0)
		(void)cli_fail(&err);
}

void differ_show(const struct cmd_call *call,
		 const struct hb_session_info *info, const char *path)
{
	static char ignored[] = "--ignored";

	show(call, info, path ? ignored : NULL, path);
}

void differ_show_commits(const struct cmd_call *call,
			 const struct hb_session_info *info)
{
	static char commits[] = "--commits";

	show(call, info, commits, NULL);
}
