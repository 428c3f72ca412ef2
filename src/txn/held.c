/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/held.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/time.h"
#include "changes/database.h"
#include "sys/attr.h"
#include "tree/tree.h"
#include "txn/apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int fail_held(const char *path, pid_t holder, struct hb_error *err)
{
	hb_fix(err, "end the program that has it open");
	if (holder == 0)
		return hb_fail_at(
			err, -HB_E_CONFLICT, path,
			"a program in another namespace has the database open:");
	return hb_fail(err, -HB_E_CONFLICT,
		       "process %d has the database open: %s", (int)holder,
		       quoted(path));
}

static int check_held(int dir, const char *name, const char *path,
		      struct hb_error *err)
{
	pid_t holder = 0;

	return database_is_held(dir, name, &holder)
		       ? fail_held(path, holder, err)
		       : 0;
}

/* The database that a side file belongs to; 0 if the name is none of one. */
static int check_main(const struct place *p, const char *path,
		      const struct timespec *moved_since, struct hb_error *err)
{
	auto_free char *main = NULL;
	struct sys_attr a;
	size_t n;

	if (p->dir < 0 || database_part_of_name(p->name, &n) == DATABASE_MAIN)
		return 0;
	main = strndup(p->name, n);
	if (!main)
		return hb_fail(err, -ENOMEM, "cannot look at '%s'", path);
	if (sys_attr_at(p->dir, main, &a) < 0)
		return 0;
	/* Put there by this transaction: who opens that one has the new one. */
	if (moved_since && !time_is_before(a.ctime, *moved_since))
		return 0;
	return check_held(p->dir, main, path, err);
}

int held_check_base(struct site *s, const struct op *op, struct hb_error *err)
{
	struct place p;
	int r;

	if (op->effect & (OP_UPPER | OP_IN_UPPER))
		return 0;
	r = site_base(s, op, &p, NULL);
	if (r < 0 || p.dir < 0)
		return 0;
	r = database_has_size(op->old.size) || database_has_size(op->new.size)
		    ? check_held(p.dir, p.name, op->path, err)
		    : 0;
	return r < 0 ? r : check_main(&p, op->path, NULL, err);
}

struct look {
	const struct op *op;
};

static int look_at(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	const struct look *l = ctx;

	return v->when == TREE_ENTER && S_ISREG(v->attr.mode) &&
			       database_has_size(v->attr.size)
		       ? check_held(v->dir, v->name, l->op->path, err)
		       : 0;
}

/* The object that left the base, in the place that it has now. */
static int check_left(struct site *s, const struct op *op, bool back,
		      struct hb_error *err)
{
	const struct object *left = back ? &op->new : &op->old;
	struct look l = { .op = op };
	struct hb_error why = { 0 };
	struct place p;
	int r;

	if (left->type != ENTRY_DIR &&
	    (left->type != ENTRY_FILE || !database_has_size(left->size)))
		return 0;
	if (back) {
		r = site_source(s, op, &p, NULL);
		if (r < 0)
			return 0;
	} else {
		site_undo(s, op, &p);
	}
	if (p.dir < 0)
		return 0;
	if (left->type == ENTRY_FILE)
		return check_held(p.dir, p.name, op->path, err);
	r = tree_walk(p.dir, p.name, TREE_LENIENT, look_at, &l, &why);
	/*
	 * A program that may look into it is no program of this user.  And a
	 * directory that another program uses has stayed in the base.
	 */
	if (r == -EACCES || r == -ENOENT)
		return 0;
	return hb_pass(err, &why, r);
}

int held_check(struct apply *a, bool back, struct hb_error *err)
{
	struct timespec since = journal_head(a->journal)->since;
	struct op op;
	int r;

	journal_to_start(a->journal);
	while ((r = journal_next(a->journal, &op, err)) == 1) {
		struct site *s = &a->sites[op.resource];
		struct place p;

		if (!op_is_in_base(&op) || !op_moves(&op))
			continue;
		r = check_left(s, &op, back, err);
		if (r == 0 && site_base(s, &op, &p, NULL) >= 0)
			r = check_main(&p, op.path, &since, err);
		if (r < 0)
			return r;
	}
	return r;
}
