/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/salvage.h"
#include "session/resource_dirs.h"
#include "session/state.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What an interrupted change has put aside: told, and copied out.
 *
 * Only the user's own versions are copied.  The session's are the command's
 * work, which leaves the session by a commit and its gate alone, and they stay
 * in it.
 */

#define UPWARDS_MAX 4096
#define TAKEN_PATH  ((size_t)2 << 20)

static const char *const versions[SALVAGED_VERSIONS] = {
	[SALVAGED_BEFORE] = "before",
	[SALVAGED_PENDING] = "pending",
	[SALVAGED_NEW] = "new",
};

struct salvaging {
	const struct hb_session *s;
	int take; /* -1: nothing is copied */
	hb_salvaged_fn fn;
	void *ctx;
	uint64_t n_failed;
};

static const char *type_of(const struct entry *e)
{
	if (e->type == ENTRY_NONE || entry_is_special(e))
		return "special";
	if (e->type == ENTRY_DIR)
		return "directory";
	return e->type == ENTRY_LINK ? "link" : "file";
}

/* Under its name, or where there is none or it is taken under its number. */
static int copy_out(struct salvaging *c, const struct salvaged *salvaged,
		    struct buf *path, struct hb_error *err)
{
	int r = -EEXIST;

	(void)buf_add_fmt(path, "r%zu/%s/", salvaged->resource,
			  salvaged->path ? "named" : "unnamed");
	if (salvaged->path && salvaged->path[0]) {
		r = buf_add_str(path, salvaged->path);
		if (r >= 0)
			r = salvage_copy(salvaged, c->take, buf_str(path), err);
	}
	if (r != -EEXIST)
		return r;
	buf_cut(path, 0);
	r = buf_add_fmt(path, "r%zu/unnamed/%s", salvaged->resource,
			salvaged->place);
	return r < 0 ? r : salvage_copy(salvaged, c->take, buf_str(path), err);
}

static int tell(void *ctx, const struct salvaged *salvaged,
		struct hb_error *err)
{
	struct salvaging *c = ctx;
	auto_buf struct buf path = BUF_INIT(TAKEN_PATH);
	char place[PATH_MAX] = "";
	struct hb_error why = { 0 };
	struct hb_salvaged told = {
		.resource = salvaged->resource,
		.path = salvaged->path,
		.version = versions[salvaged->version],
		.type = type_of(&salvaged->entry),
		.place = place,
		.size = salvaged->entry.size,
	};
	int r;

	if (c->take >= 0 && salvaged->version != SALVAGED_BEFORE)
		return 0;
	r = session_store_path(c->s, salvaged->resource, salvaged->place, place,
			       sizeof(place), err);
	if (r < 0)
		return r;
	if (c->take >= 0) {
		r = copy_out(c, salvaged, &path, &why);
		if (r < 0) {
			c->n_failed++;
			store_say(c->s->store, "%s is not copied whole: %s: %s",
				  place, why.text, hb_strerror(-r));
			return 0;
		}
		told.taken = buf_str(&path);
	}
	return c->fn(c->ctx, &told, err);
}

/* 1: `fd` is one of these directories, or lies in it. */
static int lies_in(int fd, const int *dirs, size_t n)
{
	auto_fd int at = sys_openat(fd, ".", O_PATH | O_DIRECTORY, 0);
	struct sys_attr last = { 0 }, now, other;

	for (int i = 0; at >= 0 && i < UPWARDS_MAX; i++) {
		int up, r = sys_attr_at(at, "", &now);

		if (r < 0)
			return r;
		if (i > 0 && now.ino == last.ino && now.dev == last.dev)
			return 0;
		for (size_t k = 0; k < n; k++)
			if (dirs[k] >= 0 &&
			    sys_attr_at(dirs[k], "", &other) == 0 &&
			    other.ino == now.ino && other.dev == now.dev)
				return 1;
		last = now;
		up = sys_openat(at, "..", O_PATH | O_DIRECTORY, 0);
		if (up < 0)
			return up;
		sys_close(at);
		at = up;
	}
	return at < 0 ? at : -ELOOP;
}

/* `dirs` has the store of the session at its end. */
static int open_take(const char *take, const int *dirs, size_t n,
		     struct hb_error *err)
{
	int made = sys_mkdirat(AT_FDCWD, take, 0700);
	auto_fd int fd = -1;
	int r;

	if (made < 0 && made != -EEXIST)
		return hb_fail_at(err, made, take, "cannot make");
	fd = sys_openat(AT_FDCWD, take, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0 && fd != -ENOTDIR)
		return hb_fail_at(err, fd, take, "cannot open");
	r = fd < 0 ? 0 : tree_is_empty(fd, ".", 0, err);
	if (r < 0)
		return r;
	if (r == 0) {
		hb_fix(err,
		       "--take DIR, with a directory that does not exist yet");
		return hb_fail(err, -HB_E_USAGE,
			       "%s is there, and is no empty directory",
			       quoted(take));
	}
	r = lies_in(fd, dirs, n);
	if (r != 0 && made == 0)
		(void)sys_unlinkat(AT_FDCWD, take, AT_REMOVEDIR);
	if (r < 0)
		return hb_fail_at(err, r, take,
				  "cannot look at the directories above");
	if (r > 0) {
		hb_fix(err, "--take DIR, with one outside of it");
		return hb_fail(err, -HB_E_USAGE,
			       "%s lies in the session's own directory",
			       quoted(take));
	}
	return take_fd(&fd);
}

static int salvage(struct salvaging *c, const char *take, int *dirs, size_t n,
		   struct hb_error *err)
{
	auto_fd int to = -1;
	int r;

	if (take) {
		to = open_take(take, dirs, n + 1, err);
		if (to < 0)
			return to;
	}
	c->take = to;
	r = salvage_each(c->s->dir, dirs, n, tell, c, err);
	if (r < 0 || c->n_failed == 0)
		return r;
	hb_fix(err, "copy those from where they lie, with the rights for it");
	return hb_fail(err, -HB_E_STATE, "%llu could not be copied whole",
		       (unsigned long long)c->n_failed);
}

int hb_session_salvage(struct hb_session *session, const char *take,
		       hb_salvaged_fn fn, void *ctx, struct hb_error *err)
{
	struct salvaging c = { .s = session, .take = -1, .fn = fn, .ctx = ctx };
	size_t n = session->record.n_resources;
	int *dirs = calloc(n + 1, sizeof(*dirs));
	int r;

	if (!dirs)
		return hb_fail(err, -ENOMEM, "cannot list the files");
	r = session_needs_lock(session, err);
	for (size_t i = 0; i < n; i++) {
		struct hb_error why = { 0 };

		/* What the others have is told all the same. */
		dirs[i] = session_open_store(session, i, &why);
		if (dirs[i] < 0)
			store_say(session->store, "%s is left out: %s: %s",
				  session->record.resources[i].source, why.text,
				  hb_strerror(why.code));
	}
	dirs[n] = session->store->dir;
	if (r >= 0)
		r = salvage(&c, take, dirs, n, err);
	for (size_t i = 0; i < n; i++)
		if (dirs[i] >= 0)
			sys_close(dirs[i]);
	free(dirs);
	return r < 0 ? r : 0;
}
