/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/entry.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/siphash.h"
#include "base/time.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/overlay.h"
#include "tree/xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * How an object is looked at
 * --------------------------
 *
 * By its name in a directory that is held open, never through a link, and
 * without opening it.  A fifo, a device or an unreadable file costs nothing.
 * Where a mark's value is needed an O_PATH descriptor holds the object, which
 * must be the same object as before.
 *
 * The marks of the overlay in a layer were written by the kernel.  No process
 * in the view can write them: they arrive escaped, or not at all.  So a mark
 * that our own mounts never make means that the store was tampered with, and
 * the layer is refused.
 */

/* An object: `name` in `dir`, or `dir` itself when the name is empty. */
struct place {
	int dir;
	const char *name;
};

enum mark {
	MARK_IGNORED,
	MARK_OPAQUE,
	MARK_WHITEOUT,
	MARK_ORIGIN,
	MARK_STAND_IN,
	MARK_TAKEN,
};

static const struct {
	const char *name; /* behind OVERLAY_PREFIX */
	enum mark mark;
} marks[] = {
	{ "impure", MARK_IGNORED },    { "uuid", MARK_IGNORED },
	{ "origin", MARK_ORIGIN },     { "opaque", MARK_OPAQUE },
	{ "whiteout", MARK_WHITEOUT }, { "stand-in", MARK_STAND_IN },
	{ "taken", MARK_TAKEN },
};

#define TYPE(id_, name_, format_, openness_) \
	[ENTRY_##id_] = { (format_), (openness_) },

static const struct {
	mode_t format;
	enum {
		SHUT,
		OPEN,
		SPECIAL
	} openness;
} types[ENTRY_TYPES] = { ENTRY_ROWS(TYPE) };

static enum entry_type type_of(mode_t mode)
{
	for (enum entry_type i = ENTRY_FILE; i < ENTRY_TYPES; i++)
		if (types[i].format == (mode & S_IFMT))
			return i;
	return ENTRY_DEVICE;
}

struct entry entry_of_attr(const struct sys_attr *a)
{
	return (struct entry){
		.type = type_of(a->mode),
		.mode = a->mode & 07777,
		.uid = a->uid,
		.gid = a->gid,
		.dev = a->dev,
		.ino = a->ino,
		.size = a->size,
		.stored = a->stored,
		.nlink = a->nlink,
		.mtime = a->mtime,
		.ctime = a->ctime,
		.btime = a->btime,
		.is_fixed = a->is_fixed,
	};
}

static int refuse(const char *mark, struct hb_error *err)
{
	return hb_fail(err, -HB_E_CORRUPT,
		       "the overlay mark %s is not one of ours", quoted(mark));
}

static int hold(const struct place *at, const struct entry *e)
{
	struct sys_attr a;
	int fd, r;

	if (at->name[0] == '\0')
		fd = sys_dup_above(at->dir, 3);
	else
		fd = sys_openat(at->dir, at->name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return fd;
	r = sys_attr_at(fd, "", &a);
	if (r >= 0 && a.ino == e->ino && a.dev == e->dev)
		return fd;
	sys_close(fd);
	return r < 0 ? r : -HB_E_BUSY;
}

static int decode_opaque(const struct place *at, struct entry *e,
			 struct hb_error *err)
{
	auto_fd int fd = -1;
	char value[2];
	ssize_t n;

	if (e->type != ENTRY_DIR)
		return refuse("opaque", err);
	fd = hold(at, e);
	n = fd < 0 ? fd
		   : access_get_xattr(fd, e, OVERLAY_PREFIX "opaque", value,
				      sizeof(value));
	if (n == -ERANGE || (n >= 0 && (n != 1 || value[0] != 'y')))
		return refuse("opaque", err);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read an overlay mark");
	e->is_opaque = true;
	return 0;
}

static int decode_taken(const struct place *at, struct entry *e,
			struct hb_error *err)
{
	auto_fd int fd = -1;
	ssize_t n;

	if (e->type != ENTRY_DIR)
		return refuse("taken", err);
	fd = hold(at, e);
	n = fd < 0 ? fd
		   : access_get_xattr(fd, e, OVERLAY_TAKEN, &e->taken,
				      sizeof(e->taken));
	if (n == -ERANGE || (n >= 0 && n != (ssize_t)sizeof(e->taken)))
		return refuse("taken", err);
	return n < 0 ? hb_fail(err, (int)n, "cannot read an overlay mark") : 0;
}

uint64_t entry_place(const char *path)
{
	static const struct siphash_key key = { 0 };

	return siphash(&key, path, strlen(path)) | 1;
}

static int decode_mark(const struct place *at, const char *name,
		       struct entry *e, struct hb_error *err)
{
	size_t i = 0;

	while (i < sizeof(marks) / sizeof(marks[0]) &&
	       strcmp(name, marks[i].name) != 0)
		i++;
	if (i == sizeof(marks) / sizeof(marks[0]))
		return refuse(name, err);

	switch (marks[i].mark) {
	case MARK_ORIGIN:
		e->has_origin = true;
		return 0;
	case MARK_STAND_IN:
		if (!entry_opens(e->type))
			return refuse(name, err);
		e->is_stand_in = true;
		return 0;
	case MARK_TAKEN:
		return decode_taken(at, e, err);
	case MARK_OPAQUE:
		return decode_opaque(at, e, err);
	/* For any marks of the directory above: the kernel looks up so. */
	case MARK_WHITEOUT:
		if (e->type != ENTRY_FILE || e->size != 0)
			return refuse(name, err);
		e->is_whiteout = true;
		return 0;
	case MARK_IGNORED:
	default:
		return 0;
	}
}

static int decode_marks(const struct place *at, struct entry *e,
			struct hb_error *err)
{
	auto_xattr_names struct xattr_names names = { 0 };
	int r = xattr_names_read(&names, at->dir, at->name);

	if (r < 0)
		return hb_fail(err, r, "cannot list the attributes");
	for (const char *x = names.list; x < names.list + names.size;
	     x += strlen(x) + 1) {
		if (!overlay_is_mark(x)) {
			e->has_xattrs = true;
			continue;
		}
		r = decode_mark(at, x + strlen(OVERLAY_PREFIX), e, err);
		if (r < 0)
			return r;
	}
	return 0;
}

bool entry_is_untouched(const struct entry *a, const struct entry *b)
{
	return a->type == b->type && a->mode == b->mode && a->uid == b->uid &&
	       a->gid == b->gid && a->dev == b->dev && a->ino == b->ino &&
	       a->size == b->size && a->nlink == b->nlink &&
	       time_is_same(a->mtime, b->mtime) &&
	       time_is_same(a->ctime, b->ctime) &&
	       time_is_same(a->btime, b->btime);
}

/* Setting or removing a mark moves the ctime. */
static bool take_known_marks(struct entry *e, const struct entry *known)
{
	if (!known || e->type != ENTRY_FILE || !entry_is_untouched(e, known))
		return false;
	*e = *known;
	return true;
}

static int look_at(const struct place *at, bool is_layer,
		   const struct entry *known, struct entry *ret_entry,
		   struct hb_error *err)
{
	struct sys_attr a;
	struct entry e;
	int r;

	r = sys_attr_at(at->dir, at->name, &a);
	if (r == -ENOENT) {
		*ret_entry = (struct entry){ .type = ENTRY_NONE };
		return 0;
	}
	if (r < 0)
		return hb_fail(err, r, "cannot look at an object");
	e = entry_of_attr(&a);
	if (is_layer && S_ISCHR(a.mode) && a.rdev_major == 0 &&
	    a.rdev_minor == 0)
		e.is_whiteout = true;
	else if (is_layer && !take_known_marks(&e, known)) {
		r = decode_marks(at, &e, err);
		if (r < 0)
			return r;
	}
	if (e.is_whiteout)
		e.type = ENTRY_NONE;
	*ret_entry = e;
	return 0;
}

static int read_entry(int dirfd, const char *name, bool is_layer,
		      const struct entry *known, struct entry *ret_entry,
		      struct hb_error *err)
{
	const struct place at = { .dir = dirfd, .name = name };
	int r;

	r = look_at(&at, is_layer, known, ret_entry, err);
	if (r < 0)
		return hb_fail(err, r, "%s", quoted(name));
	return 0;
}

int entry_read_base(int dirfd, const char *name, struct entry *ret_entry,
		    struct hb_error *err)
{
	return read_entry(dirfd, name, false, NULL, ret_entry, err);
}

int entry_read_layer(int dirfd, const char *name, struct entry *ret_entry,
		     struct hb_error *err)
{
	return read_entry(dirfd, name, true, NULL, ret_entry, err);
}

int entry_read_known(int dirfd, const char *name, const struct entry *known,
		     struct entry *ret_entry, struct hb_error *err)
{
	return read_entry(dirfd, name, true, known, ret_entry, err);
}

int entry_read_fd(int fd, bool is_layer, struct entry *ret_entry,
		  struct hb_error *err)
{
	const struct place at = { .dir = fd, .name = "" };

	return look_at(&at, is_layer, NULL, ret_entry, err);
}

bool entry_is_special(const struct entry *e)
{
	return types[e->type].openness == SPECIAL;
}

bool entry_opens(enum entry_type type)
{
	return types[type].openness == OPEN;
}
