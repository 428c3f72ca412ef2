/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/login_undo.h"

#include "agent/carried.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "holdback/state.h"
#include "session/publish/carry_note.h"
#include "session/publish/login_file.h"
#include "session/publish/login_kept.h"
#include "store/store.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STAGED	   "undo"
#define STAGED_NEW "undo.new"
#define HOST_NEW   ".holdback-undo.new"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

struct undo {
	int logins, staged;
	int n, n_changed;
};

/* Whether the host still has the file that was published. */
static int look(void *ctx, int dir, const struct carried *c,
		struct hb_error *err)
{
	struct undo *undo = ctx;
	auto_fd int host = login_file_parent(c->path);
	char digest[CARRIED_HOST_SIZE] = "";

	(void)dir;
	(void)err;
	if (host < 0 ||
	    carry_host_digest(host, login_file_name(c->path), "", digest) < 0 ||
	    strcmp(digest, c->host) != 0)
		undo->n_changed++;
	undo->n++;
	return 0;
}

/* Keeps the host's version, which is the newer one. */
static int stage_one(void *ctx, int dir, const struct carried *c,
		     struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	const char *name = login_file_name(c->path);
	auto_fd int host = login_file_parent(c->path);
	const struct undo *undo = ctx;
	char file[CARRIED_NAME_SIZE];
	auto_free char *now = NULL;
	struct stat st = { 0 };
	struct carried old;
	size_t n = 0;
	int r;

	carried_name(c->path, file);
	r = host < 0 ? host : carried_read(dir, file, &old, &text, err);
	if (r >= 0)
		r = login_file_look(host, name, &st);
	if (r > 0)
		r = login_file_read(host, name, &now, &n);
	if (r >= 0)
		r = login_keep(undo->staged, c->path, now, n, st.st_mode,
			       old.type == CARRIED_GONE ? NULL : &text, err);
	return r < 0 ? hb_fail_at(err, r, c->path, "cannot keep the login") : 0;
}

/* From here on the undo will be done. */
static int stage(struct undo *undo, struct hb_error *err)
{
	auto_fd int fd = -1;
	int r = tree_remove(undo->logins, STAGED_NEW, err);

	if (r < 0 && r != -ENOENT)
		return r;
	r = sys_mkdirat(undo->logins, STAGED_NEW, 0700);
	if (r >= 0)
		r = fd = sys_openat(undo->logins, STAGED_NEW, DIR_FLAGS, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot keep the login");
	undo->staged = fd;
	r = carried_each(undo->logins, stage_one, undo, err);
	undo->staged = -1;
	if (r < 0)
		return r;
	r = sys_renameat(undo->logins, STAGED_NEW, undo->logins, STAGED);
	if (r >= 0)
		r = sys_fsync(undo->logins);
	return r < 0 ? hb_fail(err, r, "cannot keep the login") : 0;
}

/* Whether the host has this version. */
static int is_hosts(int host, const char *name, const struct carried *c,
		    const struct buf *text)
{
	char digest[CARRIED_HOST_SIZE] = "", mine[CARRIED_HOST_SIZE] = "";
	int r = carry_host_digest(host, name, "", digest);

	if (c->type == CARRIED_FILE)
		carry_text_digest(text->data, text->len, "", mine);
	return r < 0 ? r : strcmp(digest, mine) == 0;
}

static int put_back(int host, const char *name, const struct carried *old,
		    const struct buf *text)
{
	int r;

	if (old->type == CARRIED_GONE)
		r = sys_unlinkat(host, name, 0);
	else
		r = login_file_write(host, HOST_NEW, text->data, text->len,
				     (mode_t)(old->mode & 0777), true);
	if (r >= 0 && old->type != CARRIED_GONE)
		r = sys_renameat(host, HOST_NEW, host, name);
	if (r < 0 && old->type != CARRIED_GONE)
		(void)sys_unlinkat(host, HOST_NEW, 0);
	return r < 0 ? r : sys_fsync(host);
}

/* The old file is on the host before the newer one takes its place here. */
static int change_host(const struct undo *undo, const char *path,
		       const char *file, struct hb_error *err)
{
	auto_buf struct buf newer_text = BUF_INIT(CARRIED_FILE_MAX + 1);
	auto_buf struct buf old_text = BUF_INIT(CARRIED_FILE_MAX + 1);
	const char *name = login_file_name(path);
	auto_fd int host = login_file_parent(path);
	struct carried newer, old;
	int r;

	/* Its user has removed the directory: that stays so. */
	if (host < 0)
		return host == -ENOENT ? 0 : host;
	r = carried_read(undo->staged, file, &newer, &newer_text, err);
	if (r < 0)
		return r;
	r = carried_read(undo->logins, file, &old, &old_text, NULL);
	/* Without it the host keeps the newer one. */
	if (r == -ENOENT || r == -HB_E_CORRUPT)
		return 0;
	if (r >= 0)
		r = is_hosts(host, name, &newer, &newer_text);
	if (r > 0)
		return put_back(host, name, &old, &old_text);
	/* It was put back before, or changed since. */
	if (r == 0)
		(void)sys_unlinkat(host, HOST_NEW, 0);
	return r;
}

/* Of type carried_fn, on the newer files. */
static int finish_one(void *ctx, int dir, const struct carried *c,
		      struct hb_error *err)
{
	struct undo *undo = ctx;
	char file[CARRIED_NAME_SIZE];
	int r;

	carried_name(c->path, file);
	r = change_host(undo, c->path, file, err);
	if (r >= 0)
		r = sys_renameat(dir, file, undo->logins, file);
	if (r >= 0)
		r = sys_fsync(undo->logins);
	return r < 0 ? hb_fail_at(err, r, c->path, "cannot put back") : 0;
}

int login_undo_finish(int logins, struct hb_error *err)
{
	struct undo undo = { .logins = logins, .staged = -1 };
	auto_fd int staged = sys_openat(logins, STAGED, DIR_FLAGS, 0);
	int r;

	if (staged < 0)
		return staged == -ENOENT
			       ? 0
			       : hb_fail(err, staged, "cannot put back");
	undo.staged = staged;
	r = carried_each(staged, finish_one, &undo, err);
	if (r >= 0)
		r = tree_remove(logins, STAGED, err);
	if (r >= 0)
		r = sys_fsync(logins);
	return r < 0 ? r : 1;
}

static int begin(struct undo *undo, const char *agent, struct hb_error *err)
{
	int r = carried_each(undo->logins, look, undo, err);

	if (r < 0)
		return r;
	if (undo->n == 0)
		return hb_fail(err, -HB_E_STATE,
			       "no login of '%.64s' was published", agent);
	if (undo->n_changed > 0) {
		hb_fix(err, "log in again with the program itself");
		return hb_fail(err, -HB_E_STATE,
			       "the login of '%.64s' was changed since it was "
			       "published: nothing was put back",
			       agent);
	}
	return stage(undo, err);
}

int login_undo(int state, const char *agent, uint64_t *ret_n,
	       struct hb_error *err)
{
	auto_fd int logins = shelf_open_logins(state, agent, false, err);
	struct undo undo = { .logins = logins, .staged = -1 };
	auto_fd int lock = -1;
	int r;

	if (logins == -ENOENT)
		return hb_fail(err, -HB_E_STATE,
			       "no login of '%.64s' was published", agent);
	if (logins < 0)
		return logins;
	lock = shelf_lock(logins, err);
	/* The user has asked for this one before. */
	r = lock < 0 ? lock : login_undo_finish(logins, err);
	if (r == 0) {
		r = begin(&undo, agent, err);
		if (r >= 0)
			r = login_undo_finish(logins, err);
	}
	undo = (struct undo){ 0 };
	if (r >= 0)
		r = carried_each(logins, look, &undo, err);
	*ret_n = (uint64_t)undo.n;
	return r;
}

int hb_state_undo(struct hb_store *store, const char *agent, uint64_t *ret_n,
		  struct hb_error *err)
{
	return login_undo(store->dir, agent, ret_n, err);
}
