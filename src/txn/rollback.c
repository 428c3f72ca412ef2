/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "changes/part.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/carry.h"
#include "tree/content.h"
#include "txn/history.h"
#include "txn/journal.h"
#include "txn/leftovers.h"
#include "txn/number.h"
#include "txn/parts.h"
#include "txn/peek.h"
#include "txn/run.h"
#include "txn/site.h"
#include "txn/txn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rollback is a transaction with one operation per resource: the upper is
 * replaced by an empty one and goes to trash/ID.  It takes as long for a
 * thousand changes as for one, and is undone like any other.
 *
 * Of some paths it is one operation each: what the upper has there goes to
 * undo/ID/LSLOT.  The directory above keeps its times.
 */

struct paths {
	const struct txn_path *paths;
	size_t n;
};

/* The view's root has the attributes of the upper, so of what lies below. */
static int make_empty(struct site *s, const struct place *to,
		      struct hb_error *err)
{
	const struct resource *res = s->resource;
	struct entry root;
	struct carry carry = { .from = res->like >= 0  ? res->like
				       : res->top >= 0 ? res->top
						       : res->base,
			       .name = ".",
			       .entry = &root,
			       .flags = res->like >= 0 ? CARRY_FROM_LAYER
						       : CARRY_TO_LAYER };
	int r;

	r = entry_read_fd(carry.from, res->like >= 0, &root, err);
	if (r < 0)
		return r;
	carry.mode = root.mode;
	carry.uid = root.uid;
	carry.gid = root.gid;
	/*
	 * Only root can give away; else the upper is of the user who works in
	 * it.
	 */
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
			 .effect = OP_UPPER,
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

/* A directory above: the first `len` bytes of the path. */
static int plan_dir(struct site *s, const struct txn_path *path, size_t len,
		    struct journal_writer *w, struct hb_error *err)
{
	auto_free char *dir = strndup(path->path, len);
	struct op op = { .kind = OP_DIRECTORY,
			 .effect = OP_IN_UPPER | OP_KEEP_TIME,
			 .resource = (uint32_t)path->resource,
			 .path = dir };
	struct sys_attr a;
	auto_fd int fd = -1;
	int r;

	if (!dir)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	fd = content_find_dir(s->resource->layers[0], dir, len, NULL);
	if (fd == -ENOTDIR || fd == -ELOOP)
		return -ENOENT;
	r = fd < 0 ? fd : sys_attr_at(fd, "", &a);
	if (r < 0)
		return r;
	op.old = op.new = op.layer = object_of_attr(&a);
	op.mode = op.old.mode;
	op.uid = op.old.uid;
	op.gid = op.old.gid;
	return journal_add(w, &op, err);
}

/* All directories above, from the top, but those that `last` has as well. */
static int plan_above(struct site *s, const struct txn_path *path,
		      const struct txn_path *last, struct journal_writer *w,
		      struct hb_error *err)
{
	bool is_near = last && last->resource == path->resource;
	int r = is_near ? 0 : plan_dir(s, path, 0, w, err);

	for (size_t n = 1; r == 0 && path->path[n] != '\0'; n++) {
		if (path->path[n] != '/' ||
		    (is_near && strncmp(last->path, path->path, n + 1) == 0))
			continue;
		r = plan_dir(s, path, n, w, err);
	}
	return r;
}

static int plan_path(struct site *s, const struct txn_path *path, uint64_t slot,
		     struct journal_writer *w, struct hb_error *err)
{
	struct op op = { .kind = OP_LAYER,
			 .effect = OP_LAYER_MOVES,
			 .resource = (uint32_t)path->resource,
			 .slot = slot,
			 .path = path->path };
	int r;

	r = peek_object(s, &op, &op.layer, err);
	if (r == 0 && op.layer.type == ENTRY_NONE)
		return -ENOENT;
	return r < 0 ? r : journal_add(w, &op, err);
}

/* In the order of the tree: a directory, then what is in it. */
static int compare_paths(const void *a, const void *b)
{
	const struct txn_path *x = a, *y = b;

	if (x->resource != y->resource)
		return x->resource < y->resource ? -1 : 1;
	return path_compare(x->path, y->path);
}

static bool is_below(const struct txn_path *path, const struct txn_path *dir)
{
	size_t n = strlen(dir->path);

	return path->resource == dir->resource &&
	       strncmp(path->path, dir->path, n) == 0 &&
	       (path->path[n] == '/' || path->path[n] == '\0');
}

/* All directories first: they are closed after everything in them has moved. */
static int plan_paths(struct site *sites, const struct paths *p,
		      struct journal_writer *w,
		      const struct txn_path **ret_missing, struct hb_error *err)
{
	const struct txn_path *last = NULL;
	int r = 0;

	for (int opens = 1; opens >= 0; opens--) {
		last = NULL;
		for (size_t i = 0; r == 0 && i < p->n; i++) {
			const struct txn_path *path = &p->paths[i];
			struct site *s = &sites[path->resource];

			if (!part_is_layers(s->resource))
				return hb_fail(
					err, -HB_E_UNSUPPORTED,
					"'%s' can only be rolled back whole",
					s->resource->record->source);
			if (last && is_below(path, last))
				continue;
			r = opens ? plan_above(s, path, last, w, err)
				  : plan_path(s, path, i + 1, w, err);
			last = path;
		}
	}
	if (r == -ENOENT && ret_missing)
		*ret_missing = last;
	return r;
}

static int plan_all(struct txn *txn, uint64_t id, const struct paths *paths,
		    struct journal_writer *w,
		    const struct txn_path **ret_missing, struct hb_error *err)
{
	auto_free struct site *sites = calloc(txn->n_resources, sizeof(*sites));
	size_t n = 0;
	int r = 0;

	if (!sites)
		return hb_fail(err, -ENOMEM, "cannot plan the rollback");
	for (; r == 0 && n < txn->n_resources; n++) {
		r = site_open(&sites[n], &txn->resources[n], id, err);
		if (r < 0)
			break;
		r = site_make(&sites[n], err);
		if (r == 0 && !paths && !txn->resources[n].is_gone &&
		    part_is_layers(&txn->resources[n]))
			r = plan_one(&sites[n], (uint32_t)n, w, err);
	}
	if (r == 0 && paths)
		r = plan_paths(sites, paths, w, ret_missing, err);
	while (n > 0)
		site_close(&sites[--n]);
	return r;
}

static int write_journal(struct txn *txn, const struct paths *paths,
			 const struct txn_path **ret_missing,
			 struct hb_error *err)
{
	struct journal_head head = {
		.kind = JOURNAL_ROLLBACK,
		.flags = !paths && parts_are_there(txn) ? JOURNAL_HAS_PARTS : 0,
		.n_resources = (uint32_t)txn->n_resources,
	};
	struct journal_writer *w = NULL;
	bool is_uncertain = false;
	int r;

	r = number_choose(txn, &head.id, err);
	if (r == 0)
		r = journal_begin(txn->session, JOURNAL_ROLLBACK, &w, err);
	if (r == 0)
		r = plan_all(txn, head.id, paths, w, ret_missing, err);
	if (r == 0 && txn->publishing)
		r = txn->publishing(txn->publishing_ctx, head.id, false, err);
	if (r == 0)
		r = journal_publish(w, &head, &is_uncertain, err);
	journal_writer_free(w);
	if (r < 0 && !is_uncertain)
		(void)leftovers_sweep(txn, NULL);
	return r;
}

static int roll_back(struct txn *txn, const struct paths *paths,
		     const struct txn_path **ret_missing, struct hb_error *err)
{
	struct run_request run = { .txn = txn };
	struct run_locks locks;
	int r;

	r = run_lock(&locks, txn, err);
	if (r < 0)
		return r;
	r = run_check_idle(txn, err);
	if (r == 0)
		r = leftovers_sweep(txn, err);
	if (r == 0)
		r = write_journal(txn, paths, ret_missing, err);
	if (r == 0)
		r = run_journal(&run, err);
	run_unlock(&locks);
	return r < 0 ? hb_fail(err, r, "cannot roll back") : 0;
}

int txn_rollback(struct txn *txn, struct hb_error *err)
{
	return roll_back(txn, NULL, NULL, err);
}

int txn_rollback_paths(struct txn *txn, struct txn_path *paths, size_t n,
		       const struct txn_path **ret_missing,
		       struct hb_error *err)
{
	const struct paths all = { .paths = paths, .n = n };

	qsort(paths, n, sizeof(*paths), compare_paths);
	return roll_back(txn, &all, ret_missing, err);
}
