/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/movable.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "sys/attr.h"
#include "tree/overlay.h"
#include "tree/standin.h"
#include "tree/tree.h"
#include "tree/xattrs.h"
#include "txn/contents.h"
#include "txn/peek.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What ends the walk early and is no failure. */
#define NOT_MOVABLE (-HB_E_END)

/*
 * 1: none of its attributes stands against it.  With `has_to_stay` a mark
 * does: it could not be taken off without a change of mode, which would have
 * to be in the journal.
 */
static int check_xattrs(int dirfd, const char *name, bool has_to_stay,
			struct hb_error *err)
{
	auto_xattr_names struct xattr_names names = { 0 };
	int r = xattr_names_read(&names, dirfd, name);

	if (r < 0)
		return hb_fail_at(err, r, name, "cannot look at");
	for (const char *x = names.list; x < names.list + names.size;
	     x += strlen(x) + 1)
		if ((overlay_is_reserved(x) && !overlay_is_mark(x)) ||
		    (has_to_stay && overlay_is_mark(x)) ||
		    strcmp(x, OVERLAY_PREFIX "whiteout") == 0 ||
		    strcmp(x, STANDIN_MARK) == 0)
			return 0;
	return 1;
}

static int check_one(void *ctx, const struct tree_visit *v,
		     struct hb_error *err)
{
	const struct movable_request *m = ctx;
	const struct sys_attr *a = &v->attr;
	bool is_dir = S_ISDIR(a->mode), is_file = S_ISREG(a->mode);
	int r;

	if (v->when == TREE_LEAVE)
		return 0;
	contents_add(m->contents, v);
	if (!is_dir && a->nlink > 1)
		return NOT_MOVABLE;
	if (is_dir && (a->mode & USER_LIST) != USER_LIST)
		return NOT_MOVABLE;
	/* A whiteout below what is new hides nothing, and is no change. */
	if (S_ISCHR(a->mode))
		return NOT_MOVABLE;
	r = check_xattrs(v->dir, v->name, !(a->mode & USER_WRITE), err);
	if (r <= 0)
		return r < 0 ? r : NOT_MOVABLE;
	if (is_dir || is_file)
		syncer_add(m->syncer, v->dir, v->name, is_file);
	return 0;
}

static int check_at(const struct movable_request *m, const struct place *at,
		    struct hb_error *err)
{
	const struct change *c = m->change;
	struct hb_error why = { 0 };
	int r;

	/* The scan has told whether there is any but the overlay's own. */
	r = c->new.has_xattrs ? check_xattrs(at->dir, at->name, false, err) : 1;
	if (r <= 0)
		return r;
	if (c->new.type == ENTRY_FILE)
		syncer_add(m->syncer, at->dir, at->name, true);
	else
		syncer_add(m->syncer, at->dir, ".", false);
	if (c->new.type != ENTRY_DIR)
		return 1;
	syncer_add(m->syncer, at->dir, at->name, false);
	*m->contents = 0;
	r = tree_walk(at->dir, at->name, TREE_OURS, check_one,
		      (void *)(uintptr_t)m, &why);
	if (r == NOT_MOVABLE)
		return 0;
	if (r < 0 && err)
		*err = why;
	*m->contents = contents_end(*m->contents);
	return r < 0 ? r : 1;
}

static int check_movable(void *ctx, const struct place *at,
			 struct hb_error *err)
{
	if (at->dir < 0)
		return hb_fail(err, -HB_E_BUSY, "the layer changes");
	return check_at(ctx, at, err);
}

int movable_check(const struct movable_request *m, struct hb_error *err)
{
	struct op op = { .path = m->change->path };

	return peek_upper(m->site, &op, check_movable, (void *)(uintptr_t)m,
			  err);
}
