/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/rename_call.h"

#include "base/auto.h"
#include "box/notify/caller.h"
#include "box/notify/twin.h"
#include "box/state.h"
#include "sys/attr.h"
#include "sys/caps.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/*
 * Rights
 * ------
 *
 * A worker does by its own rights, which are the box's, what a caller asks for.
 * So the caller must have the same rights.
 *
 *	(a) No process inside has given up rights by landlock: notify_page.
 *	(b) The caller is in the box's own mount and user namespace and root,
 *	    and has our user and groups.
 *	(c) The worker has the box's landlock rules and filter, and no
 *	    capability.
 *	(d) Neither it nor the notifier can be traced from inside, and they end
 *	    with the supervisor.
 *
 * A call that any of these is against goes on, and the kernel judges it.
 * tests/escape/rename.py
 */

#define OPAQUE "user.overlay.opaque"

/* One of the three calls. */
struct words {
	int old_dir, new_dir; /* the caller's */
	uint64_t old_name, new_name;
	unsigned flags;
};

/* A rename as the view has it; of two calls, a fresh one and a recovered. */
struct place {
	const struct notify_overlay *overlay;
	int old_dir, new_dir;
	char old_name[NAME_MAX + 1], new_name[NAME_MAX + 1];
	char old_path[PATH_MAX], new_path[PATH_MAX]; /* in the overlay */
};

static void read_words(const struct k_seccomp_data *call, struct words *ret)
{
	const uint64_t *args = call->args;

	if (call->nr == SYS_renameat || call->nr == SYS_renameat2)
		*ret = (struct words){ (int)args[0], (int)args[2], args[1],
				       args[3], 0 };
	else
		*ret = (struct words){ AT_FDCWD, AT_FDCWD, args[0], args[1],
				       0 };
	if (call->nr == SYS_renameat2)
		ret->flags = (unsigned)args[4];
}

static void close_place(struct place *place)
{
	fd_closep(&place->old_dir);
	fd_closep(&place->new_dir);
}

static const struct notify_overlay *find_overlay(const struct notifier *p,
						 int dir)
{
	uint64_t mount;

	if (sys_mount_id(dir, &mount) < 0)
		return NULL;
	for (size_t i = 0; i < p->n_overlays; i++)
		if (p->overlays[i].mount == mount)
			return &p->overlays[i];
	return NULL;
}

/* The path of `name` in `dir` from the root of the overlay. */
static int find_path(const struct notifier *p, const struct notify_overlay *o,
		     int dir, const char *name, char ret[PATH_MAX])
{
	char path[PATH_MAX];
	const char *rest;
	size_t n = strlen(o->dest);
	ssize_t len = caller_path_of(p->proc, dir, path, sizeof(path));
	int size;

	if (len < 0)
		return (int)len;
	/* "/" has its slash already. */
	if (n == 1)
		n = 0;
	if (strncmp(path, o->dest, n) != 0 ||
	    (path[n] != '/' && path[n] != '\0'))
		return -EXDEV;
	rest = path + n;
	rest += strspn(rest, "/");
	size = snprintf(ret, PATH_MAX, "%s%s%s", rest, rest[0] ? "/" : "",
			name);
	return size > 0 && size < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool has_dir(int layer, const char *path)
{
	auto_fd int fd =
		sys_openat2(layer, path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
			    K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);

	return fd >= 0;
}

/* 1: nothing below shows through it; 0: it does; -ENOENT: not there. */
static int is_opaque(int upper, const char *path)
{
	auto_fd int fd =
		sys_openat2(upper, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
			    K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);
	char value;

	if (fd < 0)
		return fd;
	return sys_fget_xattr(fd, OPAQUE, &value, 1) == 1 && value == 'y';
}

/* Whether it, or a directory above it, was made anew by the box. */
static bool is_new(const struct notify_overlay *o, const char *path)
{
	char part[PATH_MAX];

	for (const char *end = path; o->upper >= 0 && *end;) {
		int r;

		end += strspn(end, "/");
		end += strcspn(end, "/");
		(void)snprintf(part, sizeof(part), "%.*s", (int)(end - path),
			       path);
		r = is_opaque(o->upper, part);
		if (r != 0)
			return r > 0;
	}
	return false;
}

/* Whether the overlay may refuse to move the directory. */
static bool is_stuck(const struct notify_overlay *o, const char *path)
{
	for (size_t i = 0; i < o->n_lowers; i++)
		if (has_dir(o->lowers[i], path))
			return !is_new(o, path);
	return false;
}

/* One side: its directory, the name in it, and the path of both. */
static int open_side(const struct notifier *p, pid_t pid, int dirfd,
		     uint64_t address, int *ret_dir, char *ret_name)
{
	static char word[PATH_MAX];
	static struct caller_name name;
	const char *last = NULL;
	int r;

	r = caller_word(pid, address, word);
	if (r >= 0)
		r = caller_name(p->proc, pid, dirfd, word, &name);
	if (r >= 0)
		r = *ret_dir = caller_parent(&name, &last);
	if (r < 0)
		return r;
	if (strlen(last) > NAME_MAX)
		return -ENAMETOOLONG;
	(void)snprintf(ret_name, NAME_MAX + 1, "%s", last);
	return 0;
}

/* 0: one for a worker, with its descriptors; -errno: the call goes on. */
static int open_place(const struct notifier *p, const struct notify_call *call,
		      struct place *ret)
{
	pid_t pid = (pid_t)call->data.pid;
	struct words w;
	int r;

	read_words(&call->data.data, &w);
	ret->old_dir = ret->new_dir = -1;
	r = open_side(p, pid, w.old_dir, w.old_name, &ret->old_dir,
		      ret->old_name);
	if (r < 0)
		return r;
	ret->overlay = find_overlay(p, ret->old_dir);
	if (!ret->overlay)
		return -EXDEV;
	r = find_path(p, ret->overlay, ret->old_dir, ret->old_name,
		      ret->old_path);
	if (r >= 0 && !is_stuck(ret->overlay, ret->old_path))
		r = -EXDEV;
	if (r >= 0)
		r = open_side(p, pid, w.new_dir, w.new_name, &ret->new_dir,
			      ret->new_name);
	if (r >= 0 && find_overlay(p, ret->new_dir) != ret->overlay)
		r = -EXDEV;
	if (r >= 0)
		r = find_path(p, ret->overlay, ret->new_dir, ret->new_name,
			      ret->new_path);
	return r;
}

/* The common case: one read, and one look at the object. */
static bool is_directory(const struct notifier *p,
			 const struct notify_call *call)
{
	static char word[PATH_MAX];
	static struct caller_name name;
	pid_t pid = (pid_t)call->data.pid;
	struct words w;
	struct stat st;

	read_words(&call->data.data, &w);
	return pid > 0 && caller_word(pid, w.old_name, word) >= 0 &&
	       caller_name(p->proc, pid, w.old_dir, word, &name) >= 0 &&
	       sys_fstatat(name.at, name.name, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       S_ISDIR(st.st_mode);
}

enum notify_answer rename_look(struct notify *n, const struct notify_call *call,
			       int *ret_error)
{
	const struct notifier *p = n->process;
	struct notify_page *page = n->page;
	struct place place;
	size_t i = 0;
	int r;

	(void)ret_error;
	if (!p)
		return NOTIFY_FORK;
	if (page->is_restricted || !is_directory(p, call))
		return NOTIFY_GO_ON;
	r = open_place(p, call, &place);
	close_place(&place);
	while (i < NOTIFY_JOBS && page->jobs[i].state != NOTIFY_FREE)
		i++;
	/* Too many at once: as without us. */
	if (r < 0 || i == NOTIFY_JOBS)
		return NOTIFY_GO_ON;
	page->jobs[i] = *call;
	page->jobs[i].state = NOTIFY_WAITS;
	return NOTIFY_LATER;
}

/* The worker. */

struct work {
	struct notifier *p;
	struct notify_call *job;
	int listener;
};

static bool is_wanted(void *ctx)
{
	const struct work *w = ctx;

	return sys_seccomp_notif_is_valid(w->listener, w->job->data.id);
}

/* (c) */
static int give_up_rights(const struct notifier *p)
{
	static const struct caps none = { 0 };
	struct box box = *p->box;
	struct hb_error err = { 0 };
	int r;

	r = sys_caps_set(&none);
	if (r >= 0)
		r = step_landlock(&box, &err);
	return r < 0 ? r : seccomp_load_plain(&box, &err);
}

static void answer(const struct work *w, int r)
{
	uint64_t id = w->job->data.id;

	if (r == TWIN_DONE)
		(void)sys_seccomp_notif_done(w->listener, id);
	else
		(void)sys_seccomp_notif_answer(w->listener, id, r < 0 ? -r : 0);
}

static void fill_twin(struct work *w, const struct place *place,
		      struct twin *ret)
{
	*ret = (struct twin){
		.old_dir = place->old_dir,
		.new_dir = place->new_dir,
		.old_name = place->old_name,
		.new_name = place->new_name,
		.record = place->overlay->record,
		.is_wanted = is_wanted,
		.ctx = w,
		.entries_max = TWIN_ENTRIES_MAX,
		.bytes_max = TWIN_BYTES_MAX,
	};
	(void)snprintf(ret->moving.source, sizeof(ret->moving.source), "%s",
		       place->old_path);
	(void)snprintf(ret->moving.target, sizeof(ret->moving.target), "%s",
		       place->new_path);
}

static int begin(struct work *w)
{
	const struct k_seccomp_data *data = &w->job->data.data;
	static struct place place;
	static struct twin twin;
	struct words words;
	int r;

	w->job->state = NOTIFY_BEGUN;
	r = open_place(w->p, w->job, &place);
	/* (a), (b); and what was read is the caller's. */
	if (r < 0 || w->p->notify.page->is_restricted ||
	    !caller_is_equal(w->p->proc, (pid_t)w->job->data.pid) ||
	    !is_wanted(w) || give_up_rights(w->p) < 0) {
		answer(w, TWIN_NOT_OURS);
		return 0;
	}
	read_words(data, &words);
	fill_twin(w, &place, &twin);
	twin.flags = words.flags;
	r = twin_rename(&twin);
	answer(w, r);
	if (r == TWIN_DONE)
		twin_forget(&twin);
	return 0;
}

/* Of a path of the record, its directory and its name. */
static int open_recorded(const struct notify_overlay *o, const char *path,
			 char *ret_name)
{
	char parent[PATH_MAX], full[2 * PATH_MAX];
	const char *name = moving_split(path, parent);

	(void)snprintf(ret_name, NAME_MAX + 1, "%s", name);
	(void)snprintf(full, sizeof(full), "%s/%s", o->dest, parent);
	return sys_openat(AT_FDCWD, full, O_PATH | O_DIRECTORY, 0);
}

/* What a worker left that was killed. */
static int recover_one(struct work *w, const struct notify_overlay *o)
{
	static struct place place;
	static struct twin twin;
	static struct moving moving;
	int r = TWIN_NOT_OURS;

	if (!twin_read(o->record, &moving))
		return TWIN_NOT_OURS;
	place.overlay = o;
	place.old_dir = open_recorded(o, moving.source, place.old_name);
	place.new_dir = open_recorded(o, moving.target, place.new_name);
	fill_twin(w, &place, &twin);
	/* Without the directory there is nothing of it. */
	if (place.new_dir >= 0)
		r = twin_recover(&twin);
	answer(w, r);
	if (r == TWIN_DONE || place.new_dir < 0)
		twin_forget(&twin);
	close_place(&place);
	return r;
}

static int recover(struct work *w)
{
	if (give_up_rights(w->p) < 0)
		return -EPERM;
	for (size_t i = 0; i < w->p->n_overlays; i++)
		(void)recover_one(w, &w->p->overlays[i]);
	answer(w, TWIN_NOT_OURS);
	return 0;
}

void rename_work(struct notifier *p, struct notify_call *job)
{
	struct work w = {
		.p = p,
		.job = job,
		.listener = notify_listener(p, job->listener),
	};
	int r;

	(void)sys_umask(0);
	r = job->state == NOTIFY_BEGUN ? recover(&w) : begin(&w);
	sys_exit(r < 0 ? 1 : 0);
}
