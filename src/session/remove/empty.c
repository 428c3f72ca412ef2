/* SPDX-License-Identifier: Apache-2.0 */
#include "session/remove/empty.h"

#include "base/auto.h"
#include "base/error.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "store/resource.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Throwing all pending changes away where nothing can be written any more: no
 * journal, no copy for undo, no file or directory that has to be made.
 *
 *	rename	rN/upper -> rN/upper.gone, the first resource first
 *	remove	what is in it, the last resource first
 *	rename	an empty one -> rN/upper
 *
 * The first rename decides.  A session of which upper.gone is there and upper
 *is not was interrupted here: whoever opens it goes on from the top, and since
 * the first resource is the last to be whole again, he always sees it there.
 */
#define UPPER	   "upper"
#define UPPER_GONE "upper.gone"

static int put_away(struct hb_session *s, size_t number, struct hb_error *err)
{
	auto_fd int dir = session_open_store(s, number, err);
	int r;

	if (dir < 0)
		return dir;
	r = sys_renameat(dir, UPPER, dir, UPPER_GONE);
	/* In a run that was interrupted before. */
	if (r == -ENOENT && sys_faccessat(dir, UPPER_GONE, F_OK) >= 0)
		r = 0;
	if (r >= 0)
		r = sys_fsync(dir);
	return r < 0 ? hb_fail(err, r, "cannot put the changes away") : 0;
}

static int remove_entry(void *ctx, const struct tree_visit *visit,
			struct hb_error *err)
{
	int r;

	(void)ctx;
	if (S_ISDIR(visit->attr.mode) && visit->when == TREE_ENTER)
		return 0;
	r = sys_unlinkat(visit->dir, visit->name,
			 S_ISDIR(visit->attr.mode) ? AT_REMOVEDIR : 0);
	return r < 0 ? hb_fail(err, r, "cannot remove the changes") : 0;
}

/*
 * What was in it has made room for a new one, which looks as the top did when
 * nothing was pending; if not, the old one does, whatever it looks like.
 */
static int bring_back(int dir, struct hb_error *err)
{
	auto_fd int top = sys_openat(dir, RESOURCE_TOP,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	int r = top < 0 ? top : layers_make_upper(dir, UPPER, top, NULL);

	if (r >= 0) {
		(void)sys_unlinkat(dir, UPPER_GONE, AT_REMOVEDIR);
		return 0;
	}
	(void)sys_unlinkat(dir, UPPER, AT_REMOVEDIR);
	r = sys_renameat(dir, UPPER_GONE, dir, UPPER);
	return r < 0 ? hb_fail(err, r, "cannot begin an empty layer") : 0;
}

static int empty_one(struct hb_session *s, size_t number, struct hb_error *err)
{
	auto_fd int dir = session_open_store(s, number, err);
	int r;

	if (dir < 0)
		return dir;
	r = tree_walk(dir, UPPER_GONE, TREE_DOOMED, remove_entry, NULL, err);
	return r < 0 ? r : bring_back(dir, err);
}

int session_finish_emptying(struct hb_session *s, struct hb_error *err)
{
	size_t n = s->record.n_resources;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = put_away(s, i, err);
	for (size_t i = n; r >= 0 && i > 0; i--)
		r = empty_one(s, i - 1, err);
	return r;
}

bool session_is_emptying(int dir)
{
	return sys_faccessat(dir, UPPER_GONE, F_OK) >= 0;
}
