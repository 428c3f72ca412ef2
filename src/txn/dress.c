/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/dress.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "base/quote.h"
#include "base/time.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/carry.h"
#include "tree/overlay.h"
#include "tree/tree.h"
#include "tree/xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define LABEL	  "security.selinux"
#define LABEL_MAX 512

struct label {
	char value[LABEL_MAX];
	ssize_t size; /* not above 0: the base has none */
};

/* Takes the marks off; `list` is all that it has. */
static int strip_listed(int fd, const char *list, size_t n, const char *path,
			struct hb_error *err)
{
	int r;

	for (const char *x = list; x < list + n; x += strlen(x) + 1) {
		if (!overlay_is_mark(x))
			continue;
		r = sys_remove_xattr(fd, x);
		if (r < 0 && r != -ENODATA)
			return hb_fail_at(err, r, path,
					  "cannot take the marks off");
	}
	return 0;
}

/* Removes the marks of one object. */
static int strip(int fd, const char *path, struct hb_error *err)
{
	auto_xattr_names struct xattr_names names = { 0 };
	int r = xattr_names_read(&names, fd, "");

	if (r < 0)
		return hb_fail_at(err, r, path,
				  "cannot list the attributes of");
	return strip_listed(fd, names.list, names.size, path, err);
}

static int set_label(int fd, const struct label *label, const char *path,
		     struct hb_error *err)
{
	int r;

	if (label->size <= 0)
		return 0;
	r = sys_set_xattr(fd, LABEL, label->value, (size_t)label->size);
	/* The policy decides who may relabel; the file is usable without. */
	if (r < 0 && r != -EPERM && r != -EACCES && r != -ENOTSUP)
		return hb_fail_at(err, r, path, "cannot label");
	return 0;
}

static int strip_one(void *ctx, const struct tree_visit *v,
		     struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	if (v->when == TREE_LEAVE)
		return 0;
	fd = sys_openat(v->dir, v->name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return hb_fail_at(err, fd, v->path, "cannot open");
	r = strip(fd, v->path, err);
	if (r < 0)
		return r;
	return set_label(fd, ctx, v->path, err);
}

/* That of the replaced object, else that of the directory it goes into. */
static void read_label(struct site *s, const struct place *base,
		       struct label *label)
{
	auto_fd int fd = -1;

	label->size = 0;
	if (!s->has_labels || base->dir < 0)
		return;
	fd = sys_openat(base->dir, base->name, O_PATH | O_NOFOLLOW, 0);
	label->size = sys_get_xattr(fd >= 0 ? fd : base->dir, LABEL,
				    label->value, sizeof(label->value));
}

/*
 * The common case, with as few calls as can be: no directory, and all is right
 * about it but perhaps for marks.  1: it had some, 0: it had none, -EAGAIN: it
 * is not that case.
 */
static int dress_plain(struct site *s, const struct op *op,
		       const struct place *source, const struct object *now,
		       struct hb_error *err)
{
	auto_fd int fd = -1;
	char names[1024];
	bool has_marks = false;
	ssize_t n;
	int r;

	if (s->has_labels || now->type == ENTRY_DIR || now->uid != op->uid ||
	    now->gid != op->gid ||
	    (now->mode != op->mode && now->type != ENTRY_LINK))
		return -EAGAIN;
	n = sys_list_xattrs_at(source->dir, source->name, names, sizeof(names));
	if (n < 0)
		return -EAGAIN;
	for (const char *x = names; x < names + n; x += strlen(x) + 1)
		has_marks = has_marks || overlay_is_mark(x);
	if (!has_marks)
		return 0;
	/* A file that its owner may not write needs a change of mode for it. */
	if (now->type != ENTRY_FILE || !(now->mode & USER_WRITE))
		return -EAGAIN;
	fd = sys_openat(source->dir, source->name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return hb_fail_at(err, fd, op->path, "cannot open");
	r = strip_listed(fd, names, (size_t)n, op->path, err);
	return r < 0 ? r : 1;
}

int dress_mode(const struct place *p, const struct object *now, mode_t mode,
	       struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	if (now->type == ENTRY_LINK || now->type == ENTRY_NONE ||
	    now->mode == mode)
		return 0;
	if (*p->name == '\0') {
		r = sys_chmod_fd(p->dir, mode);
	} else {
		fd = sys_openat(p->dir, p->name, O_PATH | O_NOFOLLOW, 0);
		r = fd < 0 ? fd : sys_chmod_fd(fd, mode);
	}
	return r < 0 ? hb_fail_at(err, r, p->name, "cannot set the mode of")
		     : 0;
}

static int set_owner(const struct place *p, const struct object *now, uid_t uid,
		     gid_t gid, struct hb_error *err)
{
	int r;

	if (now->uid == uid && now->gid == gid)
		return 0;
	r = sys_chown_at(p->dir, p->name, uid, gid);
	/* A group that we are not in stays the one it is. */
	if (r == -EPERM && now->uid == uid)
		return 0;
	return r < 0 ? hb_fail_at(err, r, p->name, "cannot set the owner of")
		     : 0;
}

/* Owner before mode: a new owner costs the setuid bit. */
static int set_attributes(const struct place *p, uid_t uid, gid_t gid,
			  mode_t mode, struct hb_error *err)
{
	struct object now;
	int r;

	r = place_read(p, &now, err);
	if (r < 0)
		return r;
	r = set_owner(p, &now, uid, gid, err);
	if (r < 0)
		return r;
	r = place_read(p, &now, err);
	return r < 0 ? r : dress_mode(p, &now, mode, err);
}

static int set_dir_time(const struct place *p, struct timespec mtime,
			struct hb_error *err)
{
	struct object now;
	int r;

	r = place_read(p, &now, err);
	if (r < 0 || now.type != ENTRY_DIR || time_is_same(now.mtime, mtime))
		return r;
	r = sys_set_mtime_at(p->dir, p->name, mtime);
	return r < 0 ? hb_fail_at(err, r, p->name, "cannot set the time of")
		     : 0;
}

int dress_moved(const struct place *p, const struct object *now, mode_t mode,
		struct timespec mtime, struct hb_error *err)
{
	bool is_late =
		now->type == ENTRY_DIR && !time_is_same(now->mtime, mtime);
	int r = is_late ? sys_set_mtime_at(p->dir, p->name, mtime) : 0;

	if (r == -EPERM)
		is_late = false;
	else if (r < 0)
		return hb_fail_at(err, r, p->name, "cannot set the time of");
	r = dress_mode(p, now, mode, err);
	return r < 0 ? r : is_late;
}

/*
 * The kernel lets no owner change the attributes of what he may not write.  The
 * mode is set last, in either direction, so a crash in between costs nothing.
 */
static int make_writable(int fd, const struct op *op)
{
	if ((op->new.type != ENTRY_FILE && op->new.type != ENTRY_DIR) ||
	    op->new.mode & USER_WRITE)
		return 0;
	return sys_chmod_fd(fd, op->new.mode | USER_WRITE);
}

/* A copy has everything right but the label, which depends on the place. */
static int label_copy(struct site *s, const struct op *op,
		      const struct place *source, const struct place *base,
		      struct hb_error *err)
{
	auto_fd int fd = -1;
	struct label label;
	int r;

	read_label(s, base, &label);
	if (label.size <= 0)
		return 0;
	fd = sys_openat(source->dir, source->name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return hb_fail_at(err, fd, op->path, "cannot open");
	r = set_label(fd, &label, op->path, err);
	return r < 0 ? r : 1;
}

/* Marks go and labels come, for all that lies below as well. */
static int strip_all(const struct op *op, const struct place *source, int fd,
		     struct label *label, struct hb_error *err)
{
	int r = make_writable(fd, op);

	if (r < 0)
		return r;
	r = strip(fd, op->path, err);
	if (r < 0)
		return r;
	r = set_label(fd, label, op->path, err);
	if (r < 0 || op->new.type != ENTRY_DIR)
		return r;
	/* Without it nothing below can be reached, nor can it move. */
	if ((op->new.mode &USER_ALL) != USER_ALL)
		r = sys_chmod_fd(fd, op->new.mode | USER_ALL);
	if (r < 0)
		return r;
	return tree_walk(source->dir, source->name, 0, strip_one, label, err);
}

int dress_for_base(struct site *s, const struct op *op,
		   const struct place *source, const struct object *now,
		   const struct place *base, struct hb_error *err)
{
	bool is_dir = op->new.type == ENTRY_DIR;
	auto_fd int fd = -1;
	struct label label;
	int r;

	if (op->source != SOURCE_LAYER)
		return label_copy(s, op, source, base, err);
	r = dress_plain(s, op, source, now, err);
	if (r != -EAGAIN)
		return r;
	read_label(s, base, &label);
	fd = sys_openat(source->dir, source->name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return hb_fail_at(err, fd, op->path, "cannot open");
	r = strip_all(op, source, fd, &label, err);
	if (r >= 0)
		r = set_attributes(source, op->uid, op->gid,
				   is_dir ? op->mode | USER_ALL : op->mode,
				   err);
	if (r < 0)
		return hb_fail_at(err, r, op->path, "cannot prepare");
	r = is_dir ? set_dir_time(source, op->new.mtime, err) : 0;
	return r < 0 ? r : 1;
}

/* Unless it is there: what was put back before a crash stays. */
static int put_mark(int fd, const char *name, const char *value)
{
	return sys_get_xattr(fd, name, NULL, 0) >= 0
		       ? 0
		       : sys_set_xattr(fd, name, value, strlen(value));
}

static int put_marks(int fd, const struct op *op)
{
	int r = op->effect & (OP_OPAQUE | OP_ORIGIN) ? make_writable(fd, op)
						     : 0;

	if (r < 0)
		return r;
	r = op->effect & OP_OPAQUE ? put_mark(fd, OVERLAY_PREFIX "opaque", "y")
				   : 0;
	if (r < 0)
		return r;
	return op->effect & OP_ORIGIN
		       ? put_mark(fd, OVERLAY_PREFIX "origin", "")
		       : 0;
}

int dress_for_layer(const struct op *op, const struct place *source,
		    struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	if (op->source != SOURCE_LAYER) {
		struct object now;

		r = place_read(source, &now, err);
		return r < 0 ? r : dress_mode(source, &now, op->mode, err);
	}
	fd = sys_openat(source->dir, source->name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return hb_fail_at(err, fd, op->path, "cannot open");
	r = put_marks(fd, op);
	if (r < 0)
		return hb_fail_at(err, r, op->path,
				  "cannot put the marks back on");
	r = set_attributes(source, op->new.uid, op->new.gid, op->new.mode, err);
	if (r < 0 || op->new.type != ENTRY_DIR)
		return r;
	return set_dir_time(source, op->new.mtime, err);
}

/* A directory by its descriptor, which need not be searchable. */
static struct place place_of(int fd)
{
	return (struct place){ .dir = fd, .name = "" };
}

static int open_up(int fd, const struct object *now, const char *path,
		   struct hb_error *err)
{
	int r;

	if ((now->mode & USER_CHANGE) == USER_CHANGE)
		return 0;
	r = sys_chmod_fd(fd, now->mode | USER_CHANGE);
	return r < 0 ? hb_fail_at(err, r, path, "cannot open up") : 0;
}

static int fail_conflict(const char *path, struct hb_error *err)
{
	return hb_fail(err, -HB_E_CONFLICT, "the directory %s has changed",
		       quoted(*path ? path : "."));
}

/* The directory of that path in the upper, if it is the one of the plan. */
static int dress_likeness(struct site *s, const struct op *op, bool opens,
			  struct hb_error *err)
{
	auto_fd int fd = -1;
	struct object now;
	struct place p;
	int r;

	if (op->layer.type != ENTRY_DIR)
		return 0;
	fd = site_open_upper_dir(s, op->path, NULL);
	if (fd < 0)
		return 0;
	p = place_of(fd);
	r = place_read(&p, &now, err);
	if (r < 0 || !object_is(&now, &op->layer))
		return r;
	if (opens)
		return open_up(fd, &now, op->path, err);
	r = set_dir_time(&p, op->layer.mtime, err);
	return r < 0 ? r : dress_mode(&p, &now, op->layer.mode, err);
}

int dress_has_attributes(const struct op *op, int fd, const struct object *now,
			 bool after)
{
	if ((op->mode != op->old.mode &&
	     now->mode != (after ? op->mode : op->old.mode)) ||
	    (op->uid != op->old.uid &&
	     now->uid != (after ? op->uid : op->old.uid)) ||
	    (op->gid != op->old.gid &&
	     now->gid != (after ? op->gid : op->old.gid)))
		return 0;
	if (!(op->effect & OP_XATTRS))
		return 1;
	return carry_has_xattrs(fd, after ? &op->new_xattrs : &op->old_xattrs);
}

int dress_open_dir(struct site *s, const struct op *op, bool is_first,
		   struct hb_error *err)
{
	auto_fd int fd = -1;
	struct object now;
	struct place p;
	int r;

	if (op->effect & OP_IN_UPPER)
		return dress_likeness(s, op, true, err);
	fd = site_open_base_dir(s, op->path, NULL);
	/* A new directory need not be there yet, or any more. */
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return (op->effect & OP_IN_NEW) || (op->identity & OP_REMADE)
			       ? dress_likeness(s, op, true, err)
			       : fail_conflict(op->path, err);
	if (fd < 0)
		return hb_fail_at(err, fd, op->path, "cannot open");
	p = place_of(fd);
	r = place_read(&p, &now, err);
	if (r < 0)
		return r;
	/* Of a type change the other side may still be there. */
	if (!op_is_old(op, &now))
		return op->effect & OP_IN_NEW ? dress_likeness(s, op, true, err)
					      : fail_conflict(op->path, err);
	r = is_first ? dress_has_attributes(op, fd, &now, false) : 1;
	if (r <= 0)
		return r < 0 ? hb_fail_at(err, r, op->path, "cannot look at")
			     : fail_conflict(op->path, err);
	r = open_up(fd, &now, op->path, err);
	return r < 0 ? r : dress_likeness(s, op, true, err);
}

/*
 * The root's picture follows in what the operation changes: from then on it is
 * that which a change of the root is told from.
 */
static int follow_top(struct site *s, const struct op *op, bool back,
		      struct hb_error *err)
{
	uid_t uid = back ? op->old.uid : op->uid;
	gid_t gid = back ? op->old.gid : op->gid;
	mode_t mode = back ? op->old.mode : op->mode;
	struct object now;
	struct place p;
	int r;

	p = place_of(s->resource->top);
	r = place_read(&p, &now, err);
	if (r < 0)
		return r;
	if (op->effect & OP_XATTRS) {
		r = open_up(p.dir, &now, op->path, err);
		if (r < 0)
			return r;
		r = carry_set_xattrs(p.dir,
				     back ? &op->old_xattrs : &op->new_xattrs);
		if (r < 0)
			return r;
	}
	r = set_owner(&p, &now, op->uid != op->old.uid ? uid : now.uid,
		      op->gid != op->old.gid ? gid : now.gid, err);
	if (r < 0)
		return r;
	if (op->mode == op->old.mode)
		mode = now.mode;
	r = place_read(&p, &now, err);
	return r < 0 ? r : dress_mode(&p, &now, mode, err);
}

static int dress_top(struct site *s, const struct op *op, bool back,
		     struct hb_error *err)
{
	int r = *op->path == '\0' && s->resource->top >= 0
			? follow_top(s, op, back, err)
			: 0;

	return r < 0 ? hb_fail_at(err, r, ".",
				  "cannot remember the attributes of")
		     : 0;
}

int dress_close_dir(struct site *s, const struct op *op, bool back,
		    struct hb_error *err)
{
	const struct object *to = back ? &op->old : &op->new;
	auto_fd int fd = -1;
	struct object now;
	struct place p;
	int r;

	r = dress_likeness(s, op, false, err);
	if (r < 0 || (op->effect & OP_IN_UPPER))
		return r;
	fd = site_open_base_dir(s, op->path, NULL);
	/* Going back, a directory that we had added is gone again. */
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return 0;
	if (fd < 0)
		return hb_fail_at(err, fd, op->path, "cannot open");
	p = place_of(fd);
	r = place_read(&p, &now, err);
	if (r < 0 || !op_is_old(op, &now))
		return r;
	if (op->effect & OP_XATTRS) {
		r = carry_set_xattrs(fd,
				     back ? &op->old_xattrs : &op->new_xattrs);
		if (r < 0)
			return hb_fail_at(err, r, op->path,
					  "cannot set the attributes of");
	}
	r = set_owner(&p, &now, back ? op->old.uid : op->uid,
		      back ? op->old.gid : op->gid, err);
	if (r < 0)
		return r;
	r = op->effect & OP_KEEP_TIME ? 0 : set_dir_time(&p, to->mtime, err);
	if (r < 0)
		return r;
	r = place_read(&p, &now, err);
	if (r < 0)
		return r;
	r = dress_mode(&p, &now, back ? op->old.mode : op->mode, err);
	return r < 0 ? r : dress_top(s, op, back, err);
}
