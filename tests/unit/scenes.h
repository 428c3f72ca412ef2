/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_SCENES_H
#define HB_TEST_SCENES_H

#include "changes/alike/alike.h"
#include "made.h"
#include "sys/fault.h"
#include "world.h"

/*
 * Sessions with something pending, for the tests that commit and undo them.
 * Every time is set, so that two of one scene are equal in every attribute.
 */
struct scene {
	const char *name;
	size_t n_resources;
	bool is_far;   /* the layers lie on another file system */
	bool is_plain; /* no flags for renameat2 */
	void (*build)(struct world *w);
	const char *only; /* a glob, or NULL */
	const char *except;
	bool is_swept;	 /* what is alike goes after a commit */
	bool is_overlay; /* no directory of the base can be moved */
	txn_deliver_fn deliver;
	bool holds; /* something that is delivered stays pending */
};

static inline void lay_whiteout(int dir, const char *path)
{
	put_whiteout(dir, path);
	set_mtime(dir, path, WORLD_NEW);
}

static inline void scene_one(struct world *w)
{
	lay_file(w->base[0], "f", "old\n", 0644, WORLD_OLD);
	lay_file(w->upper[0], "f", "new text\n", 0600, WORLD_NEW);
	set_origin(w->upper[0], "f");
}

static inline void lay_type(int dir, const char *name, int type, time_t time)
{
	char below[64];

	switch (type) {
	case 1:
		lay_file(dir, name, time == WORLD_OLD ? "a" : "bb", 0640, time);
		break;
	case 2:
		put_dir(dir, name);
		(void)snprintf(below, sizeof(below), "%s/in", name);
		lay_file(dir, below, "inside", 0644, time);
		set_mtime(dir, name, time);
		break;
	case 3:
		put_link(dir, time == WORLD_OLD ? "to/old" : "to/new", name);
		set_mtime(dir, name, time);
		break;
	default:
		break;
	}
}

/* Nothing, file, directory, link; from each to each. */
static inline void scene_types(struct world *w)
{
	for (int from = 0; from < 4; from++)
		for (int to = 0; to < 4; to++) {
			char name[8];

			(void)snprintf(name, sizeof(name), "%d-%d", from, to);
			lay_type(w->base[0], name, from, WORLD_OLD);
			if (from == 0 && to == 0)
				continue;
			if (to == 0)
				lay_whiteout(w->upper[0], name);
			else
				lay_type(w->upper[0], name, to, WORLD_NEW);
			if (to == 2)
				set_opaque(w->upper[0], name);
			if (to == 2)
				set_mtime(w->upper[0], name, WORLD_NEW);
		}
}

static inline void scene_opaque(struct world *w)
{
	int b = w->base[0], u = w->upper[0];

	put_dir(b, "d");
	lay_file(b, "d/gone", "gone", 0644, WORLD_OLD);
	lay_file(b, "d/same", "same", 0644, WORLD_OLD);
	lay_file(b, "d/changed", "before", 0644, WORLD_OLD);
	put_dir(b, "d/deep");
	lay_file(b, "d/deep/x", "x", 0644, WORLD_OLD);
	set_mtime(b, "d/deep", WORLD_OLD);
	set_mtime(b, "d", WORLD_OLD);
	put_dir(u, "d");
	lay_file(u, "d/same", "same", 0644, WORLD_OLD);
	lay_file(u, "d/changed", "after!", 0600, WORLD_NEW);
	lay_file(u, "d/added", "added", 0644, WORLD_NEW);
	set_opaque(u, "d");
	set_mtime(u, "d", WORLD_NEW);
}

static inline void scene_deep(struct world *w)
{
	int b = w->base[0], u = w->upper[0];
	char path[512] = "";

	for (int i = 0; i < 12; i++) {
		size_t n = strlen(path);

		(void)snprintf(path + n, sizeof(path) - n, "%slevel%d",
			       n ? "/" : "", i);
		put_dir(b, path);
		put_dir(u, path);
	}
	for (char *end = path + strlen(path); end > path;) {
		char file[600];

		(void)snprintf(file, sizeof(file), "%s/f", path);
		lay_file(b, file, "old", 0644, WORLD_OLD);
		if (strlen(path) % 2)
			lay_file(u, file, "newer", 0644, WORLD_NEW);
		else
			lay_whiteout(u, file);
		(void)snprintf(file, sizeof(file), "%s/g", path);
		lay_file(u, file, "g", 0644, WORLD_NEW);
		set_mtime(b, path, WORLD_OLD);
		set_mtime(u, path, WORLD_NEW);
		end = strrchr(path, '/') ? strrchr(path, '/') : path;
		*end = '\0';
	}
}

static inline void scene_resources(struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		lay_file(w->base[i], "f", "old", 0644, WORLD_OLD);
		lay_file(w->upper[i], "f", "new!", 0644, WORLD_NEW);
		lay_file(w->base[i], "gone", "gone", 0644, WORLD_OLD);
		lay_whiteout(w->upper[i], "gone");
		put_dir(w->upper[i], "tree");
		lay_file(w->upper[i], "tree/leaf", "leaf", 0644, WORLD_NEW);
		set_mtime(w->upper[i], "tree", WORLD_NEW);
	}
}

static inline void scene_many(struct world *w, int n)
{
	char name[32];

	put_dir(w->base[0], "m");
	put_dir(w->upper[0], "m");
	for (int i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "m/%04d", i);
		if (i % 4 != 1)
			lay_file(w->base[0], name, "old", 0644, WORLD_OLD);
		if (i % 4 == 2)
			lay_whiteout(w->upper[0], name);
		else
			lay_file(w->upper[0], name, "new text", 0644,
				 WORLD_NEW + i);
	}
	set_mtime(w->base[0], "m", WORLD_OLD);
	set_mtime(w->upper[0], "m", WORLD_NEW);
}

static inline void scene_40(struct world *w)
{
	scene_many(w, 40);
}

static inline void scene_1000(struct world *w)
{
	scene_many(w, 1000);
}

/* Directories that we may not write to: in place, moved, and both. */
static inline void scene_closed(struct world *w)
{
	int b = w->base[0], u = w->upper[0];

	put_dir(b, "stays");
	lay_file(b, "stays/f", "old", 0444, WORLD_OLD);
	lay_file(b, "stays/gone", "gone", 0644, WORLD_OLD);
	put_dir(u, "stays");
	lay_file(u, "stays/f", "newer", 0444, WORLD_NEW);
	lay_whiteout(u, "stays/gone");
	lay_file(u, "stays/new", "new", 0400, WORLD_NEW);
	put_dir(b, "goes");
	lay_file(b, "goes/f", "f", 0644, WORLD_OLD);
	lay_whiteout(u, "goes");
	put_dir(u, "comes");
	put_dir(u, "comes/in");
	lay_file(u, "comes/in/f", "f", 0644, WORLD_NEW);
	put_dir(b, "turns");
	lay_file(b, "turns/f", "f", 0644, WORLD_OLD);
	put_dir(u, "turns");
	lay_file(u, "turns/g", "g", 0644, WORLD_NEW);
	set_opaque(u, "turns");
	put_dir(b, "mode");
	lay_file(b, "mode/f", "f", 0644, WORLD_OLD);
	put_dir(u, "mode");
	set_mtime(b, "stays", WORLD_OLD);
	set_mtime(b, "goes", WORLD_OLD);
	set_mtime(b, "turns", WORLD_OLD);
	set_mtime(b, "mode", WORLD_OLD);
	set_mtime(u, "stays", WORLD_NEW);
	set_mtime(u, "comes/in", WORLD_NEW);
	set_mtime(u, "comes", WORLD_NEW);
	set_mtime(u, "turns", WORLD_NEW);
	set_mtime(u, "mode", WORLD_NEW);
	CHECK_INT(fchmodat(b, "stays", 0555, 0), 0);
	CHECK_INT(fchmodat(u, "stays", 0555, 0), 0);
	CHECK_INT(fchmodat(b, "goes", 0555, 0), 0);
	CHECK_INT(fchmodat(u, "comes/in", 0555, 0), 0);
	CHECK_INT(fchmodat(u, "comes", 0555, 0), 0);
	CHECK_INT(fchmodat(b, "turns", 0555, 0), 0);
	CHECK_INT(fchmodat(u, "turns", 0500, 0), 0);
	CHECK_INT(fchmodat(u, "mode", 0550, 0), 0);
}

/* A commit of some: new, deleted and opaque directories are split. */
static inline void scene_partial(struct world *w)
{
	int b = w->base[0], u = w->upper[0];

	scene_opaque(w);
	put_dir(b, "del");
	lay_file(b, "del/take", "1", 0644, WORLD_OLD);
	lay_file(b, "del/rest", "2", 0644, WORLD_OLD);
	set_mtime(b, "del", WORLD_OLD);
	lay_whiteout(u, "del");
	put_dir(u, "new");
	put_dir(u, "new/sub");
	lay_file(u, "new/sub/take", "take", 0644, WORLD_NEW);
	lay_file(u, "new/sub/rest", "rest", 0644, WORLD_NEW);
	lay_file(u, "new/rest", "rest", 0644, WORLD_NEW);
	set_mtime(u, "new/sub", WORLD_NEW);
	set_mtime(u, "new", WORLD_NEW);
	lay_file(u, "take", "take", 0644, WORLD_NEW);
	lay_file(u, "rest", "rest", 0644, WORLD_NEW);
	lay_file(u, "d/take", "take", 0644, WORLD_NEW);
	lay_file(u, "d/rest", "rest", 0644, WORLD_NEW);
	set_mtime(u, "d", WORLD_NEW);
}

static inline void scene_links(struct world *w)
{
	int b = w->base[0], u = w->upper[0];

	lay_file(b, "a", "old a", 0644, WORLD_OLD);
	lay_file(b, "b", "old b", 0644, WORLD_OLD);
	CHECK_INT(linkat(b, "b", b, "b2", 0), 0);
	lay_file(u, "a", "one inode", 0644, WORLD_NEW);
	CHECK_INT(linkat(u, "a", u, "c", 0), 0);
	put_dir(u, "d");
	CHECK_INT(linkat(u, "a", u, "d/e", 0), 0);
	lay_file(u, "d/x", "two", 0644, WORLD_NEW);
	CHECK_INT(linkat(u, "d/x", u, "d/y", 0), 0);
	set_mtime(u, "d", WORLD_NEW);
	lay_whiteout(u, "b");
	CHECK_INT(linkat(u, "d/x", u, "b2", 0), 0);
	set_mtime(u, "d", WORLD_NEW);
}

/* Setid bits, what has to be copied for its attributes, and attributes. */
static inline void scene_attributes(struct world *w)
{
	int b = w->base[0], u = w->upper[0];

	lay_file(b, "suid", "s", 0755, WORLD_OLD);
	lay_file(u, "suid", "s+", 06755, WORLD_NEW);
	put_dir(u, "tree");
	lay_file(u, "tree/suid", "t", 04711, WORLD_NEW);
	lay_file(u, "tree/escaped", "t", 0644, WORLD_NEW);
	set_xattr(u, "tree/escaped", "user.overlay.overlay.opaque", "n", 1);
	set_xattr(u, "tree/escaped", "user.plain", "value", 5);
	set_opaque(u, "tree");
	lay_whiteout(u, "tree/nothing");
	set_mtime(u, "tree", WORLD_NEW);
	put_dir(u, "clean");
	lay_file(u, "clean/f", "f", 0644, WORLD_NEW);
	set_xattr(u, "clean/f", "user.note", "n", 1);
	lay_whiteout(u, "clean/nothing");
	set_opaque(u, "clean");
	set_mtime(u, "clean", WORLD_NEW);
	put_dir(b, "dir");
	set_xattr(b, "dir", "user.was", "here", 4);
	set_xattr(b, "dir", "user.stays", "a", 1);
	lay_file(b, "dir/f", "f", 0644, WORLD_OLD);
	set_mtime(b, "dir", WORLD_OLD);
	put_dir(u, "dir");
	set_xattr(u, "dir", "user.stays", "b", 1);
	set_xattr(u, "dir", "user.is", "now", 3);
	set_xattr(u, "dir", "user.overlay.impure", "y", 1);
	CHECK_INT(fchmodat(u, "dir", 0700, 0), 0);
	set_mtime(u, "dir", WORLD_NEW);
}

/* The resource's own directory. */
static inline void scene_top(struct world *w)
{
	int b = w->base[0], u = w->upper[0], d = w->dir[0];

	put_dir(d, "top");
	lay_file(b, "f", "old", 0644, WORLD_OLD);
	lay_file(u, "f", "new", 0644, WORLD_NEW);
	set_origin(u, "f");
	set_xattr(b, ".", "user.was", "here", 4);
	set_xattr(d, "top", "user.was", "here", 4);
	set_xattr(u, ".", "user.is", "now", 3);
	set_xattr(u, ".", "user.overlay.impure", "y", 1);
	CHECK_INT(fchmodat(b, ".", 0755, 0), 0);
	CHECK_INT(fchmodat(d, "top", 0755, 0), 0);
	CHECK_INT(fchmodat(u, ".", 0570, 0), 0);
	set_mtime(d, "top", WORLD_OLD);
	world_reopen(w);
}

/* Directories that the commit leaves empty in the upper, and their removal. */
static inline void scene_emptied(struct world *w)
{
	static const char *const dirs[] = { "d", "d/e", "x" };
	int b = w->base[0], u = w->upper[0];

	for (size_t i = 0; i < 3; i++) {
		put_dir(b, dirs[i]);
		put_dir(u, dirs[i]);
		set_origin(u, dirs[i]);
	}
	lay_file(b, "d/e/f", "old", 0644, WORLD_OLD);
	lay_file(u, "d/e/f", "newer", 0600, WORLD_NEW);
	lay_file(b, "d/g", "g", 0644, WORLD_OLD);
	lay_whiteout(u, "d/g");
	lay_file(u, "x/n", "n", 0644, WORLD_NEW);
	set_xattr(b, "d", "user.stays", "a", 1);
	set_xattr(u, "d", "user.stays", "a", 1);
	set_xattr(u, "x", "user.is", "now", 3);
	CHECK_INT(fchmodat(u, "x", 0700, 0), 0);
	for (size_t i = 0; i < 3; i++) {
		set_mtime(b, dirs[i], WORLD_OLD);
		set_mtime(u, dirs[i], WORLD_NEW);
	}
}

/* A directory that goes, and one that a file takes the place of. */
static inline void scene_fixed(struct world *w)
{
	int b = w->base[0], u = w->upper[0];

	put_dir(b, "gone");
	put_dir(b, "gone/in");
	lay_file(b, "gone/in/f", "f", 0644, WORLD_OLD);
	lay_file(b, "gone/g", "g", 0600, WORLD_OLD);
	set_mtime(b, "gone/in", WORLD_OLD);
	set_mtime(b, "gone", WORLD_OLD);
	lay_whiteout(u, "gone");
	put_dir(b, "shared");
	lay_file(b, "shared/f", "f", 0644, WORLD_OLD);
	set_mtime(b, "shared", WORLD_OLD);
	lay_file(u, "shared", "a file", 0644, WORLD_NEW);
}

static const struct scene scenes[] = {
	{ "one entry", 1, .build = scene_one },
	{ "types 4x4", 1, .build = scene_types },
	{ "opaque", 1, .build = scene_opaque },
	{ "deep", 1, .build = scene_deep },
	{ "two resources", 2, .build = scene_resources },
	{ "40 entries", 1, .build = scene_40 },
	{ "closed directories", 1, .build = scene_closed },
	{ "partial", 1, .build = scene_partial, .only = "take" },
	{ "partial, all but", 1, .build = scene_partial, .except = "rest" },
	{ "hard links", 1, .build = scene_links },
	{ "hard links in part", 1, .build = scene_links, .only = "a" },
	{ "attributes", 1, .build = scene_attributes },
	{ "its own directory", 1, .build = scene_top },
	{ "its own directory, another file system", 1, true,
	  .build = scene_top },
	{ "types, another file system", 1, true, .build = scene_types },
	{ "opaque, another file system", 1, true, .build = scene_opaque },
	{ "partial, another file system", 1, true, .build = scene_partial,
	  .only = "take" },
	{ "hard links, another file system", 1, true, .build = scene_links },
	{ "attributes, another file system", 1, true,
	  .build = scene_attributes },
	{ "types, no flags for rename", 1, false, true, .build = scene_types },
	{ "opaque, no flags for rename", 1, false, true,
	  .build = scene_opaque },
	{ "closed, no flags for rename", 1, false, true,
	  .build = scene_closed },
	{ "far, no flags for rename", 1, true, true, .build = scene_types },
	{ "emptied directories", 1, .build = scene_emptied, .is_swept = true },
	{ "emptied directories, another file system", 1, true,
	  .build = scene_emptied, .is_swept = true },
	{ "directories that cannot move", 1, .build = scene_fixed,
	  .is_overlay = true },
	{ "made files", 1, .build = scene_made, .deliver = deliver_made },
	{ "made files, another file system", 1, true, .build = scene_made,
	  .deliver = deliver_made },
	{ "made files, no flags for rename", 1, false, true,
	  .build = scene_made, .deliver = deliver_made },
	{ "made files, some held", 1, .build = scene_made_held,
	  .deliver = deliver_held, .holds = true },
	{ "made files, some held, another file system", 1, true,
	  .build = scene_made_held, .deliver = deliver_held, .holds = true },
};

#define N_SCENES (sizeof(scenes) / sizeof(scenes[0]))

static inline void scene_open(const struct scene *s, struct world *w)
{
	world_init(w, s->n_resources, s->is_far);
	fault_overlay(s->is_overlay);
	s->build(w);
	for (size_t i = 0; i < w->n; i++) {
		set_mtime(w->base[i], ".", WORLD_OLD);
		set_mtime(w->upper[i], ".", WORLD_NEW);
	}
}

static inline struct txn_options scene_options(const struct scene *s)
{
	struct txn_options o = { .with_setid = true, .deliver = s->deliver };

	if (s->only) {
		o.choice.filter.only = &s->only;
		o.choice.filter.n_only = 1;
	}
	if (s->except) {
		o.choice.filter.except = &s->except;
		o.choice.filter.n_except = 1;
	}
	return o;
}

/* What a session does when nothing is mounted: alike.h. */
static inline int scene_sweep(const struct scene *s, const struct world *w,
			      struct hb_error *err)
{
	/* Before it is filed it may be taken back. */
	return s->is_swept && !w->txn.is_unfinished
		       ? alike_note(&w->resources[0], false, err)
		       : 0;
}

static inline int scene_commit(const struct scene *s, struct world *w,
			       struct hb_error *err)
{
	struct txn_options o = scene_options(s);
	struct txn_result result;
	int r = txn_commit(&w->txn, &o, world_seen, w, &result, err);

	return r < 0 ? r : scene_sweep(s, w, err);
}

#endif
