/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/questions.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/front/table.h"
#include "cli/show/differ.h"
#include "cli/show/say.h"
#include "holdback/holdback.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)4 << 20)
#define HELP                                                       \
	"y  yes: let it pass, this time and for this path alone\n" \
	"a  let all changes pass that this rule asks about\n"      \
	"s  skip: ask again after the others\n"                    \
	"l  leave it out: the commit goes on without this path\n"  \
	"d  show the change\n"                                     \
	"q  quit: nothing is committed\n"

static int no_memory(struct hb_error *err)
{
	return hb_fail(err, -ENOMEM, "cannot ask");
}

int questions_init(struct questions *q, const struct cmd_call *call,
		   struct hb_session *session, struct findings_said *said,
		   const char *const *given, size_t n_given,
		   struct hb_error *err)
{
	*q = (struct questions){ .call = call,
				 .session = session,
				 .said = said,
				 .n_given = n_given,
				 .n_allow = n_given };
	q->list = calloc(QUESTIONS_MAX, sizeof(*q->list));
	q->allow = calloc(n_given + QUESTIONS_MAX, sizeof(*q->allow));
	if (!q->list || !q->allow)
		return no_memory(err);
	for (size_t i = 0; i < n_given; i++)
		memcpy(&q->allow[i], &given[i], sizeof(q->allow[i]));
	return 0;
}

void questions_done(struct questions *q)
{
	for (size_t i = 0; i < q->n; i++) {
		free(q->list[i].rule);
		free(q->list[i].path);
		free(q->list[i].text);
		free(q->list[i].repository);
	}
	for (size_t i = q->n_given; i < q->n_allow; i++)
		free(q->allow[i]);
	free(q->list);
	free(q->allow);
	*q = (struct questions){ 0 };
}

bool questions_can_ask(const struct cmd_call *call)
{
	return !call->values->json && hb_is_terminal(STDIN_FILENO) &&
	       hb_is_terminal(STDERR_FILENO);
}

/*
 * Several lines of one file are one question; each of them was said.  The same
 * path in a commit is another: its content is.
 */
static bool is_asked(const struct questions *q, const struct hb_finding *f)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->list[i].resource == f->resource &&
		    strcmp(q->list[i].rule, f->rule) == 0 &&
		    !q->list[i].repository == !f->repository &&
		    strcmp(q->list[i].path, f->path) == 0)
			return true;
	return false;
}

void questions_note(void *ctx, const struct hb_finding *finding)
{
	struct questions *q = ctx;
	struct buf text = BUF_INIT(TEXT_MAX);
	struct question question = { .resource = finding->resource,
				     .is_commit = finding->commit };
	bool is_ask =
		finding->severity == HB_SEVERITY_ASK && !finding->is_allowed;
	int r;

	if (!is_ask || !q->is_asking)
		findings_say(q->said, finding);
	if (!is_ask || is_asked(q, finding))
		return;
	if (q->n == QUESTIONS_MAX) {
		q->has_more = true;
		return;
	}
	question.rule = strdup(finding->rule);
	question.path = strdup(finding->path);
	if (finding->repository)
		question.repository = strdup(finding->repository);
	q->has_failed |= finding->repository && !question.repository;
	r = finding_show(q->said->info, finding, &text);
	if (r >= 0)
		r = buf_take(&text, &question.text, NULL);
	q->list[q->n++] = question;
	q->has_failed |= r < 0 || !question.rule || !question.path;
}

/* The path as a pattern that matches nothing else; "." is all of it. */
static int add_allow(struct questions *q, const struct question *question,
		     struct hb_error *err)
{
	struct buf words = BUF_INIT(TEXT_MAX);
	char *word = NULL;
	int r;

	(void)buf_add_str(&words, question->rule);
	if (strcmp(question->path, ".") != 0) {
		(void)buf_add_str(&words, ":/");
		for (const char *p = question->path; *p; p++) {
			if (strchr("*?[\\", *p))
				(void)buf_add_char(&words, '\\');
			(void)buf_add_char(&words, *p);
		}
	}
	r = buf_take(&words, &word, NULL);
	if (r < 0)
		return no_memory(err);
	q->allow[q->n_allow++] = word;
	return 0;
}

static void show_diff(const struct questions *q,
		      const struct question *question)
{
	const char *source =
		q->said->info->resources[question->resource].source;
	auto_buf struct buf path = BUF_INIT(TEXT_MAX);

	if (question->is_commit) {
		differ_show_commits(q->call, q->said->info);
		return;
	}
	if (question->repository) {
		cli_say("it is in the index alone, and no file: "
			"'git diff --cached' in 'holdback exec' shows it");
		return;
	}
	(void)buf_add_str(&path, source);
	if (strcmp(question->path, ".") != 0)
		(void)buf_add_fmt(&path, "/%s", question->path);
	if (!path.error)
		differ_show(q->call, q->said->info, path.data);
}

/* What a key does; the rest of the answers tells their meaning again. */
static const struct {
	char key;
	enum answer answer;
} answers[] = {
	{ 'y', ANSWER_PASS },  { 'a', ANSWER_PASS_RULE }, { 's', ANSWER_LATER },
	{ 'l', ANSWER_LEAVE }, { 'n', ANSWER_STOP },	  { 'q', ANSWER_STOP },
	{ 'd', ANSWER_DIFF },
};

static enum answer ask_once(const struct questions *q, size_t number,
			    size_t left)
{
	auto_buf struct buf text = BUF_INIT(TEXT_MAX + 128);
	char line[16];

	(void)buf_add_fmt(&text, "(%zu/%zu) %s\nlet it pass? [y,a,s,l,d,q,?] ",
			  q->n - left + 1, q->n, q->list[number].text);
	cli_put(buf_str(&text));
	(void)fflush(stderr);
	if (!fgets(line, sizeof(line), stdin))
		return ANSWER_STOP;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if ((line[0] | 0x20) == answers[i].key)
			return answers[i].answer;
	return ANSWER_HELP;
}

static enum answer ask_one(const struct questions *q, size_t number,
			   size_t left)
{
	for (;;) {
		enum answer answer = ask_once(q, number, left);

		if (answer == ANSWER_DIFF)
			show_diff(q, &q->list[number]);
		else if (answer == ANSWER_HELP)
			(void)fputs(HELP, stderr);
		else
			return answer;
	}
}

static void answer_rule(struct questions *q, const char *rule)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->list[i].answer == ANSWER_NONE &&
		    strcmp(q->list[i].rule, rule) == 0)
			q->list[i].answer = ANSWER_PASS;
}

static size_t count_open(const struct questions *q)
{
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++)
		n += q->list[i].answer == ANSWER_NONE;
	return n;
}

/* Round after round: a question that is put off comes again. */
static bool ask_all(struct questions *q)
{
	while (count_open(q) > 0) {
		for (size_t i = 0; i < q->n; i++) {
			struct question *question = &q->list[i];
			enum answer answer;

			if (question->answer != ANSWER_NONE)
				continue;
			answer = ask_one(q, i, count_open(q));
			if (answer == ANSWER_STOP)
				return false;
			if (answer == ANSWER_PASS_RULE)
				answer_rule(q, question->rule);
			else if (answer != ANSWER_LATER)
				question->answer = answer;
		}
	}
	return true;
}

int questions_ask(struct questions *q, struct hb_error *err)
{
	if (q->has_failed)
		return no_memory(err);
	if (q->has_more) {
		cli_say("the gate asks too much to be answered one by one");
		return 0;
	}
	if (!ask_all(q))
		return 0;
	for (size_t i = 0; i < q->n; i++) {
		int r = q->list[i].answer == ANSWER_PASS
				? add_allow(q, &q->list[i], err)
				: 0;

		if (r < 0)
			return r;
		q->n_leaving += q->list[i].answer == ANSWER_LEAVE;
	}
	return 1;
}
