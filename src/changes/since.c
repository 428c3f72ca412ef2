/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/since.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/time.h"
#include "changes/conflict.h"
#include "tree/access.h"
#include "tree/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 *	in one set only, the later	the mark had what the base has
 *	in one set only, the earlier	what is there now is the base's
 *	in both				the two new sides are compared
 *
 * What a layer below the mark decides in both is the same object.
 */
struct stream {
	struct changes *changes;
	struct change change;
	bool has_change, is_used;
};

struct since {
	struct changes_request request;
	size_t above;
	struct stream then, now;
};

static int open_stream(const struct changes_request *request, size_t above,
		       struct stream *ret, struct hb_error *err)
{
	struct resource resource = *request->resource;
	struct changes_request q = *request;

	q.resource = &resource;
	if (resource.base >= 0) {
		resource.layers += above;
		resource.n_layers -= above;
	}
	resource.t0 = (struct timespec){ 0 };
	q.known = NULL;
	q.keeps_known = false;
	/* What others have committed changes neither of the two states. */
	resource.peers = NULL;
	q.with_renames = false;
	q.without_hash = true;
	ret->is_used = true;
	return changes_scan(&q, &ret->changes, err);
}

int since_open(const struct changes_request *request, size_t above,
	       struct since **ret_since, struct hb_error *err)
{
	struct since *since = calloc(1, sizeof(*since));
	int r;

	if (!since)
		return hb_fail(err, -ENOMEM, "cannot compare");
	since->request = *request;
	since->above = above;
	r = open_stream(request, above, &since->then, err);
	if (r >= 0)
		r = open_stream(request, 0, &since->now, err);
	if (r < 0) {
		since_free(since);
		return r;
	}
	*ret_since = since;
	return 0;
}

void since_free(struct since *since)
{
	if (!since)
		return;
	changes_free(since->then.changes);
	changes_free(since->now.changes);
	free(since);
}

uint64_t since_unjudged(const struct since *since)
{
	return changes_summary(since->now.changes)->n_unjudged;
}

int since_rewind(struct since *since, struct hb_error *err)
{
	int r = changes_rewind(since->then.changes, err);

	since->then.is_used = since->now.is_used = true;
	return r < 0 ? r : changes_rewind(since->now.changes, err);
}

/* The next that is a change by itself. */
static int advance(struct stream *s, struct hb_error *err)
{
	int r;

	if (!s->is_used)
		return 0;
	do
		r = changes_next(s->changes, &s->change, err);
	while (r == 1 && (s->change.flags & CHANGE_CARRIED));
	s->has_change = r == 1;
	s->is_used = false;
	return r < 0 ? r : 0;
}

static int open_parent(const struct since_side *side, const char *path,
		       const char **ret_name, struct hb_error *err)
{
	const char *slash = strrchr(path, '/');

	*ret_name = slash ? slash + 1 : path;
	return access_open_below(side->root, path,
				 slash ? (size_t)(slash - path) : 0, O_PATH,
				 err);
}

static int compare_content(const struct side *a, const struct side *b,
			   struct hb_error *err)
{
	int r = 1;

	if (a->entry->type == ENTRY_FILE)
		r = side_same_content(a, b, err);
	else if (a->entry->type == ENTRY_LINK)
		r = side_same_target(a, b, err);
	if (r != 0)
		return r < 0 ? r : 0;
	return a->entry->type == ENTRY_FILE ? CHANGED_CONTENT : CHANGED_TARGET;
}

/* Both are there and of one type: what differs. */
static int compare(struct since_change *c, struct hb_error *err)
{
	const struct entry *old = &c->change.old, *new = &c->change.new;
	const char *name;
	auto_fd int a = open_parent(&c->old, c->change.path, &name, err);
	auto_fd int b =
		a < 0 ? -1 : open_parent(&c->new, c->change.path, &name, err);
	struct side x = { a, name, old, c->old.in_layer };
	struct side y = { b, name, new, c->new.in_layer };
	struct xattrs p, q;
	int r, what;

	if (a < 0 || b < 0)
		return a < 0 ? a : b;
	what = compare_content(&x, &y, err);
	r = what < 0 ? what : side_xattrs(&x, &p, err);
	if (r >= 0)
		r = side_xattrs(&y, &q, err);
	if (r < 0)
		return r;
	if (memcmp(p.digest, q.digest, sizeof(p.digest)) != 0)
		what |= CHANGED_XATTRS;
	if (new->type != ENTRY_LINK &&new->mode != old->mode)
		what |= CHANGED_MODE;
	if (new->uid != old->uid || new->gid != old->gid)
		what |= CHANGED_OWNER;
	if (new->type != ENTRY_DIR && !time_is_same(new->mtime, old->mtime))
		what |= CHANGED_MTIME;
	return what;
}

/* 1: a change, whose kind is set; 0: none. */
static int classify(struct since_change *c, struct hb_error *err)
{
	struct change *change = &c->change;
	int what;

	change->what = 0;
	change->flags &= CHANGE_GIT | CHANGE_SPECIAL | CHANGE_IGNORED;
	change->from = NULL;
	change->why = NULL;
	change->conflict = CONFLICT_NONE;
	if (change->old.type == ENTRY_NONE && change->new.type == ENTRY_NONE)
		return 0;
	if (change->old.type == ENTRY_NONE) {
		change->kind = CHANGE_ADDED;
	} else if (change->new.type == ENTRY_NONE) {
		change->kind = CHANGE_DELETED;
	} else if (change->old.type != change->new.type) {
		change->kind = CHANGE_TYPE;
	} else {
		what = compare(c, err);
		if (what <= 0)
			return what;
		change->what = (unsigned)what;
		change->kind = what & (CHANGED_CONTENT | CHANGED_TARGET)
				       ? CHANGE_MODIFIED
			       : what == CHANGED_MTIME ? CHANGE_TIMES
						       : CHANGE_ATTRIBUTES;
	}
	return 1;
}

/* 1 or 0 as classify(); the streams that it is made of are used up. */
static int join(struct since *s, struct since_change *ret, struct hb_error *err)
{
	const struct resource *q = s->request.resource;
	const struct since_side base = { .root = q->base };
	struct change *then = &s->then.change, *now = &s->now.change;
	int order = !s->then.has_change	 ? 1
		    : !s->now.has_change ? -1
					 : path_compare(then->path, now->path);

	s->then.is_used = order <= 0;
	s->now.is_used = order >= 0;
	*ret = (struct since_change){ .change = order < 0 ? *then : *now,
				      .old = base,
				      .new = base };
	if (order <= 0) {
		ret->change.old = then->new;
		ret->old =
			(struct since_side){ q->layers[s->above + then->layer],
					     true };
	}
	if (order < 0)
		ret->change.new = then->old;
	else
		ret->new = (struct since_side){ q->layers[now->layer], true };
	if (order == 0 && now->layer == s->above + then->layer &&
	    now->new.ino == then->new.ino)
		return 0;
	/* What lies at one end of the two is the base's already. */
	if (order > 0) {
		ret->change.flags &= ~(unsigned)(CHANGE_CONFLICT);
		return 1;
	}
	return classify(ret, err);
}

int since_next(struct since *since, struct since_change *ret,
	       struct hb_error *err)
{
	int r;

	do {
		r = advance(&since->then, err);
		if (r >= 0)
			r = advance(&since->now, err);
		if (r < 0)
			return r;
		if (!since->then.has_change && !since->now.has_change)
			return 0;
		r = join(since, ret, err);
	} while (r == 0);
	return r;
}
