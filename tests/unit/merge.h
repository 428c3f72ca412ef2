/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_MERGE_H
#define HB_TEST_MERGE_H

#include "world.h"

/*
 * What the overlay shows, made of a base by going through the upper name by
 * name: the obvious way, to hold commit against.
 */
static inline void merge(int upper, int base);

static inline bool has_mark(int dir, const char *name, const char *mark)
{
	char at[32];
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool has;

	CHECK(fd >= 0);
	(void)snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	has = getxattr(at, mark, NULL, 0) >= 0;
	(void)close(fd);
	return has;
}

static inline void merge_remove(int dir, const char *name)
{
	int fd = openat(dir, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0) {
		(void)unlinkat(dir, name, 0);
		return;
	}
	tree_empty(fd);
	(void)close(fd);
	CHECK_INT(unlinkat(dir, name, AT_REMOVEDIR), 0);
}

/* What overlays reserve goes, escaped or not; with `from`, the rest is copied.
 */
static inline void merge_xattrs(int from, int to)
{
	char a[32], b[32], names[4096], value[256];
	ssize_t n;

	(void)snprintf(a, sizeof(a), "/proc/self/fd/%d", from);
	(void)snprintf(b, sizeof(b), "/proc/self/fd/%d", to);
	n = listxattr(b, names, sizeof(names));
	for (char *x = names; x < names + n; x += strlen(x) + 1)
		if (strncmp(x, "user.", 5) == 0 && from != to)
			CHECK_INT(removexattr(b, x), 0);
	n = listxattr(a, names, sizeof(names));
	for (char *x = names; x < names + n; x += strlen(x) + 1) {
		ssize_t size = getxattr(a, x, value, sizeof(value));

		if (strncmp(x, "user.", 5) != 0)
			continue;
		if (strncmp(x, "user.overlay.", 13) == 0) {
			if (from == to)
				CHECK_INT(removexattr(b, x), 0);
			continue;
		}
		CHECK_INT(setxattr(b, x, value, (size_t)size, 0), 0);
	}
}

static inline void merge_dir(int upper, int base, const char *name,
			     const struct stat *st)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					   st->st_mtim };
	struct stat old;
	int u, b;

	if (fstatat(base, name, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!S_ISDIR(old.st_mode) ||
	     has_mark(upper, name, "user.overlay.opaque"))) {
		(void)fchmodat(base, name, 0700, 0);
		merge_remove(base, name);
	}
	(void)mkdirat(base, name, 0700);
	(void)fchmodat(base, name, 0700, 0);
	u = world_dir(upper, name);
	b = world_dir(base, name);
	merge(u, b);
	merge_xattrs(u, b);
	CHECK_INT(fchmod(b, st->st_mode & 07777), 0);
	CHECK_INT(futimens(b, times), 0);
	(void)close(u);
	(void)close(b);
}

static inline void merge_object(int upper, int base, const char *name,
				const struct stat *st)
{
	char target[256] = "";
	int fd;

	merge_remove(base, name);
	if (S_ISLNK(st->st_mode)) {
		CHECK(readlinkat(upper, name, target, sizeof(target) - 1) > 0);
		put_link(base, target, name);
		set_mtime(base, name, st->st_mtim.tv_sec);
		return;
	}
	(void)fchmodat(upper, ".", 0700, 0);
	CHECK_INT(linkat(upper, name, base, name, 0), 0);
	fd = openat(base, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	merge_xattrs(fd, fd);
	(void)close(fd);
}

static inline void merge(int upper, int base)
{
	struct dirent *e;
	struct stat st;
	DIR *d = fdopendir(openat(upper, ".", O_RDONLY | O_CLOEXEC));

	CHECK(d != NULL);
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		CHECK_INT(fstatat(upper, e->d_name, &st, AT_SYMLINK_NOFOLLOW),
			  0);
		if (S_ISCHR(st.st_mode)) {
			(void)fchmodat(base, e->d_name, 0700, 0);
			merge_remove(base, e->d_name);
		} else if (S_ISDIR(st.st_mode)) {
			merge_dir(upper, base, e->d_name, &st);
		} else {
			merge_object(upper, base, e->d_name, &st);
		}
	}
	(void)closedir(d);
	if (fstat(upper, &st) == 0) {
		const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
						   st.st_mtim };

		CHECK_INT(futimens(base, times), 0);
	}
}

#endif
