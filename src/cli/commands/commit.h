/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_COMMIT_H
#define HB_CLI_COMMANDS_COMMIT_H

#include "cli/commands/cmd.h"
#include "cli/commands/selection.h"
#include "cli/commands/sync/partial.h"
#include "cli/show/questions.h"
#include "holdback/session.h"

#include <stdbool.h>

/*
 * What `commit` and `sync` both do: gate, question, commit, and the words for
 * what stands against it.
 */
struct commit {
	const char *command; /* "commit" or "sync" */
	const struct cmd_call *call;
	struct hb_session *session;
	int rest;	  /* the first operand that is a path */
	bool has_preview; /* everything is listed before the question */
	bool is_silent;	  /* the gate is not answered, terminal or not */
	bool is_partial;  /* paths that stand against it stay pending */
	bool is_repeated; /* and that nothing is new is no news */
	bool is_quiet;	  /* nor is anything else */
	bool is_aside;	  /* stdout is another program's: the report is not */
	bool is_done;	  /* out: something was committed */

	struct hb_commit_options options;
	struct hb_changes
		*reviewed;	   /* owned; what was listed and asked about */
	struct hb_summary summary; /* of what passes the filters */
	bool has_summary;
	struct findings_said said;
	struct questions questions;
	struct selection selection; /* the paths that are left out */
	struct partial_held held;   /* of which these stand against it */
	bool has_gate;		    /* it was asked before the commit */
	bool is_refused;	    /* and no user can answer it */
	bool is_trial;		    /* nothing is committed yet */
	bool is_listed;		    /* the changes were, before the question */
	uint64_t n_signed;	    /* commits: --sign */
};

/* The exit status, or a negated code.  The caller frees `held`. */
int cmd_commit_run(struct commit *c, struct hb_error *err);

#endif
