/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_QUESTIONS_H
#define HB_CLI_SHOW_QUESTIONS_H

#include "cli/commands/cmd.h"
#include "cli/show/findings.h"
#include "holdback/session.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Puts the gate's questions to the user on the terminal, one rule and path at a
 * time, with the diff of the path.  Each yes becomes a word as --allow takes
 * it, for that path alone.
 */
#define QUESTIONS_MAX 200

enum answer {
	ANSWER_NONE,	  /* not yet */
	ANSWER_PASS,	  /* this path, this time */
	ANSWER_PASS_RULE, /* all that the rule asks about */
	ANSWER_LATER,	  /* after the others */
	ANSWER_LEAVE,	  /* the commit goes on without this path */
	ANSWER_DIFF,	  /* show it, and ask again */
	ANSWER_STOP,	  /* nothing is committed */
	ANSWER_HELP,	  /* of any other key */
};

struct question {
	char *rule, *path, *text;
	char *repository; /* git has it there; NULL: it is a file */
	bool is_commit;	  /* in a commit, and not in the index alone */
	size_t resource;
	enum answer answer;
};

struct questions {
	const struct cmd_call *call;
	struct hb_session *session;
	struct findings_said *said;
	struct question *list;
	size_t n;
	bool is_asking;	 /* what has to be asked is not said before that */
	bool has_more;	 /* than anybody would answer */
	bool has_failed; /* no memory for one */
	char **allow; /* what was said yes to; the caller's words come first */
	size_t n_allow, n_given;
	size_t n_leaving; /* answers that leave their path out */
};

/* `given` are borrowed. */
int questions_init(struct questions *q, const struct cmd_call *call,
		   struct hb_session *session, struct findings_said *said,
		   const char *const *given, size_t n_given,
		   struct hb_error *err);
void questions_done(struct questions *q);

/* Whether there is anybody to ask. */
bool questions_can_ask(const struct cmd_call *call);

/* As reports.found: says everything, and keeps what has to be asked. */
void questions_note(void *ctx, const struct hb_finding *finding);

/*
 * Asks.  1: everything was answered, and `allow` and `n_leaving` tell how; 0:
 * nothing is to be committed.
 */
int questions_ask(struct questions *q, struct hb_error *err);

#endif
