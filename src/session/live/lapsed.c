/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/lapsed.h"

#include "base/auto.h"
#include "base/error.h"
#include "session/live/taken.h"
#include "session/open.h"
#include "session/session.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct look {
	const struct taken_resource *taken;
	int upper; /* the real one */
};

/*
 * A directory that was made anew has no mark of ours, and what the box removes
 * in it leaves no whiteout.
 */
static bool is_other_dir(const struct look *look,
			 const struct tree_visit *visit,
			 const struct sys_attr *now)
{
	const struct taken_object *o = taken_find(look->taken, visit->path);

	return S_ISDIR(visit->attr.mode) && o && o->upper_ino != now->ino;
}

/* Of type tree_fn: -ESTALE for an object that the real upper has no more. */
static int look_one(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	size_t len = strlen(visit->path) - strlen(visit->name);
	const struct look *look = ctx;
	auto_fd int dir = -1;
	struct sys_attr a;
	int r;

	(void)err;
	/* A whiteout of the copy may stand for what left none. */
	if (visit->when != TREE_ENTER || S_ISCHR(visit->attr.mode))
		return 0;
	dir = access_open_below(look->upper, visit->path, len > 0 ? len - 1 : 0,
				O_PATH, NULL);
	r = dir < 0 ? dir : sys_attr_at(dir, visit->name, &a);
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		return -ESTALE;
	return r >= 0 && is_other_dir(look, visit, &a) ? -ESTALE : 0;
}

static int check(const struct hb_session *s, size_t i, struct hb_error *err)
{
	const struct resource *resource = &s->resources[i];
	struct look look = { .taken = &s->taken->resources[i] };
	auto_fd int upper = -1;

	if (resource->is_gone)
		return 0;
	upper = sys_openat(resource->dir, "upper",
			   O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (upper < 0)
		return hb_fail(err, upper, "cannot open the changes");
	look.upper = upper;
	return tree_walk(resource->upper, ".", TREE_OURS, look_one, &look, err);
}

/* Of type txn_publishing_fn. */
static int publishing(void *ctx, uint64_t id, bool has_rest,
		      struct hb_error *err)
{
	const struct lapsed *lapsed = ctx;
	struct hb_session *s = lapsed->session;
	struct hb_error why = { 0 };
	int r;

	r = lapsed->next ? lapsed->next(lapsed->next_ctx, id, has_rest, err)
			 : 0;
	if (r >= 0 && !s->taken->is_frozen)
		r = s->box->freeze(s->box, err);
	if (r < 0)
		return r;
	s->taken->is_frozen = true;
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = check(s, i, &why);
	if (r >= 0)
		r = s->box->check(s->box, &why);
	if (r > 0)
		return 0;
	taken_thaw(s);
	if (r < 0 && r != -ESTALE)
		return hb_pass(err, &why, r);
	s->taken->has_lapsed = true;
	hb_fix(err, "try again");
	return hb_fail(err, -HB_E_BUSY,
		       "files of session '%s' come and go too fast",
		       s->record.name);
}

void lapsed_attach(struct lapsed *lapsed, struct hb_session *s, struct txn *txn)
{
	*lapsed = (struct lapsed){ .session = s,
				   .next = txn->publishing,
				   .next_ctx = txn->publishing_ctx };
	txn->publishing = publishing;
	txn->publishing_ctx = lapsed;
}

/* Something ran while objects were moved: as after a crash, nothing is sure. */
static void end_freeze(struct hb_session *s)
{
	if (!s->taken->is_frozen)
		return;
	s->taken->is_apart = s->box->check(s->box, NULL) <= 0;
	taken_thaw(s);
}

int lapsed_applied(void *ctx, size_t resource, const struct seen *seen,
		   struct hb_error *err)
{
	struct hb_session *s = ctx;
	const struct taken_object *o;
	struct seen of_upper;

	end_freeze(s);
	if (!seen || seen->conflict != 0 || s->taken->is_apart)
		return session_applied(s, resource, seen, err);
	of_upper = *seen;
	of_upper.layer_ino = 0;
	of_upper.layer_ctime = (struct timespec){ 0 };
	o = taken_find(&s->taken->resources[resource], seen->path);
	if (o && !o->is_vague) {
		of_upper.layer_ino = o->upper_ino;
		of_upper.layer_ctime = o->upper_ctime;
	}
	return session_applied(s, resource, &of_upper, err);
}
