/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_SNAPSHOT_H
#define HB_TEST_SNAPSHOT_H

#include "trees.h"

#include <ftw.h>

/*
 * A tree as text, one line per object, made by naming everything in it: the
 * slow and obvious way to find differences, to hold the fast one against.
 */
struct snapshot {
	char **lines;
	size_t n;
};

static struct buf snapshot_text;

static inline void snapshot_add(const char *path, const struct stat *st)
{
	char content[256] = "";
	int fd;

	if (S_ISLNK(st->st_mode)) {
		CHECK(readlink(path, content, sizeof(content) - 1) >= 0);
	} else if (S_ISREG(st->st_mode) && st->st_size > 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		CHECK(fd >= 0);
		CHECK(read(fd, content, sizeof(content) - 1) >= 0);
		(void)close(fd);
	}
	for (char *p = content; *p; p++)
		if (*p == '\n')
			*p = '$';
	(void)buf_add_fmt(&snapshot_text, "%s\t%o\t%o\t%s\t%lld.%ld\t%d\n",
			  path + 2, st->st_mode & S_IFMT, st->st_mode & 07777,
			  content, (long long)st->st_mtim.tv_sec,
			  st->st_mtim.tv_nsec,
			  !S_ISDIR(st->st_mode) && st->st_nlink > 1);
}

static inline int snapshot_visit(const char *path, const struct stat *st,
				 int type, struct FTW *ftw)
{
	(void)type;
	(void)ftw;
	if (strcmp(path, ".") != 0)
		snapshot_add(path, st);
	return 0;
}

static inline void snapshot_write(const char *path)
{
	int fd;

	snapshot_text = (struct buf)BUF_INIT((size_t)1 << 20);
	CHECK_INT(nftw(".", snapshot_visit, 16, FTW_PHYS), 0);
	CHECK_INT(snapshot_text.error, 0);
	/* Out of the view, which "..", from its top, leads to. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CHECK(fd >= 0);
	CHECK_INT(write(fd, buf_str(&snapshot_text), snapshot_text.len),
		  snapshot_text.len);
	(void)close(fd);
	buf_done(&snapshot_text);
}

/* In the order of a walk: a slash before everything, and a tab before that. */
static inline int snapshot_compare(const void *a, const void *b)
{
	const unsigned char *x = *(unsigned char *const *)a;
	const unsigned char *y = *(unsigned char *const *)b;

	while (*x == *y && *x != '\t') {
		x++;
		y++;
	}
	if (*x == '\t' || *y == '\t')
		return (*x != '\t') - (*y != '\t');
	if (*x == '/' || *y == '/')
		return (*x != '/') - (*y != '/');
	return *x - *y;
}

static inline void snapshot_read(int dir, const char *name,
				 struct snapshot *ret)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;

	*ret = (struct snapshot){ .lines = calloc(4096, sizeof(char *)) };
	CHECK(file != NULL && ret->lines != NULL);
	while (getdelim(&line, &room, '\n', file) > 0) {
		CHECK(ret->n < 4096);
		ret->lines[ret->n++] = strdup(line);
	}
	free(line);
	(void)fclose(file);
	qsort(ret->lines, ret->n, sizeof(char *), snapshot_compare);
}

static inline void snapshot_take(int dir, struct snapshot *ret)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK_INT(fchdir(dir), 0);
		snapshot_write("../before");
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	snapshot_read(dir, "../before", ret);
}

static inline void snapshot_free(struct snapshot *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->lines[i]);
	free(s->lines);
}

enum {
	FIELD_PATH,
	FIELD_TYPE,
	FIELD_MODE,
	FIELD_TEXT,
	FIELD_TIME,
	FIELD_LINKS
};

static inline bool is_same_field(const char *a, const char *b, int field)
{
	for (; field > 0; field--) {
		a = strchr(a, '\t') + 1;
		b = strchr(b, '\t') + 1;
	}
	while (*a == *b && *a != '\t' && *a != '\n') {
		a++;
		b++;
	}
	return *a == *b;
}

static inline void snapshot_line(char kind, const char *line, struct buf *out)
{
	(void)buf_add_fmt(out, "%c %.*s\n", kind, (int)strcspn(line, "\t"),
			  line);
}

static inline void snapshot_diff(const struct snapshot *before,
				 const struct snapshot *after, struct buf *out)
{
	size_t i = 0, j = 0;

	while (i < before->n || j < after->n) {
		const char *a = i < before->n ? before->lines[i] : NULL;
		const char *b = j < after->n ? after->lines[j] : NULL;
		int order = !a ? 1 : !b ? -1 : snapshot_compare(&a, &b);
		bool is_dir = b && strstr(b, "\t40000\t");

		i += order <= 0;
		j += order >= 0;
		if (order < 0)
			snapshot_line('D', a, out);
		else if (order > 0)
			snapshot_line('A', b, out);
		else if (!is_same_field(a, b, FIELD_TYPE))
			snapshot_line('T', b, out);
		else if (!is_same_field(a, b, FIELD_TEXT))
			snapshot_line('M', b, out);
		else if (!is_same_field(a, b, FIELD_MODE) ||
			 !is_same_field(a, b, FIELD_LINKS))
			snapshot_line('P', b, out);
		else if (!is_dir && !is_same_field(a, b, FIELD_TIME))
			snapshot_line('t', b, out);
	}
}

/* One random operation in the working directory; it may fail. */
static inline void meddle_once(unsigned *seed, bool with_links)
{
	static const char *const paths[] = {
		"f", "g",   "d",   "d/e", "d/x",   "d/e/y", "l",
		"n", "d/n", "n/x", "n/d", "n/d/x", "d/e/n",
	};
	const size_t n = sizeof(paths) / sizeof(paths[0]);
	const char *path = paths[(size_t)rand_r(seed) % n];
	const char *other = paths[(size_t)rand_r(seed) % n];
	const struct timespec times[2] = { { .tv_sec = 7 },
					   { .tv_sec = rand_r(seed) % 100 } };
	char text[16];
	int fd;

	switch (rand_r(seed) % 11) {
	case 0:
	case 1:
		fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			  0644);
		(void)snprintf(text, sizeof(text), "%d", rand_r(seed) % 3);
		if (fd >= 0)
			(void)!write(fd, text, strlen(text));
		if (fd >= 0)
			(void)futimens(fd, times);
		(void)close(fd);
		break;
	case 2:
		(void)unlink(path);
		break;
	case 3:
		(void)mkdir(path, 0755);
		break;
	case 4:
		(void)rmdir(path);
		break;
	case 5:
	case 6:
		(void)rename(path, other);
		break;
	case 7:
		(void)!symlink(other, path);
		break;
	case 8:
		(void)fchmodat(AT_FDCWD, path, rand_r(seed) % 2 ? 0755 : 0700,
			       AT_SYMLINK_NOFOLLOW);
		break;
	case 9:
		if (with_links)
			(void)link(path, other);
		break;
	default:
		fd = open(path,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && rand_r(seed) % 2)
			tree_empty(fd);
		(void)close(fd);
		(void)rmdir(path);
	}
}

/*
 * The same in another directory, for a base.  Not with hard links: copying one
 * up parts it from the other, which is no change of anybody.
 */
static inline int meddle_in(int dir, unsigned *seed)
{
	int status;
	unsigned next = *seed + 1;
	pid_t pid = fork();

	if (pid == 0) {
		CHECK_INT(fchdir(dir), 0);
		meddle_once(seed, false);
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	*seed = next;
	return status;
}

/* Holds the change set against lines without flags. */
static inline void compare_with(struct tree *t, const char *want, unsigned seed)
{
	struct changes *changes = scan(t);
	struct buf got = BUF_INIT((size_t)1 << 20);
	struct change c;

	while (changes_next(changes, &c, NULL) == 1)
		if (!(c.flags & CHANGE_CARRIED))
			(void)buf_add_fmt(&got, "%c %s\n", (char)c.kind,
					  c.path);
	if (strcmp(buf_str(&got), want) != 0)
		printf("# seed %u: got\n%s# wanted\n%s", seed, buf_str(&got),
		       want);
	CHECK(strcmp(buf_str(&got), want) == 0);
	buf_done(&got);
	changes_free(changes);
}

#endif
