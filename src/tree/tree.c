/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/tree.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/mode.h"
#include "base/path.h"
#include "base/quote.h"
#include "sys/dir.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Going down closes the parent.  Going up opens ".." and makes sure that it is
 * the directory we came from.  So no move of a directory leads us elsewhere,
 * and the number of descriptors does not depend on the depth.  The parent is
 * read on from the place the kernel gave with the last name.
 */

#define TREE_BLOCK	4096
#define TREE_DEPTH_MAX	((size_t)1 << 20)
#define REMOVE_ATTEMPTS 8
#define RESOLVE                                                                \
	(K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS | \
	 K_RESOLVE_NO_XDEV)

/* A directory that we are in or below. */
struct frame {
	struct sys_attr attr;
	off_t next;  /* where the name behind the one we went into is */
	size_t path; /* length of the walk's path without this one's name */
	bool was_closed;
};

struct walk {
	unsigned flags;
	tree_fn visit;
	void *ctx;
	int dir; /* the directory of the top frame */
	struct frame *stack;
	size_t depth;
	struct buf path;
	_Alignas(8) char block[TREE_BLOCK];
	size_t at, filled;
};

static int fail_at(const char *name, int r, struct hb_error *err)
{
	return hb_fail(err, r,
		       r == -EXDEV ? "another file system is mounted on %s"
				   : "cannot open the directory %s",
		       quoted(name));
}

/* Gives what is missing, through a descriptor that needs no permission. */
static int give(int dirfd, const char *name, mode_t mode)
{
	auto_fd int fd = sys_openat2(
		dirfd, name, O_PATH | O_NOFOLLOW | O_DIRECTORY, 0, RESOLVE);

	return fd < 0 ? fd : sys_chmod_fd(fd, mode);
}

static int open_dir(const struct walk *w, int dirfd, const char *name,
		    const struct sys_attr *attr, bool *ret_was_closed)
{
	mode_t need = w->flags & TREE_DOOMED ? USER_ALL : USER_LIST;
	mode_t mode = attr->mode & 07777;
	int r;

	*ret_was_closed = false;
	/* Root reads what is closed; to open it would move its change time. */
	if (!(w->flags & TREE_DOOMED) && sys_effective_uid() == 0)
		need = 0;
	if ((w->flags & (TREE_OURS | TREE_DOOMED)) && (mode & need) != need &&
	    attr->uid == sys_effective_uid()) {
		r = give(dirfd, name, mode | need);
		if (r < 0)
			return r;
		*ret_was_closed = true;
	}
	return sys_openat2(dirfd, name, O_RDONLY | O_NOFOLLOW | O_DIRECTORY, 0,
			   RESOLVE);
}

static int push(struct walk *w, int dirfd, const char *name,
		const struct sys_attr *attr, struct hb_error *err)
{
	struct frame frame = { .attr = *attr, .path = w->path.len };
	struct sys_attr now;
	int fd, r;

	if (w->depth >= TREE_DEPTH_MAX || grow(w->stack, w->depth) < 0)
		return hb_fail(err, -ENOMEM, "the tree is too deep");
	fd = open_dir(w, dirfd, name, attr, &frame.was_closed);
	if (fd < 0)
		return fail_at(name, fd, err);
	r = sys_attr_at(fd, "", &now);
	if (r == 0 && (now.ino != attr->ino || now.dev != attr->dev))
		r = -EAGAIN;
	if (r < 0) {
		sys_close(fd);
		return fail_at(name, r, err);
	}
	if (w->dir >= 0)
		sys_close(w->dir);
	w->dir = fd;
	w->stack[w->depth++] = frame;
	w->at = w->filled = 0;
	/* The root's name is not part of the path. */
	if (w->depth > 1) {
		if (w->path.len > 0)
			(void)buf_add_char(&w->path, '/');
		r = buf_add_str(&w->path, name);
	}
	return r < 0 ? hb_fail(err, r, "the tree is too deep") : 0;
}

static void give_back(const struct walk *w)
{
	const struct frame *frame = &w->stack[w->depth - 1];

	if (frame->was_closed && !(w->flags & TREE_DOOMED))
		(void)sys_fchmod(w->dir, frame->attr.mode & 07777);
}

/* Back to the directory that the one we leave lies in. */
static int pop(struct walk *w, struct hb_error *err)
{
	struct frame *up = &w->stack[w->depth - 2];
	struct sys_attr now;
	int fd, r;

	fd = sys_openat(w->dir, "..", O_RDONLY | O_DIRECTORY, 0);
	/* Not before: ".." needs the permission as well. */
	give_back(w);
	if (fd < 0)
		return fail_at("..", fd, err);
	r = sys_attr_at(fd, "", &now);
	if (r == 0 && (now.ino != up->attr.ino || now.dev != up->attr.dev))
		r = -EAGAIN;
	if (r == 0)
		r = sys_seek(fd, up->next);
	if (r < 0) {
		sys_close(fd);
		return hb_fail(err, r,
			       "a directory was moved while we read it");
	}
	sys_close(w->dir);
	w->dir = fd;
	w->at = w->filled = 0;
	w->depth--;
	return 0;
}

/* The next name of the directory we are in; 1, or 0 at its end. */
static int next_name(struct walk *w, const char **ret_name,
		     struct hb_error *err)
{
	for (;;) {
		const struct k_dirent *e;

		if (w->at >= w->filled) {
			ssize_t n = sys_getdents(w->dir, w->block,
						 sizeof(w->block));

			if (n < 0)
				return hb_fail(err, (int)n,
					       "cannot read a directory");
			if (n == 0)
				return 0;
			w->at = 0;
			w->filled = (size_t)n;
		}
		e = (const void *)(w->block + w->at);
		w->at += e->reclen;
		w->stack[w->depth - 1].next = (off_t)e->off;
		if (!path_is_dots(e->name)) {
			*ret_name = e->name;
			return 1;
		}
	}
}

static int call(struct walk *w, enum tree_when when, const char *name,
		const struct sys_attr *attr, struct hb_error *err)
{
	struct tree_visit v = {
		.when = when, .dir = w->dir, .name = name, .attr = *attr
	};
	size_t len = w->path.len;
	int r;

	if (len > 0)
		(void)buf_add_char(&w->path, '/');
	r = buf_add_str(&w->path, name);
	if (r < 0)
		return hb_fail(err, r, "the tree is too deep");
	v.path = buf_str(&w->path);
	r = w->visit(w->ctx, &v, err);
	buf_cut(&w->path, len);
	return r;
}

/* Leaves the directory we are in; the walk's root is not visited. */
static int leave(struct walk *w, struct hb_error *err)
{
	struct frame frame = w->stack[w->depth - 1];
	char name[256];
	size_t skip = frame.path > 0 ? frame.path + 1 : 0;
	int r;

	if (w->depth == 1) {
		give_back(w);
		w->depth = 0;
		return 0;
	}
	(void)snprintf(name, sizeof(name), "%s", buf_str(&w->path) + skip);
	r = pop(w, err);
	if (r < 0)
		return r;
	buf_cut(&w->path, frame.path);
	return call(w, TREE_LEAVE, name, &frame.attr, err);
}

static int step(struct walk *w, struct hb_error *err)
{
	struct hb_error why = { 0 };
	struct sys_attr attr;
	const char *name = NULL;
	char copy[256];
	int r;

	r = next_name(w, &name, err);
	if (r <= 0)
		return r < 0 ? r : leave(w, err);
	r = sys_attr_at(w->dir, name, &attr);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return fail_at(name, r, err);
	/* The block is read over once we are inside. */
	(void)snprintf(copy, sizeof(copy), "%s", name);
	r = call(w, TREE_ENTER, copy, &attr, err);
	if (r < 0 || r == TREE_SKIP || !S_ISDIR(attr.mode) ||
	    (w->flags & TREE_FLAT))
		return r < 0 ? r : 0;
	r = push(w, w->dir, copy, &attr, &why);
	if (r < 0 && r != -ENOMEM && (w->flags & TREE_PATIENT))
		return call(w, TREE_SHUT, copy, &attr, err);
	if ((w->flags & TREE_LENIENT) &&
	    (r == -EACCES || r == -ENOENT || r == -EAGAIN))
		return 0;
	return hb_pass(err, &why, r);
}

/* After a failure: what was opened for us on the way down is closed again. */
static void close_behind(struct walk *w)
{
	while (w->depth > 0) {
		if (w->depth == 1)
			give_back(w);
		if (w->depth == 1 || pop(w, NULL) < 0)
			return;
	}
}

int tree_walk(int dirfd, const char *name, unsigned flags, tree_fn visit,
	      void *ctx, struct hb_error *err)
{
	struct walk w = { .flags = flags,
			  .visit = visit,
			  .ctx = ctx,
			  .dir = -1,
			  .path = BUF_INIT(TREE_PATH_MAX) };
	struct sys_attr attr;
	int r;

	r = sys_attr_at(dirfd, name, &attr);
	if (r == -EACCES && (flags & TREE_LENIENT))
		return 0;
	if (r < 0)
		return fail_at(name, r, err);
	if (!S_ISDIR(attr.mode))
		return 0;
	r = push(&w, dirfd, name, &attr, err);
	while (r >= 0 && w.depth > 0)
		r = step(&w, err);
	close_behind(&w);
	if (w.dir >= 0)
		sys_close(w.dir);
	free(w.stack);
	buf_done(&w.path);
	return r < 0 ? r : 0;
}

static int remove_one(void *ctx, const struct tree_visit *v,
		      struct hb_error *err)
{
	bool is_dir = S_ISDIR(v->attr.mode);
	int r;

	(void)ctx;
	if (is_dir && v->when == TREE_ENTER)
		return 0;
	r = sys_unlinkat(v->dir, v->name, is_dir ? AT_REMOVEDIR : 0);
	/* A name that reading skipped: the whole walk is made again. */
	if (r == 0 || r == -ENOENT || r == -ENOTEMPTY)
		return 0;
	return hb_fail_at(err, r, v->path, "cannot remove");
}

int tree_remove(int dirfd, const char *name, struct hb_error *err)
{
	struct sys_attr attr;
	int r;

	for (int i = 0; i < REMOVE_ATTEMPTS; i++) {
		r = sys_attr_at(dirfd, name, &attr);
		if (r == -ENOENT)
			return 0;
		if (r < 0)
			return fail_at(name, r, err);
		if (S_ISDIR(attr.mode)) {
			r = tree_walk(dirfd, name, TREE_DOOMED, remove_one,
				      NULL, err);
			if (r < 0)
				return r;
		}
		r = sys_unlinkat(dirfd, name,
				 S_ISDIR(attr.mode) ? AT_REMOVEDIR : 0);
		if (r == 0 || r == -ENOENT)
			return 0;
		if (r != -ENOTEMPTY)
			break;
	}
	return hb_fail_at(err, r, name, "cannot remove");
}

static int find_any(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	(void)ctx;
	(void)v;
	(void)err;
	return -HB_E_END;
}

int tree_is_empty(int dirfd, const char *name, unsigned flags,
		  struct hb_error *err)
{
	int r = tree_walk(dirfd, name, flags | TREE_FLAT, find_any, NULL, err);

	return r == -HB_E_END ? 0 : r < 0 ? r : 1;
}
