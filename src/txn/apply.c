/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/apply.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/report.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"
#include "txn/dress.h"
#include "txn/placed_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The order of operations
 * -----------------------
 *
 * Forward: in the journal's order, which has each directory before what is in
 * it; a directory that stays is opened up when it is met.  Then once more from
 * the end, so that each directory gets its mode and times after everything
 * below it has moved.
 *
 * Back: all directories are opened up first, then everything is reversed from
 * the end, where a directory comes after what is in it.
 *
 * An entry that another program has changed meanwhile stops the way forward.
 * The way back then goes past it: one entry in doubt is no reason to leave
 * others half-way.
 */

#define SYNC_DIRS_MAX 64
#define LEFT_MAX      256	/* bytes of names; beyond it they are counted */
#define DIRS_ALONE    (1U << 8) /* beside enum apply_how */

int apply_init(struct apply *a, struct txn *txn, struct journal *journal,
	       struct hb_error *err)
{
	const struct journal_head *head = journal_head(journal);
	int r;

	*a = (struct apply){ .txn = txn,
			     .journal = journal,
			     .left = BUF_INIT(LEFT_MAX) };
	if (head->n_resources != txn->n_resources)
		return hb_fail(err, -HB_E_CORRUPT,
			       "the journal is about %u resources, not %zu",
			       head->n_resources, txn->n_resources);
	a->sites = calloc(txn->n_resources, sizeof(*a->sites));
	a->steps = calloc(txn->n_resources, sizeof(*a->steps));
	if (!a->sites || !a->steps)
		return hb_fail(err, -ENOMEM, "cannot apply the journal");
	for (size_t i = 0; i < txn->n_resources; i++) {
		r = site_open(&a->sites[i], &txn->resources[i], head->id, err);
		if (r < 0)
			return r;
		a->steps[i] = (struct step){
			.site = &a->sites[i],
			.is_plain = head->flags & JOURNAL_PLAIN,
		};
	}
	return 0;
}

void apply_done(struct apply *a)
{
	for (size_t i = 0; a->sites && i < a->txn->n_resources; i++)
		site_close(&a->sites[i]);
	free(a->sites);
	free(a->steps);
	buf_done(&a->left);
	journal_free(a->journal);
	*a = (struct apply){ 0 };
}

static int leave(struct apply *a, const struct op *op, bool back,
		 struct hb_error *err)
{
	struct step_left left = { 0 };
	struct hb_report report;
	char place[64];
	int r = step_leave(&a->steps[op->resource], op, back, &left, err);

	if (r < 0)
		return r;
	(void)snprintf(place, sizeof(place), "undo/%s/%llu",
		       a->sites[op->resource].name,
		       (unsigned long long)op->slot);
	report = (struct hb_report){ .kind = HB_REPORT_LEFT,
				     .resource = op->resource,
				     .path = op->path,
				     .text = left.has_old ? place : NULL,
				     .n = left.has_new };
	(void)report_send(a->txn->listener, &report);
	a->n_left++;
	(void)buf_add_fmt(&a->left, "%s%s", a->left.len ? ", " : "",
			  quoted(op->path));
	return 0;
}

static bool is_misfit(int r)
{
	return r == -HB_E_CONFLICT || r == -HB_E_STATE;
}

static int run_step(struct apply *a, const struct op *op, unsigned how,
		    struct hb_error *err)
{
	struct step *s = &a->steps[op->resource];
	bool back = how & APPLY_BACK;
	struct hb_error why = { 0 };
	int r;

	s->is_left = false;
	r = back ? 0 : placed_stat_note(s->site, op, &why);
	r = r < 0 ? r : step_run(s, op, back, &why);
	if (is_misfit(r) && (how & APPLY_PAST) && op->kind != OP_LAYER)
		return leave(a, op, back, err);
	if (r < 0)
		return hb_pass(err, &why, r);
	if (s->is_left && (how & APPLY_PAST))
		return leave(a, op, back, err);
	/* Not told yet: what comes after it may turn us round. */
	a->n_left += s->is_left;
	return 0;
}

/* DIRS_ALONE: opens directories before the way back, closes them after all. */
static int run_one(struct apply *a, const struct op *op, unsigned how,
		   struct hb_error *err)
{
	bool back = how & APPLY_BACK, is_alone = how & DIRS_ALONE;
	bool is_first = (how & APPLY_FIRST) && !is_alone;
	struct site *s = &a->sites[op->resource];
	struct hb_error why = { 0 };
	int r;

	a->steps[op->resource].is_recovery = !(how & APPLY_FIRST);
	if (op_is_written(op))
		return 0;
	if (!op_dresses(op))
		return is_alone ? 0 : run_step(a, op, how, err);
	r = back == is_alone ? dress_open_dir(s, op, is_first, &why)
			     : dress_close_dir(s, op, back, &why);
	/* It is gone, or is his: no attributes of ours are left in it. */
	return is_misfit(r) && (how & APPLY_PAST) ? 0 : hb_pass(err, &why, r);
}

/* One way through the journal, with `up` from its end. */
static int each_op(struct apply *a, bool up, unsigned how, struct hb_error *err)
{
	struct journal *j = a->journal;
	struct op op;
	int r;

	if (up)
		journal_to_end(j);
	else
		journal_to_start(j);
	while ((r = up ? journal_prev(j, &op, err)
		       : journal_next(j, &op, err)) == 1) {
		r = run_one(a, &op, how, err);
		if (r < 0)
			return r;
	}
	return r;
}

int apply_run(struct apply *a, unsigned how, struct hb_error *err)
{
	bool back = how & APPLY_BACK;
	int r;

	/* What was left on the way here is looked at once more. */
	a->n_left = 0;
	buf_cut(&a->left, 0);
	for (size_t i = 0; i < a->txn->n_resources; i++)
		site_forget(&a->sites[i]);
	r = back ? each_op(a, false, how | DIRS_ALONE, err) : 0;
	if (r < 0)
		return r;
	r = each_op(a, back, how, err);
	return r < 0 || back ? r : each_op(a, true, how | DIRS_ALONE, err);
}

int apply_tell_left(const struct apply *a, struct hb_error *err)
{
	a->txn->n_left = a->n_left;
	if (a->n_left == 0)
		return 0;
	return hb_fail(err, -HB_E_STATE,
		       "changed from outside and left as it is: %s%s",
		       buf_str(&a->left),
		       a->left.len > LEFT_MAX - QUOTE_SHOWN ? ", and others"
							    : "");
}

static int sync_fs(int fd)
{
	auto_fd int dir = sys_openat(fd, ".", O_RDONLY | O_DIRECTORY, 0);

	return dir < 0 ? dir : sys_syncfs(dir);
}

/* 1: could not be opened, so that all of the file system has to be synced. */
static int sync_below(int root, const char *path)
{
	auto_fd int dir = -1;

	dir = access_open_below(root, path, strlen(path), O_RDONLY, NULL);
	if (access_is_gone(dir))
		return 0;
	return dir < 0 ? 1 : sys_fsync(dir);
}

/* 1: all of the file system has to be synced. */
static int sync_dirs(struct apply *a, uint32_t which)
{
	const struct site *s = &a->sites[which];
	unsigned n = 0;
	struct op op;
	int r;

	/*
	 * Of files whose attributes changed an fsync each would do, and is
	 * slower from few of them on.  What was changed before a crash is not
	 * known any more.
	 */
	if (a->steps[which].is_dressed || a->steps[which].is_recovery)
		return 1;
	journal_to_start(a->journal);
	while ((r = journal_next(a->journal, &op, NULL)) == 1) {
		if (op.resource != which || !op_dresses(&op))
			continue;
		if (++n > SYNC_DIRS_MAX || op.mode != op.old.mode ||
		    op.uid != op.old.uid || op.gid != op.old.gid ||
		    (op.effect & OP_XATTRS))
			return 1;
		r = sync_below(s->base.root, op.path);
		if (r == 0 && s->upper.root >= 0)
			r = sync_below(s->upper.root, op.path);
		if (r != 0)
			return r;
	}
	return r;
}

static int sync_site(struct apply *a, uint32_t which)
{
	const struct resource *resource = a->sites[which].resource;
	int r = sync_dirs(a, which);

	if (r <= 0)
		return r < 0 ? r : site_sync(&a->sites[which]);
	r = sync_fs(resource->base);
	/* On one mount they are one file system. */
	return r < 0 || resource->record->same_mount ? r
						     : sync_fs(resource->dir);
}

int apply_sync(struct apply *a, struct hb_error *err)
{
	for (uint32_t i = 0; i < a->txn->n_resources; i++) {
		int r = sync_site(a, i);

		if (r < 0)
			return hb_fail(err, r, "cannot sync the base");
	}
	return 0;
}
