/* SPDX-License-Identifier: Apache-2.0 */
#include "git/kept/kept_placed.h"

#include "base/auto.h"
#include "base/num.h"
#include "base/siphash.h"
#include "git/kept/kept_index.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HASH	  16
#define NAME_SIZE (sizeof(KEPT_PLACED_PREFIX) + HASH + 1 + 20)
#define CONFIRMED KEPT_PLACED_PREFIX "confirmed"

/* By the hash, of HASH digits, as the copy of kept_index.h is called. */
static void name_by_hash(const char *hash, uint64_t id, char ret[NAME_SIZE])
{
	if (id == 0)
		(void)snprintf(ret, NAME_SIZE, KEPT_PLACED_PREFIX "%.*s", HASH,
			       hash);
	else
		(void)snprintf(ret, NAME_SIZE,
			       KEPT_PLACED_PREFIX "%.*s-%" PRIu64, HASH, hash,
			       id);
}

static void name_of(const char *path, uint64_t id, char ret[NAME_SIZE])
{
	static const struct siphash_key key = { 0, 0 };
	char hash[HASH + 1];

	(void)snprintf(hash, sizeof(hash), "%016llx",
		       (unsigned long long)siphash(&key, path, strlen(path)));
	name_by_hash(hash, id, ret);
}

static int put(int dir, const char *name, int from, const void *data,
	       uint64_t size)
{
	int r = kept_index_write(dir, name, from, data, size, true);

	return r < 0 ? r : sys_fsync(dir);
}

int kept_placed_store(int dir, const char *path, uint64_t id, const void *data,
		      size_t size)
{
	char name[NAME_SIZE];

	name_of(path, id, name);
	return put(dir, name, -1, data, size);
}

int kept_placed_begin(int dir, const char *path, uint64_t id)
{
	uint64_t size = 0;
	auto_fd int now = kept_index_open(dir, path, &size);
	char name[NAME_SIZE];
	struct sys_attr there;

	name_of(path, id, name);
	if (now < 0 || sys_attr_at(dir, name, &there) >= 0)
		return now < 0 && now != -ENOENT ? now : 0;
	return put(dir, name, now, NULL, size);
}

struct restoring {
	const uint64_t *ids;
	size_t n;
};

static bool has_later(const struct restoring *s, int dir, const char *hash,
		      uint64_t id)
{
	char name[NAME_SIZE];
	struct sys_attr there;

	for (size_t i = 0; i < s->n; i++) {
		if (s->ids[i] <= id)
			continue;
		name_by_hash(hash, s->ids[i], name);
		if (sys_attr_at(dir, name, &there) >= 0)
			return true;
	}
	return false;
}

static bool is_among(const struct restoring *s, uint64_t id)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ids[i] == id)
			return true;
	return id == 0;
}

/* Of type tree_fn. */
static int restore_one(void *ctx, const struct tree_visit *visit,
		       struct hb_error *err)
{
	const struct restoring *s = ctx;
	const char *hash = visit->name + strlen(KEPT_PLACED_PREFIX);
	uint64_t id = 0, size = 0;
	auto_fd int from = -1;
	int r;

	(void)err;
	if (visit->when != TREE_ENTER ||
	    strncmp(visit->name, KEPT_PLACED_PREFIX,
		    strlen(KEPT_PLACED_PREFIX)) != 0 ||
	    strlen(hash) < HASH)
		return TREE_SKIP;
	if (hash[HASH] != '\0' &&
	    (hash[HASH] != '-' || num_u64(hash + HASH + 1, &id) < 0))
		return TREE_SKIP;
	if (!is_among(s, id) || has_later(s, visit->dir, hash, id))
		return TREE_SKIP;
	from = access_open_regular(visit->dir, visit->name, &size);
	r = from < 0 ? from : kept_index_put_copy(visit->dir, hash, from, size);
	return r < 0 ? r : TREE_SKIP;
}

int kept_placed_confirm(int dir, uint64_t id, bool is_first)
{
	struct sys_attr there;
	int r;

	if (!is_first && sys_attr_at(dir, CONFIRMED, &there) < 0)
		return 0;
	r = sys_fsync(dir);

	/* What it is about is on disk before it is. */
	return r < 0 ? r : put(dir, CONFIRMED, -1, &id, sizeof(id));
}

static bool is_confirmed(int dir, uint64_t last)
{
	uint64_t size = 0, id = 0;
	auto_fd int fd = access_open_regular(dir, CONFIRMED, &size);

	return fd >= 0 && size == sizeof(id) &&
	       sys_pread_full(fd, &id, sizeof(id), 0) == sizeof(id) &&
	       id == last;
}

int kept_placed_open(int dir, const char *path, const uint64_t *ids, size_t n,
		     uint64_t last, uint64_t *ret_size)
{
	char name[NAME_SIZE];
	uint64_t best = 0;
	int fd;

	if (is_confirmed(dir, last))
		return kept_index_open(dir, path, ret_size);
	for (size_t i = 0; i < n; i++) {
		struct sys_attr there;

		name_of(path, ids[i], name);
		if (ids[i] > best && sys_attr_at(dir, name, &there) >= 0)
			best = ids[i];
	}
	name_of(path, best, name);
	fd = access_open_regular(dir, name, ret_size);
	return fd == -ENOENT ? kept_index_open(dir, path, ret_size) : fd;
}

int kept_placed_restore(int dir, const uint64_t *ids, size_t n)
{
	struct restoring s = { ids, n };
	int r = tree_walk(dir, ".", TREE_FLAT | TREE_LENIENT, restore_one, &s,
			  NULL);

	return r < 0 ? r : 0;
}
