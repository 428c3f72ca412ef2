/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_MEDDLE_H
#define HB_TEST_MEDDLE_H

#include "scenes.h"

/*
 * Somebody else between a kill and the recovery: he writes to the base, or into
 * the session's own directories, at every name that the scene has.
 */
enum meddling {
	MEDDLE_OTHER,	/* his own object lies at each path of the base */
	MEDDLE_NOTHING, /* nothing does */
	MEDDLE_WRITTEN, /* he had every file open, and writes to it */
	MEDDLE_SOURCE,	/* his own object lies where the new one comes from */
	MEDDLE_UNDO,	/* and where the old one went */
	MEDDLE_FILLED,	/* he puts a file into every copy of a directory */
	MEDDLE_INSIDE,	/* and into every directory of the base */
	MEDDLE_UPPER,	/* a box has made its own where a whiteout was */
	MEDDLINGS
};

static const char *const meddled_names[] = {
	"replaced", "turned", "made", "added", "deleted", "gone", "shared",
};

#define N_MEDDLED (sizeof(meddled_names) / sizeof(meddled_names[0]))

/* One operation of each kind, and with `is_overlay` those of OP_REMOVE. */
static inline void scene_meddled(struct world *w)
{
	int b = w->base[0], u = w->upper[0];

	lay_file(b, "replaced", "old", 0644, WORLD_OLD);
	lay_file(u, "replaced", "new text", 0644, WORLD_NEW);
	put_dir(b, "turned");
	lay_file(b, "turned/f", "f", 0644, WORLD_OLD);
	set_mtime(b, "turned", WORLD_OLD);
	lay_file(u, "turned", "a file", 0644, WORLD_NEW);
	lay_file(b, "made", "a file", 0644, WORLD_OLD);
	put_dir(u, "made");
	lay_file(u, "made/f", "f", 0644, WORLD_NEW);
	set_opaque(u, "made");
	set_mtime(u, "made", WORLD_NEW);
	put_dir(u, "fresh");
	lay_file(u, "fresh/f", "f", 0644, WORLD_NEW);
	set_mtime(u, "fresh", WORLD_NEW);
	lay_file(u, "added", "added", 0644, WORLD_NEW);
	lay_file(b, "deleted", "deleted", 0644, WORLD_OLD);
	lay_whiteout(u, "deleted");
	scene_fixed(w);
}

static inline void meddle_remove(int dir, const char *name)
{
	int fd;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	tree_empty(fd);
	(void)close(fd);
	CHECK_INT(unlinkat(dir, name, AT_REMOVEDIR), 0);
}

/* At every name of a directory; what he does depends on `how`. */
static inline void meddle_each(int dir, enum meddling how)
{
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_CLOEXEC));
	char names[64][32];
	struct dirent *e;
	size_t n = 0;
	int fd;

	CHECK(d != NULL);
	while ((e = readdir(d)) && n < 64)
		if (e->d_name[0] != '.')
			(void)snprintf(names[n++], sizeof(names[0]), "%.31s",
				       e->d_name);
	(void)closedir(d);
	for (size_t i = 0; i < n; i++) {
		fd = openat(dir, names[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if ((how == MEDDLE_FILLED || how == MEDDLE_INSIDE) && fd >= 0)
			put_file(fd, "his", "his");
		if (fd >= 0)
			(void)close(fd);
		if (how == MEDDLE_WRITTEN && fd < 0) {
			fd = openat(dir, names[i],
				    O_WRONLY | O_APPEND | O_CLOEXEC);
			CHECK(fd < 0 || write(fd, "his", 3) == 3);
			(void)close(fd);
		}
		if (how != MEDDLE_SOURCE && how != MEDDLE_UNDO)
			continue;
		meddle_remove(dir, names[i]);
		put_file(dir, names[i], "his");
	}
}

/* In all of undo/ or txn/, whatever the transaction's number is. */
static inline void meddle_store(int store, const char *name, enum meddling how)
{
	int dir = openat(store, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *e;
	DIR *d;
	int fd;

	if (dir < 0)
		return;
	d = fdopendir(dir);
	CHECK(d != NULL);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		fd = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(fd >= 0);
		meddle_each(fd, how);
		(void)close(fd);
	}
	(void)closedir(d);
}

static inline void meddle(struct world *w, enum meddling how)
{
	for (size_t i = 0; i < N_MEDDLED; i++)
		if (how == MEDDLE_OTHER || how == MEDDLE_NOTHING)
			meddle_remove(w->base[0], meddled_names[i]);
	for (size_t i = 0; i < N_MEDDLED; i++)
		if (how == MEDDLE_OTHER)
			put_file(w->base[0], meddled_names[i], "his");
	if (how == MEDDLE_WRITTEN || how == MEDDLE_INSIDE)
		meddle_each(w->base[0], how);
	if (how == MEDDLE_WRITTEN)
		meddle_each(w->upper[0], how);
	if (how == MEDDLE_SOURCE)
		meddle_each(w->upper[0], how);
	if (how == MEDDLE_WRITTEN || how == MEDDLE_SOURCE ||
	    how == MEDDLE_FILLED)
		meddle_store(w->spot[0], "txn", how);
	if (how == MEDDLE_UNDO)
		meddle_store(w->spot[0], "undo", how);
	if (how == MEDDLE_UPPER &&
	    faccessat(w->upper[0], "deleted", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		put_file(w->upper[0], "deleted", "his");
}

/* How many of the names have his text there. */
static inline size_t meddle_count(int dir)
{
	size_t n = 0;

	for (size_t i = 0; i < N_MEDDLED; i++)
		n += is_text(dir, meddled_names[i], "his");
	return n;
}

/* How many directories have his file. */
static inline size_t meddle_count_inside(int dir)
{
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_CLOEXEC));
	struct dirent *e;
	char path[300];
	size_t n = 0;

	CHECK(d != NULL);
	while ((e = readdir(d))) {
		(void)snprintf(path, sizeof(path), "%s/his", e->d_name);
		n += is_text(dir, path, "his");
	}
	(void)closedir(d);
	return n;
}

#endif
