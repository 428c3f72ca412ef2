/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/lapsed.h"

#include "base/auto.h"
#include "base/error.h"
#include "session/live/taken.h"
#include "session/live/unmark.h"
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
	int upper;	    /* the real one */
	struct unmark gone; /* paths that it has no more */
};

/* Of type tree_fn. */
static int look_one(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	size_t len = strlen(visit->path) - strlen(visit->name);
	struct look *look = ctx;
	auto_fd int dir = -1;
	struct sys_attr a;
	int r;

	/* A whiteout of the copy may stand for what left none. */
	if (visit->when != TREE_ENTER || S_ISCHR(visit->attr.mode))
		return 0;
	dir = access_open_below(look->upper, visit->path, len > 0 ? len - 1 : 0,
				O_PATH, NULL);
	r = dir < 0 ? dir : sys_attr_at(dir, visit->name, &a);
	if (r != -ENOENT && r != -ENOTDIR && r != -ELOOP)
		return 0;
	r = unmark_add(&look->gone, visit->path, err);
	return r < 0 ? r : TREE_SKIP;
}

static int drop(const struct look *look, int copy, struct hb_error *err)
{
	for (size_t i = 0; i < look->gone.n; i++) {
		const char *path = look->gone.dirs[i];
		const char *slash = strrchr(path, '/');
		auto_fd int dir = access_open_below(
			copy, path, slash ? (size_t)(slash - path) : 0,
			O_RDONLY, err);
		int r = dir < 0 ? dir
				: tree_remove(dir, slash ? slash + 1 : path,
					      err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* How many have left the copy of a resource. */
static int check(const struct resource *resource, size_t *n,
		 struct hb_error *err)
{
	struct look look = { .upper = -1 };
	int r;

	if (resource->is_gone)
		return 0;
	look.upper = sys_openat(resource->dir, "upper",
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (look.upper < 0)
		return hb_fail(err, look.upper, "cannot open the changes");
	r = tree_walk(resource->upper, ".", TREE_OURS, look_one, &look, err);
	if (r >= 0)
		r = drop(&look, resource->upper, err);
	*n += look.gone.n;
	unmark_done(&look.gone);
	sys_close(look.upper);
	return r;
}

/* Of type txn_publishing_fn. */
static int publishing(void *ctx, uint64_t id, bool has_rest,
		      struct hb_error *err)
{
	const struct lapsed *lapsed = ctx;
	struct hb_session *s = lapsed->session;
	int r;

	s->taken->n_lapsed = 0;
	r = lapsed->next ? lapsed->next(lapsed->next_ctx, id, has_rest, err)
			 : 0;
	if (r >= 0)
		r = s->box->freeze(s->box, err);
	if (r < 0)
		return r;
	s->taken->is_frozen = true;
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = check(&s->resources[i], &s->taken->n_lapsed, err);
	if (r >= 0 && s->taken->n_lapsed == 0)
		return 0;
	taken_thaw(s);
	if (r < 0)
		return r;
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

int lapsed_applied(void *ctx, size_t resource, const struct seen *seen,
		   struct hb_error *err)
{
	struct hb_session *s = ctx;
	const struct taken_object *o;
	struct seen of_upper;

	taken_thaw(s);
	if (!seen || seen->conflict != 0)
		return session_applied(s, resource, seen, err);
	of_upper = *seen;
	o = taken_find(&s->taken->resources[resource], seen->path);
	if (o && !o->is_vague) {
		of_upper.layer_ino = o->upper_ino;
		of_upper.layer_ctime = o->upper_ctime;
	}
	return session_applied(s, resource, &of_upper, err);
}
