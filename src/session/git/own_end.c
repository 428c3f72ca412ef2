/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/own_end.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/changes.h"
#include "changes/part.h"
#include "session/git/own_branch.h"
#include "session/git/own_record.h"
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

#define HEAD "HEAD"

/* Paths of the upper that are of the beginning. */
struct ending {
	char **paths;
	bool *are_dirs;
	size_t n;
	bool has_more; /* something else is pending */
};

static void ending_done(struct ending *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->paths[i]);
	free(e->paths);
	free(e->are_dirs);
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

/* An index with the entries of the base's is no change, and was written. */
static int add_index(const struct hb_session *s, size_t number,
		     struct ending *found, struct hb_error *err)
{
	char path[PATH_MAX];
	struct own_place place;
	int r;

	if (!own_branch_is_asked(&s->record.resources[number]))
		return 0;
	r = own_branch_place(&s->record, number, &place, err);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "%s%s%s%sindex", place.prefix,
		       place.prefix[0] ? "/" : "", place.desk,
		       place.desk[0] ? "/" : "");
	r = add_path(&found[place.resource], path, false);
	return r < 0 ? hb_fail(err, r, "cannot end the beginning") : 0;
}

static int note(struct ending *e, const struct change *c)
{
	if (c->flags & (CHANGE_CARRIED | CHANGE_IGNORED))
		return 0;
	if (!(c->flags & CHANGE_BEGUN)) {
		e->has_more = true;
		return 0;
	}
	if (c->layer != 0)
		return 0;
	return add_path(e, c->path, c->new.type == ENTRY_DIR);
}

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
		if (note(ret, &c) < 0)
			r = hb_fail(err, -ENOMEM, "cannot end the beginning");
	changes_free(changes);
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

int own_end(struct hb_session *s, struct hb_error *err)
{
	struct ending found[RECORD_RESOURCES_MAX] = { 0 };
	struct txn *txn = NULL;
	bool has_more = false;
	int r;

	if (!own_branch_is_any(&s->record))
		return 0;
	r = session_txn(s, &txn, err);
	for (size_t i = 0; r >= 0 && i < txn->n_resources; i++) {
		if (!txn->resources[i].is_gone)
			r = look(s, txn, i, &found[i], err);
		has_more |= found[i].has_more;
	}
	for (size_t i = 0; r >= 0 && !has_more && i < txn->n_resources; i++)
		r = add_index(s, i, found, err);
	for (size_t i = 0; r >= 0 && !has_more && i < txn->n_resources; i++)
		if (found[i].n > 0)
			r = remove_all(txn->resources[i].upper, &found[i], err);
	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++)
		ending_done(&found[i]);
	session_close_resources(s);
	return r < 0 ? r : 0;
}
