/* SPDX-License-Identifier: Apache-2.0 */
#include "git/kept/kept_file.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/num.h"
#include "base/siphash.h"
#include "git/gitrefs.h"
#include "git/kept/kept_placed.h"
#include "git/kept/kept_refs.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Records as files: "refs-HASH" of T0, and "refs-HASH-ID" of a commit.  The
 * hash is that of the path, as the copies of indexes have it.
 */
#define PREFIX	  "refs-"
#define HASH	  16
#define NAME_SIZE (sizeof(PREFIX) + HASH + 1 + 20)
#define SUFFIX	  ".new"

static void name_of(const char *path, uint64_t id, char ret[NAME_SIZE])
{
	static const struct siphash_key key = { 0, 0 };
	unsigned long long hash = siphash(&key, path, strlen(path));

	if (id == 0)
		(void)snprintf(ret, NAME_SIZE, PREFIX "%016llx", hash);
	else
		(void)snprintf(ret, NAME_SIZE, PREFIX "%016llx-%" PRIu64, hash,
			       id);
}

/*
 * What is behind the hash: "", "-ID", or the rest of a name; NULL: no record.
 * Copies of indexes by number have names of the same form, and the same fate.
 */
static const char *behind_hash(const char *name)
{
	static const char *const prefixes[] = { PREFIX, KEPT_PLACED_PREFIX };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], n) == 0 &&
		    strlen(name) >= n + HASH)
			return name + n + HASH;
	}
	return NULL;
}

bool kept_refs_is_file(const char *name)
{
	const char *rest = behind_hash(name);
	uint64_t id;

	return rest && (rest[0] == '\0' ||
			(rest[0] == '-' && num_u64(rest + 1, &id) >= 0));
}

int kept_refs_load(int dir, const char *path, uint64_t id,
		   struct kept_refs *ret)
{
	auto_free char *text = NULL;
	char name[NAME_SIZE];
	int r;

	name_of(path, id, name);
	r = gitref_read_file(dir, "", name, KEPT_REFS_MAX, &text);
	if (r >= 0)
		r = kept_refs_parse(text, strlen(text), ret);
	return r < 0 && r != -ENOMEM ? -ENOENT : r;
}

static int put(int dir, const char *temporary, const char *name,
	       const struct buf *text, bool is_durable)
{
	auto_fd int fd =
		sys_openat(dir, temporary,
			   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	int r = fd < 0 ? fd : sys_write_all(fd, text->data, text->len);

	if (r >= 0 && is_durable)
		r = sys_fsync(fd);
	if (r >= 0)
		r = sys_renameat(dir, temporary, dir, name);
	if (r < 0 && fd >= 0)
		(void)sys_unlinkat(dir, temporary, 0);
	return r;
}

int kept_refs_store(int dir, const char *path, uint64_t id,
		    const struct kept_refs *refs)
{
	auto_buf struct buf text = BUF_INIT(KEPT_REFS_MAX);
	char name[NAME_SIZE], temporary[NAME_SIZE + sizeof(SUFFIX)];
	int r = kept_refs_write(refs, &text);

	if (r < 0)
		return r;
	name_of(path, id, name);
	(void)snprintf(temporary, sizeof(temporary), "%s" SUFFIX, name);
	r = put(dir, temporary, name, &text, id > 0);
	return r < 0 || id == 0 ? r : sys_fsync(dir);
}

int kept_refs_sync(int dir, const char *path)
{
	char name[NAME_SIZE];
	auto_fd int fd = -1;
	int r;

	name_of(path, 0, name);
	fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW, 0);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = sys_fsync(fd);
	return r < 0 ? r : sys_fsync(dir);
}

void kept_refs_forget(int dir, const char *path)
{
	char name[NAME_SIZE];

	name_of(path, 0, name);
	(void)sys_unlinkat(dir, name, 0);
}

struct sweeping {
	bool (*is_known)(void *ctx, uint64_t id);
	void *ctx;
};

/* Of type tree_fn. */
static int sweep_one(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	const struct sweeping *s = ctx;
	const char *rest = behind_hash(visit->name);
	size_t n = rest ? strlen(rest) : 0, cut = strlen(SUFFIX);
	bool is_cut = n >= cut && strcmp(rest + n - cut, SUFFIX) == 0;
	uint64_t id;

	(void)err;
	if (visit->when != TREE_ENTER || n == 0)
		return TREE_SKIP;
	if (!is_cut && (rest[0] != '-' || num_u64(rest + 1, &id) < 0 ||
			s->is_known(s->ctx, id)))
		return TREE_SKIP;
	(void)sys_unlinkat(visit->dir, visit->name, 0);
	return TREE_SKIP;
}

int kept_refs_sweep(int dir, bool (*is_known)(void *ctx, uint64_t id),
		    void *ctx)
{
	struct sweeping s = { is_known, ctx };
	int r = tree_walk(dir, ".", TREE_FLAT | TREE_LENIENT, sweep_one, &s,
			  NULL);

	return r < 0 ? r : 0;
}

struct settling {
	uint64_t id;
	bool is_in_effect;
};

/* Of type tree_fn. */
static int settle_one(void *ctx, const struct tree_visit *visit,
		      struct hb_error *err)
{
	const struct settling *s = ctx;
	const char *rest = behind_hash(visit->name);
	char first[sizeof(KEPT_PLACED_PREFIX) + NAME_SIZE];
	uint64_t id;
	int r;

	(void)err;
	if (visit->when != TREE_ENTER || !rest || rest[0] != '-' ||
	    num_u64(rest + 1, &id) < 0 || id != s->id)
		return TREE_SKIP;
	(void)snprintf(first, sizeof(first), "%.*s", (int)(rest - visit->name),
		       visit->name);
	r = s->is_in_effect
		    ? sys_renameat(visit->dir, visit->name, visit->dir, first)
		    : sys_unlinkat(visit->dir, visit->name, 0);
	return r < 0 ? r : TREE_SKIP;
}

int kept_refs_settle(int dir, uint64_t id, bool is_in_effect)
{
	struct settling s = { id, is_in_effect };
	int r = tree_walk(dir, ".", TREE_FLAT | TREE_LENIENT, settle_one, &s,
			  NULL);

	return r < 0 ? r : sys_fsync(dir);
}
