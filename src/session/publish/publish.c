/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/publish.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/json_keys.h"
#include "base/num.h"
#include "base/path.h"
#include "base/quote.h"
#include "session/open.h"
#include "session/publish/carry_note.h"
#include "session/publish/carry_settle.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST	"publish"
#define HOME	PUBLISH_HOME
#define PENDING PUBLISH_PENDING
#define KEPT	".kept" /* behind the name of a file that was not published */

#define FILE_MAX_BYTES ((size_t)16 << 20)
#define LIST_MAX_BYTES ((size_t)256 << 10)

static const char *last_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* The directory of a host path, which no link leads to. */
static int open_parent(const char *path)
{
	char dir[PATH_MAX];

	(void)snprintf(dir, sizeof(dir), "%.*s",
		       (int)(last_of(path) - path - 1), path);
	return sys_openat2(AT_FDCWD, dir[0] ? dir : "/", O_RDONLY | O_DIRECTORY,
			   0, K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS);
}

/* 1: a regular file; 0: nothing; -EINVAL: something else. */
static int look_at(int dir, const char *name, struct stat *ret)
{
	int r = sys_fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	return S_ISREG(ret->st_mode) ? 1 : -EINVAL;
}

/* All of a regular file; the caller frees.  -EINVAL, -EFBIG. */
static int read_all(int dir, const char *name, char **ret, size_t *ret_n)
{
	auto_free char *text = NULL;
	auto_fd int fd = -1;
	struct stat st;
	ssize_t n;
	int r;

	fd = sys_openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	r = fd < 0 ? fd : sys_fstat(fd, &st);
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > FILE_MAX_BYTES)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	n = sys_pread_full(fd, text, (size_t)st.st_size, 0);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	*ret_n = (size_t)n;
	*ret = take_ptr(&text);
	return 0;
}

static int write_new(int dir, const char *name, const char *text, size_t n,
		     mode_t mode, bool sync)
{
	auto_fd int fd = -1;
	int r;

	(void)sys_unlinkat(dir, name, 0);
	fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
			0600);
	r = fd < 0 ? fd : sys_write_all(fd, text, n);
	if (r >= 0)
		r = sys_fchmod(fd, mode);
	if (r >= 0 && sync)
		r = sys_fsync(fd);
	return r;
}

/*
 * The home directory of the box is the command's, its mode too; closed to us or
 * open to others it would never be read again.
 */
static int open_home(const struct hb_session *s, struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	fd = sys_openat(s->dir, HOME, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	r = fd < 0 ? fd : sys_chmod_fd(fd, 0700);
	if (r < 0)
		return hb_fail(err, r, "cannot open '%s'", HOME);
	return store_open_own(s->dir, HOME, err);
}

/* The directory in the layer, or in the box's home, that has the file. */
static int open_ours(struct hb_session *s, const struct publish_item *item,
		     struct hb_error *err)
{
	char dir[PATH_MAX];
	const char *below;
	int r;

	if (item->resource < 0)
		return open_home(s, err);
	if ((uint64_t)item->resource >= s->record.n_resources ||
	    !path_is_beneath(item->path,
			     s->record.resources[item->resource].source))
		return -EINVAL;
	r = session_open_resources(s, err);
	if (r < 0)
		return r;
	below = item->path +
		strlen(s->record.resources[item->resource].source) + 1;
	if (below > last_of(item->path))
		return -EINVAL;
	(void)snprintf(dir, sizeof(dir), "./%.*s",
		       (int)(last_of(item->path) - below), below);
	return sys_openat2(s->resources[item->resource].upper, dir,
			   O_RDONLY | O_DIRECTORY, 0,
			   K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS |
				   K_RESOLVE_NO_MAGICLINKS);
}

/*
 * A file that was not published before, because the host's is another one, is
 * not published later either: it is a change like others.
 */
static bool is_pending(struct hb_session *s, const struct publish_item *item)
{
	auto_fd int dir = item->resource >= 0 ? open_ours(s, item, NULL) : -1;
	struct stat st;

	return dir >= 0 && look_at(dir, last_of(item->path), &st) != 0;
}

/* What the host has, and in the box's home the same. */
static int note_host(struct publish_item *item, int home)
{
	auto_free char *text = NULL;
	auto_fd int dir = open_parent(item->path);
	struct stat st;
	size_t n = 0;
	int r;

	r = dir < 0 ? dir : look_at(dir, last_of(item->path), &st);
	if (r < 0)
		return r;
	if (r > 0) {
		item->ino = st.st_ino;
		item->sec = st.st_ctim.tv_sec;
		item->nsec = st.st_ctim.tv_nsec;
	}
	if (item->resource >= 0)
		return 0;
	if (r == 0) {
		r = sys_unlinkat(home, last_of(item->path), 0);
		return r == -ENOENT ? 0 : r;
	}
	r = read_all(dir, last_of(item->path), &text, &n);
	return r < 0 ? r
		     : write_new(home, last_of(item->path), text, n, 0600,
				 false);
}

static void add_item(struct kv_writer *w, const struct publish_item *item)
{
	(void)kv_add_str(w, "file", item->path);
	(void)kv_add_str(w, "keys", item->keys);
	(void)kv_add_fmt(w, "resource", "%lld", (long long)item->resource);
	(void)kv_add_fmt(w, "ino", "%llu", (unsigned long long)item->ino);
	(void)kv_add_fmt(w, "sec", "%lld", (long long)item->sec);
	(void)kv_add_fmt(w, "nsec", "%lld", (long long)item->nsec);
}

int publish_note_pending(const struct hb_session *s, struct hb_error *err)
{
	auto_fd int dir = -1;
	auto_fd int fd = -1;
	int r;

	r = sys_mkdirat(s->store->dir, PENDING, 0700);
	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot make '%s'", PENDING);
	dir = store_open_own(s->store->dir, PENDING, err);
	if (dir < 0)
		return dir;
	fd = sys_openat(dir, s->record.name, O_WRONLY | O_CREAT | O_NOFOLLOW,
			0600);
	return fd < 0 ? hb_fail(err, fd, "cannot note the files to publish")
		      : 0;
}

int publish_make_home(const struct hb_session *s, struct hb_error *err)
{
	int r = sys_mkdirat(s->dir, HOME, 0700);

	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot make a home directory");
	return open_home(s, err);
}

void publish_begin(struct publish_list *list)
{
	*list = (struct publish_list){ .text = BUF_INIT(LIST_MAX_BYTES) };
	kv_writer_init(&list->writer, &list->text);
}

void publish_done(struct publish_list *list)
{
	buf_done(&list->text);
}

void publish_note(struct publish_list *list, struct hb_session *s,
		  struct publish_item *item, int home)
{
	/* A link, or something too large: the box does without. */
	if (is_pending(s, item) || note_host(item, home) < 0)
		return;
	add_item(&list->writer, item);
	list->n++;
}

int publish_write(struct publish_list *list, struct hb_session *s,
		  struct hb_error *err)
{
	int r;

	if (list->n == 0)
		return 0;
	if (list->text.error)
		return hb_fail(err, list->text.error,
			       "too much is to be published");
	r = publish_note_pending(s, err);
	if (r < 0)
		return r;
	r = write_new(s->dir, LIST, list->text.data, list->text.len, 0600,
		      false);
	return r < 0 ? hb_fail(err, r, "cannot note the files to publish") : 0;
}

static bool is_json(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

/* What the host is to have: all of ours, or the host's with keys of ours. */
static int merge(const struct publish_item *item, int host, const char *ours,
		 size_t n, struct buf *out)
{
	auto_free char *old = NULL;
	size_t n_old = 0;
	int r;

	if (!item->keys[0]) {
		if (is_json(item->path) && json_check_object(ours, n) < 0)
			return -EBADMSG;
		return buf_add(out, ours, n);
	}
	r = read_all(host, last_of(item->path), &old, &n_old);
	if (r < 0 && r != -ENOENT)
		return r;
	r = json_take_keys(old ? old : "{}", old ? n_old : 2, ours, n,
			   item->keys, out);
	return r == -EINVAL ? -EBADMSG : r;
}

static bool is_as_noted(const struct publish_item *item, int found,
			const struct stat *st)
{
	if (found == 0)
		return item->ino == 0;
	return found > 0 && st->st_ino == item->ino &&
	       st->st_ctim.tv_sec == item->sec &&
	       st->st_ctim.tv_nsec == item->nsec;
}

/* Whether the host's file has these bytes already. */
static bool is_same(int host, const char *name, const struct buf *text)
{
	auto_free char *old = NULL;
	size_t n = 0;

	return read_all(host, name, &old, &n) >= 0 && n == text->len &&
	       memcmp(old, text->data, n) == 0;
}

/* -ESTALE: the host's is another one by now. */
static int replace(const struct hb_session *s, const struct publish_item *item,
		   int host, const struct buf *text)
{
	const char *name = last_of(item->path);
	char temporary[64];
	struct stat st = { 0 };
	int found, r;

	if (is_same(host, name, text))
		return 0;
	(void)snprintf(temporary, sizeof(temporary), ".holdback-%s.new",
		       s->record.id);
	found = look_at(host, name, &st);
	if (!is_as_noted(item, found, &st))
		return -ESTALE;
	r = write_new(host, temporary, text->data, text->len,
		      found ? st.st_mode & 0777 : 0600, true);
	/* Again: writing takes time. */
	if (r >= 0 && !is_as_noted(item, look_at(host, name, &st), &st))
		r = -ESTALE;
	if (r >= 0)
		r = sys_renameat(host, temporary, host, name);
	if (r < 0)
		(void)sys_unlinkat(host, temporary, 0);
	return r < 0 ? r : sys_fsync(host);
}

/* Ours is not what the host has: it stays where nothing overwrites it. */
static void keep(const struct hb_session *s, const struct publish_item *item,
		 int dir, const char *why)
{
	char kept[NAME_MAX + 1], shown[QUOTE_SHOWN];

	(void)snprintf(kept, sizeof(kept), "%.200s" KEPT, last_of(item->path));
	if (item->resource < 0)
		(void)sys_renameat(dir, last_of(item->path), dir, kept);
	store_say(s->store,
		  "session '%s': '%s' %s: the host's stays, and the session's "
		  "is kept for the next run",
		  s->record.name, quote_shown(item->path, shown, sizeof(shown)),
		  why);
}

static int publish_one(struct hb_session *s, const struct publish_item *item,
		       struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(FILE_MAX_BYTES);
	const char *name = last_of(item->path);
	auto_free char *ours = NULL;
	auto_fd int dir = -1;
	auto_fd int host = -1;
	size_t n = 0;
	int r;

	dir = open_ours(s, item, err);
	r = dir < 0 ? dir : read_all(dir, name, &ours, &n);
	/* Nothing was written, or nothing that could be published. */
	if (r == -ENOENT || r == -EINVAL || r == -ELOOP || r == -EFBIG ||
	    r == -ENXIO)
		return 0;
	if (r >= 0)
		r = host = open_parent(item->path);
	if (r >= 0)
		r = merge(item, host, ours, n, &text);
	if (r >= 0)
		r = replace(s, item, host, &text);
	if (r == -ESTALE)
		keep(s, item, dir, "was changed outside meanwhile");
	else if (r == -EBADMSG)
		keep(s, item, dir, "is not whole");
	else if (r < 0)
		return hb_fail(err, r, "cannot publish '%s'", item->path);
	else if (item->resource >= 0)
		(void)sys_unlinkat(dir, name, 0);
	return 0;
}

static int read_entry(const struct kv_entry *e, struct publish_item *item)
{
	if (strcmp(e->key, "keys") == 0) {
		(void)snprintf(item->keys, sizeof(item->keys), "%s", e->value);
		return 0;
	}
	if (strcmp(e->key, "resource") == 0)
		return num_int(e->value, -1, RECORD_RESOURCES_MAX,
			       &item->resource);
	if (strcmp(e->key, "ino") == 0)
		return num_u64(e->value, &item->ino);
	if (strcmp(e->key, "sec") == 0)
		return num_int(e->value, INT64_MIN, INT64_MAX, &item->sec);
	return num_int(e->value, 0, 999999999, &item->nsec);
}

static int publish_all(struct hb_session *s, const char *list, size_t n,
		       struct hb_error *err)
{
	auto_kv_reader struct kv_reader k = { 0 };
	struct publish_item item = { 0 };
	struct kv_entry e;
	int r, failed = 0;

	kv_reader_init(&k, LIST, list, n);
	while ((r = kv_next(&k, &e, err)) == 1) {
		if (strcmp(e.key, "file") == 0) {
			item = (struct publish_item){ 0 };
			(void)snprintf(item.path, sizeof(item.path), "%s",
				       e.value);
		} else if (read_entry(&e, &item) < 0) {
			return hb_fail(
				err, -HB_E_CORRUPT,
				"the list of files to publish is damaged");
		}
		/* The last of its lines. */
		if (strcmp(e.key, "nsec") != 0 || item.path[0] != '/')
			continue;
		if (publish_one(s, &item, err) < 0)
			failed = -1;
	}
	return r < 0 ? r : failed;
}

/* Nothing is to be published or carried any more. */
static void clear_pending(const struct hb_session *s)
{
	static const char *const notes[] = { LIST, CARRY_NOTE, CARRY_SETTLING };
	auto_fd int dir = -1;

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (sys_faccessat(s->dir, notes[i], F_OK) != -ENOENT)
			return;
	dir = store_open_own(s->store->dir, PENDING, NULL);
	if (dir < 0)
		return;
	(void)sys_unlinkat(dir, s->record.name, 0);
	(void)sys_unlinkat(s->store->dir, PENDING, AT_REMOVEDIR);
}

static int settle_list(struct hb_session *s, struct hb_error *err)
{
	auto_free char *list = NULL;
	struct hb_error why = { 0 };
	size_t n = 0;
	int r;

	r = read_all(s->dir, LIST, &list, &n);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return hb_fail(err, r, "cannot read '%s'", LIST);
	r = publish_all(s, list, n, &why);
	/* What is damaged now will be so the next time. */
	if (r >= 0 || r == -HB_E_CORRUPT || r == -HB_E_CONFIG)
		(void)sys_unlinkat(s->dir, LIST, 0);
	else
		store_say(s->store, "session '%s': %s: %s", s->record.name,
			  why.text, hb_strerror(why.code));
	return 0;
}

int publish_settle(struct hb_session *s, bool is_lost, struct hb_error *err)
{
	int r = settle_list(s, err);

	if (r >= 0)
		r = carry_settle(s, is_lost, err);
	if (r >= 0)
		clear_pending(s);
	return r;
}
