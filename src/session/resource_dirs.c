/* SPDX-License-Identifier: Apache-2.0 */
#include "session/resource_dirs.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "session/session.h"
#include "store/berth.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int session_open_store(const struct hb_session *s, size_t number,
		       struct hb_error *err)
{
	auto_fd int base = resource_open(&s->record.resources[number], err);

	if (base == -HB_E_STATE)
		hb_fix(err,
		       "put it back; or holdback cleanup -y @%s, which "
		       "discards the session",
		       s->record.name);
	if (base < 0)
		return base;
	return berth_open(&s->record, number, s->dir, base, err);
}

int session_open_top(int dir)
{
	auto_fd int fd =
		sys_openat(dir, "upper", O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	struct sys_attr attr;
	int r = fd < 0 ? fd : sys_attr_at(fd, "", &attr);

	if (r < 0 || (attr.mode & USER_LIST) == USER_LIST)
		return r;
	return sys_chmod_fd(fd, (attr.mode & 07777) | USER_LIST);
}

int session_store_path(const struct hb_session *s, size_t number,
		       const char *below, char *ret, size_t size,
		       struct hb_error *err)
{
	return berth_path(&s->record, number, s->store->path, below, ret, size,
			  err);
}

/* Marks of the overlay stay behind; so does nothing else. */
static int likeness_of(int like, struct entry *root, struct carry *ret,
		       struct hb_error *err)
{
	int r = entry_read_fd(like, true, root, err);

	*ret = (struct carry){
		.from = like,
		.name = ".",
		.entry = root,
		.flags = CARRY_FROM_LAYER,
		.mode = root->mode,
		.uid = root->uid,
		.gid = root->gid,
	};
	return r;
}

int layers_make_upper(int dir, const char *name, int like, struct hb_error *err)
{
	struct entry root = { 0 };
	struct carry carry;
	int r;

	r = likeness_of(like, &root, &carry, err);
	if (r < 0)
		return r;
	r = carry_copy(&carry, dir, name, err);
	return r < 0 ? hb_fail(err, r, "cannot make a layer") : 0;
}

int layers_dress_upper(int dir, const char *name, int like,
		       struct hb_error *err)
{
	auto_fd int fd =
		sys_openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	struct entry root = { 0 };
	struct carry carry;
	int r;

	if (fd < 0)
		return hb_fail(err, fd, "cannot open a layer");
	r = likeness_of(like, &root, &carry, err);
	return r < 0 ? r : carry_attributes(&carry, fd, err);
}

int layers_move_dir(int from, const char *old, int to, const char *name,
		    mode_t mode)
{
	auto_fd int fd = -1;
	int r = 0;

	fd = sys_openat(from, old, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd < 0)
		return fd;
	if (!(mode & USER_WRITE))
		r = sys_chmod_fd(fd, mode | USER_WRITE);
	if (r >= 0)
		r = sys_renameat2(from, old, to, name, RENAME_KEEP);
	if (r == -EINVAL || r == -ENOSYS)
		r = sys_renameat(from, old, to, name);
	if (r >= 0 && !(mode & USER_WRITE))
		r = sys_chmod_fd(fd, mode);
	return r;
}
