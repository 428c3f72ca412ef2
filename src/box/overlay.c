/* SPDX-License-Identifier: Apache-2.0 */
#include "box/overlay.h"

#include "base/auto.h"
#include "base/buf.h"
#include "box/dest.h"
#include "box/mounts.h"
#include "box/operations.h"
#include "box/source.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/mount.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * An overlay of the plan's layers.
 *
 * Layers are opened here, in the box's mount namespace: the kernel refuses
 * descriptors from another one.  They are handed over as descriptors, so that
 * no name is resolved twice or needs escaping.  On an older kernel they are
 * /proc/self/fd names, which need no escaping either.
 */

#define DIRS_MAX  (PLAN_MAX_LAYERS + 2)
#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW)

/*
 * One way to tell the kernel the layers; tried in this order.
 *
 * Before 6.5 an overlay takes any option and refuses at the end, with a line in
 * the kernel's log.  Such a kernel is known by its answer to a descriptor.
 */
struct way {
	const char *lower_key;
	int (*set)(int fs, const char *key, int dir);
	bool has_one_string; /* the lower layers; an old kernel takes it */
};

/* What the answer to a descriptor says of the kernel. */
#define OLD_KERNEL (-EOPNOTSUPP)

/* The kernel's limit of one option. */
#define OPTION_MAX 255

static int set_by_fd(int fs, const char *key, int dir)
{
	return sys_fsconfig_fd(fs, key, dir);
}

static int set_by_name(int fs, const char *key, int dir)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", dir);
	return sys_fsconfig_string(fs, key, name);
}

static const struct way ways[] = {
	{ "lowerdir+", set_by_fd, false },   /* 6.13 */
	{ "lowerdir+", set_by_name, false }, /* 6.8 */
	{ "lowerdir", set_by_name, true },
};

/* The open directories of one overlay: lowers from the lowest up, then these.
 */
struct overlay {
	int dirs[DIRS_MAX];
	size_t n_lower;
	int upper, work; /* -1: none */
	bool is_volatile;
};

static void close_dirs(struct overlay *o)
{
	for (size_t i = 0; i < o->n_lower; i++)
		fd_closep(&o->dirs[i]);
	fd_closep(&o->upper);
	fd_closep(&o->work);
}

static int open_dir(const struct box *box, const char *path, int *ret_fd,
		    struct hb_error *err)
{
	int fd = sys_openat(AT_FDCWD, source_path(box, path),
			    O_PATH | O_DIRECTORY, 0);

	if (fd < 0)
		return box_fail(box, err, fd, WORD_NO_SOURCE, path);
	*ret_fd = fd;
	return 0;
}

static int open_scratch(const struct box *box, const char *kind, size_t number,
			mode_t mode, int *ret_fd, struct hb_error *err)
{
	char name[32];
	int fd, r;

	(void)snprintf(name, sizeof(name), "%s.%zu", kind, number);
	r = sys_mkdirat(box->scratch, name, mode);
	if (r < 0)
		return hb_fail(err, r, "cannot make a layer in memory");
	fd = sys_openat(box->scratch, name, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return hb_fail(err, fd, "cannot open a layer in memory");
	*ret_fd = fd;
	return 0;
}

static bool is_gone_of(const struct plan_op *gone, const struct plan_op *op)
{
	return gone->kind == OP_GONE && strcmp(gone->base, op->dest) == 0;
}

/* A directory of the upper layer like the one below it; its mode is seen. */
static int make_parent(int dir, int below, const char *name)
{
	struct stat st = { .st_mode = 0700 };
	int r;

	(void)sys_fstatat(below, name, &st, AT_SYMLINK_NOFOLLOW);
	r = sys_mkdirat(dir, name, st.st_mode & 0777);
	return r == -EEXIST ? 0 : r;
}

/*
 * A mark in the upper layer, which is in memory: the host is not written to.
 * `path` is relative to the overlay.
 */
static int make_gone(int upper, int below, const char *path)
{
	auto_fd int dir = sys_openat(upper, ".", O_PATH | O_DIRECTORY, 0);
	auto_fd int base = sys_openat(below, ".", O_PATH | O_DIRECTORY, 0);
	const char *slash;
	int r;

	for (; (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		int next;

		if (dir < 0 || base < 0 || slash - path > NAME_MAX)
			return -ENOENT;
		(void)snprintf(name, sizeof(name), "%.*s", (int)(slash - path),
			       path);
		r = make_parent(dir, base, name);
		if (r < 0)
			return r;
		next = sys_openat(dir, name, DIR_FLAGS, 0);
		fd_closep(&dir);
		dir = next;
		next = sys_openat(base, name, DIR_FLAGS, 0);
		fd_closep(&base);
		base = next;
	}
	if (dir < 0)
		return dir;
	return sys_make_whiteout(dir, path);
}

static int make_all_gone(const struct box *box, const struct plan_op *op,
			 const struct overlay *o, struct hb_error *err)
{
	const struct plan *plan = box->plan;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < plan->n_ops; i++) {
		const struct plan_op *gone = &plan->ops[i];

		if (!is_gone_of(gone, op))
			continue;
		r = make_gone(o->upper, o->dirs[0],
			      gone->dest + strlen(gone->base) + 1);
		if (r < 0)
			return hb_fail(err, r, "cannot leave out '%s'",
				       gone->dest);
	}
	return 0;
}

static int open_layers(struct box *box, const struct plan_op *op,
		       struct overlay *o, struct hb_error *err)
{
	size_t number = (size_t)(op - box->plan->ops);
	int r;

	for (size_t i = 0; i < op->n_layers; i++) {
		r = open_dir(box, box->plan->layers[op->first_layer + i],
			     &o->dirs[i], err);
		if (r < 0)
			return r;
		o->n_lower++;
	}
	if (op->flags & PLAN_OVERLAY_RO)
		return 0;
	if (op->flags & PLAN_OVERLAY_TMP) {
		/* The root of the result has the mode of the upper one's. */
		r = open_scratch(box, "upper", number,
				 op->flags & PLAN_HAS_PERMS ? op->perms : 0755,
				 &o->upper, err);
		if (r >= 0)
			r = make_all_gone(box, op, o, err);
		if (r < 0)
			return r;
		return open_scratch(box, "work", number, 0755, &o->work, err);
	}
	r = open_dir(box, op->upper, &o->upper, err);
	if (r < 0)
		return r;
	return open_dir(box, op->work, &o->work, err);
}

/* The kernel wants the highest first. */
static void add_lowers(struct buf *text, const struct overlay *o)
{
	for (size_t i = o->n_lower; i > 0; i--)
		(void)buf_add_fmt(text, "%s/proc/self/fd/%d",
				  i < o->n_lower ? ":" : "", o->dirs[i - 1]);
}

static int set_lowers(int fs, const struct way *way, const struct overlay *o)
{
	auto_buf struct buf text = BUF_INIT(OPTION_MAX);
	int r = 0;

	if (way->has_one_string) {
		add_lowers(&text, o);
		return text.error ? text.error
				  : sys_fsconfig_string(fs, way->lower_key,
							buf_str(&text));
	}
	for (size_t i = o->n_lower; r >= 0 && i > 0; i--)
		r = way->set(fs, way->lower_key, o->dirs[i - 1]);
	return r;
}

static int set_dirs(int fs, const struct way *way, const struct overlay *o)
{
	int r = set_lowers(fs, way, o);

	if (r >= 0 && o->upper >= 0)
		r = way->set(fs, "upperdir", o->upper);
	if (r >= 0 && o->work >= 0)
		r = way->set(fs, "workdir", o->work);
	return r;
}

/*
 * userxattr is what a user namespace needs: without it the mount succeeds and
 * deleting a directory fails later.  The other two are what it would turn off
 * by itself, with a line in the kernel's log each time.
 */
static int set_options(int fs, const struct overlay *o)
{
	int r;

	r = sys_fsconfig_flag(fs, "userxattr");
	if (r >= 0)
		r = sys_fsconfig_string(fs, "index", "off");
	if (r >= 0)
		r = sys_fsconfig_string(fs, "xino", "off");
	if (r >= 0 && o->is_volatile && o->upper >= 0)
		r = sys_fsconfig_flag(fs, "volatile");
	return r;
}

static int mount_one_way(const struct way *way, const struct overlay *o,
			 struct hb_error *err)
{
	auto_fd int fs = -1;
	int r;

	fs = sys_fsopen("overlay");
	if (fs == -ENODEV)
		hb_fix(err,
		       "load the kernel's overlay module: modprobe overlay");
	if (fs < 0)
		return hb_fail(err, fs, "cannot open an overlay");
	r = set_dirs(fs, way, o);
	if (r < 0)
		return r;
	r = set_options(fs, o);
	if (r < 0)
		return hb_fail(err, r, "cannot set the overlay's options");
	r = sys_fsconfig_create(fs);
	if (r < 0)
		return hb_fail(err, r, "cannot make the overlay");
	return sys_fsmount(fs, K_MOUNT_NOSUID | K_MOUNT_NODEV);
}

/* For more layers than one option holds: one string of at most a page. */
static int mount_old_way(const struct overlay *o, int target,
			 struct hb_error *err)
{
	auto_buf struct buf options = BUF_INIT(4095);
	char name[32];
	int r;

	(void)buf_add_str(&options, "userxattr,index=off,xino=off,lowerdir=");
	add_lowers(&options, o);
	if (o->upper >= 0)
		(void)buf_add_fmt(&options, ",upperdir=/proc/self/fd/%d",
				  o->upper);
	if (o->work >= 0)
		(void)buf_add_fmt(&options, ",workdir=/proc/self/fd/%d",
				  o->work);
	if (o->is_volatile && o->upper >= 0)
		(void)buf_add_str(&options, ",volatile");
	if (options.error)
		return hb_fail(err, options.error,
			       "too many layers for this kernel");
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", target);
	r = sys_mount_overlay(name, buf_str(&options));
	if (r < 0)
		return hb_fail(err, r, "cannot mount the overlay");
	return 0;
}

/*
 * A detached overlay.  Words of the kernel's refusal are in `err` only if it
 * understood the layers; else the oldest way is left.
 */
static int mount_detached(const struct overlay *o, struct hb_error *err)
{
	bool is_old = false;
	int r = -EINVAL;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct hb_error why = { 0 };

		if (is_old && !ways[i].has_one_string)
			continue;
		r = mount_one_way(&ways[i], o, &why);
		if (r >= 0)
			return r;
		if (why.code != 0)
			return hb_pass(err, &why, r);
		is_old = is_old || r == OLD_KERNEL;
	}
	return r;
}

static int mount_layers(struct box *box, const struct plan_op *op,
			const struct overlay *o, struct hb_error *err)
{
	struct hb_error why = { 0 };
	auto_fd int target = -1;
	auto_fd int mount = -1;
	bool is_root = false;
	int r;

	r = mount = mount_detached(o, &why);
	if (r >= 0)
		return mounts_attach(box, mount, op->dest, 0755, err);
	if (why.code != 0)
		return hb_pass(err, &why, r);
	target = dest_make_dir(box, op->dest, 0755, 0755, err);
	if (target < 0)
		return target;
	/* The old call gives no descriptor of what it mounted. */
	r = mounts_is_root(box, target, &is_root, err);
	if (r < 0)
		return r;
	if (is_root)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "an overlay on '/' needs kernel 6.8");
	return mount_old_way(o, target, err);
}

int overlay_read_only(int lower, int higher)
{
	const struct overlay o = {
		.dirs = { lower, higher },
		.n_lower = 2,
		.upper = -1,
		.work = -1,
	};

	return mount_detached(&o, NULL);
}

/* The overlay that it is part of has it from the start. */
int op_gone(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	(void)box;
	(void)op;
	(void)err;
	return 0;
}

int op_overlay(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	struct overlay o = {
		.upper = -1,
		.work = -1,
		.is_volatile = op->flags & (PLAN_VOLATILE | PLAN_OVERLAY_TMP),
	};
	/* What need not be there fails without a word. */
	struct hb_error *words = op->flags & PLAN_TRY ? NULL : err;
	int hidden, r;

	if (op->n_layers > PLAN_MAX_LAYERS)
		return hb_fail(err, -E2BIG, "too many layers at '%s'",
			       op->dest);
	r = open_layers(box, op, &o, words);
	/* The kernel takes no layer from a mount that is hidden. */
	if (r >= 0)
		r = mounts_show_scratch(box, true, words);
	if (r >= 0)
		r = mount_layers(box, op, &o, words);
	close_dirs(&o);
	hidden = mounts_show_scratch(box, false, r < 0 ? NULL : err);
	if (r < 0 && op->flags & PLAN_TRY)
		r = 0;
	return r < 0 ? r : hidden;
}
