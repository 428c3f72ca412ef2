/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/carry.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mode.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/bytes.h"
#include "tree/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COPY_CHUNK ((size_t)1 << 20)
#define RANGE_MAX  ((size_t)1 << 30)

/* What the attribute is called where it goes; NULL: it stays behind. */
static const char *carried_name(const char *name, unsigned flags, char *buf,
				size_t size)
{
	bool is_reserved = overlay_is_reserved(name);

	if (((flags & CARRY_TO_BASE) && is_reserved) ||
	    ((flags & CARRY_RESERVED) && !is_reserved))
		return NULL;
	if (strncmp(name, "user.", 5) == 0) {
		if ((flags & CARRY_TO_LAYER) &&
		    strncmp(name, OVERLAY_PREFIX, strlen(OVERLAY_PREFIX)) ==
			    0) {
			(void)snprintf(buf, size, "%s%s", OVERLAY_ESCAPED,
				       name + strlen(OVERLAY_PREFIX));
			return buf;
		}
		if (!(flags & CARRY_FROM_LAYER))
			return name;
		if (overlay_is_mark(name))
			return NULL;
		if (!overlay_is_escaped(name))
			return name;
		(void)snprintf(buf, size, "%s%s", OVERLAY_PREFIX,
			       name + strlen(OVERLAY_ESCAPED));
		return buf;
	}
	if (strcmp(name, "system.posix_acl_access") == 0 ||
	    strcmp(name, "system.posix_acl_default") == 0)
		return name;
	if ((flags & CARRY_CAPABILITIES) &&
	    strcmp(name, "security.capability") == 0)
		return name;
	return NULL;
}

static int add_xattr(int fd, const struct entry *e, const char *name,
		     const char *as, unsigned flags, char *value,
		     struct buf *out)
{
	uint8_t sizes[8];
	ssize_t n;

	n = flags & CARRY_FROM_OTHERS
		    ? sys_get_xattr(fd, name, value, OVERLAY_VALUE_MAX)
		    : access_get_xattr(fd, e, name, value, OVERLAY_VALUE_MAX);

	if (n == -ENODATA)
		return 0;
	if (n < 0)
		return (int)n;
	bytes_put32(sizes, (uint32_t)strlen(as) + 1);
	bytes_put32(sizes + 4, (uint32_t)n);
	(void)buf_add(out, sizes, sizeof(sizes));
	(void)buf_add(out, as, strlen(as) + 1);
	return buf_add(out, value, (size_t)n);
}

int carry_read_xattrs(int fd, const struct entry *e, unsigned flags,
		      struct buf *out, struct hb_error *err)
{
	auto_free char *list = NULL;
	auto_free char *value = NULL;
	char renamed[512];
	ssize_t n;
	int r = 0;

	list = malloc(OVERLAY_LIST_MAX);
	value = malloc(OVERLAY_VALUE_MAX);
	if (!list || !value)
		return hb_fail(err, -ENOMEM, "cannot read attributes");
	n = sys_list_xattrs(fd, list, OVERLAY_LIST_MAX);
	for (const char *name = list; name < list + n && r == 0;
	     name += strlen(name) + 1) {
		const char *as =
			carried_name(name, flags, renamed, sizeof(renamed));

		r = as ? add_xattr(fd, e, name, as, flags, value, out) : 0;
	}
	if (n < 0)
		r = (int)n;
	return r < 0 ? hb_fail(err, r, "cannot read the attributes") : 0;
}

static bool has_name(const struct xattr_list *list, const char *wanted)
{
	const char *name;
	const void *value;
	size_t pos = 0, size;

	while (xattr_list_next(list, &pos, &name, &value, &size) == 1)
		if (strcmp(name, wanted) == 0)
			return true;
	return false;
}

static int remove_others(int fd, const struct xattr_list *list)
{
	auto_free char *names = malloc(OVERLAY_LIST_MAX);
	char renamed[512];
	ssize_t n;
	int r;

	if (!names)
		return -ENOMEM;
	n = sys_list_xattrs(fd, names, OVERLAY_LIST_MAX);
	if (n < 0)
		return (int)n;
	for (const char *name = names; name < names + n;
	     name += strlen(name) + 1) {
		if (!carried_name(name, 0, renamed, sizeof(renamed)) ||
		    has_name(list, name))
			continue;
		r = sys_remove_xattr(fd, name);
		if (r < 0 && r != -ENODATA)
			return r;
	}
	return 0;
}

static bool is_acl(const char *name)
{
	return strncmp(name, "system.posix_acl_", 17) == 0;
}

/* Sets those of the list that are ACLs, or the others. */
static int set_listed(int fd, const struct xattr_list *list, bool acls,
		      char *now)
{
	const char *name;
	const void *value;
	size_t pos = 0, size;
	int r = 0;

	while (r == 0 &&
	       xattr_list_next(list, &pos, &name, &value, &size) == 1) {
		ssize_t n;

		if (is_acl(name) != acls)
			continue;
		n = sys_get_xattr(fd, name, now, OVERLAY_VALUE_MAX);
		if (n >= 0 && (size_t)n == size &&
		    memcmp(now, value, size) == 0)
			continue;
		r = sys_set_xattr(fd, name, value, size);
	}
	return r;
}

/*
 * ACLs come last: one of them is a mode as well, and may take from the owner
 * the right to set the others.
 */
int carry_set_xattrs(int fd, const struct xattr_list *list)
{
	auto_free char *now = malloc(OVERLAY_VALUE_MAX);
	int r;

	if (!now)
		return -ENOMEM;
	r = remove_others(fd, list);
	if (r == 0)
		r = set_listed(fd, list, false, now);
	return r < 0 ? r : set_listed(fd, list, true, now);
}

static ssize_t count_carried(int fd)
{
	auto_free char *names = malloc(OVERLAY_LIST_MAX);
	char renamed[512];
	ssize_t n, n_carried = 0;

	if (!names)
		return -ENOMEM;
	n = sys_list_xattrs(fd, names, OVERLAY_LIST_MAX);
	for (const char *x = names; x < names + n; x += strlen(x) + 1)
		n_carried +=
			carried_name(x, 0, renamed, sizeof(renamed)) != NULL;
	return n < 0 ? n : n_carried;
}

int carry_has_xattrs(int fd, const struct xattr_list *list)
{
	auto_free char *now = malloc(OVERLAY_VALUE_MAX);
	ssize_t n_there = count_carried(fd);
	const char *name;
	const void *value;
	size_t pos = 0, size;
	int has = 1;

	if (!now)
		return -ENOMEM;
	while (has && xattr_list_next(list, &pos, &name, &value, &size) == 1) {
		ssize_t n = sys_get_xattr(fd, name, now, OVERLAY_VALUE_MAX);

		has = n >= 0 && (size_t)n == size &&
		      memcmp(now, value, size) == 0;
		n_there--;
	}
	/* A failure to list them is below 0 as well. */
	return has && n_there == 0;
}

static int copy_by_hand(int from, int to, uint64_t at, uint64_t end)
{
	auto_free char *block = malloc(COPY_CHUNK);

	if (!block)
		return -ENOMEM;
	while (at < end) {
		size_t want =
			end - at < COPY_CHUNK ? (size_t)(end - at) : COPY_CHUNK;
		ssize_t n = sys_pread_full(from, block, want, at);
		int r;

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		r = sys_pwrite_all(to, block, (size_t)n, at);
		if (r < 0)
			return r;
		at += (uint64_t)n;
	}
	return 0;
}

static int copy_piece(int from, int to, uint64_t at, uint64_t end)
{
	while (at < end) {
		size_t want =
			end - at < RANGE_MAX ? (size_t)(end - at) : RANGE_MAX;
		ssize_t n = sys_copy_range(from, to, at, want);

		if (n == -ENOSPC || n == -EDQUOT || n == -EIO)
			return (int)n;
		/* Not between these two: the old way does between any. */
		if (n <= 0)
			return copy_by_hand(from, to, at, end);
		at += (uint64_t)n;
	}
	return 0;
}

int carry_bytes(int from, int to, uint64_t size)
{
	uint64_t at = 0;
	int r;

	r = sys_clone_file(to, from);
	if (r == 0 || r == -ENOSPC || r == -EDQUOT || r == -EIO)
		return r;
	r = sys_truncate(to, size);
	while (r == 0 && at < size) {
		uint64_t end;

		at = sys_next_data(from, at, size);
		end = sys_next_hole(from, at, size);
		if (at >= size)
			break;
		r = copy_piece(from, to, at, end);
		at = end;
	}
	return r;
}

static int copy_file(const struct carry *c, int to, const char *name,
		     struct hb_error *err)
{
	auto_fd int in = -1;
	auto_fd int out = -1;
	int r;

	in = access_open_file(c->from, c->name, c->entry,
			      !(c->flags & CARRY_FROM_OTHERS), err);
	if (in < 0)
		return in;
	out = sys_openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
			 0600);
	if (out < 0)
		return hb_fail_at(err, out, c->name, "cannot create a copy of");
	r = carry_bytes(in, out, c->entry->size);
	return r < 0 ? hb_fail_at(err, r, c->name, "cannot copy") : 0;
}

static int copy_link(const struct carry *c, int to, const char *name,
		     struct hb_error *err)
{
	char target[PATH_MAX];
	ssize_t n = sys_readlinkat(c->from, c->name, target, sizeof(target));
	int r = n < 0 ? (int)n : sys_symlinkat(target, to, name);

	return r < 0 ? hb_fail_at(err, r, c->name, "cannot copy") : 0;
}

static int make(const struct carry *c, int to, const char *name,
		struct hb_error *err)
{
	int r;

	switch (c->entry->type) {
	case ENTRY_FILE:
		return copy_file(c, to, name, err);
	case ENTRY_LINK:
		return copy_link(c, to, name, err);
	case ENTRY_DIR:
		r = sys_mkdirat(to, name, 0700);
		break;
	case ENTRY_FIFO:
		r = sys_mknod_at(to, name, S_IFIFO | 0600);
		break;
	case ENTRY_SOCKET:
		r = sys_mknod_at(to, name, S_IFSOCK | 0600);
		break;
	case ENTRY_NONE:
	case ENTRY_DEVICE:
	case ENTRY_TYPES:
	default:
		r = -EINVAL;
		break;
	}
	return r < 0 ? hb_fail_at(err, r, c->name, "cannot copy") : 0;
}

static bool has_xattrs(int dir, const char *name)
{
	char none[1];

	/* Too many for no room at all. */
	return sys_list_xattrs_at(dir, name, none, 0) != 0;
}

/*
 * A default ACL of the directory may give a new object too few rights to set
 * attributes.  Its own mode comes after them.
 */
static int open_up(const struct carry *c, int fd, const struct sys_attr *now)
{
	if (!entry_opens(c->entry->type) ||
	    (now->mode & USER_EDIT) == USER_EDIT)
		return 0;
	return sys_chmod_fd(fd, (now->mode & 07777) | USER_EDIT);
}

static int carry_xattrs(const struct carry *c, int to,
			const struct sys_attr *now, struct hb_error *err)
{
	auto_buf struct buf list = BUF_INIT(CARRY_XATTRS_MAX);
	auto_fd int from = -1;
	struct xattr_list l;
	int r;

	/* A directory with a default ACL gave some to the new object. */
	if (!has_xattrs(c->from, c->name) && sys_list_xattrs(to, NULL, 0) == 0)
		return 0;
	from = sys_openat(c->from, c->name, O_PATH | O_NOFOLLOW, 0);
	if (from < 0)
		return hb_fail_at(err, from, c->name, "cannot open");
	r = carry_read_xattrs(from, c->entry, c->flags, &list, err);
	if (r < 0)
		return hb_fail_at(err, r, c->name, "cannot copy");
	l = (struct xattr_list){ buf_str(&list), list.len };
	r = open_up(c, to, now);
	if (r == 0)
		r = carry_set_xattrs(to, &l);
	return r < 0 ? hb_fail_at(err, r, c->name,
				  "cannot copy the attributes of")
		     : 0;
}

static int carry_owner(const struct carry *c, int fd,
		       const struct sys_attr *now)
{
	bool is_own = c->uid == (uid_t)-1 || c->uid == now->uid;
	bool has_group = c->gid == (gid_t)-1 || c->gid == now->gid;
	int r = 0;

	if (!is_own || !has_group)
		r = sys_chown_at(fd, "", c->uid, c->gid);
	/* EINVAL: a number that this user namespace does not know. */
	if ((r != -EPERM && r != -EINVAL) || !(c->flags & CARRY_OWN))
		return r;
	(void)sys_chown_at(fd, "", (uid_t)-1, c->gid);
	return 0;
}

int carry_attributes(const struct carry *c, int fd, struct hb_error *err)
{
	struct sys_attr now;
	int r;

	r = sys_attr_at(fd, "", &now);
	if (r < 0)
		return hb_fail_at(err, r, c->name, "cannot open the copy of");
	/* First, because it costs file capabilities and the setuid bit. */
	r = carry_owner(c, fd, &now);
	if (r < 0)
		return hb_fail_at(err, r, c->name,
				  "cannot set the owner of a copy of");
	r = carry_xattrs(c, fd, &now, err);
	if (r < 0)
		return r;
	if (c->entry->type != ENTRY_LINK)
		r = sys_chmod_fd(fd, c->mode);
	if (r == 0)
		r = sys_set_mtime_at(fd, "", c->entry->mtime);
	return r < 0 ? hb_fail_at(err, r, c->name,
				  "cannot set the attributes of a copy of")
		     : 0;
}

int carry_copy(const struct carry *c, int to, const char *name,
	       struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	r = make(c, to, name, err);
	if (r < 0)
		return r;
	fd = sys_openat(to, name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return hb_fail_at(err, fd, c->name, "cannot open the copy of");
	return carry_attributes(c, fd, err);
}
