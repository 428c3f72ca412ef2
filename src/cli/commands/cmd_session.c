/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/cmd_session.h"

#include "base/error.h"
#include "base/quote.h"
#include "cli/front/choose.h"
#include "cli/front/table.h"
#include "cli/show/reports.h"
#include "cli/show/say.h"
#include "holdback/holdback.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The user's own are elsewhere, and seem to be lost.  A run says it itself. */
static void say_sudo(const struct cmd_call *call)
{
	const char *user = hb_sudo_user(call->envp);
	char line[HB_TEXT_SIZE];

	if (!user || call->values->state_dir || call->reports->command)
		return;
	(void)snprintf(line, sizeof(line),
		       "by sudo: these are root's sessions, and those of '%s' "
		       "are not among them",
		       quoted(user));
	cli_say(line);
}

int cmd_open_store(const struct cmd_call *call, bool create,
		   struct hb_store **ret_store, struct hb_error *err)
{
	const struct hb_store_options options = {
		.dir = call->values->state_dir,
		.envp = call->envp,
		.listener = &call->reports->listener,
		.log = call->values->log,
	};
	int r;

	r = hb_store_open(&options, create, ret_store, err);
	if (r >= 0)
		say_sudo(call);
	return r;
}

int cmd_session_operand(const struct cmd_call *call, bool has_others,
			const char **ret_ref, int *ret_rest,
			struct hb_error *err)
{
	const char *word = call->n_operands > 0 ? call->operands[0] : NULL;

	*ret_ref = NULL;
	*ret_rest = 0;
	if (!word)
		return 0;
	if (word[0] == '@') {
		*ret_ref = word;
		*ret_rest = 1;
		return 0;
	}
	if (has_others)
		return 0;
	hb_fix(err, "@%s", quoted(word));
	return hb_fail(err, -HB_E_USAGE, "'%s' is not a session: it has no '@'",
		       quoted(word));
}

bool cmd_names_none(const char *ref)
{
	return !ref || strcmp(ref, "@") == 0;
}

/* The session's name in the fix, if the error itself brought none. */
static void fix_session(const char *name, int r, struct hb_error *err)
{
	if (r == -HB_E_CORRUPT)
		hb_fix(err,
		       "restore the damaged file, or holdback cleanup -y @%s, "
		       "which discards the session's changes",
		       name);
	if (r == -HB_E_STATE)
		hb_fix(err,
		       "holdback status @%s lists the pending changes; "
		       "holdback recover @%s finishes an interrupted one",
		       name, name);
}

/* `command` NULL: any session will do. */
static int with_session(const struct cmd_call *call, enum hb_open how,
			const char *command, enum choose_by by, bool has_others,
			cmd_session_fn fn, void *ctx, struct hb_error *err)
{
	struct hb_session *session = NULL;
	struct hb_store *store = NULL;
	const char *ref;
	int rest, r;

	r = cmd_session_operand(call, has_others, &ref, &rest, err);
	if (r >= 0)
		r = cmd_open_store(call, false, &store, err);
	if (r >= 0)
		r = command && cmd_names_none(ref)
			    ? choose_only(store, command, by, err)
			    : 0;
	if (r >= 0)
		r = call->values->live
			    ? hb_session_open_live(store, ref, how, &session,
						   err)
			    : hb_session_open(store, ref, how, &session, err);
	if (r >= 0 && cmd_names_none(ref) && how <= HB_OPEN_CHECK)
		r = choose_said(store, hb_session_info(session)->name, err);
	if (r >= 0)
		r = fn(call, session, rest, ctx, err);
	/* A command that needs the lock says so, with a fix. */
	if (session && how <= HB_OPEN_CHECK &&
	    !(r == -HB_E_BUSY && err->fix[0]) &&
	    hb_session_is_moving(session, r))
		r = hb_session_fail_moving(session, err);
	if (session && r < 0)
		fix_session(hb_session_info(session)->name, r, err);
	hb_session_free(session);
	hb_store_free(store);
	return r;
}

int cmd_with_session(const struct cmd_call *call, enum hb_open how,
		     bool has_others, cmd_session_fn fn, void *ctx,
		     struct hb_error *err)
{
	return with_session(call, how, NULL, CHOOSE_BY_PENDING, has_others, fn,
			    ctx, err);
}

int cmd_with_only_session(const struct cmd_call *call, enum hb_open how,
			  const char *command, enum choose_by by,
			  bool has_others, cmd_session_fn fn, void *ctx,
			  struct hb_error *err)
{
	return with_session(call, how, command, by, has_others, fn, ctx, err);
}

/* How the fix of a live session begins. */
#define STOP "holdback stop @"

int cmd_offer_live(const struct cmd_call *call, int r, struct hb_error *err)
{
	size_t len = strlen(err->fix);

	if (r == -HB_E_BUSY && !call->values->live &&
	    strncmp(err->fix, STOP, strlen(STOP)) == 0)
		(void)snprintf(err->fix + len, sizeof(err->fix) - len,
			       ", or this command with --live");
	return r;
}

struct hb_filter cmd_filter(const struct cmd_call *call, int rest)
{
	const struct cli_values *v = call->values;

	return (struct hb_filter){
		.only = v->only.words,
		.n_only = v->only.n,
		.except = v->except.words,
		.n_except = v->except.n,
		.resources = v->resources.words,
		.n_resources = v->resources.n,
		.paths = (const char *const *)call->operands + rest,
		.n_paths = (size_t)(call->n_operands - rest),
	};
}

int cmd_ask(const struct cmd_call *call, const char *question,
	    struct hb_error *err)
{
	char answer[16], line[HB_TEXT_SIZE + 32];

	if (call->values->yes)
		return 1;
	if (!hb_is_terminal(STDIN_FILENO) || !hb_is_terminal(STDERR_FILENO)) {
		hb_fix(err, "-y, which answers yes");
		return hb_fail(err, -HB_E_USAGE,
			       "there is no terminal to ask on");
	}
	(void)snprintf(line, sizeof(line), "%s [y/N] ", question);
	cli_put(line);
	(void)fflush(stderr);
	if (!fgets(answer, sizeof(answer), stdin))
		return 0;
	return answer[0] == 'y' || answer[0] == 'Y';
}
