/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/history.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/num.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

/*
 * Filing a journal
 * ----------------
 *
 *	journal.done	the steps are made and synced
 *	unlink		after a commit or rollback: all of undone/, for a redo
 *			would go past it; not before, for it may yet fail
 *	unlink		what stood for the other side: done/ID or undone/ID
 *	rename		journal -> done/ID or undone/ID
 *	unlink		journal.done
 *
 * As long as `journal` is there recovery comes here, and each line can be
 * repeated.  journal.done without a journal means nothing.
 */

/* The coarsest file system that is known counts in steps of two seconds. */
#define TICK_TRIES 2500 /* a millisecond each */

static const char *const dirs[HISTORIES] = {
	[HISTORY_DONE] = "done",
	[HISTORY_UNDONE] = "undone",
};

struct id_name {
	char s[24];
};

static struct id_name name_of(uint64_t id)
{
	struct id_name n;

	(void)snprintf(n.s, sizeof(n.s), "%" PRIu64, id);
	return n;
}

struct ids {
	uint64_t highest, lowest;
	int (*each)(void *ctx, uint64_t id, struct hb_error *err);
	void *ctx;
};

static int see_id(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	struct ids *ids = ctx;
	int64_t id;

	if (num_int(v->name, 1, INT64_MAX, &id) < 0)
		return 0;
	if ((uint64_t)id > ids->highest)
		ids->highest = (uint64_t)id;
	if (ids->lowest == 0 || (uint64_t)id < ids->lowest)
		ids->lowest = (uint64_t)id;
	return ids->each ? ids->each(ids->ctx, (uint64_t)id, err) : 0;
}

static int each_id(int dir, const char *name, struct ids *ids,
		   struct hb_error *err)
{
	struct sys_attr a;

	if (sys_attr_at(dir, name, &a) == -ENOENT)
		return 0;
	return tree_walk(dir, name, TREE_FLAT, see_id, ids, err);
}

int history_last(int session, enum history which, uint64_t *ret_id,
		 struct hb_error *err)
{
	struct ids ids = { 0 };
	int r = each_id(session, dirs[which], &ids, err);

	if (r < 0)
		return r;
	if (ids.highest == 0)
		return -ENOENT;
	/* What was undone last is the oldest. */
	*ret_id = which == HISTORY_DONE ? ids.highest : ids.lowest;
	return 0;
}

int history_each_in(int dir, const char *name, history_fn fn, void *ctx,
		    struct hb_error *err)
{
	struct ids ids = { .each = fn, .ctx = ctx };

	return each_id(dir, name, &ids, err);
}

int history_each(int session, enum history which, history_fn fn, void *ctx,
		 struct hb_error *err)
{
	return history_each_in(session, dirs[which], fn, ctx, err);
}

int history_next_id(int session, uint64_t *ret_id, struct hb_error *err)
{
	struct ids ids = { 0 };

	for (int i = 0; i < HISTORIES; i++) {
		int r = each_id(session, dirs[i], &ids, err);

		if (r < 0)
			return r;
	}
	*ret_id = ids.highest + 1;
	return 0;
}

int history_open(int session, enum history which, uint64_t id,
		 struct journal **ret_journal, struct hb_error *err)
{
	auto_fd int dir = sys_open_dir(session, dirs[which], false);

	if (dir < 0)
		return hb_fail(err, dir, "cannot open '%s'", dirs[which]);
	return journal_open(dir, name_of(id).s, ret_journal, err);
}

int history_stamp(int session, enum history which, uint64_t id,
		  struct timespec *ret_stamp, struct hb_error *err)
{
	auto_fd int dir = sys_open_dir(session, dirs[which], false);
	struct sys_attr a;
	int r = dir < 0 ? dir : sys_attr_at(dir, name_of(id).s, &a);

	if (r < 0)
		return hb_fail(err, r, "cannot look at a journal");
	*ret_stamp = a.ctime;
	return 0;
}

/*
 * Waits until the clock that stamps files has moved on.
 *
 * A clock that stands still or was set back is not waited for any longer than
 * that.  Everything is in place by now.  At worst, after an early stamp, an
 * undo takes our own writes for another program's and refuses.
 */
static int pass_a_tick(int dir, const char *name)
{
	auto_fd int fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW, 0);
	struct timespec now;
	int r = fd < 0 ? fd : sys_pass_tick(fd, TICK_TRIES, &now);

	return r == -ETIME ? 0 : r;
}

static int unlink_if_there(int dir, const char *name)
{
	int r = sys_unlinkat(dir, name, 0);

	return r == -ENOENT ? 0 : r;
}

static int unlink_durably(int dir, const char *name)
{
	int r = unlink_if_there(dir, name);

	return r < 0 ? r : sys_fsync(dir);
}

static int forget_id(void *ctx, uint64_t id, struct hb_error *err)
{
	const int *dir = ctx;
	int r = unlink_if_there(*dir, name_of(id).s);

	return r < 0 ? hb_fail(err, r, "cannot remove a journal") : 0;
}

int history_forget_undone(int session, struct hb_error *err)
{
	auto_fd int dir = sys_open_dir(session, dirs[HISTORY_UNDONE], false);
	struct ids ids = { .each = forget_id, .ctx = &dir };
	int r;

	if (dir == -ENOENT)
		return 0;
	r = dir < 0 ? dir : each_id(session, dirs[HISTORY_UNDONE], &ids, err);
	if (r >= 0 && ids.highest > 0)
		r = sys_fsync(dir);
	return r < 0 ? hb_fail(err, r,
			       "cannot remove the record of undone commits")
		     : 0;
}

static int file_journal(struct apply *a, bool back)
{
	int session = a->txn->session;
	struct id_name id = name_of(journal_head(a->journal)->id);
	enum history to = back ? HISTORY_UNDONE : HISTORY_DONE;
	enum history from = back ? HISTORY_DONE : HISTORY_UNDONE;
	auto_fd int old = sys_open_dir(session, dirs[from], false);
	auto_fd int new = sys_open_dir(session, dirs[to], true);
	int r;

	if (new < 0)
		return new;
	r = old < 0 ? 0 : unlink_durably(old, id.s);
	if (r < 0)
		return r;
	r = pass_a_tick(session, "journal");
	if (r < 0)
		return r;
	r = sys_renameat(session, "journal", new, id.s);
	if (r < 0)
		return r;
	r = sys_fsync(new);
	return r < 0 ? r : sys_fsync(session);
}

/* Whether what was undone before it can be redone no more. */
static bool ends_redo(enum journal_kind kind)
{
	return kind == JOURNAL_COMMIT || kind == JOURNAL_ROLLBACK;
}

int history_finish(struct apply *a, bool back, struct hb_error *err)
{
	const struct journal_head *head = journal_head(a->journal);
	int session = a->txn->session;
	int r;

	r = journal_is_done(session, head->hash, err);
	if (r == 0)
		r = journal_write_done(session, head->hash, err);
	if (r >= 0 && ends_redo(head->kind))
		r = history_forget_undone(session, err);
	if (r < 0)
		return r;
	r = file_journal(a, back);
	if (r < 0)
		return hb_fail(err, r, "cannot file the journal");
	/* It is done whether or not these work. */
	(void)sys_unlinkat(session, "journal.done", 0);
	return ends_redo(head->kind);
}

/*
 * Moving things there and back has changed their ctime.  From then on they
 * would look changed by another program.
 */
static int restamp(struct apply *a)
{
	const struct journal_head *head = journal_head(a->journal);
	enum history which =
		head->kind == JOURNAL_UNDO ? HISTORY_DONE : HISTORY_UNDONE;
	auto_fd int dir = sys_open_dir(a->txn->session, dirs[which], false);

	return dir < 0 ? dir : pass_a_tick(dir, name_of(head->id).s);
}

int history_abandon(struct apply *a, struct hb_error *err)
{
	bool is_filed = !ends_redo(journal_head(a->journal)->kind);
	int session = a->txn->session;
	int r = unlink_if_there(session, "journal.done");

	if (r >= 0)
		r = unlink_if_there(session, "journal.done.new");
	/* Before the journal goes: it would not be done any more. */
	if (r >= 0 && is_filed)
		r = restamp(a);
	if (r >= 0)
		r = unlink_durably(session, "journal");
	if (r < 0)
		return hb_fail(err, r, "cannot remove the journal");
	/* Those of the transaction that was to be undone are still needed. */
	for (size_t i = 0; !is_filed && i < a->txn->n_resources; i++)
		(void)site_remove(&a->sites[i], NULL);
	return 0;
}

bool history_has(int session, uint64_t id)
{
	struct id_name n = name_of(id);

	for (int i = 0; i < HISTORIES; i++) {
		auto_fd int dir = sys_open_dir(session, dirs[i], false);
		struct sys_attr a;

		if (dir >= 0 && sys_attr_at(dir, n.s, &a) == 0)
			return true;
	}
	return false;
}

int history_drop(int session, enum history which, uint64_t id,
		 struct hb_error *err)
{
	auto_fd int dir = sys_open_dir(session, dirs[which], false);
	int r = dir < 0 ? dir : unlink_durably(dir, name_of(id).s);

	return r < 0 ? hb_fail(err, r, "cannot forget a transaction") : 0;
}
