/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/apply.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/event.h"
#include "base/quote.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/content.h"
#include "tree/tree.h"
#include "txn/dress.h"
#include "txn/run.h"

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
 * What somebody else has changed meanwhile stops the way forward, and then the
 * way back goes past it: one entry in doubt is no reason to leave others
 * half-way.
 */

#define SYNC_DIRS_MAX 64
#define LEFT_MAX      256 /* bytes of names; beyond it they are counted */

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

static void note_left(struct apply *a, const struct txn_left *left)
{
	char shown[QUOTE_SHOWN];

	a->n_left++;
	if (a->txn->left)
		a->txn->left(a->txn->left_ctx, left);
	(void)buf_add_fmt(&a->left, "%s%s", a->left.len ? ", " : "",
			  quote_shown(left->path, shown, sizeof(shown)));
}

static int leave(struct apply *a, const struct op *op, bool back,
		 struct hb_error *err)
{
	struct txn_left left;
	int r = step_leave(&a->steps[op->resource], op, back, &left, err);

	if (r == 0)
		note_left(a, &left);
	return r;
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
	r = step_run(s, op, back, &why);
	if (is_misfit(r) && (how & APPLY_PAST) && op->kind != OP_LAYER)
		return leave(a, op, back, err);
	if (r < 0 && err)
		*err = why;
	if (r < 0 || !s->is_left)
		return r;
	/* Not told yet: what comes after it may turn us round. */
	if (!(how & APPLY_PAST)) {
		a->n_left++;
		return 0;
	}
	return leave(a, op, back, err);
}

static int run_one(struct apply *a, const struct op *op, unsigned how,
		   struct hb_error *err)
{
	struct step *s = &a->steps[op->resource];
	bool is_first = how & APPLY_FIRST;
	struct hb_error why = { 0 };
	int r;

	s->is_recovery = !is_first;
	if (op->kind != OP_DIRECTORY)
		return run_step(a, op, how, err);
	r = how & APPLY_BACK ? dress_close_dir(s->site, op, true, &why)
			     : dress_open_dir(s->site, op, is_first, &why);
	/* It is gone, or is his: no attributes of ours are left in it. */
	if (is_misfit(r) && (how & APPLY_PAST))
		return 0;
	if (r < 0 && err)
		*err = why;
	return r;
}

/* One way through the directories alone. */
static int run_dirs(struct apply *a, bool opens, unsigned how,
		    struct hb_error *err)
{
	struct op op;
	int r;

	if (opens)
		journal_to_start(a->journal);
	else
		journal_to_end(a->journal);
	while ((r = opens ? journal_next(a->journal, &op, err)
			  : journal_prev(a->journal, &op, err)) == 1) {
		struct site *s = &a->sites[op.resource];
		struct hb_error why = { 0 };

		if (op.kind != OP_DIRECTORY)
			continue;
		r = opens ? dress_open_dir(s, &op, false, &why)
			  : dress_close_dir(s, &op, false, &why);
		if (is_misfit(r) && (how & APPLY_PAST))
			continue;
		if (r < 0 && err)
			*err = why;
		if (r < 0)
			return r;
	}
	return r;
}

int apply_run(struct apply *a, unsigned how, struct hb_error *err)
{
	bool back = how & APPLY_BACK;
	struct op op;
	int r;

	/* What was left on the way here is looked at once more. */
	a->n_left = 0;
	buf_cut(&a->left, 0);
	for (size_t i = 0; i < a->txn->n_resources; i++)
		site_forget(&a->sites[i]);
	if (back) {
		r = run_dirs(a, true, how, err);
		if (r < 0)
			return r;
		journal_to_end(a->journal);
	} else {
		journal_to_start(a->journal);
	}
	while ((r = back ? journal_prev(a->journal, &op, err)
			 : journal_next(a->journal, &op, err)) == 1) {
		r = run_one(a, &op, how, err);
		if (r < 0)
			return r;
	}
	if (r < 0 || back)
		return r;
	return run_dirs(a, false, how, err);
}

int apply_tell_left(const struct apply *a, struct hb_error *err)
{
	a->txn->n_left = a->n_left;
	if (a->n_left == 0)
		return 0;
	return hb_fail(err, -HB_E_STATE,
		       "changed by somebody else and left as it is: %s%s",
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
	if (dir == -ENOENT || dir == -ENOTDIR || dir == -ELOOP)
		return 0;
	return dir < 0 ? 1 : sys_fsync(dir);
}

static int sync_site(struct apply *a, uint32_t which)
{
	struct site *s = &a->sites[which];
	/*
	 * Of files whose attributes changed an fsync each would do, and is
	 * slower from few of them on.  What was changed before a crash is not
	 * known any more.
	 */
	bool all = a->steps[which].is_dressed || a->steps[which].is_recovery;
	unsigned n = 0;
	struct op op;
	int r = 0;

	journal_to_start(a->journal);
	while (!all && r == 0 &&
	       (r = journal_next(a->journal, &op, NULL)) == 1) {
		r = 0;
		if (op.resource != which || op.kind != OP_DIRECTORY)
			continue;
		all = ++n > SYNC_DIRS_MAX || op.mode != op.old.mode ||
		      op.uid != op.old.uid || op.gid != op.old.gid ||
		      (op.flags & OP_XATTRS);
		if (!all)
			r = sync_below(s->resource->base, op.path);
		if (!all && r == 0 && s->upper.root >= 0)
			r = sync_below(s->upper.root, op.path);
		all = all || r == 1;
		r = r < 0 ? r : 0;
	}
	if (r == 0 && all)
		r = sync_fs(s->resource->base);
	/* On one mount they are one file system. */
	if (r == 0 && all && !s->resource->same_mount)
		r = sync_fs(s->resource->dir);
	return r < 0 || all ? r : site_sync(s);
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

struct report {
	struct apply *a;
	txn_applied_fn applied;
	void *ctx;
	size_t resource;
	const char *top; /* path of the directory that is walked */
	bool back;
	struct buf path;
};

static int tell(struct report *rep, const char *path,
		const struct sys_attr *base, const struct sys_attr *layer,
		struct hb_error *err)
{
	struct seen seen = { .path = path };

	if (base) {
		seen.base_ino = base->ino;
		seen.base_ctime = base->ctime;
	}
	/*
	 * After an undo it is pending, not seen.  So it is where the changes
	 * come from layers below the upper: what that has is newer.
	 */
	if (layer && !rep->back &&
	    rep->a->txn->resources[rep->resource].n_layers <= 1) {
		seen.layer_ino = layer->ino;
		seen.layer_ctime = layer->ctime;
	}
	if (!rep->applied)
		return 0;
	return rep->applied(rep->ctx, rep->resource, &seen, err);
}

/*
 * What was accepted in spite of a conflict is in conflict again when it is
 * taken back, even where nothing in the base shows it any more.
 */
static int tell_disputed(struct report *rep, const struct op *op,
			 struct hb_error *err)
{
	const struct seen seen = {
		.path = op->path,
		.base_ctime = journal_head(rep->a->journal)->since,
		.conflict = op->accepted,
	};

	if (!rep->applied)
		return 0;
	return rep->applied(rep->ctx, op->resource, &seen, err);
}

static int tell_inside(void *ctx, const struct tree_visit *v,
		       struct hb_error *err)
{
	struct report *rep = ctx;
	int r;

	if (v->when == TREE_LEAVE)
		return 0;
	buf_cut(&rep->path, 0);
	(void)buf_add_str(&rep->path, rep->top);
	(void)buf_add_char(&rep->path, '/');
	r = buf_add_str(&rep->path, v->path);
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	return tell(rep, buf_str(&rep->path), &v->attr, NULL, err);
}

static int find(const struct place *p, struct sys_attr *ret)
{
	return p->dir >= 0 ? sys_attr_at(p->dir, p->name, ret) : -ENOENT;
}

/* Also in a directory of the layer that is closed to its owner. */
static bool is_in_upper(struct site *s, const struct op *op,
			struct sys_attr *ret)
{
	const struct content_place in = { .root = s->resource->layers[0],
					  .in_layer = true,
					  .path = op->path };
	struct content_dir dir = { .fd = -1 };
	struct place at = { .dir = -1 };
	int r = site_upper(s, op, &at, NULL);

	if (r == 0)
		r = at.dir < 0 ? -ENOENT : sys_attr_at(at.dir, at.name, ret);
	if (r != -EACCES)
		return r == 0;
	r = content_enter(&in, &dir, &at.name, NULL);
	if (r == 0)
		r = sys_attr_at(dir.fd, at.name, ret);
	return content_leave(&dir, NULL) == 0 && r == 0;
}

/* Whether the directory must not be known, because it is not ours alone. */
static bool is_others_too(const struct report *rep, const struct op *op)
{
	const struct txn *txn = rep->a->txn;
	const struct conflict_rule rule = run_rule(txn, rep->resource);

	if (op->flags & OP_IN_NEW)
		return false;
	return (op->flags & OP_KEEP_TIME) ||
	       conflict_is_others_too(&rule, op->path, op->old.mtime);
}

/* Whether changes of then are still pending. */
static bool has_rest(const struct report *rep)
{
	return journal_head(rep->a->journal)->flags & JOURNAL_HAS_REST;
}

static int report_dir(struct report *rep, struct site *s, const struct op *op,
		      struct hb_error *err)
{
	struct sys_attr base, layer;
	auto_fd int b = site_open_base_dir(s, op->path, NULL);
	auto_fd int l = site_open_upper_dir(s, op->path, NULL);
	bool has_base = b >= 0 && sys_attr_at(b, "", &base) == 0;
	bool has_layer = l >= 0 && sys_attr_at(l, "", &layer) == 0;

	if (rep->back && op->accepted == CONFLICT_DIR)
		return tell_disputed(rep, op, err);
	/* Going back, what the commit told of the layer is wrong by now. */
	if (is_others_too(rep, op) ||
	    (op->accepted != CONFLICT_NONE && (rep->back || has_rest(rep))))
		return rep->back ? tell(rep, op->path, NULL, NULL, err) : 0;
	return tell(rep, op->path, has_base ? &base : NULL,
		    has_layer ? &layer : NULL, err);
}

/*
 * Taken back, it is what it was before.  If it is not, that is somebody's
 * change, and the session has to find it.
 */
static bool is_as_before(const struct op *op, const struct place *p)
{
	struct object now;

	if (place_read(p, &now, NULL) < 0)
		return false;
	if (op->old.type == ENTRY_NONE)
		return now.type == ENTRY_NONE;
	return op_is_old_unchanged(op, &now) && now.mode == op->old.mode &&
	       now.uid == op->old.uid && now.gid == op->old.gid;
}

/* What was in the base, wherever it is now, for the sake of its other names. */
static int report_inode(struct report *rep, struct site *s, const struct op *op,
			struct hb_error *err)
{
	struct place at = { .dir = -1 };
	char path[SEEN_INODE_SIZE];
	struct sys_attr a;
	int r = 0;

	if (!(op->flags & OP_LINKED))
		return 0;
	if (rep->back)
		r = site_base(s, op, &at, err);
	else
		site_undo(s, op, &at);
	if (r < 0 || find(&at, &a) < 0 || !is_as_before(op, &at))
		return r;
	(void)snprintf(path, sizeof(path), SEEN_INODE "%llu",
		       (unsigned long long)a.ino);
	return tell(rep, path, &a, NULL, err);
}

/*
 * What we may not look at now, in a directory that is closed to its owner, a
 * later look cannot compare either.
 */
static int untold(int r, const struct hb_error *why, struct hb_error *err)
{
	if (r == -EACCES)
		return 0;
	if (err)
		*err = *why;
	return r;
}

static int report_one(struct report *rep, const struct op *op,
		      struct hb_error *err)
{
	struct site *s = &rep->a->sites[op->resource];
	struct event e = { .kind = EVENT_CHANGED, .path = op->path };
	struct sys_attr base, layer;
	struct hb_error why = { 0 };
	struct place at_base = { .dir = -1 };
	bool has_base, has_layer;
	int found, r;

	if ((op->flags & (OP_UPPER | OP_IN_UPPER)) || op->kind == OP_LAYER)
		return 0;
	rep->resource = op->resource;
	/* Of a new one that is taken back, what it took the place of was told.
	 */
	if (op->kind == OP_DIRECTORY)
		return rep->back && (op->flags & OP_IN_NEW)
			       ? 0
			       : report_dir(rep, s, op, err);
	r = site_base(s, op, &at_base, &why);
	if (r < 0)
		return untold(r, &why, err);
	if (rep->back && op->accepted != CONFLICT_NONE)
		return tell_disputed(rep, op, err);
	if (rep->back && !is_as_before(op, &at_base))
		return 0;
	found = find(&at_base, &base);
	/* Nobody can tell: the directory is closed to its owner. */
	if (found == -EACCES)
		return 0;
	has_base = found == 0;
	has_layer = is_in_upper(s, op, &layer);
	event_report(rep->a->txn->events, &e);
	r = tell(rep, op->path, has_base ? &base : NULL,
		 has_layer ? &layer : NULL, err);
	if (r == 0)
		r = report_inode(rep, s, op, err);
	if (r < 0 || rep->back || op->source != SOURCE_LAYER ||
	    op->new.type != ENTRY_DIR || !has_base || !rep->applied)
		return r;
	rep->top = op->path;
	r = tree_walk(at_base.dir, at_base.name, 0, tell_inside, rep, &why);
	return r < 0 ? untold(r, &why, err) : r;
}

int apply_report(struct apply *a, bool back, txn_applied_fn applied,
		 void *applied_ctx, struct hb_error *err)
{
	struct report rep = { .a = a,
			      .applied = applied,
			      .ctx = applied_ctx,
			      .back = back,
			      .path = BUF_INIT(JOURNAL_RECORD_MAX) };
	struct op op;
	int r;

	for (size_t i = 0; i < a->txn->n_resources; i++)
		site_forget(&a->sites[i]);
	journal_to_start(a->journal);
	while ((r = journal_next(a->journal, &op, err)) == 1) {
		r = report_one(&rep, &op, err);
		if (r < 0)
			break;
	}
	buf_done(&rep.path);
	if (r == 0 && applied)
		r = applied(applied_ctx, 0, NULL, err);
	return r;
}
