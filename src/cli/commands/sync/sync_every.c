/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/sync/sync_every.h"

#include "base/error.h"
#include "cli/commands/cmd_session.h"
#include "cli/commands/commit.h"
#include "cli/front/choose.h"
#include "cli/front/table.h"
#include "cli/show/say.h"
#include "cli/show/sync_text.h"
#include "holdback/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE_SIZE ((size_t)1 << 20)

struct every {
	const struct cmd_call *call;
	struct hb_store *store;
	char ref[HB_SESSION_NAME_SIZE + 1];
	int rest; /* the first operand that is none */
	struct hb_sync note;
	char *held; /* the lines of the last look; NULL: none */
	char failure[2 * HB_TEXT_SIZE]; /* that was said last */
};

/* What the look before has said is not said again. */
static void say_held(struct every *e, const struct commit *c)
{
	struct buf all = BUF_INIT(LINE_SIZE);

	for (size_t i = 0; i < c->held.n; i++) {
		auto_buf struct buf line = BUF_INIT(LINE_SIZE);

		if (partial_show(c->said.info, &c->held.list[i], &line) < 0)
			continue;
		if (!e->call->values->quiet &&
		    (!e->held || !strstr(e->held, buf_str(&line))))
			cli_put(buf_str(&line));
		(void)buf_add_str(&all, buf_str(&line));
	}
	free(e->held);
	e->held = NULL;
	if (buf_take(&all, &e->held, NULL) < 0)
		e->held = NULL;
}

/* "2 files need approval", or the work of git for which all waits. */
static void describe_held(const struct partial_held *held, struct hb_sync *ret)
{
	const char *whole = NULL;

	ret->n_held = held->n;
	ret->held[0] = '\0';
	for (size_t i = 0; i < held->n && !whole; i++)
		if (strcmp(held->list[i].path, ".") == 0)
			whole = held->list[i].why;
	if (whole)
		(void)snprintf(ret->held, sizeof(ret->held), "%s inside",
			       whole);
	else if (held->n > 0)
		(void)snprintf(ret->held, sizeof(ret->held),
			       "%zu file%s approval", held->n,
			       held->n == 1 ? " needs" : "s need");
}

/* A note that did not change is not written again. */
static int note(struct every *e, const struct commit *c,
		struct hb_session *session, bool is_first, struct hb_error *err)
{
	const struct hb_sync before = e->note;

	if (c->is_done) {
		e->note.last = time(NULL);
		e->note.n_times++;
		e->note.n_files += c->summary.n_files;
	}
	describe_held(&c->held, &e->note);
	return is_first || memcmp(&before, &e->note, sizeof(before)) != 0
		       ? hb_session_note_sync(session, &e->note, err)
		       : 0;
}

static int sync_once(struct every *e, bool is_first, struct hb_error *err)
{
	struct commit c = { .command = "sync",
			    .call = e->call,
			    .rest = e->rest,
			    .is_silent = true,
			    .is_partial = true,
			    .is_repeated = true,
			    .is_aside = e->call->values->last,
			    .is_quiet = e->call->values->quiet };
	int r = hb_session_open_live(e->store, e->ref, HB_OPEN_CHANGE,
				     &c.session, err);

	if (r >= 0)
		r = hb_session_take_part(c.session, err);
	if (r >= 0)
		r = cmd_commit_run(&c, err);
	if (r >= 0) {
		say_held(e, &c);
		r = note(e, &c, c.session, is_first, err);
	}
	partial_done(&c.held);
	hb_session_free(c.session);
	return r;
}

/* Once, as long as it stays the same. */
static void say_failure(struct every *e, const struct hb_error *err)
{
	char text[2 * HB_TEXT_SIZE];

	(void)snprintf(text, sizeof(text), "not synced: %s: %s", err->text,
		       hb_strerror(err->code));
	if (strcmp(text, e->failure) != 0)
		cli_say(text);
	(void)snprintf(e->failure, sizeof(e->failure), "%s", text);
}

static int repeat(struct every *e, struct hb_error *err)
{
	const struct cli_values *v = e->call->values;
	int64_t ms = (int64_t)v->first * 1000;
	bool is_first = true;
	int r;

	while ((r = hb_await_end(e->store, e->ref, ms, err)) == 0) {
		struct hb_error why = { 0 };

		ms = (int64_t)v->every * 1000;
		r = sync_once(e, is_first, &why);
		is_first = is_first && r < 0;
		if (r < 0)
			say_failure(e, &why);
		else
			e->failure[0] = '\0';
	}
	return r;
}

/* The name, so that a later session of the same directory is another. */
static int find(struct every *e, struct hb_error *err)
{
	struct hb_session *session = NULL;
	const char *ref;
	int r;

	r = cmd_session_operand(e->call, false, &ref, &e->rest, err);
	if (r >= 0)
		r = cmd_open_store(e->call, false, &e->store, err);
	if (r >= 0 && cmd_names_none(ref))
		r = choose_only(e->store, "sync", CHOOSE_BY_PENDING, err);
	if (r >= 0)
		r = hb_session_open(e->store, ref, HB_OPEN_GLANCE, &session,
				    err);
	if (r >= 0) {
		(void)snprintf(e->ref, sizeof(e->ref), "@%s",
			       hb_session_info(session)->name);
		/* It goes on counting where an earlier one ended. */
		r = hb_session_noted_sync(session, &e->note, err);
	}
	e->note.interval = e->call->values->every;
	hb_session_free(session);
	return r;
}

int sync_every(const struct cmd_call *call, struct hb_error *err)
{
	struct every e = { .call = call, .note.interval = call->values->every };
	auto_buf struct buf line = BUF_INIT(LINE_SIZE);
	int r = find(&e, err);

	/* After a run, another command may be at work in the session. */
	if (r >= 0 && !call->values->last)
		r = repeat(&e, err);
	e.note.interval = 0;
	/* The last of it, which no command changes any more. */
	if (r >= 0)
		r = sync_once(&e, true, err);
	if (r >= 0 && !call->values->quiet &&
	    sync_text_end(&e.note, &line) >= 0)
		cli_say(buf_str(&line));
	free(e.held);
	hb_store_free(e.store);
	return r;
}
