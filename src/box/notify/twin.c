/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/twin.h"

#include "base/auto.h"
#include "base/path.h"
#include "box/notify/made_links.h"
#include "box/notify/twin_walk.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"

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
 *	gone	a file that was deleted in the source is deleted in the target
 *	drop	the source is removed, but for what is not in the twin
 *	record	MOVING_DONE
 *		the answer
 *	record	MOVING_NOTHING
 *
 *	(a) Before the swap the source is whole; after it the target is.
 *	(b) After the swap the answer is "done", whatever happens.
 *	(c) What came into the source after it was linked goes to the target.
 *	(d) Nothing is removed from the source that the twin does not have, or
 *	    had: a file that has left the target since does not come back.
 *	(e) Of two versions the later one stays.  If that cannot be told, both
 *	    do, each at its place, and the source stays.
 *	(f) The record is on the disk before the step that it tells of.
 *
 * Only the worker that made the links knows them.  The next one keeps more.
 *
 * tests/unit/t_twin.c kills it at every call, and has others at work there;
 * tests/box/rename.py looks from inside.
 */

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* How often what others put into the source meanwhile is carried over. */
#define DROP_ROUNDS 1000

#define NAMES_SIZE  8192
#define VALUE_SIZE  65536
#define ASK_ENTRIES 256

/* Count: whether it is to be tried at all. */

static int note_entry(struct twin_walk *w)
{
	return ++w->n_entries > w->twin->entries_max ? -E2BIG : 0;
}

static int count_file(struct twin_walk *w, const struct twin_level *l,
		      const char *name)
{
	struct stat st;

	if (sys_fstatat(l->from, name, &st, AT_SYMLINK_NOFOLLOW) >= 0)
		w->n_bytes += (uint64_t)st.st_blocks * 512;
	if (w->n_bytes > w->twin->bytes_max)
		return -E2BIG;
	return note_entry(w);
}

static int count_dir(struct twin_walk *w, const struct twin_level *l,
		     const char *name, struct twin_level *ret)
{
	ret->from = sys_openat(l->from, name, DIR_FLAGS, 0);
	if (ret->from < 0)
		return ret->from == -ENOENT ? 1 : ret->from;
	/* It could be linked beside, and not be removed. */
	if (sys_is_mount_root(ret->from))
		return -EXDEV;
	return note_entry(w);
}

static const struct twin_deeds count_deeds = { count_file, count_dir, NULL };

/* Link: the twin. */

/* -EINTR: the caller is gone. */
static int note_link(struct twin_walk *w)
{
	if (w->n_entries++ % ASK_ENTRIES == 0 && w->twin->is_wanted &&
	    !w->twin->is_wanted(w->twin->ctx))
		return -EINTR;
	return w->n_entries > 2 * w->twin->entries_max ? -E2BIG : 0;
}

static int link_file(struct twin_walk *w, const struct twin_level *l,
		     const char *name)
{
	struct stat source, twin;
	int r = note_link(w);

	if (r < 0)
		return r;
	/* Before the link: a file that takes its place now has another. */
	r = sys_fstatat(l->from, name, &source, AT_SYMLINK_NOFOLLOW);
	if (r >= 0)
		r = sys_linkat(l->from, name, l->to, name);
	if (r >= 0)
		r = sys_fstatat(l->to, name, &twin, AT_SYMLINK_NOFOLLOW);
	if (r >= 0)
		r = made_links_add(w->links, made_links_path(l->path, name),
				   &source, &twin);
	return r == -ENOENT ? 0 : r;
}

static int link_dir(struct twin_walk *w, const struct twin_level *l,
		    const char *name, struct twin_level *ret)
{
	struct stat source, twin;
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
	r = ret->to < 0 ? ret->to : sys_fstat(ret->from, &source);
	if (r >= 0)
		r = sys_fstat(ret->to, &twin);
	return r < 0 ? r : made_links_add(w->links, ret->path, &source, &twin);
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

static int link_leave(struct twin_walk *w, const struct twin_level *l,
		      const struct twin_level *above)
{
	(void)w;
	(void)above;
	return dress(l->from, l->to);
}

static const struct twin_deeds link_deeds = { link_file, link_dir, link_leave };

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

/* The same, while another process writes to it. */
static bool is_linked_pair(const struct made_link *link, const struct stat *a,
			   const struct stat *b)
{
	return is_one_file(a, b) ||
	       (link && link->source == a->st_ino &&
		made_link_is_twin(link, b) && a->st_nlink > 1 &&
		a->st_nlink == b->st_nlink);
}

/* Another process has deleted the file in the source: so it is here. */
static void take_out(int target, const char *name, const struct made_link *link)
{
	struct stat st;

	if (sys_fstatat(target, name, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
	    made_link_is_twin(link, &st) && made_link_is_same(link, &st))
		(void)sys_unlinkat(target, name, 0);
}

/* Of two processes that remove a name one hears that it was not the first. */
static int unlink_source(int source, int target, const char *name,
			 const struct made_link *link)
{
	int r = sys_unlinkat(source, name, 0);

	if (r == -ENOENT && target >= 0)
		take_out(target, name, link);
	return r;
}

/* What becomes of a file of the source; `b` NULL: the target has no such. */
enum fate {
	FATE_DROP, /* the target has it, or has had it */
	FATE_REPLACE,
	FATE_ADD,
	FATE_KEEP, /* both are of others, and none is older */
};

static enum fate judge(const struct made_link *link, const struct stat *a,
		       const struct stat *b, bool has_target)
{
	bool is_old =
		made_link_is_source(link, a) && made_link_is_same(link, a);

	if (!b && !is_old)
		return has_target ? FATE_ADD : FATE_KEEP;
	if (is_old || is_linked_pair(link, a, b))
		return FATE_DROP;
	return made_link_is_twin(link, b) && made_link_is_same(link, b)
		       ? FATE_REPLACE
		       : FATE_KEEP;
}

static const struct made_link *find_link(const struct twin_walk *w,
					 uint64_t path)
{
	return w->links ? made_links_find(w->links, path) : NULL;
}

static int drop_judged(const struct twin_walk *w, const struct twin_level *l,
		       const char *name)
{
	const struct made_link *link =
		find_link(w, made_links_path(l->path, name));
	struct stat a, b;
	bool has_twin = l->to >= 0 &&
			sys_fstatat(l->to, name, &b, AT_SYMLINK_NOFOLLOW) >= 0;
	int r = sys_fstatat(l->from, name, &a, AT_SYMLINK_NOFOLLOW);

	if (r < 0)
		return r;
	switch (judge(link, &a, has_twin ? &b : NULL, l->to >= 0)) {
	case FATE_DROP:
		return unlink_source(l->from, l->to, name, link);
	case FATE_REPLACE:
		return sys_renameat(l->from, name, l->to, name);
	case FATE_ADD:
		/* Whose name came first is seen in the next round. */
		r = sys_renameat2(l->from, name, l->to, name, RENAME_KEEP);
		return r == -EEXIST ? 0 : r;
	case FATE_KEEP:
		break;
	}
	return -EBUSY;
}

static int drop_file(struct twin_walk *w, const struct twin_level *l,
		     const char *name)
{
	int r = w->takes_all ? sys_unlinkat(l->from, name, 0)
			     : drop_judged(w, l, name);

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

static int drop_dir(struct twin_walk *w, const struct twin_level *l,
		    const char *name, struct twin_level *ret)
{
	bool has_twin = !w->takes_all && l->to >= 0;

	if (has_twin)
		ret->to = sys_openat(l->to, name, DIR_FLAGS, 0);
	/* New since it was linked. */
	if (has_twin && ret->to < 0 && !find_link(w, ret->path) &&
	    sys_renameat2(l->from, name, l->to, name, RENAME_KEEP) >= 0)
		return 1;
	ret->from = open_doomed(l->from, name);
	/* Without its twin, which has left the target, it has old files. */
	if (ret->from >= 0 &&
	    (w->takes_all || ret->to >= 0 || find_link(w, ret->path)))
		return 0;
	if (ret->from != -ENOENT)
		w->has_rest = true;
	return 1;
}

static int drop_leave(struct twin_walk *w, const struct twin_level *l,
		      const struct twin_level *above)
{
	int r;

	if (!above)
		return 0;
	r = sys_unlinkat(above->from, l->name, AT_REMOVEDIR);
	if (r < 0 && r != -ENOENT && r != -ENOTEMPTY)
		w->has_rest = true;
	return 0;
}

static const struct twin_deeds drop_deeds = { drop_file, drop_dir, drop_leave };

/*
 * Removes the directory `name`.  With `twin`, only what that has as well; -1:
 * all of it.  Again until nothing is left: others may write there.
 */
static int drop(int dir, const char *name, int twin, struct made_links *links)
{
	int r = -ENOTEMPTY;

	for (int i = 0; i < DROP_ROUNDS && r == -ENOTEMPTY; i++) {
		struct twin_walk w = { .links = links, .takes_all = twin < 0 };
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
		r = twin_walk(&w, &drop_deeds, from, to);
		if (r >= 0 && w.has_rest)
			r = -EBUSY;
		if (r >= 0)
			r = sys_unlinkat(dir, name, AT_REMOVEDIR);
	}
	return r == -ENOENT ? 0 : r;
}

/* Gone: from the target, with the source beside it. */

static int gone_file(struct twin_walk *w, const struct twin_level *l,
		     const char *name)
{
	const struct made_link *link =
		find_link(w, made_links_path(l->path, name));
	struct stat a, b;
	int r;

	if (!link || sys_fstatat(l->from, name, &b, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !made_link_is_twin(link, &b))
		return 0;
	r = l->to < 0 ? -ENOENT
		      : sys_fstatat(l->to, name, &a, AT_SYMLINK_NOFOLLOW);
	if (r == -ENOENT)
		take_out(l->from, name, link);
	else if (r >= 0 && is_linked_pair(link, &a, &b))
		(void)unlink_source(l->to, l->from, name, link);
	return 0;
}

static int gone_dir(struct twin_walk *w, const struct twin_level *l,
		    const char *name, struct twin_level *ret)
{
	const struct made_link *link = find_link(w, ret->path);
	struct stat st;

	if (!link)
		return 1;
	ret->from = sys_openat(l->from, name, DIR_FLAGS, 0);
	if (ret->from < 0 || sys_fstat(ret->from, &st) < 0 ||
	    !made_link_is_twin(link, &st))
		return 1;
	if (l->to < 0)
		return 0;
	ret->to = open_doomed(l->to, name);
	return ret->to >= 0 || ret->to == -ENOENT ? 0 : 1;
}

static int gone_leave(struct twin_walk *w, const struct twin_level *l,
		      const struct twin_level *above)
{
	(void)w;
	if (above && l->to < 0)
		(void)sys_unlinkat(above->from, l->name, AT_REMOVEDIR);
	return 0;
}

static const struct twin_deeds gone_deeds = { gone_file, gone_dir, gone_leave };

/* Only right after the swap: later a file may be gone because we removed it. */
static void follow_deletions(struct twin *t, int target,
			     struct made_links *links)
{
	struct twin_walk w = { .twin = t, .links = links };
	int from = sys_openat(target, ".", DIR_FLAGS, 0);
	int to = open_doomed(t->old_dir, t->old_name);

	if (from >= 0 && to >= 0) {
		(void)twin_walk(&w, &gone_deeds, from, to);
		return;
	}
	fd_closep(&from);
	fd_closep(&to);
}

/* The record. */

static int write_step(struct twin *t, enum moving_step step)
{
	t->moving.step = step;
	return t->record < 0 ? 0
			     : sys_pwrite_all(t->record, &t->moving.step,
					      sizeof(t->moving.step), 0);
}

/* (f) */
static int note_step(struct twin *t, enum moving_step step)
{
	int r = write_step(t, step);

	return r < 0 || t->record < 0 ? r : sys_fsync(t->record);
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
	struct twin_level l = { .from = fd };
	const struct k_dirent *e;

	return fd >= 0 && twin_next_entry(&l, &e) == 0;
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
	struct twin_walk w = { .twin = t };
	int from = sys_openat(t->old_dir, t->old_name, DIR_FLAGS, 0);

	if (from < 0)
		return from;
	if (sys_is_mount_root(from)) {
		sys_close(from);
		return -EXDEV;
	}
	return twin_walk(&w, &count_deeds, from, -1);
}

/* The hidden twin, whole. */
static int make_twin(struct twin *t, struct made_links *links)
{
	struct twin_walk w = { .twin = t, .links = links };
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
	return twin_walk(&w, &link_deeds, from, to);
}

/* After the swap: what is left of the source is no failure. */
static int finish(struct twin *t, const struct stat *source,
		  struct made_links *links)
{
	auto_fd int target = sys_openat(t->new_dir, t->new_name, DIR_FLAGS, 0);

	if (target >= 0 && links)
		follow_deletions(t, target, links);
	if (target >= 0)
		(void)drop(t->old_dir, t->old_name, target, links);
	if (target >= 0 && source)
		(void)sys_set_mtime_at(target, "", source->st_mtim);
	(void)note_step(t, MOVING_DONE);
	return TWIN_DONE;
}

/* Before the swap: as it was. */
static int take_back(struct twin *t)
{
	/* A hidden directory that is gone would mean that it is the target. */
	int r = t->moving.step == MOVING_SWAP ? note_step(t, MOVING_LINKS) : 0;

	if (r >= 0)
		r = drop(t->new_dir, t->moving.hidden, -1, NULL);
	if (r >= 0)
		(void)write_step(t, MOVING_NOTHING);
	return r;
}

/* What a caller is to hear as it is; all else is for the kernel to say. */
static bool is_told(int r)
{
	return r == -ENOSPC || r == -EDQUOT || r == -ENOTEMPTY || r == -EEXIST;
}

/* From the record to the answer. */
static int rename_by_links(struct twin *t, const struct stat *source,
			   struct made_links *links)
{
	int r;

	r = note_all(t);
	if (r >= 0)
		r = make_twin(t, links);
	if (r >= 0)
		r = note_step(t, MOVING_SWAP);
	if (r >= 0)
		r = sys_renameat2(t->new_dir, t->moving.hidden, t->new_dir,
				  t->new_name, t->flags);
	if (r >= 0) {
		made_links_sort(links);
		return finish(t, source, links);
	}
	(void)take_back(t);
	return is_told(r) ? r : TWIN_NOT_OURS;
}

int twin_rename(struct twin *t)
{
	struct made_links links = { 0 };
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
	r = rename_by_links(t, &source, &links);
	made_links_free(&links);
	return r;
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
		return finish(t, NULL, NULL);
	(void)take_back(t);
	return TWIN_NOT_OURS;
}

void twin_forget(struct twin *t)
{
	(void)write_step(t, MOVING_NOTHING);
}
