/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_CMD_SESSION_H
#define HB_CLI_COMMANDS_CMD_SESSION_H

#include "cli/commands/cmd.h"
#include "cli/front/choose.h"
#include "holdback/session.h"

/* What the commands on sessions have in common. */

/* The store that the options name; lines for the user go to stderr. */
int cmd_open_store(const struct cmd_call *call, bool create,
		   struct hb_store **ret_store, struct hb_error *err);

/*
 * The operand that names the session, NULL if there is none; the others are
 * from *ret_rest on.  -HB_E_USAGE for a word without '@' where only a session
 * can stand.
 */
int cmd_session_operand(const struct cmd_call *call, bool has_others,
			const char **ret_ref, int *ret_rest,
			struct hb_error *err);

/*
 * What a command does with its session, which it does not free; operands that
 * are not the session are from `rest` on.
 */
typedef int (*cmd_session_fn)(const struct cmd_call *call,
			      struct hb_session *session, int rest, void *ctx,
			      struct hb_error *err);

/*
 * Opens the session that the operands name, in the store of the options, and
 * does that with it.  What `fn` returns, or why it was not called.  Without a
 * name it is the one used last; a look says so if there are others here.
 */
int cmd_with_session(const struct cmd_call *call, enum hb_open how,
		     bool has_others, cmd_session_fn fn, void *ctx,
		     struct hb_error *err);

/*
 * The same, to change it, for a command that would harm the wrong session.
 * Without a name, no two sessions here may be such as `by` says.
 */
int cmd_with_only_session(const struct cmd_call *call, enum hb_open how,
			  const char *command, enum choose_by by,
			  bool has_others, cmd_session_fn fn, void *ctx,
			  struct hb_error *err);

/* "@" alone names no session, and neither does NULL. */
bool cmd_names_none(const char *ref);

/*
 * Where a command failed because the session is live: the fix names the option
 * of the command as well.  Returns `r`.
 */
int cmd_offer_live(const struct cmd_call *call, int r, struct hb_error *err);

/* What the options choose of a change set; borrows the words. */
struct hb_filter cmd_filter(const struct cmd_call *call, int rest);

/*
 * Asks on the terminal.  1: yes, 0: no; without a terminal -HB_E_USAGE with
 * the option that would have answered.
 */
int cmd_ask(const struct cmd_call *call, const char *question,
	    struct hb_error *err);

#endif
