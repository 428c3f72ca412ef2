/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/steady.h"
#include "base/time.h"
#include "changes/filter.h"

#include "base/error.h"
#include "base/quote.h"
#include "sys/attr.h"
#include "tree/content.h"
#include "txn/survey.h"

#include <errno.h>
#include <string.h>

static bool was_opened_up(const struct entry *e)
{
	mode_t wanted = e->type == ENTRY_DIR ? 0500 : 0400;

	return e->type != ENTRY_LINK && (e->mode & wanted) != wanted &&
	       sys_effective_uid() != 0;
}

static bool is_steady(const struct entry *e, const struct sys_attr *a)
{
	if (a->ino != e->ino || a->dev != e->dev)
		return false;
	if (!was_opened_up(e))
		return time_is_same(a->ctime, e->ctime);
	return time_is_same(a->mtime, e->mtime) &&
	       (e->type == ENTRY_DIR || a->size == e->size);
}

static int look_at(struct content_walk *walk, const struct resource *resource,
		   const struct change *c, struct hb_error *err)
{
	const struct content_place place = {
		.root = resource->layers[c->layer],
		.in_layer = true,
		.path = c->path,
		.entry = &c->new,
	};
	struct sys_attr a;
	const char *name;
	int r;

	r = content_walk_enter(walk, &place, &name, err);
	if (r < 0)
		return r;
	r = sys_attr_at(walk->dir.fd, name, &a);
	if (r == 0 && is_steady(&c->new, &a))
		return 0;
	if (r < 0 && r != -ENOENT)
		return hb_fail_at(err, r, c->path, "cannot look at");
	hb_fix(err, "look at the changes again");
	return hb_fail(err, -HB_E_CONFLICT,
		       "%s has changed in the session after it was looked at",
		       quoted(c->path));
}

int steady_check(const struct resource *resource, struct changes *changes,
		 const struct txn_options *options, struct hb_error *err)
{
	struct content_walk walk;
	struct change c;
	int left, r;

	content_walk_init(&walk);
	r = changes_rewind(changes, err);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		if (c.new.type != ENTRY_NONE && !c.item && !change_is_top(&c) &&
		    !(c.flags & CHANGE_CARRIED) &&
		    changes_choice_takes(&options->choice, &c))
			r = look_at(&walk, resource, &c, err);
	left = content_walk_leave(&walk, r < 0 ? NULL : err);
	content_walk_done(&walk);
	return r < 0 ? r : left;
}

static bool is_same_new(const struct entry *then, const struct entry *now)
{
	const struct sys_attr a = { .ino = now->ino,
				    .dev = now->dev,
				    .ctime = now->ctime,
				    .mtime = now->mtime,
				    .size = now->size };

	return then->type == now->type && then->mode == now->mode &&
	       (then->type == ENTRY_NONE || is_steady(then, &a));
}

/* Other entries that come and go in a directory of the base do not matter. */
static bool is_same_old(const struct entry *then, const struct entry *now)
{
	return then->type == now->type && then->ino == now->ino &&
	       then->dev == now->dev &&
	       (then->type == ENTRY_DIR ||
		time_is_same(then->ctime, now->ctime));
}

static bool is_same_change(const struct change *then, const struct change *now)
{
	static const unsigned found_anew =
		CHANGE_RENAMED | CHANGE_MOVED_AWAY | CHANGE_CONFLICT;

	return strcmp(then->path, now->path) == 0 && then->kind == now->kind &&
	       then->what == now->what &&
	       (then->flags & ~found_anew) == (now->flags & ~found_anew) &&
	       is_same_new(&then->new, &now->new) &&
	       is_same_old(&then->old, &now->old);
}

/* A carried change is not shown; it is as it is at the commit's time. */
static int next_seen(struct changes *changes, struct change *ret,
		     struct hb_error *err)
{
	int r;

	do
		r = changes_next(changes, ret, err);
	while (r == 1 && (ret->flags & CHANGE_CARRIED));
	return r;
}

int steady_compare(struct changes *then, struct changes *now,
		   struct hb_error *err)
{
	struct change a, b;
	int r, s;

	r = changes_rewind(then, err);
	if (r >= 0)
		r = changes_rewind(now, err);
	while (r >= 0) {
		r = next_seen(then, &a, err);
		s = r < 0 ? r : next_seen(now, &b, err);
		if (s < 0)
			return s;
		if (r != s)
			return 0;
		if (r == 0)
			return 1;
		if (!is_same_change(&a, &b))
			return 0;
	}
	return r;
}
