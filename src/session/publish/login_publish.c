/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/login_publish.h"

#include "agent/carried.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json_keys.h"
#include "holdback/state.h"
#include "session/publish/carry_note.h"
#include "session/publish/login_file.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define UNDO_NEW ".holdback-undo.new"

static bool is_json(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

int login_look(struct publish_item *item)
{
	auto_fd int dir = login_file_parent(item->path);
	struct stat st;
	int r = dir < 0 ? dir
			: login_file_look(dir, login_file_name(item->path),
					  &st);

	if (r > 0) {
		item->ino = st.st_ino;
		item->sec = st.st_ctim.tv_sec;
		item->nsec = st.st_ctim.tv_nsec;
	}
	return r < 0 ? r : 0;
}

/* All of ours, or the host's with keys of ours. */
static int merge(const struct publish_item *item, const char *old, size_t n_old,
		 const char *ours, size_t n, struct buf *out)
{
	int r;

	if (!item->keys[0])
		return is_json(item->path) && json_check_object(ours, n) < 0
			       ? -EBADMSG
			       : buf_add(out, ours, n);
	r = json_take_keys(old ? old : "{}", old ? n_old : 2, ours, n,
			   item->keys, out);
	return r == -EINVAL ? -EBADMSG : r;
}

int login_merge(const struct publish_item *item, const char *ours, size_t n,
		int64_t now, struct buf *ret, enum login_change *ret_change)
{
	auto_fd int dir = login_file_parent(item->path);
	auto_free char *old = NULL;
	size_t n_old = 0;
	int r = dir;

	if (r >= 0)
		r = login_file_read(dir, login_file_name(item->path), &old,
				    &n_old);
	if (r >= 0 || r == -ENOENT)
		r = merge(item, old, n_old, ours, n, ret);
	if (r < 0)
		return r;
	*ret_change =
		old && n_old == ret->len && memcmp(old, ret->data, n_old) == 0
			? LOGIN_SAME
			: login_compare(old ? old : "", n_old, ret->data,
					ret->len, item->keys, now);
	return 0;
}

static bool is_as_noted(const struct publish_item *item, int found,
			const struct stat *st)
{
	if (found == 0)
		return item->ino == 0;
	return found > 0 && st->st_ino == item->ino &&
	       st->st_ctim.tv_sec == item->sec &&
	       st->st_ctim.tv_nsec == item->nsec;
}

/*
 * Keeps `old`, of this mode, for undo; NULL: there is none.  `next` is what the
 * host has then: undo looks whether that is still so.
 */
static int keep(int logins, const char *path, const char *old, size_t n,
		mode_t mode, const struct buf *next, const char *tag,
		struct hb_error *err)
{
	struct carried c = { .class = STATE_LOGIN,
			     .type = old ? CARRIED_FILE : CARRIED_GONE,
			     .mode = mode & 0777,
			     .time = sys_now().tv_sec,
			     .size = n };

	(void)snprintf(c.path, sizeof(c.path), "%s", path);
	if (next)
		carry_text_digest(next->data, next->len, "", c.host);
	return carried_write(logins, &c, old, tag, err);
}

static int keep_host(int logins, int host, const struct publish_item *item,
		     const struct stat *st, const struct buf *text,
		     const char *tag, struct hb_error *err)
{
	auto_free char *old = NULL;
	size_t n = 0;
	int r;

	r = login_file_read(host, login_file_name(item->path), &old, &n);
	if (r < 0 && r != -ENOENT)
		return r;
	return keep(logins, item->path, old, n, st->st_mode, text, tag, err);
}

int login_publish(int state, const char *agent, const struct publish_item *item,
		  const struct buf *text, const char *tag, struct hb_error *err)
{
	const char *name = login_file_name(item->path);
	auto_fd int host = login_file_parent(item->path);
	auto_fd int logins = -1;
	char temporary[64];
	struct stat st = { 0 };
	int found, r;

	if (host < 0)
		return host;
	(void)snprintf(temporary, sizeof(temporary), ".holdback-%s.new", tag);
	found = login_file_look(host, name, &st);
	if (!is_as_noted(item, found, &st))
		return -ESTALE;
	r = logins = shelf_open_logins(state, agent, true, err);
	if (r >= 0)
		r = keep_host(logins, host, item, &st, text, temporary, err);
	if (r >= 0)
		r = login_file_write(host, temporary, text->data, text->len,
				     found ? st.st_mode & 0777 : 0600, true);
	/* Again: writing takes time. */
	if (r >= 0 && !is_as_noted(item, login_file_look(host, name, &st), &st))
		r = -ESTALE;
	if (r >= 0)
		r = sys_renameat(host, temporary, host, name);
	if (r < 0)
		(void)sys_unlinkat(host, temporary, 0);
	return r < 0 ? r : sys_fsync(host);
}

int login_publish_carried(int state, const char *agent, int shelf,
			  const struct carried *c, struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	auto_buf struct buf merged = BUF_INIT(4 * CARRIED_FILE_MAX);
	struct publish_item item = { .resource = -1 };
	enum login_change change = LOGIN_SAME;
	char name[CARRIED_NAME_SIZE];
	struct carried whole;
	int r;

	if (c->type != CARRIED_FILE || (c->class != STATE_LOGIN && !c->keys[0]))
		return -ENOENT;
	(void)snprintf(item.path, sizeof(item.path), "%s", c->path);
	(void)snprintf(item.keys, sizeof(item.keys), "%s", c->keys);
	carried_name(c->path, name);
	r = carried_read(shelf, name, &whole, &text, err);
	if (r >= 0)
		r = login_look(&item);
	if (r >= 0)
		r = login_merge(&item, buf_str(&text), text.len,
				sys_now().tv_sec, &merged, &change);
	/* Members that are no tokens go with a login alone. */
	if (r >= 0 && (change != LOGIN_SAME || c->keys[0]))
		r = login_publish(state, agent, &item, &merged, "state", err);
	if (r >= 0 && c->class == STATE_LOGIN)
		r = carried_remove(shelf, c->path);
	if (r == -EBADMSG)
		return hb_fail_at(err, -HB_E_STATE, c->path,
				  "the login is not whole");
	return r < 0 ? hb_fail_at(err, r, c->path, "cannot publish")
		     : change != LOGIN_SAME;
}

struct undo {
	uint64_t n, n_changed;
};

/* Whether the host still has the file that was published. */
static int look_undo(void *ctx, int dir, const struct carried *c,
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

static int put_back(int host, const char *name, const struct carried *old,
		    const struct buf *text)
{
	int r;

	if (old->type == CARRIED_GONE)
		return sys_unlinkat(host, name, 0);
	r = login_file_write(host, UNDO_NEW, text->data, text->len,
			     (mode_t)(old->mode & 0777), true);
	if (r >= 0)
		r = sys_renameat(host, UNDO_NEW, host, name);
	if (r < 0)
		(void)sys_unlinkat(host, UNDO_NEW, 0);
	return r;
}

/* The old file is on the host before its copy goes. */
static int undo_one(void *ctx, int dir, const struct carried *c,
		    struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	const char *name = login_file_name(c->path);
	auto_fd int host = login_file_parent(c->path);
	char file[CARRIED_NAME_SIZE];
	auto_free char *now = NULL;
	struct stat st = { 0 };
	struct carried old;
	size_t n = 0;
	int r;

	(void)ctx;
	carried_name(c->path, file);
	r = host < 0 ? host : carried_read(dir, file, &old, &text, err);
	if (r >= 0)
		r = login_file_look(host, name, &st);
	if (r > 0)
		r = login_file_read(host, name, &now, &n);
	if (r >= 0)
		r = put_back(host, name, &old, &text);
	if (r >= 0)
		r = sys_fsync(host);
	if (r >= 0)
		r = keep(dir, c->path, now, n, st.st_mode,
			 old.type == CARRIED_GONE ? NULL : &text, "new-undo",
			 err);
	return r < 0 ? hb_fail_at(err, r, c->path, "cannot put back") : 0;
}

int login_undo(int state, const char *agent, uint64_t *ret_n,
	       struct hb_error *err)
{
	auto_fd int dir = shelf_open_logins(state, agent, false, err);
	struct undo undo = { 0 };
	int r = dir == -ENOENT ? 0 : dir;

	if (dir >= 0)
		r = carried_each(dir, look_undo, &undo, err);
	if (r < 0)
		return r;
	if (undo.n == 0)
		return hb_fail(err, -HB_E_STATE,
			       "no login of '%.64s' was published", agent);
	if (undo.n_changed > 0) {
		hb_fix(err, "log in again with the program itself");
		return hb_fail(err, -HB_E_STATE,
			       "the login of '%.64s' was changed since it was "
			       "published: nothing was put back",
			       agent);
	}
	*ret_n = undo.n;
	return carried_each(dir, undo_one, NULL, err);
}

int hb_state_undo(struct hb_store *store, const char *agent, uint64_t *ret_n,
		  struct hb_error *err)
{
	return login_undo(store->dir, agent, ret_n, err);
}
