/* SPDX-License-Identifier: Apache-2.0 */
#include "git/gitindex.h"

#include "base/buf.h"
#include "git/gitunit.h"
#include "git/indexstat.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define LIMIT	 ((size_t)1 << 20)

static ssize_t read_buf(void *ctx, void *to, size_t size, uint64_t offset)
{
	const struct buf *b = ctx;
	size_t n;

	if (offset >= b->len)
		return 0;
	n = b->len - (size_t)offset;
	if (n > size)
		n = size;
	memcpy(to, b->data + offset, n);
	return (ssize_t)n;
}

/* Whether they are, and whether their names say so too. */
static int same(struct buf *a, struct buf *b)
{
	int r = gitindex_is_same(read_buf, a, a->len, b, b->len);
	uint64_t first = 0, second = 0;

	CHECK(gitindex_name(read_buf, a, a->len, &first) == 0 || first == 0);
	CHECK(gitindex_name(read_buf, b, b->len, &second) == 0 || second == 0);
	CHECK_INT(first != 0 && first == second, r);
	return r;
}

static void add_number(struct buf *b, uint32_t n)
{
	const unsigned char bytes[4] = { (unsigned char)(n >> 24),
					 (unsigned char)(n >> 16),
					 (unsigned char)(n >> 8),
					 (unsigned char)n };

	(void)buf_add(b, bytes, 4);
}

static void add_header(struct buf *b, uint32_t version, uint32_t n)
{
	(void)buf_add(b, "DIRC", 4);
	add_number(b, version);
	add_number(b, n);
}

struct item {
	const char *path;
	const char *last; /* the path before, in version 4 */
	uint32_t stat;	  /* fills what is volatile */
	uint32_t mode;
	uint32_t flags;
	uint32_t extended;
	char id;
};

static void add_item(struct buf *b, uint32_t version, size_t id_size,
		     const struct item *i)
{
	size_t start = b->len, shared = 0;

	for (int k = 0; k < 10; k++)
		add_number(b, k == 6 ? i->mode : i->stat);
	(void)buf_add_fill(b, i->id, id_size);
	(void)buf_add_char(b, (char)(i->flags >> 8));
	(void)buf_add_char(b, (char)(strlen(i->path) & 0xff));
	if (i->flags & 0x4000) {
		(void)buf_add_char(b, (char)(i->extended >> 8));
		(void)buf_add_char(b, (char)i->extended);
	}
	if (version < 4) {
		(void)buf_add_str(b, i->path);
		do
			(void)buf_add_char(b, '\0');
		while ((b->len - start) % 8);
		return;
	}
	while (i->last[shared] && i->last[shared] == i->path[shared])
		shared++;
	(void)buf_add_char(b, (char)(strlen(i->last) - shared));
	(void)buf_add_str(b, i->path + shared);
	(void)buf_add_char(b, '\0');
}

static void add_extension(struct buf *b, const char *name, const char *text)
{
	(void)buf_add(b, name, 4);
	add_number(b, (uint32_t)strlen(text));
	(void)buf_add_str(b, text);
}

/* Two entries of which the second is `second`. */
static void make(struct buf *b, uint32_t version, size_t id_size, uint32_t stat,
		 const struct item *second, const char *tree)
{
	struct item first = { .path = "dir/a",
			      .last = "",
			      .stat = stat,
			      .mode = 0100644,
			      .id = 'a' };
	struct item item = *second;

	item.stat = stat;
	item.last = "dir/a";
	*b = (struct buf)BUF_INIT(LIMIT);
	add_header(b, version, 2);
	add_item(b, version, id_size, &first);
	add_item(b, version, id_size, &item);
	if (tree)
		add_extension(b, "TREE", tree);
	(void)buf_add_fill(b, 'h', id_size);
}

static const struct item plain = {
	.path = "dir/bcd",
	.mode = 0100644,
	.id = 'b',
};

static void stat_data_is_no_difference(void)
{
	static const size_t sizes[] = { 20, 32 };

	for (uint32_t version = 2; version <= 4; version++) {
		for (size_t i = 0; i < COUNT(sizes); i++) {
			struct buf a, b;

			make(&a, version, sizes[i], 1, &plain, NULL);
			make(&b, version, sizes[i], 77, &plain, "cached");
			CHECK_INT(same(&a, &b), 1);
			buf_done(&a);
			buf_done(&b);
		}
	}
}

static void versions_are_only_spelling(void)
{
	struct buf a, b;

	make(&a, 2, 20, 1, &plain, NULL);
	make(&b, 4, 20, 2, &plain, NULL);
	CHECK_INT(same(&a, &b), 1);
	buf_done(&a);
	buf_done(&b);
}

static void entries_are_the_difference(void)
{
	static const struct item others[] = {
		{ .path = "dir/bcd", .mode = 0100755, .id = 'b' },
		{ .path = "dir/bcd", .mode = 0100644, .id = 'c' },
		{ .path = "dir/bce", .mode = 0100644, .id = 'b' },
		{ .path = "dir/b", .mode = 0100644, .id = 'b' },
		{ .path = "dir/bcd",
		  .mode = 0100644,
		  .id = 'b',
		  .flags = 0x1000 },
		{ .path = "dir/bcd",
		  .mode = 0100644,
		  .id = 'b',
		  .flags = 0x8000 },
		{ .path = "dir/bcd",
		  .mode = 0100644,
		  .id = 'b',
		  .flags = 0x4000,
		  .extended = 0x4000 },
	};

	for (uint32_t version = 3; version <= 4; version++) {
		for (size_t i = 0; i < COUNT(others); i++) {
			struct buf a, b;

			make(&a, version, 20, 1, &plain, NULL);
			make(&b, version, 20, 1, &others[i], NULL);
			CHECK_INT(same(&a, &b), 0);
			CHECK_INT(same(&b, &b), 1);
			buf_done(&a);
			buf_done(&b);
		}
	}
}

static void what_is_not_understood_is_different(void)
{
	struct buf a, b;

	make(&a, 2, 20, 1, &plain, NULL);
	/* A split index has its entries elsewhere. */
	b = (struct buf)BUF_INIT(LIMIT);
	(void)buf_add(&b, a.data, a.len - 20);
	add_extension(&b, "link", "abc");
	(void)buf_add_fill(&b, 'h', 20);
	CHECK_INT(same(&b, &b), 0);
	buf_done(&b);
	/* Extended flags need version 3. */
	make(&b, 2, 20, 1,
	     &(struct item){ .path = "x", .flags = 0x4000, .id = 'b' }, NULL);
	CHECK_INT(same(&b, &b), 0);
	buf_done(&b);
	/* Another version, another magic. */
	for (int i = 0; i < 8; i++) {
		a.data[i] ^= 1;
		CHECK_INT(same(&a, &a), i == 7 ? 1 : 0);
		a.data[i] ^= 1;
	}
	buf_done(&a);
}

/*
 * The hash at the end is not checked, so an index that lost its extension, and
 * only that, has still the same entries.
 */
static void a_cut_index_is_different(void)
{
	const size_t extension = 8 + strlen("cache");

	for (uint32_t version = 2; version <= 4; version++) {
		struct buf a, b;

		make(&a, version, 20, 1, &plain, "cache");
		for (size_t n = 0; n < a.len; n++) {
			b = (struct buf)BUF_INIT(LIMIT);
			(void)buf_add(&b, a.data, n);
			CHECK_INT(same(&a, &b), n == a.len - extension);
			buf_done(&b);
		}
		buf_done(&a);
	}
}

/* Version 4 takes bytes off the path before, as many as it has. */
static void nothing_is_cut_from_nothing(void)
{
	static const unsigned char cuts[][4] = {
		{ 1, 'x', 'y', 0 },
		{ 0x7f, 'x', 'y', 0 },
		{ 0xff, 0xff, 0xff, 0xff },
	};

	for (size_t i = 0; i < COUNT(cuts); i++) {
		struct buf a = BUF_INIT(LIMIT);

		add_header(&a, 4, 1);
		(void)buf_add_fill(&a, 'e', 40 + 20);
		(void)buf_add_fill(&a, '\0', 2);
		(void)buf_add(&a, cuts[i], sizeof(cuts[i]));
		(void)buf_add_fill(&a, 'h', 20);
		CHECK_INT(same(&a, &a), 0);
		buf_done(&a);
	}
}

static void a_path_has_a_limit(void)
{
	char path[GITINDEX_PATH_MAX + 2];
	struct item item = plain;
	struct buf a;

	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	item.path = path;
	make(&a, 2, 20, 1, &item, NULL);
	CHECK_INT(same(&a, &a), 0);
	buf_done(&a);
	path[GITINDEX_PATH_MAX] = '\0';
	make(&a, 2, 20, 1, &item, NULL);
	CHECK_INT(same(&a, &a), 1);
	buf_done(&a);
}

static void the_unit_is_told_from_the_rest(void)
{
	static const struct {
		const char *dirs[4];
		const char *name;
		bool is_unit, is_index;
	} cases[] = {
		{ { NULL }, "index", false, false },
		{ { NULL }, ".git", false, false },
		{ { ".git" }, "index", true, true },
		{ { ".git" }, "HEAD", true, false },
		{ { ".git" }, "config", false, false },
		{ { ".git" }, "hooks", false, false },
		{ { ".git", "hooks" }, "index", false, false },
		{ { ".git", "objects" }, "ab", true, false },
		{ { ".git", "objects", "ab" }, "config", true, false },
		{ { ".git", "refs", "hooks" }, "index", true, false },
		{ { ".git", "modules", "m" }, "index", true, true },
		{ { ".git", "modules", "m" }, "config", false, false },
		{ { ".git", "worktrees", "w" }, "HEAD", true, false },
		{ { ".git", "info" }, "exclude", false, false },
		{ { "git" }, "index", false, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		enum git_place place = GIT_OUTSIDE;
		struct buf path = BUF_INIT(LIMIT);

		for (size_t k = 0; k < 4 && cases[i].dirs[k]; k++) {
			place = git_place_below(place, cases[i].dirs[k]);
			(void)buf_add_fmt(&path, "%s/", cases[i].dirs[k]);
		}
		(void)buf_add_str(&path, cases[i].name);
		CHECK_INT(git_is_index_path(GIT_OUTSIDE, buf_str(&path)),
			  cases[i].is_index);
		buf_done(&path);
		CHECK_INT(git_is_unit(place, cases[i].name), cases[i].is_unit);
		CHECK_INT(git_is_index(place, cases[i].name),
			  cases[i].is_index);
	}
}

/* Of type indexstat_request.look: the second file alone has its content. */
static int look_at_second(void *ctx, const struct gitindex_entry *entry,
			  size_t id_size, struct indexmerge_stat *ret)
{
	++*(int *)ctx;
	CHECK(id_size == 20 || id_size == 32);
	*ret = (struct indexmerge_stat){ .ino = 5, .mtime.tv_sec = 6 };
	return entry->id[0] == 'b';
}

/* Stat data of the entries; the index is one by its sum. */
static void check_stats(struct buf *b, int first, int second)
{
	struct gitindex x;
	struct gitindex_entry e;

	CHECK_INT(gitindex_open(&x, read_buf, b, b->len, 20), 0);
	CHECK_INT(gitindex_next(&x, &e), 1);
	CHECK_INT(e.stat[23], first);
	CHECK_INT(e.mode, 0100644);
	CHECK_INT(gitindex_next(&x, &e), 1);
	CHECK_INT(e.stat[23], second);
	CHECK_INT(e.mode, 0100644);
	CHECK_INT(gitindex_next(&x, &e), 0);
}

static void stat_data_is_filled_in(void)
{
	int n = 0;
	struct buf b;
	struct indexstat_request q = { .look = look_at_second, .ctx = &n };

	make(&b, 2, 20, 7, &plain, NULL);
	q.data = b.data;
	q.len = b.len;
	/* Its sum is wrong: none of its stat data counts. */
	CHECK_INT(indexstat_fill(&q), 1);
	CHECK_INT(n, 2);
	check_stats(&b, 0, 5);
	/* Its sum is right: what has stat data is not looked at. */
	CHECK_INT(indexstat_fill(&q), 0);
	CHECK_INT(n, 3);
	check_stats(&b, 0, 5);
	/* A power loss left a part of it. */
	b.data[12 + 8] = 1;
	CHECK_INT(indexstat_fill(&q), 1);
	CHECK_INT(n, 5);
	check_stats(&b, 0, 5);
	b.data[0] = 'X';
	CHECK_INT(indexstat_fill(&q), -EBADMSG);
	buf_done(&b);
}

TESTS(T(stat_data_is_filled_in), T(stat_data_is_no_difference),
      T(versions_are_only_spelling), T(entries_are_the_difference),
      T(what_is_not_understood_is_different), T(a_cut_index_is_different),
      T(a_path_has_a_limit), T(nothing_is_cut_from_nothing),
      T(the_unit_is_told_from_the_rest))
