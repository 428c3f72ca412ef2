/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/error.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * `holdback complete`: the words that the completion scripts cannot know, one a
 * line.  A shell shows no errors in the middle of a line, so that there is just
 * nothing to offer then.
 */

#define LIST_MAX ((size_t)1 << 20)

struct offered {
	const struct cmd_call *call;
	const char *before; /* stands before each name */
	struct buf out;
};

static int add_session(void *ctx, const struct hb_session_info *info,
		       struct hb_error *err)
{
	struct offered *o = ctx;

	(void)err;
	(void)buf_add_fmt(&o->out, "%s%s\n", o->before, info->name);
	return 0;
}

static int add_mark(void *ctx, const struct hb_mark *mark, struct hb_error *err)
{
	struct offered *o = ctx;

	(void)err;
	(void)buf_add_fmt(&o->out, "%s\n", mark->name);
	return 0;
}

static void add_profile(void *ctx, const struct hb_profile *profile)
{
	struct offered *o = ctx;

	(void)buf_add_fmt(&o->out, "%s\n", profile->name);
}

static void list_sessions(struct offered *o)
{
	struct hb_store *store = NULL;

	if (cmd_open_store(o->call, false, &store, NULL) >= 0)
		(void)hb_store_list(store, add_session, o, NULL);
	hb_store_free(store);
}

static void list_names(struct offered *o)
{
	o->before = "";
	list_sessions(o);
}

/* Of the session in the line; bash makes two words of "@NAME". */
static void list_marks(struct offered *o)
{
	char ref[HB_SESSION_NAME_SIZE + 1] = "@";
	struct hb_session *session = NULL;
	struct hb_store *store = NULL;
	char **words = o->call->operands + 1;

	for (; *words; words++)
		if ((*words)[0] == '@')
			(void)snprintf(ref, sizeof(ref), "@%s",
				       (*words)[1] || !words[1] ? *words + 1
								: words[1]);
	if (cmd_open_store(o->call, false, &store, NULL) >= 0 &&
	    hb_session_open(store, ref, HB_OPEN_LOOK, &session, NULL) >= 0)
		(void)hb_session_marks(session, add_mark, o, NULL);
	hb_session_free(session);
	hb_store_free(store);
}

static void list_profiles(struct offered *o)
{
	(void)hb_profiles(o->call->envp, add_profile, o, NULL);
}

static void list_own(struct offered *o)
{
	for (const struct command *c = cli_program.commands; c->name; c++)
		if (!(c->flags & COMMAND_HIDDEN))
			(void)buf_add_fmt(&o->out, "%s\n", c->name);
}

static const struct {
	const char *what;
	void (*list)(struct offered *o);
} lists[] = {
	{ "sessions", list_sessions }, { "names", list_names },
	{ "marks", list_marks },       { "profiles", list_profiles },
	{ "commands", list_own },
};

int cmd_complete(const struct cmd_call *call, struct hb_error *err)
{
	struct offered o = { call, "@", BUF_INIT(LIST_MAX) };
	int r = HB_EXIT_OK;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (strcmp(lists[i].what, call->operands[0]) == 0)
			lists[i].list(&o);
	if (fputs(buf_str(&o.out), stdout) < 0 || fflush(stdout) != 0)
		r = hb_fail(err, -errno, "cannot write the words");
	buf_done(&o.out);
	return r;
}
