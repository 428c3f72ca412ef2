/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/go_on.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/front/depth.h"
#include "cli/front/hand_over.h"
#include "cli/front/here.h"
#include "cli/front/table.h"
#include "cli/front/table_run.h"
#include "cli/show/say.h"
#include "cli/show/show.h"
#include "holdback/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sessions that are looked into: the last used ones. */
#define LOOKED_MAX 8

/* A session in which a run could go on. */
struct earlier {
	const struct here_session *session;
	struct depth depth;
};

struct go_on {
	char *const *envp;
	const char *program; /* the first word of the command; may be NULL */
	char profile[HB_SESSION_NAME_SIZE];
	bool is_elsewhere; /* a setting says where changes go */
	bool is_quiet;
	struct here *here;
	struct earlier list[LOOKED_MAX]; /* with changes, the last used first */
	size_t n;
	size_t n_more; /* free ones that were not looked into */
};

static void note_setting(void *context, const struct hb_config_value *value)
{
	struct go_on *g = context;
	bool is_yes = strcmp(value->value, "yes") == 0;

	if (strcmp(value->key, "session") == 0)
		g->is_elsewhere |= value->value[0] != '\0';
	if (strcmp(value->key, "ephemeral") == 0 ||
	    strcmp(value->key, "direct") == 0)
		g->is_elsewhere |= is_yes;
	if (strcmp(value->key, "code") == 0)
		g->is_elsewhere |= value->value[0] != '\0';
	if (strcmp(value->key, "quiet") == 0)
		g->is_quiet = is_yes;
	if (strcmp(value->key, "profile") == 0 && value->value[0])
		(void)snprintf(g->profile, sizeof(g->profile), "%s",
			       value->value);
}

static void note_nothing(void *context, const struct hb_config_value *value)
{
	(void)context;
	(void)value;
}

/* What has no profile of its own has the one of all others. */
static const char *kind_of(const struct go_on *g, const char *profile)
{
	return profile[0] && hb_profile(profile, g->envp, note_nothing, NULL,
					NULL) >= 0
		       ? profile
		       : "generic";
}

/*
 * A session keeps the rights and the view of its profile: in one of a shell, an
 * agent would have neither network nor state.
 */
static bool is_of_kind(const struct go_on *g, const struct here_session *s)
{
	return strcmp(kind_of(g, g->profile), kind_of(g, s->profile)) == 0;
}

static void look(struct go_on *g, struct hb_store *store)
{
	size_t n_looked = 0;

	for (size_t i = 0; i < g->here->n; i++) {
		struct earlier *e = &g->list[g->n];

		if (!here_is_free(&g->here->sessions[i]) ||
		    !is_of_kind(g, &g->here->sessions[i]))
			continue;
		if (n_looked++ >= LOOKED_MAX) {
			g->n_more++;
			continue;
		}
		e->session = &g->here->sessions[i];
		depth_look(store, e->session->name, HB_OPEN_LOOK, &e->depth);
		g->n += e->depth.has_changes;
	}
}

/* One line each; the first is the one to go on in. */
static void show_earlier(const struct go_on *g)
{
	cli_say(g->n == 1 ? "an earlier session has changes here:"
			  : "earlier sessions have changes here:");
	for (size_t i = 0; i < g->n; i++) {
		const struct earlier *e = &g->list[i];
		auto_buf struct buf line = BUF_INIT(4096);
		char age[32];

		(void)buf_add_fmt(&line, "  %-12s %4s ago  ", e->session->name,
				  show_age(e->session->used, age, sizeof(age)));
		if (e->depth.is_known)
			(void)show_summary(&e->depth.summary, &line);
		else
			(void)buf_add_str(&line, "its changes are not known");
		(void)buf_add_char(&line, '\n');
		cli_put(buf_str(&line));
	}
	if (g->n_more > 0)
		(void)fprintf(stderr, "  and %zu more: holdback ls\n",
			      g->n_more);
}

static void review(const struct go_on *g)
{
	static char name[] = "holdback", command[] = "diff";
	char session[HB_SESSION_NAME_SIZE + 1];
	char *argv[] = { name, command, session, NULL };
	struct hb_error err = { 0 };
	int status;

	(void)snprintf(session, sizeof(session), "@%s",
		       g->list[0].session->name);
	if (hb_run_helper("diff", argv, g->envp, &status, &err) < 0)
		(void)cli_fail(&err);
}

/* 1: in the last one, 2: in a new one, 0: nowhere. */
static int ask(const struct go_on *g)
{
	char answer[16], line[HB_TEXT_SIZE];

	show_earlier(g);
	for (;;) {
		(void)snprintf(line, sizeof(line),
			       "go on in %s? [C]ontinue [n]ew session [r]eview "
			       "[q]uit: ",
			       g->list[0].session->name);
		cli_put(line);
		(void)fflush(stderr);
		if (!fgets(answer, sizeof(answer), stdin))
			return 0;
		switch (answer[0] | 0x20) {
		case 'c':
		case '\n' | 0x20:
			return 1;
		case 'n':
			return 2;
		case 'r':
			review(g);
			break;
		case 'q':
			return 0;
		default:
			break;
		}
	}
}

static void say_new(const struct go_on *g)
{
	const char *program = g->program ? g->program : "COMMAND";
	char line[HB_TEXT_SIZE];

	if (g->is_quiet)
		return;
	(void)snprintf(
		line, sizeof(line),
		"session %s%s changes here; this is a new one (to go on: "
		"holdback -c %.64s)",
		g->list[0].session->name,
		g->n > 1 ? " and others have" : " has", program);
	cli_say(line);
}

/* With --continue: the last one with changes, or else the last one. */
static int take_last(const struct go_on *g, char *ret, struct hb_error *err)
{
	const char *program = g->program ? g->program : "COMMAND";

	if (g->here->n == 0) {
		hb_fix(err, "holdback %.64s begins one", program);
		return hb_fail(err, -HB_E_NO_SESSION,
			       "there is no session to continue: none has this "
			       "directory in it");
	}
	if (g->n > 0) {
		(void)snprintf(ret, HB_SESSION_NAME_SIZE, "%s",
			       g->list[0].session->name);
		return 1;
	}
	for (size_t i = 0; i < g->here->n; i++) {
		if (!is_of_kind(g, &g->here->sessions[i]))
			continue;
		(void)snprintf(ret, HB_SESSION_NAME_SIZE, "%s",
			       g->here->sessions[i].name);
		return 1;
	}
	hb_fix(err,
	       "holdback %.64s begins one; holdback -s %s %.64s takes that one as it is",
	       program, g->here->sessions[0].name, program);
	return hb_fail(err, -HB_E_NO_SESSION,
		       "there is no session of %.64s to continue: %s has the "
		       "rights and the view of another profile",
		       program, g->here->sessions[0].name);
}

static int choose(struct go_on *g, bool is_continuing, char *ret,
		  struct hb_error *err)
{
	int answer;

	if (is_continuing)
		return take_last(g, ret, err);
	if (g->n == 0)
		return 1;
	if (!hb_is_terminal(STDIN_FILENO) || !hb_is_terminal(STDERR_FILENO)) {
		say_new(g);
		return 1;
	}
	answer = ask(g);
	if (answer == 1)
		(void)snprintf(ret, HB_SESSION_NAME_SIZE, "%s",
			       g->list[0].session->name);
	return answer > 0;
}

/* The words are parsed, and the working directory is that of the run. */
static int choose_here(const struct cli_values *values, char **operands,
		       char *const *envp,
		       char ret_session[HB_SESSION_NAME_SIZE],
		       struct hb_error *err)
{
	const struct hb_store_options store_options = { .envp = envp };
	struct go_on g = { .envp = envp };
	struct hb_run_options options;
	struct hb_store *store = NULL;
	int r;

	g.program = operands[0];
	if (g.program)
		(void)snprintf(g.profile, sizeof(g.profile), "%s",
			       strrchr(g.program, '/')
				       ? strrchr(g.program, '/') + 1
				       : g.program);
	cli_run_options(values, operands, envp, &options);
	if (hb_config(&options, note_setting, &g, NULL) < 0 ||
	    (g.is_elsewhere && !values->is_continuing))
		return 1;
	r = hb_store_open(&store_options, values->is_continuing, &store, err);
	if (r < 0)
		return values->is_continuing ? r : 1;
	r = here_find(store, &g.here, err);
	if (r >= 0) {
		look(&g, store);
		r = choose(&g, values->is_continuing, ret_session, err);
	}
	free(g.here);
	hb_store_free(store);
	return r;
}

int go_on_choose(char **words, char *const *envp,
		 char ret_session[HB_SESSION_NAME_SIZE], struct hb_error *err)
{
	const struct command *c = command_find(&cli_program, "run");
	auto_free char **operands = cli_copy_words(words);
	struct cli_values values = { 0 };
	int back, r;

	if (!operands)
		return hb_fail(err, -ENOMEM, "cannot keep the words");
	/* What is wrong with the words is for the run to say. */
	if (option_parse(&cli_program, c, operands, &values, operands, NULL) <
		    0 ||
	    hb_work_in(values.directory, &back, NULL) < 0)
		return 1;
	r = choose_here(&values, operands, envp, ret_session, err);
	hb_work_back(back);
	return r;
}
