/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_WORLD_H
#define HB_TEST_WORLD_H

#include "base/sha256.h"
#include "trees.h"
#include "txn/txn.h"

#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>

/*
 * A session made by hand: resources with base, store and upper, and the trees
 * as text in every attribute, so that two of them are equal or a line tells.
 */
#define WORLD_RESOURCES 2
#define WORLD_OLD	1000000000 /* mtime of what is in a base */
#define WORLD_NEW	1200000000 /* and in an upper */

struct world {
	char path[96], far[96]; /* far: another file system, or "" */
	int top, session;
	int base[WORLD_RESOURCES], dir[WORLD_RESOURCES];
	int spot[WORLD_RESOURCES], upper[WORLD_RESOURCES];
	int tops[WORLD_RESOURCES]; /* -1: there is none */
	size_t n;
	bool no_layer_moves;
	struct record_resource records[WORLD_RESOURCES];
	struct resource resources[WORLD_RESOURCES];
	struct txn txn;
	uint64_t n_seen;
};

/* Whether that is all that the file has. */
static inline bool is_text(int dir, const char *name, const char *text)
{
	char now[64] = { 0 };
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, now, sizeof(now) - 1);

	(void)close(fd);
	return n >= 0 && strcmp(now, text) == 0;
}

static inline int world_seen(void *ctx, size_t resource,
			     const struct seen *seen, struct hb_error *err)
{
	struct world *w = ctx;

	(void)resource;
	(void)err;
	if (!seen)
		return 0;
	CHECK(seen->path != NULL);
	w->n_seen++;
	return 0;
}

static inline int world_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

/* Opens everything again, as the next process would. */
static inline void world_open(struct world *w)
{
	static bool not_shared[1] = { false };
	char name[32];
	int far = w->far[0] ? open(w->far, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			    : -1;

	w->top = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(w->top >= 0);
	w->session = world_dir(w->top, "session");
	for (size_t i = 0; i < w->n; i++) {
		(void)snprintf(name, sizeof(name), "base%zu", i);
		w->base[i] = world_dir(w->top, name);
		(void)snprintf(name, sizeof(name), "r%zu", i);
		w->dir[i] = world_dir(far >= 0 ? far : w->session, name);
		w->spot[i] = world_dir(w->session, name);
		/* Only where a scene has made one. */
		w->tops[i] = openat(w->dir[i], "top",
				    O_PATH | O_DIRECTORY | O_CLOEXEC);
		/* Between two renames of a rollback there may be none. */
		w->upper[i] = openat(w->dir[i], "upper",
				     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		w->records[i].same_mount = far < 0;
		w->resources[i] = (struct resource){
			.record = &w->records[i],
			.number = i,
			.base = w->base[i],
			.dir = w->dir[i],
			.spot = w->spot[i],
			.layers = &w->upper[i],
			.n_layers = 1,
			.is_shared = not_shared,
			.upper = w->upper[i],
			.top = w->tops[i],
			.rest = -1,
			.like = -1,
		};
	}
	w->txn = (struct txn){ .session = w->session,
			       .resources = w->resources,
			       .n_resources = w->n,
			       .applied = world_seen,
			       .applied_ctx = w };
	if (far >= 0)
		(void)close(far);
}

static inline void world_close(struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		(void)close(w->base[i]);
		(void)close(w->dir[i]);
		(void)close(w->spot[i]);
		(void)close(w->upper[i]);
		(void)close(w->tops[i]);
	}
	(void)close(w->session);
	(void)close(w->top);
}

static inline void world_reopen(struct world *w)
{
	world_close(w);
	world_open(w);
}

/*
 * Another file system for layers, seen by nobody else: the disk would do, but
 * its syncs take a thousand times as long.  "": there can be none.
 */
static char world_far[64];

static inline void write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		printf("# cannot write %s\n", path);
	(void)close(fd);
}

static inline void world_mount(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
		return;
	if (uid) {
		(void)snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		write_map("/proc/self/uid_map", map);
		write_map("/proc/self/setgroups", "deny");
		(void)snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		write_map("/proc/self/gid_map", map);
	}
	(void)snprintf(world_far, sizeof(world_far), "/dev/shm/hb-fs-XXXXXX");
	if (!mkdtemp(world_far) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("far", world_far, "tmpfs", 0, NULL) < 0) {
		(void)rmdir(world_far);
		world_far[0] = '\0';
	}
}

static inline void world_unmount(void)
{
	if (world_far[0] == '\0')
		return;
	CHECK_INT(umount2(world_far, MNT_DETACH), 0);
	CHECK_INT(rmdir(world_far), 0);
}

static inline const char *world_tmp(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/var/tmp";
}

/* In memory where that can hold what a layer has: fsync is free there. */
static inline void world_init(struct world *w, size_t n, bool is_far)
{
	const char *fast =
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : world_tmp();
	char name[64];
	int at;

	*w = (struct world){ .n = n };
	(void)umask(022);
	(void)snprintf(w->path, sizeof(w->path), "%s/hb-world-XXXXXX", fast);
	CHECK(mkdtemp(w->path) != NULL);
	CHECK_INT(chmod(w->path, 0755), 0);
	w->top = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(w->top >= 0);
	put_dir(w->top, "session");
	if (is_far) {
		(void)snprintf(w->far, sizeof(w->far), "%s/hb-far-XXXXXX",
			       world_far[0] ? world_far : world_tmp());
		CHECK(mkdtemp(w->far) != NULL);
	}
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "base%zu", i);
		put_dir(w->top, name);
		(void)snprintf(name, sizeof(name), "session/r%zu", i);
		put_dir(w->top, name);
		if (is_far) {
			at = open(w->far, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			CHECK(at >= 0);
			(void)snprintf(name, sizeof(name), "r%zu", i);
			put_dir(at, name);
			(void)snprintf(name, sizeof(name), "r%zu/upper", i);
			put_dir(at, name);
			(void)close(at);
			continue;
		}
		(void)snprintf(name, sizeof(name), "session/r%zu/upper", i);
		put_dir(w->top, name);
	}
	(void)close(w->top);
	world_open(w);
}

static inline void world_done(struct world *w)
{
	int at;

	tree_empty(w->top);
	CHECK_INT(rmdir(w->path), 0);
	if (w->far[0]) {
		at = open(w->far, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(at >= 0);
		tree_empty(at);
		(void)close(at);
		CHECK_INT(rmdir(w->far), 0);
	}
	world_close(w);
}

/* A file of a given text, mode and time. */
static inline void lay_file(int dir, const char *path, const char *text,
			    mode_t mode, time_t time)
{
	put_file(dir, path, text);
	CHECK_INT(fchmodat(dir, path, mode, 0), 0);
	set_mtime(dir, path, time);
}

static inline void digest_xattrs(int fd, struct buf *out)
{
	char at[32], names[4096], value[4096];
	const char *sorted[64];
	size_t n = 0;
	ssize_t size;

	(void)snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	size = listxattr(at, names, sizeof(names));
	for (const char *x = names; x < names + size; x += strlen(x) + 1) {
		size_t i = n++;

		CHECK(n < 64);
		for (; i > 0 && strcmp(sorted[i - 1], x) > 0; i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = x;
	}
	for (size_t i = 0; i < n; i++) {
		ssize_t len = getxattr(at, sorted[i], value, sizeof(value));

		/* Which the kernel and not we keep there. */
		if (strcmp(sorted[i], "security.selinux") == 0)
			continue;
		(void)buf_add_fmt(out, " %s=", sorted[i]);
		for (ssize_t k = 0; k < len; k++)
			(void)buf_add_fmt(out, "%02x",
					  (unsigned)(uint8_t)value[k]);
	}
}

static inline void digest_content(int dir, const char *name,
				  const struct stat *st, struct buf *out)
{
	char text[4096] = { 0 }, hex[SHA256_HEX_SIZE];
	uint8_t digest[SHA256_SIZE];
	struct sha256 h;
	ssize_t n;
	int fd;

	if (S_ISLNK(st->st_mode)) {
		CHECK(readlinkat(dir, name, text, sizeof(text) - 1) >= 0);
		(void)buf_add_fmt(out, " -> %s", text);
	}
	if (!S_ISREG(st->st_mode))
		return;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		(void)buf_add_str(out, " closed");
		return;
	}
	sha256_init(&h);
	while ((n = read(fd, text, sizeof(text))) > 0)
		sha256_add(&h, text, (size_t)n);
	sha256_end(&h, digest);
	sha256_hex(digest, hex);
	hex[12] = '\0';
	(void)buf_add_fmt(out, " %s", hex);
	(void)close(fd);
}

/* Names of one inode have one letter: the first name's hash. */
static inline void digest_links(const struct stat *st, const char *path,
				struct buf *out)
{
	static ino_t inodes[4096];
	static char first[4096][128];
	static size_t n;

	if (!path) {
		n = 0;
		return;
	}
	if (!S_ISREG(st->st_mode) || st->st_nlink == 1)
		return;
	for (size_t i = 0; i < n; i++)
		if (inodes[i] == st->st_ino) {
			(void)buf_add_fmt(out, " =%s", first[i]);
			return;
		}
	CHECK(n < 4096);
	inodes[n] = st->st_ino;
	(void)snprintf(first[n++], sizeof(first[0]), "%.120s", path);
	(void)buf_add_fmt(out, " %u names", (unsigned)st->st_nlink);
}

static inline int digest_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void digest_dir(int dir, const char *prefix, struct buf *out);

static inline void digest_entry(int dir, const char *name, const char *prefix,
				struct buf *out)
{
	char path[8192];
	struct stat st;
	int fd;

	(void)snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "/" : "",
		       name);
	CHECK_INT(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	(void)buf_add_fmt(out, "%s %o %u:%u %lld.%09ld", path, st.st_mode,
			  st.st_uid, st.st_gid, (long long)st.st_mtim.tv_sec,
			  st.st_mtim.tv_nsec);
	if (!S_ISDIR(st.st_mode))
		(void)buf_add_fmt(out, " %lld", (long long)st.st_size);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		(void)buf_add_fmt(out, " dev %llx",
				  (unsigned long long)st.st_rdev);
	digest_content(dir, name, &st, out);
	digest_links(&st, path, out);
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	CHECK(fd >= 0);
	digest_xattrs(fd, out);
	(void)close(fd);
	(void)buf_add_char(out, '\n');
	if (!S_ISDIR(st.st_mode) || strcmp(name, ".") == 0)
		return;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	digest_dir(fd, path, out);
	(void)close(fd);
}

static inline void digest_dir(int dir, const char *prefix, struct buf *out)
{
	char *names[4096];
	size_t n = 0;
	struct dirent *e;
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_CLOEXEC));

	CHECK(d != NULL);
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		CHECK(n < 4096);
		names[n++] = strdup(e->d_name);
	}
	(void)closedir(d);
	qsort(names, n, sizeof(names[0]), digest_compare);
	for (size_t i = 0; i < n; i++) {
		digest_entry(dir, names[i], prefix, out);
		free(names[i]);
	}
}

/* The tree as text; the caller frees it. */
static inline char *digest(int dir)
{
	struct buf out = BUF_INIT((size_t)1 << 24);
	char *text = NULL;

	digest_links(NULL, NULL, NULL);
	digest_entry(dir, ".", "", &out);
	digest_dir(dir, "", &out);
	CHECK_INT(buf_take(&out, &text, NULL), 0);
	return text;
}

struct picture {
	char *base[WORLD_RESOURCES], *upper[WORLD_RESOURCES];
	char *top[WORLD_RESOURCES]; /* "": there is none */
	size_t n;
};

static inline struct picture world_picture(struct world *w)
{
	struct picture p = { .n = w->n };

	for (size_t i = 0; i < w->n; i++) {
		p.base[i] = digest(w->base[i]);
		p.upper[i] = digest(w->upper[i]);
		p.top[i] = w->tops[i] < 0 ? strdup("") : digest(w->tops[i]);
	}
	return p;
}

static inline void picture_done(struct picture *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->base[i]);
		free(p->upper[i]);
		free(p->top[i]);
	}
}

static inline bool picture_is(const struct picture *a, const struct picture *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->base[i], b->base[i]) != 0 ||
		    strcmp(a->upper[i], b->upper[i]) != 0 ||
		    strcmp(a->top[i], b->top[i]) != 0)
			return false;
	return true;
}

static inline void text_differ(const char *what, const char *a, const char *b)
{
	while (*a || *b) {
		size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");

		if (n != m || strncmp(a, b, n) != 0)
			printf("# %s is:  %.*s\n# %s was: %.*s\n", what, (int)n,
			       a, what, (int)m, b);
		a += n + (a[n] == '\n');
		b += m + (b[m] == '\n');
	}
}

static inline void picture_differ(const struct picture *a,
				  const struct picture *b)
{
	for (size_t i = 0; i < a->n; i++) {
		text_differ("base", a->base[i], b->base[i]);
		text_differ("upper", a->upper[i], b->upper[i]);
		text_differ("top", a->top[i], b->top[i]);
	}
}

/* The time of the file system, later than all that was done so far. */
static inline struct timespec read_clock(int dir)
{
	struct stat st, later;

	put_file(dir, "clock", "");
	CHECK_INT(fstatat(dir, "clock", &st, 0), 0);
	do {
		CHECK_INT(utimensat(dir, "clock", NULL, 0), 0);
		CHECK_INT(fstatat(dir, "clock", &later, 0), 0);
	} while (st.st_ctim.tv_sec == later.st_ctim.tv_sec &&
		 st.st_ctim.tv_nsec == later.st_ctim.tv_nsec);
	CHECK_INT(unlinkat(dir, "clock", 0), 0);
	return later.st_ctim;
}

#endif
