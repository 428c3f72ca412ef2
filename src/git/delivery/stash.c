/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/stash.h"

#include "base/auto.h"
#include "base/buf.h"
#include "git/delivery/decision.h"
#include "git/delivery/divert.h"
#include "git/reflog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STASH	    "refs/stash"
#define LOG	    "logs/refs/stash"
#define ENTRIES_MAX ((size_t)4096)

struct lists {
	char *base_text, *session_text; /* of the logs */
	struct kept_refs session;	/* its entries, as `stash` */
};

static bool has(char *const *list, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], id) == 0)
			return true;
	return false;
}

static int read_lists(struct decision *d, struct lists *ret)
{
	const struct delivery_change *change = decision_change(d, LOG);
	struct reflog_line line;
	const char *at;
	size_t len;
	int r = gitref_read_file(d->q->base, d->q->prefix, LOG, REFLOG_MAX,
				 &ret->base_text);

	if (r < 0 && r != -ENOENT && r != -ENOTDIR)
		return r;
	if (!change)
		ret->session_text =
			strdup(ret->base_text ? ret->base_text : "");
	else if (change->is_gone)
		ret->session_text = strdup("");
	else
		r = d->q->read(d->q->ctx, LOG, REFLOG_MAX, &ret->session_text,
			       &len);
	if (!ret->session_text)
		return r < 0 ? r : -ENOMEM;
	r = 0;
	for (at = ret->session_text; r >= 0 && reflog_next(&at, &line);)
		r = kept_refs_add_stash(&ret->session, line.new.hex);
	return r;
}

/* The base's entries that the session has not dropped, and its new ones. */
static int merge(struct decision *d, const struct lists *lists)
{
	const struct kept_refs *kept = d->q->kept, *base = &d->loose;
	const struct kept_refs *session = &lists->session;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < base->n_stash; i++)
		if (!has(kept->stash, kept->n_stash, base->stash[i]) ||
		    has(session->stash, session->n_stash, base->stash[i]))
			r = kept_refs_add_stash(&d->out->next, base->stash[i]);
	for (size_t i = 0; r >= 0 && i < session->n_stash; i++)
		if (!has(kept->stash, kept->n_stash, session->stash[i]) &&
		    !has(base->stash, base->n_stash, session->stash[i]))
			r = kept_refs_add_stash(&d->out->next,
						session->stash[i]);
	return r;
}

/* The line of an entry: it has the words that the user gave it. */
static bool find_line(const char *text, const char *id, struct reflog_line *ret)
{
	while (text && reflog_next(&text, ret))
		if (strcmp(ret->new.hex, id) == 0)
			return true;
	return false;
}

static int write_log(struct decision *d, const struct lists *lists)
{
	auto_buf struct buf text = BUF_INIT(REFLOG_MAX);
	const struct kept_refs *next = &d->out->next;
	char *content;
	size_t len;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < next->n_stash; i++) {
		struct reflog_line line;

		if (!find_line(lists->base_text, next->stash[i], &line) &&
		    !find_line(lists->session_text, next->stash[i], &line))
			return -EBADMSG;
		if (i > 0)
			(void)buf_add_str(&text, next->stash[i - 1]);
		else
			(void)buf_add_fill(&text, '0', strlen(next->stash[i]));
		(void)buf_add_fmt(&text, " %s ", next->stash[i]);
		r = buf_add(&text, line.who,
			    (size_t)(line.text + line.len - line.who));
	}
	if (r >= 0)
		r = buf_take(&text, &content, &len);
	if (r < 0)
		return r;
	return decision_make(d, LOG, DELIVERY_STAGE_LOGS, content, len)
		       ? 0
		       : -ENOMEM;
}

static int add(struct decision *d, const char *path, enum delivery_how how)
{
	return decision_add(d, path, how, DELIVERY_STAGE_GONE) ? 0 : -ENOMEM;
}

/* The last entry went. */
static int delete_all(struct decision *d)
{
	bool is_loose = kept_refs_value(&d->loose, STASH);
	int r = decision_mark(
		decision_add(d, STASH,
			     is_loose ? DELIVERY_DELETE : DELIVERY_SETTLED,
			     DELIVERY_STAGE_GONE),
		decision_base(d, STASH), "");

	if (r >= 0)
		r = kept_refs_add(&d->moved, STASH, "");
	if (r >= 0 && decision_base_has(d, LOG))
		r = add(d, LOG, DELIVERY_DELETE);
	return r;
}

static int settle(struct decision *d)
{
	int r = 0;

	if (decision_change(d, STASH))
		r = add(d, STASH, DELIVERY_SETTLED);
	if (r >= 0 && decision_change(d, LOG))
		r = add(d, LOG, DELIVERY_SETTLED);
	return r;
}

static bool is_as_base(const struct decision *d)
{
	const struct kept_refs *next = &d->out->next, *base = &d->loose;

	if (next->n_stash != base->n_stash)
		return false;
	for (size_t i = 0; i < next->n_stash; i++)
		if (strcmp(next->stash[i], base->stash[i]) != 0)
			return false;
	return true;
}

/*
 * `git reflog expire` empties the log and leaves the reference.  The last entry
 * need not be its value: the base's file hides a line of packed-refs inside.
 */
static bool is_listed(const char *value, size_t n)
{
	return !value[0] || n > 0;
}

/* Without its log it is no list: only by value, and the base's stays. */
static int leave(struct decision *d)
{
	const struct kept_refs *kept = d->q->kept, *base = &d->loose;
	const char *session = decision_session(d, STASH);
	bool is_same = strcmp(session, decision_base(d, STASH)) == 0 ||
		       strcmp(session, decision_then(d, STASH)) == 0;
	const struct kept_refs *from = is_same ? base : kept;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < from->n_stash; i++)
		r = kept_refs_add_stash(&d->out->next, from->stash[i]);
	if (r < 0 || is_same)
		return r < 0 ? r : settle(d);
	r = kept_refs_add(&d->pending, STASH, "-");
	if (r >= 0 && decision_change(d, STASH))
		r = add(d, STASH, DELIVERY_STAYS);
	if (r >= 0 && decision_change(d, LOG))
		r = add(d, LOG, DELIVERY_STAYS);
	return r < 0 ? r
		     : decision_say(d, STASH
				    " has no log of its own: it stays pending");
}

static int decide(struct decision *d, struct lists *lists)
{
	const struct kept_refs *next = &d->out->next;
	int r = read_lists(d, lists);

	if (r >= 0 && lists->session.n_stash + d->loose.n_stash > ENTRIES_MAX)
		r = -EFBIG;
	if (r >= 0 &&
	    (!is_listed(decision_base(d, STASH), d->loose.n_stash) ||
	     !is_listed(decision_session(d, STASH), lists->session.n_stash)))
		return leave(d);
	if (r >= 0)
		r = merge(d, lists);
	if (r < 0)
		return r;
	if (is_as_base(d))
		return settle(d);
	if (next->n_stash == 0)
		return delete_all(d);
	r = write_log(d, lists);
	return r < 0 ? r
		     : divert_write(d, STASH, next->stash[next->n_stash - 1]);
}

int stash_decide(struct decision *d)
{
	struct lists lists = { 0 };
	int r = decide(d, &lists);

	free(lists.base_text);
	free(lists.session_text);
	kept_refs_done(&lists.session);
	return r;
}
