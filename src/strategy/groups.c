/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/groups.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "changes/resource.h"
#include "changes/walk.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/overlay.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Entries in the layer for what the box could not copy up itself.
 *
 * (a) Nothing that the layer has or hides is touched: not what was changed in
 *     it, not what was removed, nothing below an opaque directory.
 * (b) An entry that was made and not touched is gone after the box, known by
 *     inode and change time.  So a later change in the base shows through.
 * (c) Times of directories are as before.
 *
 * The list is written first and has one record for each entry, parents before
 * what is in them; it is read backwards to remove them.  tests/txn/groups.sh
 * holds all of it.
 */

#define LIST	       "groups"
#define GROUPS_MAX     65536
#define PROBE_MAX      1000
#define PATH_SIZE      65536
#define GROUP_FILE_MAX 262144

#define ORIGIN OVERLAY_PREFIX "origin"
#define OPAQUE OVERLAY_PREFIX "opaque"

/* What ends a walk early and is no failure. */
#define ENOUGH (-HB_E_END)

struct who {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t n;
};

static void who_done(struct who *who)
{
	free(who->groups);
}
#define auto_who __attribute__((cleanup(who_done)))

static int who_init(struct who *who, struct hb_error *err)
{
	int n = sys_groups(NULL, 0);

	who->uid = sys_effective_uid();
	who->gid = sys_effective_gid();
	if (n <= 0)
		return n < 0 ? hb_fail(err, n, "cannot tell the groups") : 0;
	if (n > GROUPS_MAX)
		n = GROUPS_MAX;
	who->groups = calloc((size_t)n, sizeof(*who->groups));
	if (!who->groups)
		return hb_fail(err, -ENOMEM, "cannot tell the groups");
	n = sys_groups(who->groups, (size_t)n);
	if (n < 0)
		return hb_fail(err, n, "cannot tell the groups");
	who->n = (size_t)n;
	return 0;
}

static bool is_member(const struct who *who, gid_t gid)
{
	for (size_t i = 0; i < who->n; i++)
		if (who->groups[i] == gid)
			return true;
	return false;
}

/* Root's box knows every group. */
static bool is_foreign(const struct who *who, const struct sys_attr *a)
{
	return who->uid != 0 && a->uid == who->uid && a->gid != who->gid;
}

struct probe {
	struct who who;
	struct groups_found *found;
	size_t n;
};

static int probe_one(void *ctx, const struct tree_visit *v,
		     struct hb_error *err)
{
	struct probe *p = ctx;

	(void)err;
	if (v->when == TREE_LEAVE)
		return 0;
	if (is_foreign(&p->who, &v->attr)) {
		p->found->gid = v->attr.gid;
		p->found->is_member = is_member(&p->who, v->attr.gid);
		p->n = PROBE_MAX + 1;
		return ENOUGH;
	}
	return ++p->n < PROBE_MAX ? 0 : ENOUGH;
}

int groups_probe(int base, struct groups_found *ret_found, struct hb_error *err)
{
	static const char *const first[] = { "", ".git" };
	struct groups_found found = { 0 };
	struct probe p = { .found = &found };
	struct hb_error why = { 0 };
	int r;

	r = who_init(&p.who, err);
	for (size_t i = 0; r >= 0 && i < 2 && p.n <= PROBE_MAX; i++) {
		struct tree_visit v = { .when = TREE_ENTER };

		if (sys_attr_at(base, first[i], &v.attr) >= 0)
			(void)probe_one(&p, &v, err);
	}
	if (r >= 0 && p.n <= PROBE_MAX)
		r = tree_walk(base, ".", TREE_LENIENT, probe_one, &p, &why);
	who_done(&p.who);
	if (r < 0 && r != ENOUGH)
		return hb_pass(err, &why, r);
	if (p.n <= PROBE_MAX)
		return 0;
	*ret_found = found;
	return 1;
}

int groups_matter(int base, bool asked, struct hb_error *err)
{
	auto_who struct who who = { 0 };
	bool has_others = false;
	struct sys_attr root;
	int r;

	r = who_init(&who, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < who.n; i++)
		has_others = has_others || who.groups[i] != who.gid;
	if (who.uid == 0 || !has_others)
		return 0;
	r = sys_attr_at(base, "", &root);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the directory");
	return asked || (root.mode & S_ISGID) || root.gid != who.gid;
}

void groups_name(gid_t gid, char *ret, size_t size)
{
	auto_free char *text = malloc(GROUP_FILE_MAX);
	char wanted[32];
	const char *line;

	(void)snprintf(ret, size, "%u", (unsigned)gid);
	(void)snprintf(wanted, sizeof(wanted), ":%u:", (unsigned)gid);
	if (!text ||
	    sys_read_file_at(AT_FDCWD, "/etc/group", text, GROUP_FILE_MAX) < 0)
		return;
	/* NAME:PASSWORD:NUMBER:MEMBERS */
	for (line = text; *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		size_t name = strcspn(line, ":\n"), rest;

		if (line[name] != ':')
			continue;
		rest = name + 1 + strcspn(line + name + 1, ":\n");
		if (strncmp(line + rest, wanted, strlen(wanted)) == 0) {
			(void)snprintf(ret, size, "'%.*s'", (int)name, line);
			return;
		}
	}
}

/* In the list before the path; after it comes `size` once more. */
struct note {
	uint32_t size; /* of all of it */
	uint32_t len;  /* of the path */
	uint32_t is_dir, is_untouched;
	uint64_t ino;	   /* or one of the below */
	int64_t sec, nsec; /* ctime */
};

#define INO_UNKNOWN 0	       /* no box has run: what is there is ours */
#define INO_NONE    UINT64_MAX /* nothing was made */

struct list {
	int fd;
	uint64_t end;
	char path[PATH_SIZE];
};

static int list_add(struct list *l, const char *path, bool is_dir,
		    struct hb_error *err)
{
	size_t len = strlen(path);
	struct note note = { .len = (uint32_t)len, .is_dir = is_dir };
	int r;

	note.size = (uint32_t)(sizeof(note) + len + sizeof(note.size));
	r = sys_pwrite_all(l->fd, &note, sizeof(note), l->end);
	if (r >= 0)
		r = sys_pwrite_all(l->fd, path, len, l->end + sizeof(note));
	if (r >= 0)
		r = sys_pwrite_all(l->fd, &note.size, sizeof(note.size),
				   l->end + sizeof(note) + len);
	if (r < 0)
		return hb_fail(err, r, "cannot note a copy");
	l->end += note.size;
	return 0;
}

/* 1: the note at `at` and its path; 0: there is none, or a torn one. */
static int list_get(struct list *l, uint64_t at, struct note *ret)
{
	if (sys_pread_full(l->fd, ret, sizeof(*ret), at) !=
		    (ssize_t)sizeof(*ret) ||
	    ret->len >= PATH_SIZE ||
	    ret->size != sizeof(*ret) + ret->len + sizeof(ret->size) ||
	    sys_pread_full(l->fd, l->path, ret->len, at + sizeof(*ret)) !=
		    (ssize_t)ret->len)
		return 0;
	l->path[ret->len] = '\0';
	return 1;
}

/* Where the note before the one at `at` begins. */
static int list_before(const struct list *l, uint64_t *at)
{
	uint32_t size;

	if (*at < sizeof(size) ||
	    sys_pread_full(l->fd, &size, sizeof(size), *at - sizeof(size)) !=
		    (ssize_t)sizeof(size) ||
	    size > *at)
		return 0;
	*at -= size;
	return 1;
}

/* The last component of `path`; *ret_len is the length of what is before. */
static const char *split(const char *path, size_t *ret_len)
{
	const char *slash = strrchr(path, '/');

	*ret_len = slash ? (size_t)(slash - path) : 0;
	return slash ? slash + 1 : path;
}

struct prepare {
	const struct resource *resource;
	struct who who;
	struct list *list;
	struct buf path; /* of the directory that was looked at last */
	bool has_path, is_hidden;
	int dir; /* it, in the layer; -1: not there, or hidden */
};

static bool has_marks(int dirfd, const char *name)
{
	char names[4096];
	ssize_t n = sys_list_xattrs_at(dirfd, name, names, sizeof(names));

	for (const char *x = names; n > 0 && x < names + n; x += strlen(x) + 1)
		if (strncmp(x, OVERLAY_PREFIX, strlen(OVERLAY_PREFIX)) == 0)
			return true;
	return n < 0;
}

/* To the overlay it is a copy that it made itself. */
static int mark_copied(int dirfd, const char *name, mode_t mode)
{
	auto_fd int fd = sys_openat(dirfd, name, O_PATH | O_NOFOLLOW, 0);
	bool is_closed = !(mode & S_IWUSR);
	int r = fd < 0 ? fd : 0;

	if (r == 0 && is_closed)
		r = sys_chmod_fd(fd, mode | S_IWUSR);
	if (r == 0)
		r = sys_set_xattr(fd, ORIGIN, "", 0);
	if (r == 0 && is_closed)
		r = sys_chmod_fd(fd, mode);
	return r;
}

static int copy_one(const struct prepare *p, int from, int to, const char *name,
		    bool in_layer, struct hb_error *err)
{
	struct entry entry;
	struct carry carry = { .from = from,
			       .name = name,
			       .entry = &entry,
			       .flags = in_layer ? CARRY_FROM_LAYER : 0 };
	struct sys_attr parent, there;
	int r;

	r = in_layer ? entry_read_layer(from, name, &entry, err)
		     : entry_read_base(from, name, &entry, err);
	if (r < 0)
		return r;
	/* What its owner may not read would have to be opened up for it. */
	if (entry.uid != p->who.uid || (!in_layer && has_marks(from, name)) ||
	    (entry.type != ENTRY_LINK && entry.type != ENTRY_DIR &&
	     (entry.type != ENTRY_FILE || !(entry.mode & S_IRUSR))) ||
	    sys_attr_at(to, name, &there) != -ENOENT)
		return 0;
	carry.mode = entry.mode;
	carry.uid = entry.uid;
	carry.gid = p->who.gid;
	r = sys_attr_at(to, "", &parent);
	if (r < 0)
		return hb_fail(err, r, "cannot look at a layer");
	if ((parent.mode & 0300) != 0300)
		return 0;
	r = carry_copy(&carry, to, name, err);
	if (r < 0)
		return r;
	r = entry.type == ENTRY_LINK ? 0 : mark_copied(to, name, entry.mode);
	if (r >= 0)
		r = sys_set_mtime_at(to, "", parent.mtime);
	return r < 0 ? hb_fail(err, r, "cannot prepare a copy") : 0;
}

/*
 * Finds the directory in the layer.  Of what is not there each directory on the
 * way is noted, to be made later.
 */
static int find_layer_dir(struct prepare *p, char *path, size_t len,
			  struct hb_error *err)
{
	auto_fd int dir =
		sys_openat(p->resource->upper, ".", O_RDONLY | O_DIRECTORY, 0);
	bool is_there = true;
	size_t at = 0;
	int r = 0;

	if (dir < 0)
		return hb_fail(err, dir, "cannot open a layer");
	while (r >= 0 && at < len) {
		size_t n = strcspn(path + at, "/");
		char end = path[at + n];

		path[at + n] = '\0';
		if (is_there) {
			int next = sys_openat(
				dir, path + at,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

			sys_close(dir);
			dir = next;
			is_there = next != -ENOENT;
			p->is_hidden =
				is_there &&
				(next < 0 ||
				 sys_get_xattr(next, OPAQUE, NULL, 0) >= 0);
		}
		if (p->is_hidden)
			return 0;
		if (!is_there)
			r = list_add(p->list, path, true, err);
		path[at + n] = end;
		at += n + (end == '/');
	}
	if (r >= 0 && is_there)
		p->dir = take_fd(&dir);
	return r;
}

/* Siblings follow each other, so that the last directory is kept open. */
static int enter(struct prepare *p, const char *path, size_t len,
		 struct hb_error *err)
{
	auto_free char *copy = NULL;
	int r;

	if (p->has_path && p->path.len == len &&
	    memcmp(buf_str(&p->path), path, len) == 0)
		return 0;
	if (p->dir >= 0)
		sys_close(p->dir);
	p->dir = -1;
	p->is_hidden = false;
	buf_cut(&p->path, 0);
	copy = strndup(path, len);
	r = copy ? buf_add(&p->path, path, len) : -ENOMEM;
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	r = find_layer_dir(p, copy, len, err);
	p->has_path = r >= 0;
	return r;
}

/* 1: the layer has something at the path or hides it, 0: neither. */
static bool is_in_layer(int layer, const char *path)
{
	auto_fd int dir = sys_openat(layer, ".", O_PATH | O_DIRECTORY, 0);
	char name[NAME_MAX + 1];
	struct sys_attr there;

	for (const char *at = path; dir >= 0 && *at;) {
		size_t n = strcspn(at, "/");
		int next;

		(void)snprintf(name, sizeof(name), "%.*s", (int)n, at);
		if (at[n] == '\0')
			return sys_attr_at(dir, name, &there) != -ENOENT;
		next = sys_openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW,
				  0);
		if (next == -ENOENT)
			return false;
		if (next < 0)
			return true;
		sys_close(dir);
		dir = next;
		if (sys_get_xattr(dir, OPAQUE, NULL, 0) >= 0)
			return true;
		at += n + 1;
	}
	return true;
}

/* What a frozen layer has is not the base's any more. */
static bool is_frozen(const struct resource *resource, const char *path)
{
	for (size_t i = 1; i < resource->n_layers; i++)
		if (is_in_layer(resource->layers[i], path))
			return true;
	return false;
}

static int note_one(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	struct prepare *p = ctx;
	struct sys_attr there;
	size_t len;
	int r;

	if (v->when == TREE_LEAVE || !is_foreign(&p->who, &v->attr) ||
	    !is_member(&p->who, v->attr.gid) || strlen(v->path) >= PATH_SIZE ||
	    walk_is_store(v->path, p->resource->store_name))
		return 0;
	(void)split(v->path, &len);
	r = enter(p, v->path, len, err);
	if (r < 0 || p->is_hidden)
		return r;
	if (p->dir >= 0 && sys_attr_at(p->dir, v->name, &there) != -ENOENT)
		return 0;
	if (is_frozen(p->resource, v->path))
		return 0;
	return list_add(p->list, v->path, S_ISDIR(v->attr.mode), err);
}

static int open_parent(const struct resource *resource, const char *path,
		       const char **ret_name)
{
	size_t len;

	*ret_name = split(path, &len);
	return access_open_below(resource->upper, path, len, O_PATH, NULL);
}

/* Where the directory that the upper is to have looks like it does now. */
static int find_source(const struct resource *resource, const char *path,
		       bool is_dir, bool *ret_in_layer)
{
	for (size_t i = 1; is_dir && i < resource->n_layers; i++) {
		auto_fd int fd = access_open_below(resource->layers[i], path,
						   strlen(path), O_PATH, NULL);

		*ret_in_layer = fd >= 0;
		if (fd >= 0)
			return resource->layers[i];
	}
	*ret_in_layer = false;
	return resource->base;
}

/* Parents come first; what cannot be made leaves what is in it out. */
static int make_all(const struct prepare *p, struct hb_error *err)
{
	struct list *l = p->list;
	struct note note;
	int r = 0;

	for (uint64_t at = 0; r >= 0 && list_get(l, at, &note);
	     at += note.size) {
		const char *name;
		auto_fd int to = open_parent(p->resource, l->path, &name);
		bool in_layer;
		int root = find_source(p->resource, l->path, note.is_dir != 0,
				       &in_layer);
		auto_fd int from = access_open_below(
			root, l->path, (size_t)(name - l->path), O_PATH, NULL);

		if (to >= 0 && from >= 0)
			r = copy_one(p, from, to, name, in_layer, err);
	}
	return r;
}

/* Known by these when the box has ended; all of it has been made by now. */
static int identify_all(const struct resource *resource, struct list *l)
{
	struct note note;
	int r = 0;

	for (uint64_t at = 0; r >= 0 && list_get(l, at, &note);
	     at += note.size) {
		const char *name;
		auto_fd int dir = open_parent(resource, l->path, &name);
		struct sys_attr now = { .ino = INO_NONE };

		if (dir >= 0)
			(void)sys_attr_at(dir, name, &now);
		note.ino = now.ino;
		note.sec = now.ctime.tv_sec;
		note.nsec = now.ctime.tv_nsec;
		r = sys_pwrite_all(l->fd, &note, sizeof(note), at);
	}
	return r;
}

/*
 * The list is on disk before the first copy, which a power cut could leave half
 * written.  With the identities it is on disk before the box could touch a
 * copy.
 */
static int prepare(struct prepare *p, struct hb_error *err)
{
	const struct resource *resource = p->resource;
	int r;

	r = who_init(&p->who, err);
	if (r >= 0)
		r = tree_walk(resource->base, ".", TREE_LENIENT, note_one, p,
			      err);
	if (r < 0 || p->list->end == 0)
		return r;
	r = sys_fsync(p->list->fd);
	if (r >= 0)
		r = sys_fsync(resource->dir);
	if (r < 0)
		return hb_fail(err, r, "cannot sync the notes on copies");
	r = make_all(p, err);
	if (r < 0)
		return r;
	r = identify_all(resource, p->list);
	if (r >= 0)
		r = sys_fsync(p->list->fd);
	return r < 0 ? hb_fail(err, r, "cannot note the copies") : 0;
}

int groups_prepare(const struct resource *resource, struct hb_error *err)
{
	auto_free struct list *list = calloc(1, sizeof(*list));
	struct prepare p = { .resource = resource,
			     .list = list,
			     .path = BUF_INIT(PATH_SIZE),
			     .dir = -1 };
	auto_fd int fd = -1;
	int r;

	if (!list)
		return hb_fail(err, -ENOMEM, "cannot prepare a layer");
	fd = sys_openat(resource->dir, LIST,
			O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return hb_fail(err, fd, "cannot note the copies");
	list->fd = fd;
	r = prepare(&p, err);
	if (p.dir >= 0)
		sys_close(p.dir);
	buf_done(&p.path);
	who_done(&p.who);
	if (r < 0)
		return hb_fail(err, r,
			       "cannot prepare the files of other groups");
	return 0;
}

static void remove_untouched(const struct resource *resource, const char *path,
			     bool is_dir)
{
	struct sys_attr parent;
	const char *name;
	auto_fd int dir = open_parent(resource, path, &name);

	/* A directory with something in it stays: that was touched. */
	if (dir < 0 || sys_attr_at(dir, "", &parent) < 0 ||
	    sys_unlinkat(dir, name, is_dir ? AT_REMOVEDIR : 0) < 0)
		return;
	(void)sys_set_mtime_at(dir, "", parent.mtime);
}

static bool is_as_noted(const struct note *note, const struct sys_attr *now)
{
	return note->ino == INO_UNKNOWN ||
	       (now->ino == note->ino && now->ctime.tv_sec == note->sec &&
		now->ctime.tv_nsec == note->nsec);
}

int groups_settle(const struct resource *resource, struct hb_error *err)
{
	auto_free struct list *l = NULL;
	auto_fd int fd =
		sys_openat(resource->dir, LIST, O_RDWR | O_NOFOLLOW, 0);
	struct note note;
	uint64_t at = 0;
	int r = 0;

	if (fd == -ENOENT)
		return 0;
	l = fd < 0 ? NULL : calloc(1, sizeof(*l));
	if (!l)
		return hb_fail(err, fd < 0 ? fd : -ENOMEM,
			       "cannot read the notes on copies");
	l->fd = fd;
	/* Looked at before the first goes, which changes its directory. */
	for (; r >= 0 && list_get(l, at, &note); at += note.size) {
		const char *name;
		auto_fd int dir = open_parent(resource, l->path, &name);
		struct sys_attr now;

		note.is_untouched = dir >= 0 &&
				    sys_attr_at(dir, name, &now) >= 0 &&
				    is_as_noted(&note, &now);
		r = sys_pwrite_all(fd, &note, sizeof(note), at);
	}
	if (r < 0)
		return hb_fail(err, r, "cannot mark a copy");
	while (list_before(l, &at) && list_get(l, at, &note))
		if (note.is_untouched)
			remove_untouched(resource, l->path, note.is_dir);
	r = sys_unlinkat(resource->dir, LIST, 0);
	return r < 0 ? hb_fail(err, r, "cannot remove the notes on copies") : 0;
}
