/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/database.h"

#include "base/auto.h"
#include "base/time.h"
#include "changes/conflict.h"
#include "changes/resource.h"
#include "changes/walk.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/content.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers are those of SQLite's file format. */
#define HEADER_SIZE   16
#define PAGE_SIZE_MIN 512
#define LOCK_START    0x40000000U
#define LOCK_LENGTH   512

static const unsigned char header[HEADER_SIZE] = "SQLite format 3";

/* How a side file begins.  Native byte order: other machines have another. */
static const struct magic {
	enum database_part part;
	size_t n;
	unsigned char bytes[8];
} magics[] = {
	{ DATABASE_WAL, 4, { 0x37, 0x7f, 0x06, 0x82 } },
	{ DATABASE_WAL, 4, { 0x37, 0x7f, 0x06, 0x83 } },
	{ DATABASE_JOURNAL,
	  8,
	  { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 } },
	{ DATABASE_INDEX, 4, { 0x18, 0xe2, 0x2d, 0x00 } },
	{ DATABASE_INDEX, 4, { 0x00, 0x2d, 0xe2, 0x18 } },
};

const char *const database_endings[DATABASE_INDEX + 1] = {
	[DATABASE_NONE] = "",	   [DATABASE_MAIN] = "",
	[DATABASE_WAL] = "-wal",   [DATABASE_JOURNAL] = "-journal",
	[DATABASE_INDEX] = "-shm",
};

enum database_part database_part_of_name(const char *name, size_t *ret_main)
{
	size_t n = strlen(name);

	for (int i = DATABASE_WAL; i <= DATABASE_INDEX; i++) {
		size_t ending = strlen(database_endings[i]);

		if (n > ending &&
		    strcmp(name + n - ending, database_endings[i]) == 0) {
			*ret_main = n - ending;
			return (enum database_part)i;
		}
	}
	*ret_main = n;
	return DATABASE_MAIN;
}

static bool begins_like_main(int fd)
{
	unsigned char bytes[HEADER_SIZE];

	return sys_pread_full(fd, bytes, sizeof(bytes), 0) == HEADER_SIZE &&
	       memcmp(bytes, header, HEADER_SIZE) == 0;
}

static bool begins_like(int fd, enum database_part part)
{
	unsigned char bytes[sizeof(magics[0].bytes)];
	ssize_t n = sys_pread_full(fd, bytes, sizeof(bytes), 0);

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (magics[i].part == part && n >= (ssize_t)magics[i].n &&
		    memcmp(bytes, magics[i].bytes, magics[i].n) == 0)
			return true;
	return false;
}

bool database_has_size(uint64_t size)
{
	return size >= PAGE_SIZE_MIN && size % PAGE_SIZE_MIN == 0;
}

/* One object of a sighting, or a sibling of it, on one side. */
static bool is_part(int dir, const char *name, const struct entry *e,
		    bool in_layer, enum database_part part)
{
	auto_fd int fd = -1;

	if (dir < 0 || e->type != ENTRY_FILE || e->size == 0 ||
	    (part == DATABASE_MAIN && !database_has_size(e->size)))
		return false;
	fd = access_open_file(dir, name, e, in_layer, NULL);
	if (fd < 0)
		return false;
	return part == DATABASE_MAIN ? begins_like_main(fd)
				     : begins_like(fd, part);
}

static bool has_main(const struct sighting *s, const char *name)
{
	struct entry e;

	if (s->base_dir >= 0 &&
	    entry_read_base(s->base_dir, name, &e, NULL) >= 0 &&
	    is_part(s->base_dir, name, &e, false, DATABASE_MAIN))
		return true;
	return s->layer_dir >= 0 &&
	       entry_read_layer(s->layer_dir, name, &e, NULL) >= 0 &&
	       is_part(s->layer_dir, name, &e, true, DATABASE_MAIN);
}

enum database_part database_part_of(const struct sighting *s)
{
	auto_free char *main = NULL;
	enum database_part part;
	size_t n;

	if (s->old.type != ENTRY_FILE && s->new.type != ENTRY_FILE)
		return DATABASE_NONE;
	part = database_part_of_name(s->name, &n);
	if (is_part(s->base_dir, s->name, &s->old, false, part) ||
	    is_part(s->layer_dir, s->name, &s->new, true, part))
		return part;
	if (part == DATABASE_MAIN)
		return DATABASE_NONE;
	main = strndup(s->name, n);
	return main && has_main(s, main) ? part : DATABASE_NONE;
}

int database_is_held(int dir, const char *name, pid_t *ret_holder)
{
	uint64_t size;
	auto_fd int fd = access_open_regular(dir, name, &size);

	if (fd < 0 || !database_has_size(size) || !begins_like_main(fd))
		return 0;
	return sys_lock_holder(fd, LOCK_START, LOCK_LENGTH, ret_holder) == 1;
}

/* Another file of the unit: what the base has, and whether it was touched. */
static bool is_touched(const struct conflict_rule *rule,
		       const struct sighting *s, const char *name)
{
	struct sighting other = { 0 };
	auto_free char *path = NULL;
	size_t n = (size_t)(s->name - s->path);

	if (entry_read_base(s->base_dir, name, &other.old, NULL) < 0 ||
	    other.old.type != ENTRY_FILE || other.old.size == 0)
		return false;
	/* Without memory it is in doubt. */
	if (asprintf(&path, "%.*s%s", (int)n, s->path, name) < 0) {
		path = NULL;
		return true;
	}
	other.path = path;
	other.name = path + n;
	return conflict_is_touched(rule, &other);
}

static bool is_in_layer(const struct sighting *s, const char *name)
{
	struct entry e;

	return s->layer_dir >= 0 &&
	       entry_read_layer(s->layer_dir, name, &e, NULL) >= 0 &&
	       (e.type != ENTRY_NONE || e.is_whiteout);
}

enum conflict database_conflict(const struct conflict_rule *rule,
				const struct sighting *s,
				enum database_part part, pid_t *ret_holder)
{
	enum conflict found = CONFLICT_NONE;
	size_t n;

	if (s->base_dir < 0)
		return CONFLICT_NONE;
	(void)database_part_of_name(s->name, &n);
	for (int i = DATABASE_MAIN; i < DATABASE_INDEX; i++) {
		auto_free char *name = NULL;

		if (asprintf(&name, "%.*s%s", (int)n, s->name,
			     database_endings[i]) < 0) {
			name = NULL;
			return CONFLICT_DATABASE;
		}
		if (i == DATABASE_MAIN &&
		    database_is_held(s->base_dir, name, ret_holder))
			return CONFLICT_OPEN;
		if (i == (int)part || !conflict_has_start(rule) ||
		    !is_touched(rule, s, name))
			continue;
		if (!is_in_layer(s, name))
			return CONFLICT_DATABASE;
		found = CONFLICT_EDITED;
	}
	return found;
}

bool database_is_listed(const struct resource *resource, const char *path,
			enum database_part *ret_part)
{
	const struct database_list *list = resource->databases;
	size_t n;

	*ret_part = DATABASE_NONE;
	if (!list)
		return false;
	for (int round = 0; round < 2; round++) {
		enum database_part part = database_part_of_name(path, &n);

		/* First as a side file: X may itself be called Y-wal. */
		if (round == 1) {
			part = DATABASE_MAIN;
			n = strlen(path);
		}
		for (size_t i = 0; i < list->n; i++) {
			if (strncmp(list->paths[i], path, n) != 0 ||
			    list->paths[i][n] != '\0')
				continue;
			*ret_part = part;
			return true;
		}
	}
	return false;
}

/* 1: a file that holds something; 0: an empty one, or hidden; else -ENOENT. */
static int look_in_layer(int layer, const char *path)
{
	const char *slash = strrchr(path, '/');
	auto_fd int dir = content_find_dir(
		layer, path, slash ? (size_t)(slash - path) : 0, NULL);
	struct entry e;

	if (dir < 0 ||
	    entry_read_layer(dir, slash ? slash + 1 : path, &e, NULL) < 0)
		return -ENOENT;
	if (e.type == ENTRY_NONE && !e.is_whiteout)
		return -ENOENT;
	return e.type == ENTRY_FILE && e.size > 0;
}

bool database_has_log(const struct resource *resource, const char *path)
{
	for (int part = DATABASE_WAL; part < DATABASE_INDEX; part++) {
		auto_free char *name = NULL;
		int r = -ENOENT;

		/* Without memory it is in doubt. */
		if (asprintf(&name, "%s%s", path, database_endings[part]) < 0) {
			name = NULL;
			return true;
		}
		for (size_t i = 0; r == -ENOENT && i < resource->n_layers; i++)
			r = look_in_layer(resource->layers[i], name);
		if (r == 1)
			return true;
	}
	return false;
}

bool database_is_touched(const struct conflict_rule *rule, int dir,
			 const char *path)
{
	const char *slash = strrchr(path, '/');
	const struct sighting s = {
		.path = path,
		.name = slash ? slash + 1 : path,
		.base_dir = dir,
	};

	for (int part = DATABASE_MAIN;
	     conflict_has_start(rule) && part < DATABASE_INDEX; part++) {
		auto_free char *name = NULL;

		if (asprintf(&name, "%s%s", s.name, database_endings[part]) <
		    0) {
			name = NULL;
			return true;
		}
		if (is_touched(rule, &s, name))
			return true;
	}
	return false;
}

void database_read_state(int dir, const char *main, struct database_state *ret)
{
	*ret = (struct database_state){ 0 };
	for (int part = DATABASE_MAIN; part < DATABASE_INDEX; part++) {
		auto_free char *name = NULL;
		struct sys_attr a;

		if (asprintf(&name, "%s%s", main, database_endings[part]) < 0)
			name = NULL;
		/* Without memory no two are the same. */
		if (!name)
			ret->files[part].ino = UINT64_MAX;
		else if (sys_attr_at(dir, name, &a) == 0 && a.size > 0)
			ret->files[part] =
				(struct database_file){ a.ino, a.size,
							a.ctime };
	}
}

bool database_is_state(const struct database_state *a,
		       const struct database_state *b)
{
	for (int i = DATABASE_MAIN; i < DATABASE_INDEX; i++)
		if (a->files[i].ino != b->files[i].ino ||
		    a->files[i].ino == UINT64_MAX ||
		    a->files[i].size != b->files[i].size ||
		    !time_is_same(a->files[i].ctime, b->files[i].ctime))
			return false;
	return true;
}
