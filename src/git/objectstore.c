/* SPDX-License-Identifier: Apache-2.0 */
#include "git/objectstore.h"

#include "base/auto.h"
#include "base/error.h"
#include "git/githash.h"
#include "git/pack/delta_bases.h"
#include "git/pack/gitpack.h"
#include "git/pack/inflate.h"
#include "git/pack/packcheck.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/access.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_MAX 32 /* of a loose object: its type, size and a NUL */
#define RESOLVE	 (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS)

struct objectstore {
	int dirs[OBJECTSTORE_DIRS_MAX]; /* each `objects` */
	size_t n_dirs;
	struct gitpack packs[OBJECTSTORE_PACKS_MAX];
	size_t n_packs;
	bool has_packs; /* they were looked for */
	struct delta_bases *bases;
	uint64_t work;
};

struct objectstore *objectstore_new(void)
{
	struct objectstore *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->work = OBJECTSTORE_WORK;
	store->bases = delta_bases_new();
	if (!store->bases) {
		free(store);
		return NULL;
	}
	return store;
}

void objectstore_free(struct objectstore *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->n_packs; i++)
		gitpack_close(&store->packs[i]);
	for (size_t i = 0; i < store->n_dirs; i++)
		fd_closep(&store->dirs[i]);
	delta_bases_free(store->bases);
	free(store);
}

int objectstore_add(struct objectstore *store, int root, const char *prefix)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%sobjects", prefix,
			 prefix[0] ? "/" : "");
	int fd;

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	if (store->n_dirs == OBJECTSTORE_DIRS_MAX)
		return -EFBIG;
	fd = sys_openat2(root, path, O_RDONLY | O_DIRECTORY, 0, RESOLVE);
	if (fd < 0)
		return fd == -ENOMEM || fd == -EMFILE ? fd : 0;
	store->dirs[store->n_dirs++] = fd;
	return 0;
}

static ssize_t read_fd(void *ctx, void *buf, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, buf, size, offset);
}

/* "commit 123" and a NUL: how long that is. */
static int read_head(const char *head, size_t n, struct git_object *ret)
{
	const char *end = memchr(head, '\0', n);
	char *behind;

	for (enum git_type type = GIT_COMMIT; end && type <= GIT_TAG; type++) {
		size_t length = strlen(git_type_word(type));

		if (strncmp(head, git_type_word(type), length) != 0 ||
		    head[length] != ' ' ||
		    strchr("0123456789", head[length + 1]) == NULL)
			continue;
		errno = 0;
		ret->type = type;
		ret->size = strtoull(head + length + 1, &behind, 10);
		if (errno == 0 && behind == end)
			return (int)(end - head) + 1;
	}
	return -EBADMSG;
}

/* The type and size, and then all of it at once. */
static int read_loose(struct objectstore *s, int fd, size_t max,
		      struct git_object *ret)
{
	auto_free char *whole = NULL;
	char head[HEAD_MAX];
	size_t n = 0;
	int r, length;

	r = inflate_bytes(read_fd, &fd, 0, (unsigned char *)head, sizeof(head),
			  &n);
	if (r < 0 && r != -EFBIG)
		return r;
	length = read_head(head, n, ret);
	if (length < 0)
		return length;
	if (ret->size > max || ret->size > s->work)
		return -EFBIG;
	s->work -= ret->size;
	whole = malloc((size_t)length + ret->size + 1);
	if (!whole)
		return -ENOMEM;
	r = inflate_bytes(read_fd, &fd, 0, (unsigned char *)whole,
			  (size_t)length + ret->size, &n);
	if (r < 0 || n != (size_t)length + ret->size)
		return -EBADMSG;
	memmove(whole, whole + length, ret->size);
	whole[ret->size] = '\0';
	ret->data = take_ptr(&whole);
	return 0;
}

static int find_loose(struct objectstore *s, int dir, const struct git_id *id,
		      size_t max, struct git_object *ret)
{
	char path[GIT_HEX_SIZE + 1];
	auto_fd int fd = -1;
	uint64_t size;

	(void)snprintf(path, sizeof(path), "%.2s/%s", id->hex, id->hex + 2);
	fd = access_open_regular(dir, path, &size);
	return fd < 0 ? fd : read_loose(s, fd, max, ret);
}

/* Of type tree_fn. */
static int add_pack(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	struct objectstore *s = ctx;
	size_t n = strlen(visit->name);

	(void)err;
	if (!S_ISREG(visit->attr.mode) || n < 4 ||
	    strcmp(visit->name + n - 4, ".idx") != 0 ||
	    s->n_packs == OBJECTSTORE_PACKS_MAX)
		return TREE_SKIP;
	if (gitpack_open(visit->dir, visit->name, &s->packs[s->n_packs]) < 0)
		gitpack_close(&s->packs[s->n_packs]);
	else
		s->packs[s->n_packs++].bases = s->bases;
	return TREE_SKIP;
}

static void open_packs(struct objectstore *s)
{
	for (size_t i = 0; !s->has_packs && i < s->n_dirs; i++)
		(void)tree_walk(s->dirs[i], "pack", TREE_FLAT, add_pack, s,
				NULL);
	s->has_packs = true;
}

static int find_packed(struct objectstore *s, const struct git_id *id,
		       size_t max, struct git_object *ret)
{
	int worst = -ENOENT;

	open_packs(s);
	for (size_t i = 0; i < s->n_packs; i++) {
		uint64_t offset;
		int r = gitpack_find(&s->packs[i], id, &offset);

		if (r == 1)
			r = gitpack_read(&s->packs[i], offset, strlen(id->hex),
					 max, &s->work, ret);
		else
			continue;
		if (r >= 0)
			return 0;
		if (r == -ENOMEM || r == -EFBIG)
			worst = r;
	}
	return worst;
}

/* What is not its name is as good as not there. */
static int check(const struct git_id *id, struct git_object *object)
{
	struct git_id name;

	git_object_name(object, strlen(id->hex), &name);
	if (git_id_is_same(&name, id))
		return 0;
	free(object->data);
	return -ENOENT;
}

int objectstore_read(struct objectstore *store, const struct git_id *id,
		     size_t max, struct git_object *ret_object)
{
	struct git_object object = { 0 };
	int r = -ENOENT;

	for (size_t i = 0; r < 0 && i < store->n_dirs; i++) {
		r = find_loose(store, store->dirs[i], id, max, &object);
		if (r == -ENOMEM || r == -EFBIG)
			return r;
		if (r >= 0)
			r = check(id, &object);
	}
	if (r < 0) {
		r = find_packed(store, id, max, &object);
		if (r >= 0)
			r = check(id, &object);
	}
	if (r < 0)
		return r == -ENOMEM || r == -EFBIG ? r : -ENOENT;
	*ret_object = object;
	return 0;
}

bool objectstore_has(struct objectstore *store, const struct git_id *id)
{
	char path[GIT_HEX_SIZE + 1];
	uint64_t offset;
	struct sys_attr a;

	(void)snprintf(path, sizeof(path), "%.2s/%s", id->hex, id->hex + 2);
	for (size_t i = 0; i < store->n_dirs; i++) {
		/* A directory that is a link has none: it is not delivered. */
		auto_fd int fd = sys_openat2(store->dirs[i], path,
					     O_PATH | O_NOFOLLOW, 0, RESOLVE);

		if (fd >= 0 && sys_attr_at(fd, "", &a) == 0 && S_ISREG(a.mode))
			return true;
	}
	open_packs(store);
	for (size_t i = 0; i < store->n_packs; i++)
		if (gitpack_find(&store->packs[i], id, &offset) == 1)
			return true;
	return false;
}

/* The name of an object is the hash of all that its file inflates to. */
struct naming {
	struct githash hash;
	uint64_t *work;
};

/* Of type inflate_sink_fn. */
static int add_bytes(void *ctx, const void *bytes, size_t n)
{
	struct naming *naming = ctx;

	if (n > *naming->work)
		return -EFBIG;
	*naming->work -= n;
	githash_add(&naming->hash, bytes, n);
	return 0;
}

static int check_file(int fd, const struct git_id *id, uint64_t *work)
{
	struct naming naming = { .work = work };
	struct git_id name;
	int r;

	githash_init(&naming.hash, strlen(id->hex));
	r = inflate_each(read_fd, &fd, add_bytes, &naming);
	if (r < 0)
		return r == -ENOMEM || r == -EFBIG ? r : -EBADMSG;
	githash_end(&naming.hash, &name);
	return git_id_is_same(&name, id) ? 0 : -EBADMSG;
}

int objectstore_check_files(struct objectstore *store, const struct git_id *id,
			    uint64_t *work)
{
	char path[GIT_HEX_SIZE + 1];
	int r = 0;

	(void)snprintf(path, sizeof(path), "%.2s/%s", id->hex, id->hex + 2);
	for (size_t i = 0; r == 0 && i < store->n_dirs; i++) {
		uint64_t size;
		auto_fd int fd =
			access_open_regular(store->dirs[i], path, &size);

		if (fd >= 0)
			r = check_file(fd, id, work);
	}
	return r;
}

/* The first directory that has such a file, of packs; -ENOENT: none. */
static int find_pack_dir(struct objectstore *s, const char *name,
			 const char *suffix)
{
	char file[NAME_MAX + 2];
	struct sys_attr a;
	int n = snprintf(file, sizeof(file), "%.*s%s",
			 (int)(strlen(name) - strlen(".idx")), name, suffix);

	if (n < 0 || n > NAME_MAX)
		return -ENOENT;
	for (size_t i = 0; i < s->n_dirs; i++) {
		auto_fd int dir = sys_openat2(s->dirs[i], "pack",
					      O_PATH | O_DIRECTORY, 0, RESOLVE);

		if (dir >= 0 && sys_attr_at(dir, file, &a) == 0 &&
		    S_ISREG(a.mode))
			return take_fd(&dir);
	}
	return -ENOENT;
}

int objectstore_check_pack(struct objectstore *store, const char *name,
			   uint64_t *work)
{
	auto_fd int index = find_pack_dir(store, name, ".idx");
	auto_fd int data = find_pack_dir(store, name, ".pack");
	struct gitpack pack;
	int r;

	/* git looks for both. */
	if (index < 0 || data < 0)
		return 0;
	r = gitpack_open_apart(index, data, name, &pack);
	if (r >= 0)
		r = packcheck_run(&pack, 40, work);
	/* git with the other hash finds an index of a wrong size. */
	if (r == -EBADMSG && pack.pack >= 0)
		r = packcheck_run(&pack, 64, work);
	gitpack_close(&pack);
	return r == 0 || r == -ENOMEM || r == -EFBIG ? r : -EBADMSG;
}
