/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/carried.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/kv.h"
#include "base/num.h"
#include "base/sha256.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A head is lines of KEY = VALUE up to the first empty one. */
#define HEAD_MAX     ((size_t)64 << 10)
#define HEAD_END     "\n\n"
#define HEAD_VERSION "1"

static const char *const class_names[STATE_CLASSES] = {
	[STATE_RUNS] = "runs",
	[STATE_DATA] = "data",
	[STATE_LOGIN] = "login",
};

static const char *const type_names[CARRIED_TYPES] = {
	[CARRIED_FILE] = "file",
	[CARRIED_LINK] = "link",
	[CARRIED_GONE] = "gone",
};

const char *state_class_name(enum state_class class)
{
	return class_names[class];
}

const char *carried_type_name(enum carried_type type)
{
	return type_names[type];
}

static int find(const char *const *names, int n, const char *name)
{
	int i = 0;

	while (i < n && strcmp(names[i], name) != 0)
		i++;
	return i;
}

enum state_class state_class_named(const char *name)
{
	return (enum state_class)find(class_names, STATE_CLASSES, name);
}

void carried_name(const char *path, char ret[CARRIED_NAME_SIZE])
{
	uint8_t digest[SHA256_SIZE];

	sha256_of(path, strlen(path), digest);
	sha256_hex(digest, ret);
}

static int copy_text(const struct kv_entry *e, char *ret, size_t size)
{
	if (!kv_is_string(e) || e->len >= size)
		return -EINVAL;
	memcpy(ret, e->value, e->len + 1);
	return 0;
}

static int read_entry(const struct kv_entry *e, struct carried *c)
{
	if (strcmp(e->key, "version") == 0)
		return strcmp(e->value, HEAD_VERSION) == 0 ? 0 : -EINVAL;
	if (strcmp(e->key, "path") == 0)
		return copy_text(e, c->path, sizeof(c->path));
	if (strcmp(e->key, "root") == 0)
		return copy_text(e, c->root, sizeof(c->root));
	if (strcmp(e->key, "name") == 0)
		return copy_text(e, c->name, sizeof(c->name));
	if (strcmp(e->key, "session") == 0)
		return copy_text(e, c->session, sizeof(c->session));
	if (strcmp(e->key, "host") == 0)
		return copy_text(e, c->host, sizeof(c->host));
	if (strcmp(e->key, "keys") == 0)
		return copy_text(e, c->keys, sizeof(c->keys));
	if (strcmp(e->key, "login") == 0)
		return copy_text(e, c->login, sizeof(c->login));
	if (strcmp(e->key, "policy") == 0)
		return copy_text(e, c->policy, sizeof(c->policy));
	if (strcmp(e->key, "mode") == 0)
		return num_u64(e->value, &c->mode);
	if (strcmp(e->key, "time") == 0)
		return num_int(e->value, 0, INT64_MAX, &c->time);
	if (strcmp(e->key, "size") == 0)
		return num_u64(e->value, &c->size);
	if (strcmp(e->key, "class") == 0) {
		c->class = state_class_named(e->value);
		return c->class < STATE_CLASSES ? 0 : -EINVAL;
	}
	if (strcmp(e->key, "type") == 0) {
		c->type = (enum carried_type)find(type_names, CARRIED_TYPES,
						  e->value);
		return c->type < CARRIED_TYPES ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static int read_head(const char *text, size_t n, struct carried *c)
{
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_entry e;
	int r;

	*c = (struct carried){ .class = STATE_CLASSES, .type = CARRIED_TYPES };
	kv_reader_init(&k, "carried", text, n);
	while ((r = kv_next(&k, &e, NULL)) == 1)
		if (read_entry(&e, c) < 0)
			return -EINVAL;
	/* `size` is the last line: a head that was cut has none. */
	if (r < 0 || c->path[0] != '/' || c->class == STATE_CLASSES ||
	    c->type == CARRIED_TYPES || c->size > CARRIED_FILE_MAX)
		return -EINVAL;
	return 0;
}

/* The file is a whole one: head, text and nothing behind it. */
static int read_open(int fd, struct carried *ret, struct buf *text)
{
	auto_free char *bytes = NULL;
	struct stat st;
	const char *end;
	size_t head;
	ssize_t n;
	int r;

	r = sys_fstat(fd, &st);
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > CARRIED_FILE_MAX + HEAD_MAX)
		return -EINVAL;
	bytes = malloc((size_t)st.st_size + 1);
	if (!bytes)
		return -ENOMEM;
	n = sys_pread_full(fd, bytes,
			   text || (size_t)st.st_size < HEAD_MAX
				   ? (size_t)st.st_size
				   : HEAD_MAX,
			   0);
	if (n < 0)
		return (int)n;
	bytes[n] = '\0';
	end = strstr(bytes, HEAD_END);
	if (!end)
		return -EINVAL;
	head = (size_t)(end - bytes) + strlen(HEAD_END);
	r = read_head(bytes, head - 1, ret);
	if (r < 0)
		return r;
	ret->ino = st.st_ino;
	if (ret->size != (uint64_t)st.st_size - head)
		return -EINVAL;
	return text ? buf_add(text, bytes + head, (size_t)n - head) : 0;
}

int carried_read(int dir, const char *name, struct carried *ret,
		 struct buf *text, struct hb_error *err)
{
	char should[CARRIED_NAME_SIZE];
	auto_fd int fd = -1;
	int r;

	fd = sys_openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	r = fd < 0 ? fd : read_open(fd, ret, text);
	if (r >= 0) {
		carried_name(ret->path, should);
		if (strcmp(should, name) != 0)
			r = -EINVAL;
	}
	if (r == -EINVAL || r == -ELOOP)
		return hb_fail(err, -HB_E_CORRUPT,
			       "a file of carried state is damaged");
	return r;
}

static int format_head(const struct carried *c, struct buf *out)
{
	struct kv_writer w;

	kv_writer_init(&w, out);
	(void)kv_add_str(&w, "version", HEAD_VERSION);
	(void)kv_add_str(&w, "path", c->path);
	(void)kv_add_str(&w, "root", c->root);
	/* A version that does not know the key reads all other heads. */
	if (c->name[0])
		(void)kv_add_str(&w, "name", c->name);
	(void)kv_add_str(&w, "class", class_names[c->class]);
	(void)kv_add_str(&w, "type", type_names[c->type]);
	(void)kv_add_fmt(&w, "mode", "%#o", (unsigned)(c->mode & 0777));
	(void)kv_add_fmt(&w, "time", "%lld", (long long)c->time);
	(void)kv_add_str(&w, "session", c->session);
	(void)kv_add_str(&w, "host", c->host);
	(void)kv_add_str(&w, "keys", c->keys);
	(void)kv_add_str(&w, "login", c->login);
	(void)kv_add_str(&w, "policy", c->policy);
	(void)kv_add_fmt(&w, "size", "%llu", (unsigned long long)c->size);
	return buf_add_char(out, '\n');
}

int carried_write(int dir, const struct carried *c, const void *text,
		  const char *temporary, struct hb_error *err)
{
	auto_buf struct buf head = BUF_INIT(HEAD_MAX);
	char name[CARRIED_NAME_SIZE];
	auto_fd int fd = -1;
	int r;

	r = c->size > CARRIED_FILE_MAX ? -EFBIG : format_head(c, &head);
	if (r < 0)
		return hb_fail(err, r, "cannot carry '%s'", c->path);
	carried_name(c->path, name);
	(void)sys_unlinkat(dir, temporary, 0);
	fd = sys_openat(dir, temporary,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	r = fd < 0 ? fd : sys_write_all(fd, head.data, head.len);
	if (r >= 0 && c->size > 0)
		r = sys_write_all(fd, text, c->size);
	if (r >= 0)
		r = sys_fsync(fd);
	if (r >= 0)
		r = sys_renameat(dir, temporary, dir, name);
	if (r >= 0)
		r = sys_fsync(dir);
	else
		(void)sys_unlinkat(dir, temporary, 0);
	return r < 0 ? hb_fail(err, r, "cannot carry '%s'", c->path) : 0;
}

int carried_remove(int dir, const char *path)
{
	char name[CARRIED_NAME_SIZE];
	int r;

	carried_name(path, name);
	r = sys_unlinkat(dir, name, 0);
	return r == -ENOENT ? 0 : r;
}

struct names {
	char (*list)[CARRIED_NAME_SIZE];
	size_t n, room;
};

/* Those of carried files, or those of temporary ones. */
static int add_name(struct names *names, const char *name, bool temporary)
{
	size_t more = names->room ? 2 * names->room : 64;
	void *list = names->list;
	size_t n = strlen(name);

	if (temporary ? n >= CARRIED_NAME_SIZE ||
				strncmp(name, CARRIED_NEW,
					strlen(CARRIED_NEW)) != 0
		      : n != CARRIED_NAME_SIZE - 1)
		return 0;
	if (names->n == names->room) {
		list = reallocarray(list, more, CARRIED_NAME_SIZE);
		if (!list)
			return -ENOMEM;
		names->list = list;
		names->room = more;
	}
	memcpy(names->list[names->n++], name, n + 1);
	return 0;
}

static int list_names(int dir, struct names *names, bool temporary)
{
	char block[8192] __attribute__((aligned(8)));
	auto_fd int fd = sys_openat(dir, ".", O_RDONLY | O_DIRECTORY, 0);
	ssize_t n = fd;

	while (n >= 0 && (n = sys_getdents(fd, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (add_name(names, e->name, temporary) < 0)
				return -ENOMEM;
		}
	return (int)n;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int carried_each(int dir, carried_fn fn, void *ctx, struct hb_error *err)
{
	struct names names = { 0 };
	struct carried c;
	int r = list_names(dir, &names, false);

	if (r < 0)
		(void)hb_fail(err, r, "cannot list the carried state");
	else if (names.n > 1)
		qsort(names.list, names.n, CARRIED_NAME_SIZE, by_name);
	for (size_t i = 0; r >= 0 && i < names.n; i++)
		if (carried_read(dir, names.list[i], &c, NULL, NULL) >= 0)
			r = fn(ctx, dir, &c, err);
	free(names.list);
	return r < 0 ? r : 0;
}

size_t carried_damaged(int dir)
{
	struct names names = { 0 };
	struct carried c;
	size_t n = 0;

	if (list_names(dir, &names, false) >= 0)
		for (size_t i = 0; i < names.n; i++)
			n += carried_read(dir, names.list[i], &c, NULL, NULL) ==
			     -HB_E_CORRUPT;
	free(names.list);
	return n;
}

static int sweep(int dir, bool temporary, struct hb_error *err)
{
	struct names names = { 0 };
	struct carried c;
	int r = list_names(dir, &names, temporary);
	int n = 0;

	for (size_t i = 0; r >= 0 && i < names.n; i++) {
		if (!temporary && carried_read(dir, names.list[i], &c, NULL,
					       NULL) != -HB_E_CORRUPT)
			continue;
		r = sys_unlinkat(dir, names.list[i], 0);
		n++;
	}
	free(names.list);
	return r < 0 ? hb_fail(err, r, "cannot remove damaged files") : n;
}

int carried_sweep(int dir, struct hb_error *err)
{
	int r = sweep(dir, true, err);

	return r < 0 ? r : sweep(dir, false, err);
}
