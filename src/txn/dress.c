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
#include "tree/access.h"
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

/* What an object is to have.  NULL: that stays as it is. */
struct attributes {
	uid_t uid;
	gid_t gid;
	mode_t mode;
	const struct timespec *mtime;	 /* of a directory */
	const struct xattr_list *xattrs; /* of a directory by its descriptor */
};

static int open_object(const struct place *p, const char *path,
		       struct hb_error *err)
{
	int fd = sys_openat(p->dir, p->name, O_PATH | O_NOFOLLOW, 0);

	return fd < 0 ? hb_fail_at(err, fd, path, "cannot open") : fd;
}

static int strip_marks(int fd, const struct xattr_names *names,
		       const char *path, struct hb_error *err)
{
	const char *end = names->list + names->size;
	int r;

	for (const char *x = names->list; x < end; x += strlen(x) + 1) {
		if (!overlay_is_mark(x))
			continue;
		r = sys_remove_xattr(fd, x);
		if (r < 0 && r != -ENODATA)
			return hb_fail_at(err, r, path,
					  "cannot take the marks off");
	}
	return 0;
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

/* Marks go and the label comes, of one object. */
static int strip(int fd, const struct label *label, const char *path,
		 struct hb_error *err)
{
	auto_xattr_names struct xattr_names names = { 0 };
	int r = xattr_names_read(&names, fd, "");

	if (r < 0)
		return hb_fail_at(err, r, path,
				  "cannot list the attributes of");
	r = strip_marks(fd, &names, path, err);
	return r < 0 ? r : set_label(fd, label, path, err);
}

static int strip_one(void *ctx, const struct tree_visit *v,
		     struct hb_error *err)
{
	const struct place p = { .dir = v->dir, .name = v->name };
	auto_fd int fd = -1;

	if (v->when == TREE_LEAVE)
		return 0;
	fd = open_object(&p, v->path, err);
	return fd < 0 ? fd : strip(fd, ctx, v->path, err);
}

/* That of the replaced object, else that of the directory it goes into. */
static void read_label(struct site *s, const struct place *base,
		       struct label *label)
{
	auto_fd int fd = -1;

	label->size = 0;
	if (!s->has_labels || base->dir < 0)
		return;
	fd = open_object(base, base->name, NULL);
	label->size = sys_get_xattr(fd >= 0 ? fd : base->dir, LABEL,
				    label->value, sizeof(label->value));
}

/* Its owner and mode are right, and marks can go without a change of them. */
static bool has_attributes(const struct op *op, const struct object *now)
{
	return now->type != ENTRY_DIR && now->uid == op->uid &&
	       now->gid == op->gid &&
	       (now->type == ENTRY_LINK ||
		(now->mode == op->mode && (op->new.mode &USER_WRITE)));
}

/* The common case: nothing about it has to change. */
static bool is_ready(const struct op *op, const struct place *source,
		     const struct object *now)
{
	auto_xattr_names struct xattr_names names = { 0 };

	if (!has_attributes(op, now) ||
	    xattr_names_read(&names, source->dir, source->name) < 0)
		return false;
	for (size_t i = 0; i < names.size; i += strlen(names.list + i) + 1)
		if (overlay_is_mark(names.list + i))
			return false;
	return true;
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
		fd = open_object(p, p->name, NULL);
		r = fd < 0 ? fd : sys_chmod_fd(fd, mode);
	}
	return r < 0 ? hb_fail_at(err, r, p->name, "cannot set the mode of")
		     : 0;
}

static int set_owner(const struct place *p, struct object *now, uid_t uid,
		     gid_t gid, struct hb_error *err)
{
	int r;

	if (now->uid == uid && now->gid == gid)
		return 0;
	r = sys_chown_at(p->dir, p->name, uid, gid);
	/* A group that we are not in stays the one it is. */
	if (r == -EPERM && now->uid == uid)
		return 0;
	/* It costs the setuid bit. */
	now->mode = (mode_t)-1;
	return r < 0 ? hb_fail_at(err, r, p->name, "cannot set the owner of")
		     : 0;
}

/* 1: it was another. */
static int set_dir_time(const struct place *p, const struct object *now,
			struct timespec mtime, struct hb_error *err)
{
	int r;

	if (now->type != ENTRY_DIR || time_is_same(now->mtime, mtime))
		return 0;
	r = sys_set_mtime_at(p->dir, p->name, mtime);
	return r < 0 ? hb_fail_at(err, r, p->name, "cannot set the time of")
		     : 1;
}

static int set_attributes(const struct place *p, const struct attributes *to,
			  struct hb_error *err)
{
	struct object now;
	int r;

	r = to->xattrs ? carry_set_xattrs(p->dir, to->xattrs) : 0;
	if (r < 0)
		return hb_fail_at(err, r, p->name,
				  "cannot set the attributes of");
	r = place_read(p, &now, err);
	if (r < 0)
		return r;
	r = set_owner(p, &now, to->uid, to->gid, err);
	if (r >= 0 && to->mtime)
		r = set_dir_time(p, &now, *to->mtime, err);
	return r < 0 ? r : dress_mode(p, &now, to->mode, err);
}

int dress_moved(const struct place *p, const struct object *now, mode_t mode,
		struct timespec mtime, struct hb_error *err)
{
	struct hb_error why = { 0 };
	int late = set_dir_time(p, now, mtime, &why), r;

	if (late < 0 && late != -EPERM)
		return hb_pass(err, &why, late);
	r = dress_mode(p, now, mode, err);
	return r < 0 ? r : late > 0;
}

/*
 * The kernel lets no owner change the attributes of what he may not write.  A
 * closed directory cannot move, and nothing below it can be reached.  The mode
 * is set last, in either direction, so a crash in between costs nothing.
 */
static int make_writable(int fd, const struct op *op)
{
	mode_t all = op->new.type == ENTRY_DIR ? USER_ALL : USER_WRITE;

	if (!entry_opens(op->new.type) || (op->new.mode &all) == all)
		return 0;
	return sys_chmod_fd(fd, op->new.mode | all);
}

/* Marks go and labels come, for all that lies below as well. */
static int strip_all(const struct op *op, const struct place *source, int fd,
		     struct label *label, struct hb_error *err)
{
	int r = make_writable(fd, op);

	if (r < 0)
		return r;
	r = strip(fd, label, op->path, err);
	if (r < 0 || op->new.type != ENTRY_DIR)
		return r;
	return tree_walk(source->dir, source->name, 0, strip_one, label, err);
}

int dress_for_base(struct site *s, const struct op *op,
		   const struct place *source, const struct object *now,
		   const struct place *base, struct hb_error *err)
{
	mode_t open = op->new.type == ENTRY_DIR ? USER_ALL : 0;
	const struct attributes to = { op->uid, op->gid, op->mode | open,
				       &op->new.mtime };
	bool is_copy = op->source != SOURCE_LAYER;
	auto_fd int fd = -1;
	struct label label;
	int r;

	/* A copy has all but the label, which depends on the place. */
	read_label(s, base, &label);
	if (label.size <= 0 && (is_copy || is_ready(op, source, now)))
		return 0;
	fd = open_object(source, op->path, err);
	if (fd < 0)
		return fd;
	r = is_copy ? set_label(fd, &label, op->path, err)
		    : strip_all(op, source, fd, &label, err);
	if (r >= 0 && !is_copy && !has_attributes(op, now))
		r = set_attributes(source, &to, err);
	return r < 0 ? hb_fail_at(err, r, op->path, "cannot prepare") : 1;
}

static const struct {
	enum op_effect effect;
	const char *name, *value;
} marks[] = {
	{ OP_OPAQUE, OVERLAY_PREFIX "opaque", "y" },
	{ OP_ORIGIN, OVERLAY_PREFIX "origin", "" },
};

static int put_marks(int fd, const struct op *op)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *value = marks[i].value;
		int r;

		/* What was put back before a crash stays. */
		if (!(op->effect & marks[i].effect) ||
		    sys_get_xattr(fd, marks[i].name, NULL, 0) >= 0)
			continue;
		r = make_writable(fd, op);
		if (r < 0)
			return r;
		r = sys_set_xattr(fd, marks[i].name, value, strlen(value));
		if (r < 0)
			return r;
	}
	return 0;
}

int dress_for_layer(const struct op *op, const struct place *source,
		    struct hb_error *err)
{
	bool is_copy = op->source != SOURCE_LAYER;
	const struct object *own = &op->new;
	const struct attributes to = { own->uid, own->gid,
				       is_copy ? op->mode : own->mode,
				       &own->mtime };
	auto_fd int fd = -1;
	int r;

	if (is_copy)
		return set_attributes(source, &to, err);
	fd = open_object(source, op->path, err);
	if (fd < 0)
		return fd;
	r = put_marks(fd, op);
	if (r < 0)
		return hb_fail_at(err, r, op->path,
				  "cannot put the marks back on");
	return set_attributes(source, &to, err);
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
	fd = site_open_dir(&s->upper, op->path, NULL);
	p = place_of(fd);
	r = place_read(&p, &now, err);
	if (r < 0 || !object_is(&now, &op->layer))
		return r;
	if (opens)
		return open_up(fd, &now, op->path, err);
	r = set_dir_time(&p, &now, op->layer.mtime, err);
	return r < 0 ? r : dress_mode(&p, &now, op->layer.mode, err);
}

/* Before the operation, with `back`, or after it. */
static struct attributes side_of(const struct op *op, bool back)
{
	bool keeps_time = op->effect & OP_KEEP_TIME;
	bool has_xattrs = op->effect & OP_XATTRS;
	const struct xattr_list *xattrs =
		back ? &op->old_xattrs : &op->new_xattrs;

	return (struct attributes){
		.uid = back ? op->old.uid : op->uid,
		.gid = back ? op->old.gid : op->gid,
		.mode = back ? op->old.mode : op->mode,
		.mtime = keeps_time ? NULL
				    : &(back ? &op->old : &op->new)->mtime,
		.xattrs = has_xattrs ? xattrs : NULL,
	};
}

int dress_has_attributes(const struct op *op, int fd, const struct object *now,
			 bool after)
{
	const struct attributes has = side_of(op, !after);

	if ((op->mode != op->old.mode && now->mode != has.mode) ||
	    (op->uid != op->old.uid && now->uid != has.uid) ||
	    (op->gid != op->old.gid && now->gid != has.gid))
		return 0;
	return has.xattrs ? carry_has_xattrs(fd, has.xattrs) : 1;
}

/* The directory in the base; ENTRY_NONE: it is not there. */
static int open_base(struct site *s, const struct op *op, int *ret_fd,
		     struct object *ret_now, struct hb_error *err)
{
	struct place p;

	*ret_fd = site_open_dir(&s->base, op->path, NULL);
	if (*ret_fd < 0 && !access_is_gone(*ret_fd))
		return hb_fail_at(err, *ret_fd, op->path, "cannot open");
	p = place_of(*ret_fd);
	return place_read(&p, ret_now, err);
}

int dress_open_dir(struct site *s, const struct op *op, bool is_first,
		   struct hb_error *err)
{
	auto_fd int fd = -1;
	struct object now;
	int r;

	if (op->effect & OP_IN_UPPER)
		return dress_likeness(s, op, true, err);
	r = open_base(s, op, &fd, &now, err);
	if (r < 0)
		return r;
	r = op_is_old(op, &now);
	/*
	 * A new directory need not be there yet, or any more.  Of a type change
	 * the other side may still be there.
	 */
	if (!r && ((op->effect & OP_IN_NEW) ||
		   (fd < 0 && (op->identity & OP_REMADE))))
		return dress_likeness(s, op, true, err);
	if (r && is_first)
		r = dress_has_attributes(op, fd, &now, false);
	if (r < 0)
		return hb_fail_at(err, r, op->path, "cannot look at");
	if (!r)
		return hb_fail(err, -HB_E_CONFLICT,
			       "the directory %s has changed",
			       quoted(*op->path ? op->path : "."));
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
	struct attributes to = side_of(op, back);
	struct place p = place_of(s->resource->top);
	struct object now;
	int r;

	if (*op->path != '\0' || p.dir < 0)
		return 0;
	r = place_read(&p, &now, err);
	if (r < 0)
		return r;
	to.mtime = NULL;
	to.uid = op->uid != op->old.uid ? to.uid : now.uid;
	to.gid = op->gid != op->old.gid ? to.gid : now.gid;
	to.mode = op->mode != op->old.mode ? to.mode : now.mode;
	r = to.xattrs ? open_up(p.dir, &now, op->path, err) : 0;
	return r < 0 ? r : set_attributes(&p, &to, err);
}

int dress_close_dir(struct site *s, const struct op *op, bool back,
		    struct hb_error *err)
{
	const struct attributes to = side_of(op, back);
	auto_fd int fd = -1;
	struct object now;
	struct place p;
	int r;

	r = dress_likeness(s, op, false, err);
	if (r < 0 || (op->effect & OP_IN_UPPER))
		return r;
	r = open_base(s, op, &fd, &now, err);
	/* Going back, a directory that we had added is gone again. */
	if (r < 0 || !op_is_old(op, &now))
		return r;
	p = place_of(fd);
	r = set_attributes(&p, &to, err);
	if (r < 0)
		return hb_fail_at(err, r, op->path, "cannot finish");
	r = follow_top(s, op, back, err);
	return r < 0 ? hb_fail_at(err, r, ".",
				  "cannot remember the attributes of")
		     : 0;
}
