/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/check.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "sys/attr.h"
#include "tree/tree.h"
#include "txn/history.h"
#include "txn/journal.h"
#include "txn/txn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/*
 * A row says which names are there and which may be; any other name has to be
 * absent.  The reasons stand in docs/transaction.md, a line for each row.
 */

/*
 * Old and harmless, until the next sweep, undo or gc removes it.  Every row
 * with a journal in flight may have it.  A directory that was gone when the
 * journal was begun, and is back, has objects that could not be removed.
 */
#define LOOSE (FACT_LOOSE_COPIES | FACT_LOOSE_OBJECTS | FACT_PARENTS)
#define SAID  (FACT_DONE_NEW | FACT_DONE_OTHER)

static const struct txn_row rows[] = {
	{ "idle", FLIGHT_NONE, 0, FACT_LOOSE_OBJECTS },
	{ "left over", FLIGHT_NONE, 0, SAID | LOOSE },
	{ "planning", FLIGHT_NONE, FACT_JOURNAL_NEW, SAID | LOOSE },
	{ "commit", FLIGHT_COMMIT, 0, SAID | LOOSE },
	{ "undo", FLIGHT_UNDO, FACT_FILED_DONE, SAID | LOOSE },
	{ "redo", FLIGHT_REDO, FACT_FILED_UNDONE, SAID | LOOSE },
	{ "commit done", FLIGHT_COMMIT, FACT_DONE, LOOSE },
	{ "undo done", FLIGHT_UNDO, FACT_DONE, LOOSE | FACT_FILED_DONE },
	{ "redo done", FLIGHT_REDO, FACT_DONE, LOOSE | FACT_FILED_UNDONE },
	{ "damaged", FLIGHT_DAMAGED, 0, SAID | LOOSE },
};

/* More numbers in one directory are not looked at. */
#define NUMBERS_MAX ((uint64_t)1 << 20)

/* Of all names that are told. */
#define NAMES_MAX ((size_t)512)

static const enum txn_flight flights[JOURNAL_KINDS] = {
	[JOURNAL_COMMIT] = FLIGHT_COMMIT,
	[JOURNAL_UNDO] = FLIGHT_UNDO,
	[JOURNAL_REDO] = FLIGHT_REDO,
	[JOURNAL_ROLLBACK] = FLIGHT_COMMIT,
};

struct look {
	const struct txn *txn;
	struct txn_state state;
	struct buf names; /* that were found */
	/* of those in done/ and undone/, without the journal's; 0: none */
	uint64_t highest_done, lowest_undone, highest_undone;
	/* the directory that is walked */
	const char *dir;
	unsigned loose; /* the fact that a number of no journal is */
	uint64_t n;
};

const struct txn_row *txn_rows(size_t *ret_n)
{
	*ret_n = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

/* As many names as fit; the first ones tell most. */
static void note_name(struct look *l, const char *name)
{
	(void)buf_add_fmt(&l->names, "%s%s", l->names.len > 0 ? ", " : "",
			  name);
}

static void note_number(struct look *l, uint64_t id)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s/%" PRIu64, l->dir, id);
	note_name(l, name);
}

/* 1: the name is there. */
static int look_for(struct look *l, int dir, const char *name, unsigned fact,
		    struct hb_error *err)
{
	struct sys_attr a;
	int r = sys_attr_at(dir, name, &a);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return hb_fail(err, r, "cannot look for '%s'", name);
	l->state.facts |= fact;
	note_name(l, name);
	return 1;
}

/* The journal, and what 'journal.done' says of it. */
static int look_at_journal(struct look *l, struct hb_error *err)
{
	auto_journal struct journal *journal = NULL;
	struct hb_error why = { 0 };
	int r;

	r = look_for(l, l->txn->session, "journal", 0, err);
	if (r <= 0)
		return r;
	r = journal_open(l->txn->session, "journal", &journal, &why);
	if (r == -HB_E_CORRUPT || r == -HB_E_UNSUPPORTED) {
		l->state.flight = FLIGHT_DAMAGED;
		return 0;
	}
	if (r < 0)
		return hb_pass(err, &why, r);
	l->state.flight = flights[journal_head(journal)->kind];
	l->state.id = journal_head(journal)->id;
	r = journal_is_done(l->txn->session, journal_head(journal)->hash, err);
	if (r == 1)
		l->state.facts |= FACT_DONE;
	return r < 0 ? r : 0;
}

static int look_at_session(struct look *l, struct hb_error *err)
{
	int session = l->txn->session;
	int r;

	r = look_at_journal(l, err);
	if (r < 0)
		return r;
	r = look_for(l, session, "journal.new", FACT_JOURNAL_NEW, err);
	if (r < 0)
		return r;
	r = look_for(l, session, "journal.done.new", FACT_DONE_NEW, err);
	if (r < 0 || (l->state.facts & FACT_DONE))
		return r;
	return look_for(l, session, "journal.done", FACT_DONE_OTHER, err);
}

static int count(struct look *l, struct hb_error *err)
{
	if (++l->n <= NUMBERS_MAX)
		return 0;
	return hb_fail(err, -E2BIG, "'%s' of the session has too many names",
		       l->dir);
}

static int see_done(void *ctx, uint64_t id, struct hb_error *err)
{
	struct look *l = ctx;

	if (id == l->state.id)
		l->state.facts |= FACT_FILED_DONE;
	else if (id > l->highest_done)
		l->highest_done = id;
	return count(l, err);
}

static int see_undone(void *ctx, uint64_t id, struct hb_error *err)
{
	struct look *l = ctx;

	if (id == l->state.id)
		l->state.facts |= FACT_FILED_UNDONE;
	else if (l->lowest_undone == 0 || id < l->lowest_undone)
		l->lowest_undone = id;
	if (id != l->state.id && id > l->highest_undone)
		l->highest_undone = id;
	return count(l, err);
}

/*
 * The numbers of what is in effect lie below those of what was undone.  An undo
 * or redo is about the one in between, and a commit has the highest of all.
 */
static bool is_in_order(const struct look *l)
{
	uint64_t id = l->state.id;

	if (l->lowest_undone != 0 && l->lowest_undone <= l->highest_done)
		return false;
	if (id == 0)
		return true;
	if (l->highest_done > id)
		return false;
	if (l->state.flight == FLIGHT_COMMIT)
		return l->highest_undone < id;
	return l->lowest_undone == 0 || l->lowest_undone > id;
}

static void note_history(struct look *l, const char *dir, bool is_filed,
			 uint64_t other)
{
	l->dir = dir;
	if (is_filed)
		note_number(l, l->state.id);
	if (other != 0)
		note_number(l, other);
}

static int look_at_history(struct look *l, struct hb_error *err)
{
	int session = l->txn->session;
	int r;

	l->dir = "done";
	l->n = 0;
	r = history_each(session, HISTORY_DONE, see_done, l, err);
	if (r < 0)
		return r;
	l->dir = "undone";
	l->n = 0;
	r = history_each(session, HISTORY_UNDONE, see_undone, l, err);
	if (r < 0)
		return r;
	note_history(l, "done", l->state.facts & FACT_FILED_DONE,
		     l->highest_done);
	note_history(l, "undone", l->state.facts & FACT_FILED_UNDONE,
		     l->lowest_undone);
	if (!is_in_order(l))
		l->state.facts |= FACT_DISORDER;
	return 0;
}

static int see_number(void *ctx, const struct tree_visit *v,
		      struct hb_error *err)
{
	struct look *l = ctx;
	int64_t id;

	if (num_int(v->name, 1, INT64_MAX, &id) < 0)
		return 0;
	if ((uint64_t)id != l->state.id &&
	    !history_has(l->txn->session, (uint64_t)id)) {
		l->state.facts |= l->loose;
		note_number(l, (uint64_t)id);
	}
	return count(l, err);
}

static int look_into(struct look *l, int at, const char *dir, unsigned loose,
		     struct hb_error *err)
{
	struct sys_attr a;
	int r = sys_attr_at(at, dir, &a);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return hb_fail(err, r, "cannot look for '%s'", dir);
	l->dir = dir;
	l->loose = loose;
	l->n = 0;
	return tree_walk(at, dir, TREE_FLAT, see_number, l, err);
}

static int look_at_resource(struct look *l, const struct resource *res,
			    struct hb_error *err)
{
	const struct {
		const char *dir;
		int at;
		unsigned loose;
	} all[] = {
		{ "txn", res->spot, FACT_LOOSE_COPIES },
		{ "undo", res->spot, FACT_LOOSE_OBJECTS },
		{ "txn", res->dir, FACT_LOOSE_COPIES },
		{ "undo", res->dir, FACT_LOOSE_OBJECTS },
		{ "trash", res->dir, FACT_LOOSE_OBJECTS },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int r;

		/* Mostly they are one directory. */
		if (i < 2 && res->spot == res->dir)
			continue;
		r = look_into(l, all[i].at, all[i].dir, all[i].loose, err);
		if (r < 0)
			return r;
	}
	return look_for(l, res->dir, "parents.new", FACT_PARENTS, err);
}

static int look(struct look *l, struct hb_error *err)
{
	int r;

	r = look_at_session(l, err);
	if (r < 0)
		return r;
	r = look_at_history(l, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < l->txn->n_resources; i++) {
		r = look_at_resource(l, &l->txn->resources[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

static const struct txn_row *find_row(const struct txn_state *state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].flight == state->flight &&
		    (state->facts & rows[i].needs) == rows[i].needs &&
		    (state->facts & ~(rows[i].needs | rows[i].may)) == 0)
			return &rows[i];
	return NULL;
}

int txn_check(const struct txn *txn, struct txn_state *ret_state,
	      struct hb_error *err)
{
	struct look l = { .txn = txn, .names = BUF_INIT(NAMES_MAX) };
	int r = look(&l, err);

	if (r >= 0) {
		l.state.row = find_row(&l.state);
		*ret_state = l.state;
	}
	if (r >= 0 && !l.state.row) {
		hb_fix(err, "compare them with docs/transaction.md; holdback "
			    "recover --list names the files that are kept");
		r = hb_fail(err, -HB_E_STATE,
			    "no command leaves these together: %s",
			    buf_str(&l.names));
	}
	buf_done(&l.names);
	return r < 0 ? r : 0;
}
