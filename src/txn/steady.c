/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/steady.h"

#include "base/error.h"
#include "base/quote.h"
#include "sys/attr.h"
#include "txn/content.h"
#include "txn/survey.h"

#include <errno.h>

/*
 * Planning reads the layers and changes nothing in them, but for the rights of
 * what its owner cannot read: that has to be opened up for a moment, which
 * moves its change time.  Of such objects size and modification time have to
 * do.  A directory's change time tells of names that came or went in it.
 */
static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

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
		return is_same_time(a->ctime, e->ctime);
	return is_same_time(a->mtime, e->mtime) &&
	       (e->type == ENTRY_DIR || a->size == e->size);
}

static int look_at(struct content_walk *walk,
		   const struct txn_resource *resource, const struct change *c,
		   struct hb_error *err)
{
	const struct content_place place = {
		.root = resource->layers[c->layer],
		.in_layer = true,
		.path = c->path,
		.entry = &c->new,
	};
	char shown[QUOTE_SHOWN];
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
		return hb_fail(err, r, "cannot look at %s",
			       quote_shown(c->path, shown, sizeof(shown)));
	hb_fix(err, "look at the changes again");
	return hb_fail(err, -HB_E_CONFLICT,
		       "%s has changed in the session after it was looked at",
		       quote_shown(c->path, shown, sizeof(shown)));
}

int steady_check(const struct txn_resource *resource, struct changes *changes,
		 const struct txn_options *options, struct hb_error *err)
{
	struct content_walk walk;
	struct change c;
	int left, r;

	content_walk_init(&walk);
	r = changes_rewind(changes, err);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		if (c.new.type != ENTRY_NONE && !change_is_top(&c) &&
		    !(c.flags & CHANGE_CARRIED) && survey_takes(options, &c))
			r = look_at(&walk, resource, &c, err);
	left = content_walk_leave(&walk, r < 0 ? NULL : err);
	content_walk_done(&walk);
	return r < 0 ? r : left;
}
