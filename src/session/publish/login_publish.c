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
#include "session/publish/login_kept.h"
#include "session/publish/login_undo.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
		return login_file_is_cut(item->path, old, n_old, ours, n)
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

static int keep_host(int logins, int host, const struct publish_item *item,
		     const struct stat *st, const struct buf *text,
		     struct hb_error *err)
{
	auto_free char *old = NULL;
	size_t n = 0;
	int r;

	r = login_file_read(host, login_file_name(item->path), &old, &n);
	if (r < 0 && r != -ENOENT)
		return r;
	return login_keep(logins, item->path, old, n, st->st_mode, text, err);
}

int login_publish(int state, const char *agent, const struct publish_item *item,
		  const struct buf *text, const char *tag, struct hb_error *err)
{
	const char *name = login_file_name(item->path);
	auto_fd int host = login_file_parent(item->path);
	auto_fd int logins = -1;
	auto_fd int lock = -1;
	char temporary[64];
	struct stat st = { 0 };
	int found, r;

	if (host < 0)
		return host;
	(void)snprintf(temporary, sizeof(temporary), ".holdback-%s.new", tag);
	if (!login_file_is_own(host))
		return -EPERM;
	found = login_file_look(host, name, &st);
	if (!is_as_noted(item, found, &st))
		return -ESTALE;
	r = logins = shelf_open_logins(state, agent, true, err);
	if (r >= 0) {
		lock = shelf_lock(logins, err);
		r = lock < 0 ? lock : login_undo_finish(logins, err);
	}
	/* An undo that was interrupted has changed the host's just now. */
	if (r > 0 && !is_as_noted(item, login_file_look(host, name, &st), &st))
		r = -ESTALE;
	if (r >= 0)
		r = keep_host(logins, host, item, &st, text, err);
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
