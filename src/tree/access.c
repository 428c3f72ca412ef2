/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/access.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "base/quote.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define RESOLVE                                                                \
	(K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS | \
	 K_RESOLVE_NO_XDEV)
#define FOR_READING (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#define FOR_LISTING (O_RDONLY | O_NOFOLLOW | O_DIRECTORY)
#define FOR_LOOKING (O_PATH | O_NOFOLLOW | O_DIRECTORY)

static int fail_for(const char *name, int r, struct hb_error *err)
{
	if (r == -EXDEV)
		return hb_fail_at(err, r, name,
				  "another file system is mounted on");
	return hb_fail_at(err, r, name, "cannot open");
}

static int check_is(int fd, const char *name, const struct entry *entry,
		    struct hb_error *err)
{
	struct sys_attr a;
	int r;

	r = sys_attr_at(fd, "", &a);
	if (r < 0)
		return fail_for(name, r, err);
	if (a.ino != entry->ino || a.dev != entry->dev)
		return hb_fail(err, -HB_E_BUSY, "%s changes while it is read",
			       quoted(name));
	return 0;
}

/* Whether the owner, who is us, only lacks bits that we may give ourselves. */
static bool can_help(const struct entry *entry, mode_t wanted)
{
	return entry->uid == sys_effective_uid() &&
	       (entry->mode & wanted) != wanted;
}

/*
 * Gives ourselves `wanted` on the very object that `entry` describes.  The
 * O_PATH descriptor through which it was done is returned for the way back.
 */
static int give(int dirfd, const char *name, const struct entry *entry,
		mode_t wanted, struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	fd = sys_openat2(dirfd, name, O_PATH | O_NOFOLLOW, 0, RESOLVE);
	if (fd < 0)
		return fail_for(name, fd, err);
	r = check_is(fd, name, entry, err);
	if (r < 0)
		return r;
	r = sys_chmod_fd(fd, entry->mode | wanted);
	if (r < 0)
		return fail_for(name, r, err);
	return take_fd(&fd);
}

int access_close_again(int fd, const struct entry *entry, struct hb_error *err)
{
	int r = sys_chmod_fd(fd, entry->mode);

	if (r < 0)
		return hb_fail(err, r, "cannot give a mode back to a layer");
	return 0;
}

int access_open_quick(int dirfd, const char *name, const struct entry *entry,
		      bool in_layer, struct hb_error *err)
{
	auto_fd int handle = -1;
	auto_fd int fd = -1;
	int r;

	fd = sys_openat2(dirfd, name, FOR_READING, 0, RESOLVE);
	if (fd == -EACCES && in_layer && can_help(entry, USER_READ)) {
		handle = give(dirfd, name, entry, USER_READ, err);
		if (handle < 0)
			return handle;
		fd = sys_openat2(dirfd, name, FOR_READING, 0, RESOLVE);
		r = access_close_again(handle, entry, err);
		if (r < 0)
			return r;
	}
	return fd < 0 ? fail_for(name, fd, err) : take_fd(&fd);
}

int access_open_file(int dirfd, const char *name, const struct entry *entry,
		     bool in_layer, struct hb_error *err)
{
	auto_fd int fd = access_open_quick(dirfd, name, entry, in_layer, err);
	int r;

	r = fd < 0 ? fd : check_is(fd, name, entry, err);
	return r < 0 ? r : take_fd(&fd);
}

ssize_t access_read_target(int dirfd, const char *name,
			   const struct entry *entry, char *buf, size_t size,
			   struct hb_error *err)
{
	auto_fd int fd = sys_openat(dirfd, name, O_PATH | O_NOFOLLOW, 0);
	ssize_t n;
	int r;

	r = fd < 0 ? fail_for(name, fd, err) : check_is(fd, name, entry, err);
	if (r < 0)
		return r;
	n = sys_readlinkat(fd, "", buf, size);
	return n < 0 ? hb_fail_at(err, (int)n, name, "cannot read") : n;
}

int access_open_regular(int dirfd, const char *name, uint64_t *ret_size)
{
	auto_fd int fd = sys_openat2(dirfd, name, FOR_READING, 0, RESOLVE);
	struct sys_attr a;
	int r;

	if (fd == -ELOOP || fd == -ENOTDIR || fd == -ENXIO)
		return -ENOENT;
	r = fd < 0 ? fd : sys_attr_at(fd, "", &a);
	if (r < 0)
		return r;
	if (!S_ISREG(a.mode))
		return -ENOENT;
	*ret_size = a.size;
	return take_fd(&fd);
}

int access_open_dir(int dirfd, const char *name, const struct entry *entry,
		    bool in_layer, bool *ret_was_closed, struct hb_error *err)
{
	auto_fd int handle = -1;
	auto_fd int fd = -1;
	bool was_closed = false;
	int r;

	/* Root needs no help, and what root opens anyway is left alone. */
	if (in_layer && sys_effective_uid() != 0 &&
	    can_help(entry, USER_LIST)) {
		handle = give(dirfd, name, entry, USER_LIST, err);
		if (handle < 0)
			return handle;
		was_closed = true;
	}
	fd = sys_openat2(dirfd, name, FOR_LISTING, 0, RESOLVE);
	r = fd < 0 ? fail_for(name, fd, err) : check_is(fd, name, entry, err);
	if (r < 0) {
		if (was_closed)
			(void)access_close_again(handle, entry, err);
		return r;
	}
	*ret_was_closed = was_closed;
	return take_fd(&fd);
}

int access_open_dir_path(int dirfd, const char *name, const struct entry *entry,
			 struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	fd = sys_openat2(dirfd, name, FOR_LOOKING, 0, RESOLVE);
	if (fd < 0)
		return fail_for(name, fd, err);
	r = check_is(fd, name, entry, err);
	if (r < 0)
		return r;
	return take_fd(&fd);
}

/* The longest piece of whole components that the kernel takes. */
static size_t next_piece(const char *path, size_t len)
{
	size_t n = len < PATH_MAX - 1 ? len : PATH_MAX - 1;

	if (n == len)
		return n;
	while (n > 0 && path[n] != '/')
		n--;
	return n;
}

int access_open_below(int root, const char *path, size_t len, int flags,
		      struct hb_error *err)
{
	auto_fd int fd = -1;
	char piece[PATH_MAX];
	size_t n;

	if (len == 0) {
		fd = sys_openat2(root, ".", flags | O_DIRECTORY, 0, RESOLVE);
		return fd < 0 ? fail_for(".", fd, err) : take_fd(&fd);
	}
	for (; len > 0; path += n, len -= n) {
		int at = fd >= 0 ? fd : root;
		int next;

		if (*path == '/') {
			path++;
			len--;
		}
		n = next_piece(path, len);
		if (n == 0)
			return fail_for(path, -ENAMETOOLONG, err);
		memcpy(piece, path, n);
		piece[n] = '\0';
		next = sys_openat2(at, piece,
				   (n == len ? flags : O_PATH) | O_NOFOLLOW |
					   O_DIRECTORY,
				   0, RESOLVE);
		if (next < 0)
			return fail_for(piece, next, err);
		if (fd >= 0)
			sys_close(fd);
		fd = next;
	}
	return take_fd(&fd);
}

ssize_t access_get_xattr(int fd, const struct entry *entry, const char *name,
			 void *buf, size_t size)
{
	ssize_t n = sys_get_xattr(fd, name, buf, size);
	int r;

	if (n != -EACCES || !can_help(entry, USER_READ))
		return n;
	if (sys_chmod_fd(fd, entry->mode | USER_READ) < 0)
		return -EACCES;
	n = sys_get_xattr(fd, name, buf, size);
	r = sys_chmod_fd(fd, entry->mode);
	return r < 0 ? r : n;
}
