/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/own_end.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "changes/changes.h"
#include "changes/part.h"
#include "session/git/own_branch.h"
#include "session/git/own_record.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/session.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/content.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD  "cannot take the beginning out"
#define HEAD  "HEAD"
#define GIT   ".git/"
#define INDEX GIT "index"

/* Paths of the upper that are of the beginning. */
struct ending {
	char **paths;
	bool *are_dirs;
	size_t n;
	bool has_more;	     /* something else is pending */
	struct begun before; /* what git ignores, and stays */
};

static void ending_done(struct ending *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->paths[i]);
	free(e->paths);
	free(e->are_dirs);
	begun_done(&e->before);
	*e = (struct ending){ 0 };
}

static int add_path(struct ending *e, const char *path, bool is_dir)
{
	if (grow(e->paths, e->n) < 0 || grow(e->are_dirs, e->n) < 0)
		return -ENOMEM;
	e->paths[e->n] = strdup(path);
	e->are_dirs[e->n] = is_dir;
	return e->paths[e->n++] ? 0 : -ENOMEM;
}

static int note(struct ending *e, const struct change *c, const int *layers,
		struct hb_error *err)
{
	if (c->flags & (CHANGE_CARRIED | CHANGE_LOCK))
		return 0;
	if (c->flags & CHANGE_IGNORED)
		return begun_add(&e->before, c, layers, err);
	if (!(c->flags & CHANGE_BEGUN)) {
		e->has_more = true;
		return 0;
	}
	/* A mark keeps it. */
	if (c->layer != 0) {
		e->has_more = true;
		return 0;
	}
	return add_path(e, c->path, c->new.type == ENTRY_DIR) < 0
		       ? hb_fail(err, -ENOMEM, WORD)
		       : 0;
}

/* With the index, which is no change where it has the base's entries. */
static int look(struct hb_session *s, const struct txn *txn, size_t i,
		struct ending *ret, struct hb_error *err)
{
	const struct changes_request request = {
		.resource = &txn->resources[i],
		.spill_dir = s->dir,
		.seen = txn->seen,
		.seen_ctx = txn->seen_ctx[i],
		.ignores = true,
		.without_hash = true,
	};
	struct changes *changes = NULL;
	struct change c;
	int r = part_of(&txn->resources[i])->changes(&request, &changes, err);

	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		r = note(ret, &c, txn->resources[i].layers, err);
	changes_free(changes);
	begun_sort(&ret->before);
	if (r >= 0 && add_path(ret, INDEX, false) < 0)
		r = hb_fail(err, -ENOMEM, WORD);
	return r;
}

static bool is_head(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, HEAD) == 0;
}

static int remove_one(int upper, const char *path, bool is_dir,
		      struct hb_error *err)
{
	const char *slash = strrchr(path, '/');
	auto_fd int dir = content_find_dir(
		upper, path, slash ? (size_t)(slash - path) : 0, NULL);
	int r = access_is_gone(dir) ? 0 : dir;

	if (dir >= 0)
		r = sys_unlinkat(dir, slash ? slash + 1 : path,
				 is_dir ? AT_REMOVEDIR : 0);
	/* A directory with something in it is no difference by itself. */
	if (access_is_gone(r) || r == -ENOTEMPTY)
		r = 0;
	return r < 0 ? hb_fail_at(err, r, path, "cannot remove") : 0;
}

/* Directories that the beginning copied up, and that have nothing left. */
static void remove_above(int upper, const char *path)
{
	auto_free char *above = strdup(path);
	char *slash;

	while (above && (slash = strrchr(above, '/'))) {
		*slash = '\0';
		if (remove_one(upper, above, true, NULL) < 0)
			return;
	}
}

/* HEAD first: without it the session has not begun. */
static int remove_all(int upper, const struct ending *e, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < e->n; i++)
		if (is_head(e->paths[i]) && !e->are_dirs[i])
			r = remove_one(upper, e->paths[i], false, err);
	for (size_t i = e->n; r >= 0 && i > 0; i--)
		r = remove_one(upper, e->paths[i - 1], e->are_dirs[i - 1], err);
	for (size_t i = 0; r >= 0 && i < e->n; i++)
		remove_above(upper, e->paths[i]);
	if (r >= 0)
		r = sys_fsync(upper);
	return r;
}

/* Whether the beginning came after all transactions: then it is in the way. */
static int load_latest(struct hb_session *s, size_t number, struct begun *ret,
		       uint64_t *ret_after, struct hb_error *err)
{
	uint64_t last = 0;
	int r = own_branch_has_begun(s, number, err);

	if (r > 0)
		r = own_branch_load(s, number, ret, ret_after, err);
	if (r >= 0 && ret->branch)
		r = session_last_done(s, &last, err);
	return r < 0 ? r : ret->branch && *ret_after == last;
}

/*
 * The beginning stays in the layers, with work upon it, and the record of an
 * earlier one will count.  It has to say the same of all that is in the tree.
 */
static int need_same(const struct hb_session *s, size_t number,
		     const struct begun *begun, uint64_t after,
		     struct hb_error *err)
{
	auto_begun struct begun before = { 0 };
	int r = own_branch_load_before(s, number, after, &before, err);

	if (r < 0 && r != -ENOENT)
		return r;
	for (size_t i = 0; i < begun->n; i++) {
		const struct begun_entry *e = &begun->entries[i];

		if (strncmp(e->path, GIT, strlen(GIT)) == 0 ||
		    begun_agrees(&before, e))
			continue;
		hb_fix(err, "commit or roll back the pending changes");
		return hb_fail(err, -HB_E_CONFLICT,
			       "other changes are pending, and you changed "
			       "'%s' since",
			       quoted(e->path));
	}
	return 0;
}

/* From the mark on it is a beginning that was cut short. */
static int take_out(const struct resource *resource, const struct ending *found,
		    uint64_t after, struct hb_error *err)
{
	int r = own_mark_store(resource->dir, &found->before, err);

	if (r >= 0)
		r = remove_all(resource->upper, found, err);
	if (r >= 0)
		r = own_branch_drop(resource->dir, after, err);
	return r < 0 ? r : own_mark_drop(resource->dir, err);
}

static int end_one(struct hb_session *s, size_t number, bool is_undo,
		   struct hb_error *err)
{
	auto_begun struct begun begun = { 0 };
	struct ending found = { 0 };
	struct txn *txn = NULL;
	uint64_t after = 0;
	int r = own_branch_is_asked(&s->record.resources[number])
			? load_latest(s, number, &begun, &after, err)
			: 0;

	if (r <= 0 || (is_undo && after == 0))
		return r < 0 ? r : 0;
	r = session_txn(s, &txn, err);
	if (r >= 0)
		r = look(s, txn, number, &found, err);
	if (r >= 0 && !found.has_more)
		r = take_out(&txn->resources[number], &found, after, err);
	else if (r >= 0 && is_undo)
		r = need_same(s, number, &begun, after, err);
	ending_done(&found);
	return r < 0 ? r : 0;
}

int own_end(struct hb_session *s, bool is_undo, struct hb_error *err)
{
	int r;

	if (!own_branch_is_any(&s->record))
		return 0;
	r = own_branch_need_whole(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		if (!s->resources[i].is_gone)
			r = end_one(s, i, is_undo, err);
	session_close_resources(s);
	return r < 0 ? r : 0;
}
