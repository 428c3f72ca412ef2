/* SPDX-License-Identifier: Apache-2.0 */
#include "session/database/placed.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/time.h"
#include "changes/database.h"
#include "session/database/list.h"
#include "session/database/unit.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/session.h"
#include "store/seen.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PICTURE "database.new" /* in the resource's directory of the store */
#define ORIGIN	OVERLAY_PREFIX "origin"

/* One database of one resource, and the two directories that it is in. */
struct placing {
	const struct resource *resource;
	const char *path, *name;
	int base, upper; /* -1: the session removed the directory */
	struct seen_log *log;
};

/* The directory in the upper, made like the base's where there is none. */
static int enter(struct placing *p, struct hb_error *err)
{
	const char *at = p->path, *slash;
	int r = 0;

	p->base = sys_openat(p->resource->base, ".", O_PATH | O_DIRECTORY, 0);
	p->upper = sys_openat(p->resource->upper, ".", O_PATH | O_DIRECTORY, 0);
	while (r >= 0 && p->base >= 0 && p->upper >= 0 &&
	       (slash = strchr(at, '/')) != NULL) {
		auto_free char *name = strndup(at, (size_t)(slash - at));
		struct entry old, new;
		struct carry carry;
		int base, upper;

		if (!name)
			return hb_fail(err, -ENOMEM, "cannot keep a path");
		r = entry_read_base(p->base, name, &old, err);
		if (r >= 0)
			r = entry_read_layer(p->upper, name, &new, err);
		carry = (struct carry){ .from = p->base,
					.name = name,
					.entry = &old,
					.flags = CARRY_TO_LAYER | CARRY_OWN,
					.mode = old.mode,
					.uid = old.uid,
					.gid = old.gid };
		if (r >= 0 && old.type == ENTRY_DIR && new.type == ENTRY_NONE &&
		    !new.is_whiteout)
			r = carry_copy(&carry, p->upper, name, err);
		if (r < 0)
			return r;
		base = sys_openat(p->base, name,
				  O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		upper = sys_openat(p->upper, name,
				   O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		fd_closep(&p->base);
		fd_closep(&p->upper);
		p->base = base;
		p->upper = upper;
		at = slash + 1;
	}
	p->name = at;
	return 0;
}

static int note_seen(struct placing *p, int part, bool has_layer,
		     struct hb_error *err)
{
	auto_free char *path = NULL, *name = NULL;
	struct seen seen = { 0 };
	struct sys_attr a;

	if (asprintf(&path, "%s%s", p->path, database_endings[part]) < 0)
		path = NULL;
	if (asprintf(&name, "%s%s", p->name, database_endings[part]) < 0)
		name = NULL;
	if (!path || !name)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	seen.path = path;
	if (sys_attr_at(p->base, name, &a) == 0) {
		seen.base_ino = a.ino;
		seen.base_ctime = a.ctime;
	}
	if (has_layer && sys_attr_at(p->upper, name, &a) == 0) {
		seen.layer_ino = a.ino;
		seen.layer_ctime = a.ctime;
	}
	return seen_log_add(p->log, &seen, err);
}

/* What the base has, or will have, beside it is not of the session's file. */
static int hide_sides(struct placing *p, struct hb_error *err)
{
	int r = 0;

	for (int part = DATABASE_WAL; r >= 0 && part <= DATABASE_INDEX;
	     part++) {
		auto_free char *name = NULL;
		struct sys_attr a;

		if (asprintf(&name, "%s%s", p->name, database_endings[part]) <
		    0) {
			name = NULL;
			return hb_fail(err, -ENOMEM, "cannot keep a path");
		}
		if (sys_attr_at(p->upper, name, &a) != -ENOENT)
			continue;
		r = sys_make_whiteout(p->upper, name);
		if (r < 0)
			return hb_fail_at(err, r, p->path,
					  "cannot hide the side files of");
	}
	return r < 0 ? r : 0;
}

/* The picture becomes the file, as if the overlay had copied it up. */
static int put(struct placing *p, const struct entry *old, struct hb_error *err)
{
	struct carry carry = { .from = p->base,
			       .name = p->name,
			       .entry = old,
			       .flags = CARRY_TO_LAYER | CARRY_OWN,
			       .mode = old->mode | S_IRUSR | S_IWUSR,
			       .uid = old->uid,
			       .gid = old->gid };
	auto_fd int fd =
		sys_openat(p->resource->dir, PICTURE, O_RDWR | O_NOFOLLOW, 0);
	int r = fd < 0 ? hb_fail(err, fd, "cannot open a picture")
		       : carry_attributes(&carry, fd, err);

	if (r < 0)
		return r;
	r = sys_set_xattr(fd, ORIGIN, "", 0);
	if (r == -EOPNOTSUPP)
		r = 0;
	if (r >= 0)
		r = sys_renameat2(p->resource->dir, PICTURE, p->upper, p->name,
				  RENAME_KEEP);
	return r < 0 ? hb_fail_at(err, r, p->path, "cannot place") : 0;
}

static int picture(struct placing *p, const struct entry *old,
		   struct hb_error *err)
{
	struct database_state before, after;
	int r, tries = 3;

	do {
		(void)sys_unlinkat(p->resource->dir, PICTURE, 0);
		database_read_state(p->base, p->name, &before);
		r = database_picture(p->base, p->name, false, p->resource->dir,
				     PICTURE, err);
		database_read_state(p->base, p->name, &after);
	} while (r == 0 && --tries > 0 && !database_is_state(&before, &after));
	if (r < 0)
		return hb_fail_at(err, r, p->path, "cannot copy");
	r = put(p, old, err);
	if (r >= 0)
		r = hide_sides(p, err);
	/* Before the box: what it writes then has another time. */
	for (int part = DATABASE_MAIN; r >= 0 && part <= DATABASE_INDEX; part++)
		r = note_seen(p, part, true, err);
	return r;
}

static int place_one(struct placing *p, struct hb_error *err)
{
	struct entry old, new;
	int r = enter(p, err);

	if (r < 0 || p->base < 0 || p->upper < 0)
		return r;
	r = entry_read_base(p->base, p->name, &old, err);
	if (r >= 0)
		r = entry_read_layer(p->upper, p->name, &new, err);
	if (r < 0 || old.type != ENTRY_FILE || new.is_whiteout)
		return r;
	/* A frozen layer below may have it: that is the session's then. */
	for (size_t i = 1; i < p->resource->n_layers; i++) {
		struct sys_attr a;
		auto_fd int dir = access_open_below(
			p->resource->layers[i], p->path,
			(size_t)(p->name - p->path), O_PATH, NULL);

		if (dir >= 0 && sys_attr_at(dir, p->name, &a) == 0)
			return hide_sides(p, err);
	}
	return new.type == ENTRY_NONE ? picture(p, &old, err)
				      : hide_sides(p, err);
}

typedef int (*placing_fn)(struct placing *p, struct hb_error *err);

static int each(struct hb_session *s, size_t i, placing_fn fn,
		struct hb_error *err)
{
	const struct resource *resource = &s->resources[i];
	struct seen_file seen;
	struct seen_log log;
	int r;

	if (resource->is_gone || !resource->databases ||
	    resource->databases->n == 0)
		return 0;
	r = session_open_layers(s, i, err);
	if (r >= 0)
		r = seen_open(resource->dir, &seen, err);
	if (r < 0)
		return r;
	seen_log_begin(resource->dir, &seen, &log);
	for (size_t k = 0; r >= 0 && k < resource->databases->n; k++) {
		struct placing p = { .resource = resource,
				     .path = resource->databases->paths[k],
				     .base = -1,
				     .upper = -1,
				     .log = &log };

		r = fn(&p, err);
		fd_closep(&p.base);
		fd_closep(&p.upper);
	}
	if (r >= 0)
		r = seen_log_end(&log, false, err);
	seen_log_done(&log);
	seen_done(&seen);
	return r;
}

static int for_all(struct hb_session *s, placing_fn fn, struct hb_error *err)
{
	int r;

	if (!database_list_is_any(&s->record))
		return 0;
	r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = each(s, i, fn, err);
	return r;
}

int session_place_databases(struct hb_session *s, struct hb_error *err)
{
	return for_all(s, place_one, err);
}

/* Whether the upper has the picture, as it was placed. */
static bool is_untouched(struct placing *p)
{
	struct sys_attr a;
	struct seen seen;

	return sys_attr_at(p->upper, p->name, &a) == 0 &&
	       seen_find(p->log->old, p->path, &seen) &&
	       seen.layer_ino == a.ino &&
	       time_is_same(seen.layer_ctime, a.ctime) &&
	       !database_has_log(p->resource, p->path);
}

static int take_one(struct placing *p, struct hb_error *err)
{
	const char *slash = strrchr(p->path, '/');
	int r = 0;

	p->name = slash ? slash + 1 : p->path;
	p->upper = access_open_below(p->resource->upper, p->path,
				     slash ? (size_t)(slash - p->path) : 0,
				     O_PATH, NULL);
	if (p->upper < 0 || !is_untouched(p))
		return 0;
	/* Side files first: alone they would hide those of the base. */
	for (int part = DATABASE_INDEX; r >= 0 && part >= DATABASE_MAIN;
	     part--) {
		auto_free char *name = NULL;

		if (asprintf(&name, "%s%s", p->name, database_endings[part]) <
		    0) {
			name = NULL;
			return hb_fail(err, -ENOMEM, "cannot keep a path");
		}
		r = sys_unlinkat(p->upper, name, 0);
		r = r == -ENOENT ? 0 : r;
	}
	return r < 0 ? hb_fail_at(err, r, p->path, "cannot take back") : 0;
}

int session_take_databases(struct hb_session *s, struct hb_error *err)
{
	return for_all(s, take_one, err);
}
