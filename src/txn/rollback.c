/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "txn/carry.h"
#include "txn/history.h"
#include "txn/journal.h"
#include "txn/run.h"
#include "txn/site.h"
#include "txn/txn.h"

#include <errno.h>

/*
 * Rollback is a transaction with one operation per resource: the upper is
 * replaced by an empty one and goes to trash/ID.  It takes as long for a
 * thousand changes as for one, and is undone like any other.
 */

/* The view's root has the attributes of the upper, so of the base's root. */
static int make_empty(struct site *s, const struct place *to,
		      struct hb_error *err)
{
	const struct txn_resource *res = s->resource;
	struct entry root;
	struct carry carry = { .from = res->like ? *res->like : res->base,
			       .name = ".",
			       .entry = &root,
			       .flags = res->like ? CARRY_FROM_LAYER : 0 };
	int r;

	r = entry_read_fd(carry.from, res->like != NULL, &root, err);
	if (r < 0)
		return r;
	carry.mode = root.mode;
	carry.uid = root.uid;
	carry.gid = root.gid;
	/* Only root can give away; else the upper is of whoever works in it. */
	if (sys_effective_uid() != 0) {
		struct sys_attr upper;

		r = sys_attr_at(res->dir, "upper", &upper);
		if (r < 0)
			return hb_fail(err, r, "cannot look at the upper");
		carry.uid = upper.uid;
		carry.gid = upper.gid;
	}
	return carry_copy(&carry, to->dir, to->name, err);
}

static int plan_one(struct site *s, uint32_t resource, struct journal_writer *w,
		    struct hb_error *err)
{
	struct op op = { .kind = OP_REPLACE,
			 .source = SOURCE_STAGED,
			 .flags = OP_UPPER,
			 .resource = resource,
			 .slot = 1,
			 .path = "" };
	struct place upper, empty;
	int r;

	r = site_base(s, &op, &upper, err);
	if (r == 0)
		r = place_read(&upper, &op.old, err);
	if (r == 0)
		r = site_source(s, &op, &empty, err);
	if (r == 0)
		r = make_empty(s, &empty, err);
	if (r == 0)
		r = place_read(&empty, &op.new, err);
	if (r < 0)
		return r;
	op.mode = op.new.mode;
	op.uid = op.new.uid;
	op.gid = op.new.gid;
	r = sys_fsync(s->dirs[SITE_DIR_TXN]);
	if (r < 0)
		return hb_fail(err, r, "cannot sync the new upper");
	return journal_add(w, &op, err);
}

static int choose_id(struct txn *txn, uint64_t *ret_id, struct hb_error *err)
{
	int r = history_next_id(txn->session, ret_id, err);

	for (size_t i = 0; r >= 0 && i < txn->n_resources; i++) {
		r = run_id_is_free(&txn->resources[i], *ret_id, err);
		if (r == 0) {
			++*ret_id;
			i = (size_t)-1;
		}
	}
	return r < 0 ? r : 0;
}

static int write_journal(struct txn *txn, struct hb_error *err)
{
	struct journal_head head = {
		.kind = JOURNAL_ROLLBACK,
		.n_resources = (uint32_t)txn->n_resources,
	};
	struct journal_writer *w = NULL;
	bool is_uncertain = false;
	int r;

	r = choose_id(txn, &head.id, err);
	if (r == 0)
		r = journal_begin(txn->session, &w, err);
	for (size_t i = 0; r == 0 && i < txn->n_resources; i++) {
		struct site s;

		r = site_open(&s, &txn->resources[i], head.id, err);
		if (r < 0)
			break;
		r = site_make(&s, err);
		if (r == 0)
			r = plan_one(&s, (uint32_t)i, w, err);
		site_close(&s);
	}
	if (r == 0 && txn->publishing)
		r = txn->publishing(txn->publishing_ctx, head.id, false, err);
	if (r == 0)
		r = journal_publish(w, &head, &is_uncertain, err);
	journal_writer_free(w);
	if (r < 0 && !is_uncertain)
		(void)history_sweep(txn, NULL);
	return r;
}

int txn_rollback(struct txn *txn, struct hb_error *err)
{
	struct run_request run = { .txn = txn };
	struct run_locks locks;
	int r;

	r = run_lock(&locks, txn, err);
	if (r < 0)
		return r;
	r = run_check_idle(txn, err);
	if (r == 0)
		r = history_forget_undone(txn, err);
	if (r == 0)
		r = write_journal(txn, err);
	if (r == 0)
		r = run_journal(&run, err);
	run_unlock(&locks);
	return r < 0 ? hb_fail(err, r, "cannot roll back") : 0;
}
