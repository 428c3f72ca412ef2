/* SPDX-License-Identifier: Apache-2.0 */
#include "holdback/holdback.h"
#include "holdback/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A second listener: does what the words say by the public interface, and
 * writes every report to stderr, one line each.
 *
 *	listen DIR run|exec|commit|undo [KEY=VALUE...] [-- COMMAND...]
 *
 * DIR is the state directory.  A pair is a setting of `run`; `allow` is that of
 * a commit, `answer=yes` the answer to every question, `progress=yes` asks for
 * progress.  exec, commit and undo are about the session "s".
 */

#define PAIRS_MAX 16

struct story {
	struct hb_listener listener;
	bool answer;
	struct hb_setting pairs[PAIRS_MAX];
	size_t n_pairs;
	const char *allow;
	char **argv;
};

/* A member that the kind's row does not name is a fault of the reporter. */
static void add(unsigned members, unsigned member, const char *name,
		const char *value)
{
	if (value)
		(void)dprintf(STDERR_FILENO, " %s%s=%s",
			      members & member ? "" : "!", name, value);
}

static bool hear(void *context, const struct hb_report *report)
{
	const struct story *story = context;
	unsigned members = hb_report_members(report->kind);
	const char *rule = report->finding ? report->finding->rule : NULL;
	char n[32];

	(void)snprintf(n, sizeof(n), "%llu", (unsigned long long)report->n);
	(void)dprintf(STDERR_FILENO, "%s%s", hb_report_name(report->kind),
		      report->is_quiet ? " quiet" : "");
	add(~0U, 1, "session", report->session);
	add(members, HB_HAS_SOURCE, "source", report->source);
	add(members, HB_HAS_PATH, "path", report->path);
	add(members, HB_HAS_FINDING, "rule", rule);
	add(members, HB_HAS_N, "n", report->n > 0 ? n : NULL);
	add(members, HB_HAS_TEXT, "text", report->text);
	(void)dprintf(STDERR_FILENO, "\n");
	return story->answer;
}

static int run(const struct story *story, const struct hb_store_options *store,
	       struct hb_error *err)
{
	const struct hb_run_options options = { .argv = story->argv,
						.envp = environ,
						.settings = story->pairs,
						.n_settings = story->n_pairs,
						.store = store };
	struct hb_run_result result = { 0 };

	return hb_run(&options, &result, err);
}

static int change(const struct story *story, const char *what,
		  struct hb_store *store, struct hb_error *err)
{
	const struct hb_commit_options options = {
		.gate = { .allow = &story->allow,
			  .n_allow = story->allow ? 1 : 0 },
	};
	struct hb_commit_result result = { 0 };
	struct hb_session *session = NULL;
	int r = hb_session_open(store, "@s", HB_OPEN_CHANGE, &session, err);

	if (r >= 0)
		r = strcmp(what, "undo") == 0
			    ? hb_session_undo(session, &result, err)
			    : hb_session_commit(session, &options, &result,
						err);
	hb_session_free(session);
	return r;
}

static int act(const struct story *story, const char *dir, const char *what,
	       struct hb_error *err)
{
	const struct hb_store_options options = {
		.dir = dir, .envp = environ, .listener = &story->listener
	};
	struct hb_exec_result result = { 0 };
	struct hb_store *store = NULL;
	int r;

	if (strcmp(what, "run") == 0)
		return run(story, &options, err);
	r = hb_store_open(&options, true, &store, err);
	if (r >= 0)
		r = strcmp(what, "exec") == 0
			    ? hb_exec(store, "@s", HB_OPEN_CHANGE, story->argv,
				      environ, NULL, &result, err)
			    : change(story, what, store, err);
	hb_store_free(store);
	return r;
}

static void take_pair(struct story *story, char *word)
{
	char *value = strchr(word, '=');

	if (!value || story->n_pairs == PAIRS_MAX)
		exit(HB_EXIT_USAGE);
	*value++ = '\0';
	if (strcmp(word, "answer") == 0)
		story->answer = true;
	else if (strcmp(word, "progress") == 0)
		story->listener.wants_progress = true;
	else if (strcmp(word, "allow") == 0)
		story->allow = value;
	else
		story->pairs[story->n_pairs++] =
			(struct hb_setting){ word, value };
}

int main(int argc, char **argv)
{
	struct story story = { .listener = { .hear = hear } };
	struct hb_error err = { 0 };

	story.listener.context = &story;
	for (int i = 3; i < argc && !story.argv; i++)
		if (strcmp(argv[i], "--") == 0)
			story.argv = argv + i + 1;
		else
			take_pair(&story, argv[i]);
	if (argc < 3)
		return HB_EXIT_USAGE;
	return act(&story, argv[1], argv[2], &err) < 0 ? HB_EXIT_OURS
						       : HB_EXIT_OK;
}
