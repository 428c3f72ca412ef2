/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/questions.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/quote.h"
#include "cli/front/table.h"
#include "cli/show/say.h"
#include "holdback/holdback.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)4 << 20)
#define HELP                                                  \
	"y  let it pass, this time and for this path alone\n" \
	"n  do not; then nothing is committed\n"              \
	"d  show the change\n"                                \
	"q  the same as n\n"

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

/* Several lines of one file are one question; each of them was said. */
static bool is_asked(const struct questions *q, const struct hb_finding *f)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->list[i].resource == f->resource &&
		    strcmp(q->list[i].rule, f->rule) == 0 &&
		    strcmp(q->list[i].path, f->path) == 0)
			return true;
	return false;
}

void questions_note(void *ctx, const struct hb_finding *finding)
{
	struct questions *q = ctx;
	struct buf text = BUF_INIT(TEXT_MAX);
	struct question question = { .resource = finding->resource };
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
	static char name[] = "holdback", diff[] = "diff",
		    pager[] = "--no-pager", dir[] = "--state-dir",
		    ignored[] = "--ignored";
	const struct hb_session_info *info = q->said->info;
	auto_buf struct buf path = BUF_INIT(TEXT_MAX);
	auto_buf struct buf session = BUF_INIT(TEXT_MAX);
	auto_buf struct buf state = BUF_INIT(TEXT_MAX);
	char *argv[9] = { name, diff, pager, ignored };
	struct hb_error err = { 0 };
	size_t n = 4;
	int status;

	(void)buf_add_str(&path, info->sources[question->resource]);
	if (strcmp(question->path, ".") != 0)
		(void)buf_add_fmt(&path, "/%s", question->path);
	(void)buf_add_fmt(&session, "@%s", info->name);
	if (q->call->values->state_dir)
		(void)buf_add_str(&state, q->call->values->state_dir);
	if (path.error || session.error || state.error)
		return;
	if (q->call->values->state_dir) {
		argv[n++] = dir;
		argv[n++] = state.data;
	}
	argv[n++] = session.data;
	argv[n++] = path.data;
	if (hb_run_helper("diff", argv, q->call->envp, &status, &err) < 0)
		(void)cli_fail(&err);
}

/* 1: yes, 0: no. */
static int ask_one(const struct questions *q, size_t number)
{
	const struct question *question = &q->list[number];
	char answer[16];

	for (;;) {
		(void)fprintf(stderr, "(%zu/%zu) %s\nlet it pass? [y,n,d,q,?] ",
			      number + 1, q->n, question->text);
		(void)fflush(stderr);
		if (!fgets(answer, sizeof(answer), stdin))
			return 0;
		switch (answer[0]) {
		case 'y':
		case 'Y':
			return 1;
		case 'n':
		case 'N':
		case 'q':
		case 'Q':
			return 0;
		case 'd':
		case 'D':
			show_diff(q, question);
			break;
		default:
			(void)fputs(HELP, stderr);
			break;
		}
	}
}

int questions_ask(struct questions *q, struct hb_error *err)
{
	int r;

	if (q->has_failed)
		return no_memory(err);
	if (q->has_more) {
		cli_say("the gate asks too much to be answered one by one");
		return 0;
	}
	for (size_t i = 0; i < q->n; i++) {
		if (ask_one(q, i) == 0)
			return 0;
		r = add_allow(q, &q->list[i], err);
		if (r < 0)
			return r;
	}
	return 1;
}
