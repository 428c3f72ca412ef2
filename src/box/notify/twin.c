/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/twin.h"

#include "base/auto.h"
#include "base/path.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Order of events
 * ---------------
 *
 *	count	the source is looked through: too large, or a mount in it
 *	record	MOVING_LINKS: before anything is changed
 *	link	the hidden directory, and a link for each file of the source
 *	record	MOVING_SWAP
 *	swap	the hidden directory gets the target's name, in one step
 *	drop	the source is removed, but for what is not in the twin
 *	record	MOVING_DONE
 *		the answer
 *	record	MOVING_NOTHING
 *
 *	(a) Before the swap the source is whole; after it the target is.
 *	(b) After the swap the answer is "done", whatever happens.
 *	(c) What came into the source after it was linked goes to the target.
 *	(d) Nothing is removed from the source that the twin does not have.
 *
 * tests/unit/t_twin.c kills it at every call; tests/box/rename.py looks from
 * inside.
 */

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* How often what others put into the source meanwhile is carried over. */
#define DROP_ROUNDS 1000

#define NAMES_SIZE   8192
#define VALUE_SIZE   65536
#define ENTRIES_SIZE 4096
#define ASK_ENTRIES  256

/* A directory that is being walked, and the one beside it; -1: there is none.
 */
struct level {
	int from, to;
	char name[NAME_MAX + 1]; /* in the level above */
	size_t at, n;		 /* in `block` */
	_Alignas(struct k_dirent) char block[ENTRIES_SIZE];
};

struct walk {
	struct twin *twin;
	struct level *levels;
	size_t depth;
	size_t n_entries;
	uint64_t n_bytes;
	bool has_rest; /* drop: something cannot be removed */
};

/* What is done at each entry.  Below 0 ends the walk; 1: not entered. */
struct deeds {
	int (*file)(struct walk *w, const struct level *l, const char *name);
	/* Opens what the new level walks. */
	int (*enter)(struct walk *w, const struct level *l, const char *name,
		     struct level *ret);
	/* After all that is in it; `above` NULL: the first. */
	int (*leave)(struct walk *w, const struct level *l,
		     const struct level *above);
};

static int next_entry(struct level *l, const struct k_dirent **ret)
{
	for (;;) {
		const struct k_dirent *e;

		if (l->at >= l->n) {
			ssize_t n =
				sys_getdents(l->from, l->block, ENTRIES_SIZE);

			if (n <= 0)
				return (int)n;
			l->n = (size_t)n;
			l->at = 0;
		}
		e = (const struct k_dirent *)(const void *)(l->block + l->at);
		l->at += e->reclen;
		if (path_is_dots(e->name))
			continue;
		*ret = e;
		return 1;
	}
}

static void close_level(struct level *l)
{
	fd_closep(&l->from);
	fd_closep(&l->to);
}

static int take_entry(struct walk *w, const struct deeds *deeds,
		      const struct k_dirent *e)
{
	struct level *l = &w->levels[w->depth - 1], *next = l + 1;
	struct stat st;
	bool is_dir = e->type == DT_DIR;
	int r;

	if (e->type == DT_UNKNOWN)
		is_dir = sys_fstatat(l->from, e->name, &st,
				     AT_SYMLINK_NOFOLLOW) >= 0 &&
			 S_ISDIR(st.st_mode);
	if (!is_dir)
		return deeds->file(w, l, e->name);
	if (w->depth == TWIN_DEPTH_MAX)
		return -E2BIG;
	next->from = next->to = -1;
	next->at = next->n = 0;
	(void)snprintf(next->name, sizeof(next->name), "%s", e->name);
	r = deeds->enter(w, l, next->name, next);
	if (r != 0) {
		close_level(next);
		return r < 0 ? r : 0;
	}
	w->depth++;
	return 0;
}

/* Takes both descriptors.  `to` -1: there is no directory beside it. */
static int walk(struct walk *w, const struct deeds *deeds, int from, int to)
{
	int r = 0;

	w->levels = calloc(TWIN_DEPTH_MAX, sizeof(*w->levels));
	if (!w->levels) {
		fd_closep(&from);
		fd_closep(&to);
		return -ENOMEM;
	}
	w->levels[0].from = from;
	w->levels[0].to = to;
	w->depth = 1;
	while (r >= 0 && w->depth > 0) {
		struct level *l = &w->levels[w->depth - 1];
		const struct k_dirent *e = NULL;

		r = next_entry(l, &e);
		if (r > 0) {
			r = take_entry(w, deeds, e);
			continue;
		}
		if (r == 0 && deeds->leave)
			r = deeds->leave(w, l, w->depth > 1 ? l - 1 : NULL);
		close_level(l);
		w->depth--;
	}
	while (w->depth > 0)
		close_level(&w->levels[--w->depth]);
	free(w->levels);
	w->levels = NULL;
	return r;
}

/* Count: whether it is to be tried at all. */

static int note_entry(struct walk *w)
{
	return ++w->n_entries > w->twin->entries_max ? -E2BIG : 0;
}

static int count_file(struct walk *w, const struct level *l, const char *name)
{
	struct stat st;

	if (sys_fstatat(l->from, name, &st, AT_SYMLINK_NOFOLLOW) >= 0)
		w->n_bytes += (uint64_t)st.st_blocks * 512;
	if (w->n_bytes > w->twin->bytes_max)
		return -E2BIG;
	return note_entry(w);
}

static int count_dir(struct walk *w, const struct level *l, const char *name,
		     struct level *ret)
{
	ret->from = sys_openat(l->from, name, DIR_FLAGS, 0);
	if (ret->from < 0)
		return ret->from == -ENOENT ? 1 : ret->from;
	/* It could be linked beside, and not be removed. */
	if (sys_is_mount_root(ret->from))
		return -EXDEV;
	return note_entry(w);
}

static const struct deeds count_deeds = { count_file, count_dir, NULL };

/* Link: the twin. */

/* -EINTR: the caller is gone. */
static int note_link(struct walk *w)
{
	if (w->n_entries++ % ASK_ENTRIES == 0 && w->twin->is_wanted &&
	    !w->twin->is_wanted(w->twin->ctx))
		return -EINTR;
	return w->n_entries > 2 * w->twin->entries_max ? -E2BIG : 0;
}

static int link_file(struct walk *w, const struct level *l, const char *name)
{
	int r = note_link(w);

	if (r < 0)
		return r;
	r = sys_linkat(l->from, name, l->to, name);
	return r == -ENOENT ? 0 : r;
}

static int link_dir(struct walk *w, const struct level *l, const char *name,
		    struct level *ret)
{
	int r = note_link(w);

	if (r < 0)
		return r;
	ret->from = sys_openat(l->from, name, DIR_FLAGS, 0);
	if (ret->from < 0)
		return ret->from == -ENOENT ? 1 : ret->from;
	r = sys_mkdirat(l->to, name, 0700);
	if (r < 0)
		return r;
	ret->to = sys_openat(l->to, name, DIR_FLAGS, 0);
	return ret->to < 0 ? ret->to : 0;
}

static int copy_xattrs(int from, int to)
{
	auto_free char *names = malloc(NAMES_SIZE + VALUE_SIZE);
	char *value;
	ssize_t n, size;
	int r;

	if (!names)
		return -ENOMEM;
	value = names + NAMES_SIZE;
	n = sys_flist_xattrs(from, names, NAMES_SIZE);
	if (n < 0)
		return (int)n;
	for (const char *p = names; p < names + n; p += strlen(p) + 1) {
		size = sys_fget_xattr(from, p, value, VALUE_SIZE);
		if (size < 0)
			return (int)size;
		r = sys_fset_xattr(to, p, value, (size_t)size);
		/* A label that the system itself gives. */
		if (r < 0 && r != -EOPNOTSUPP && r != -EPERM)
			return r;
	}
	return 0;
}

static int dress(int from, int to)
{
	struct stat st;
	int r;

	r = sys_fstat(from, &st);
	if (r >= 0)
		r = copy_xattrs(from, to);
	if (r >= 0)
		r = sys_chown_at(to, "", (uid_t)-1, st.st_gid);
	/* After the group, which takes bits of the mode away. */
	if (r >= 0)
		r = sys_fchmod(to, st.st_mode & 07777);
	return r < 0 ? r : sys_set_mtime_at(to, "", st.st_mtim);
}

static int link_leave(struct walk *w, const struct level *l,
		      const struct level *above)
{
	(void)w;
	(void)above;
	return dress(l->from, l->to);
}

static const struct deeds link_deeds = { link_file, link_dir, link_leave };

/* Drop: what the twin has is removed, and the rest goes to it. */

/*
 * Two names of one file?  An overlay gives them two inode numbers, because it
 * looks the new link up afresh.  So by what the inode itself carries: a link
 * changes its ctime, and a file that took its place later has another.
 */
static bool is_one_file(const struct stat *a, const struct stat *b)
{
	return a->st_nlink > 1 && a->st_nlink == b->st_nlink &&
	       a->st_size == b->st_size && a->st_mode == b->st_mode &&
	       memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim)) == 0 &&
	       memcmp(&a->st_mtim, &b->st_mtim, sizeof(a->st_mtim)) == 0;
}

static int drop_file(struct walk *w, const struct level *l, const char *name)
{
	struct stat a, b;
	bool has_twin =
		l->to < 0 ||
		(sys_fstatat(l->from, name, &a, AT_SYMLINK_NOFOLLOW) >= 0 &&
		 sys_fstatat(l->to, name, &b, AT_SYMLINK_NOFOLLOW) >= 0 &&
		 is_one_file(&a, &b));
	int r;

	r = has_twin ? sys_unlinkat(l->from, name, 0)
		     : sys_renameat(l->from, name, l->to, name);
	if (r < 0 && r != -ENOENT)
		w->has_rest = true;
	return 0;
}

/* What is to be removed may be closed to its owner. */
static int open_doomed(int dir, const char *name)
{
	int fd = sys_openat(dir, name, DIR_FLAGS, 0);

	if (fd >= 0 && sys_can_change_dir(fd) < 0)
		(void)sys_fchmod(fd, 0700);
	return fd;
}

static int drop_dir(struct walk *w, const struct level *l, const char *name,
		    struct level *ret)
{
	if (l->to >= 0)
		ret->to = sys_openat(l->to, name, DIR_FLAGS, 0);
	/* New since it was linked. */
	if (l->to >= 0 && ret->to < 0 &&
	    sys_renameat(l->from, name, l->to, name) >= 0)
		return 1;
	ret->from = open_doomed(l->from, name);
	if (ret->from >= 0 && (l->to < 0 || ret->to >= 0))
		return 0;
	if (ret->from != -ENOENT)
		w->has_rest = true;
	return 1;
}

static int drop_leave(struct walk *w, const struct level *l,
		      const struct level *above)
{
	int r;

	if (!above)
		return 0;
	r = sys_unlinkat(above->from, l->name, AT_REMOVEDIR);
	if (r < 0 && r != -ENOENT && r != -ENOTEMPTY)
		w->has_rest = true;
	return 0;
}

static const struct deeds drop_deeds = { drop_file, drop_dir, drop_leave };

/*
 * Removes the directory `name`.  With `twin`, only what that has as well; -1:
 * all of it.  Again until nothing is left: others may write there.
 */
static int drop(int dir, const char *name, int twin)
{
	int r = -ENOTEMPTY;

	for (int i = 0; i < DROP_ROUNDS && r == -ENOTEMPTY; i++) {
		struct walk w = { 0 };
		int from = open_doomed(dir, name);
		int to = -1;

		if (from < 0)
			return from == -ENOENT ? 0 : from;
		if (twin >= 0)
			to = sys_openat(twin, ".", DIR_FLAGS, 0);
		if (twin >= 0 && to < 0) {
			sys_close(from);
			return to;
		}
		r = walk(&w, &drop_deeds, from, to);
		if (r >= 0 && w.has_rest)
			r = -EBUSY;
		if (r >= 0)
			r = sys_unlinkat(dir, name, AT_REMOVEDIR);
	}
	return r == -ENOENT ? 0 : r;
}

/* The record. */

static int note_step(struct twin *t, enum moving_step step)
{
	t->moving.step = step;
	return t->record < 0 ? 0
			     : sys_pwrite_all(t->record, &t->moving.step,
					      sizeof(t->moving.step), 0);
}

static int note_all(struct twin *t)
{
	const size_t head = offsetof(struct moving, hidden);
	int r;

	if (t->record < 0)
		return 0;
	r = sys_pwrite_all(t->record, t->moving.hidden,
			   sizeof(t->moving) - head, head);
	return r < 0 ? r : note_step(t, MOVING_LINKS);
}

bool twin_read(int record, struct moving *ret)
{
	return record >= 0 &&
	       sys_pread_full(record, ret, sizeof(*ret), 0) ==
		       (ssize_t)sizeof(*ret) &&
	       moving_is_sound(ret);
}

/* The answers. */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether `dir` is the directory `top`, or below it. */
static bool is_inside(int dir, const struct stat *top)
{
	auto_fd int at = sys_openat(dir, ".", O_PATH | O_DIRECTORY, 0);
	struct stat st, last = { 0 };

	while (at >= 0 && sys_fstat(at, &st) >= 0 && !is_same(&st, &last)) {
		int up;

		if (is_same(&st, top))
			return true;
		last = st;
		up = sys_openat(at, "..", O_PATH | O_DIRECTORY, 0);
		fd_closep(&at);
		at = up;
	}
	return false;
}

static bool is_empty(int dir, const char *name)
{
	auto_fd int fd = sys_openat(dir, name, DIR_FLAGS, 0);
	struct level l = { .from = fd };
	const struct k_dirent *e;

	return fd >= 0 && next_entry(&l, &e) == 0;
}

/* What the kernel refuses before it asks the overlay is the kernel's to say. */
static int check(const struct twin *t, const struct stat *source)
{
	struct stat st, old, new;

	if (t->flags & ~(unsigned)RENAME_KEEP || !S_ISDIR(source->st_mode) ||
	    is_inside(t->new_dir, source) || sys_fstat(t->old_dir, &old) < 0 ||
	    sys_fstat(t->new_dir, &new) < 0)
		return TWIN_NOT_OURS;
	if (sys_can_change_dir(t->old_dir) < 0 ||
	    sys_can_change_dir(t->new_dir) < 0 ||
	    (!is_same(&old, &new) &&
	     sys_faccessat(t->old_dir, t->old_name, W_OK) < 0))
		return TWIN_NOT_OURS;
	if (old.st_mode & S_ISVTX && old.st_uid != sys_effective_uid() &&
	    source->st_uid != sys_effective_uid())
		return TWIN_NOT_OURS;
	if (sys_fstatat(t->new_dir, t->new_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return TWIN_DONE;
	if (t->flags & RENAME_KEEP || !S_ISDIR(st.st_mode) ||
	    is_same(&st, source))
		return TWIN_NOT_OURS;
	/* This one alone is asked after the overlay. */
	return is_empty(t->new_dir, t->new_name) ? TWIN_DONE : -ENOTEMPTY;
}

static int choose_name(struct twin *t)
{
	uint64_t number;
	int r = sys_random(&number, sizeof(number));

	(void)snprintf(t->moving.hidden, sizeof(t->moving.hidden),
		       MOVING_HIDDEN "%016llx", (unsigned long long)number);
	return r;
}

static int count(struct twin *t)
{
	struct walk w = { .twin = t };
	int from = sys_openat(t->old_dir, t->old_name, DIR_FLAGS, 0);

	if (from < 0)
		return from;
	if (sys_is_mount_root(from)) {
		sys_close(from);
		return -EXDEV;
	}
	return walk(&w, &count_deeds, from, -1);
}

/* The hidden twin, whole. */
static int make_twin(struct twin *t)
{
	struct walk w = { .twin = t };
	int from, to, r;

	r = sys_mkdirat(t->new_dir, t->moving.hidden, 0700);
	if (r < 0)
		return r;
	from = sys_openat(t->old_dir, t->old_name, DIR_FLAGS, 0);
	if (from < 0)
		return from;
	to = sys_openat(t->new_dir, t->moving.hidden, DIR_FLAGS, 0);
	if (to < 0) {
		sys_close(from);
		return to;
	}
	return walk(&w, &link_deeds, from, to);
}

/* After the swap: what is left of the source is no failure. */
static int finish(struct twin *t, const struct stat *source)
{
	auto_fd int target = sys_openat(t->new_dir, t->new_name, DIR_FLAGS, 0);

	if (target >= 0)
		(void)drop(t->old_dir, t->old_name, target);
	if (target >= 0 && source)
		(void)sys_set_mtime_at(target, "", source->st_mtim);
	(void)note_step(t, MOVING_DONE);
	return TWIN_DONE;
}

/* Before the swap: as it was. */
static int take_back(struct twin *t)
{
	int r = drop(t->new_dir, t->moving.hidden, -1);

	if (r >= 0)
		(void)note_step(t, MOVING_NOTHING);
	return r;
}

/* What a caller is to hear as it is; all else is for the kernel to say. */
static bool is_told(int r)
{
	return r == -ENOSPC || r == -EDQUOT || r == -ENOTEMPTY || r == -EEXIST;
}

int twin_rename(struct twin *t)
{
	struct stat source;
	int r;

	r = sys_fstatat(t->old_dir, t->old_name, &source, AT_SYMLINK_NOFOLLOW);
	if (r < 0)
		return TWIN_NOT_OURS;
	r = check(t, &source);
	if (r != 0)
		return r;
	if (count(t) < 0 || choose_name(t) < 0)
		return TWIN_NOT_OURS;
	r = note_all(t);
	if (r >= 0)
		r = make_twin(t);
	if (r >= 0)
		r = note_step(t, MOVING_SWAP);
	if (r >= 0)
		r = sys_renameat2(t->new_dir, t->moving.hidden, t->new_dir,
				  t->new_name, t->flags);
	if (r >= 0)
		return finish(t, &source);
	(void)take_back(t);
	return is_told(r) ? r : TWIN_NOT_OURS;
}

int twin_recover(struct twin *t)
{
	struct stat st;

	if (!twin_read(t->record, &t->moving))
		return TWIN_NOT_OURS;
	if (t->moving.step == MOVING_DONE)
		return TWIN_DONE;
	if (t->moving.step == MOVING_SWAP &&
	    sys_fstatat(t->new_dir, t->moving.hidden, &st,
			AT_SYMLINK_NOFOLLOW) == -ENOENT)
		return finish(t, NULL);
	(void)take_back(t);
	return TWIN_NOT_OURS;
}

void twin_forget(struct twin *t)
{
	(void)note_step(t, MOVING_NOTHING);
}
