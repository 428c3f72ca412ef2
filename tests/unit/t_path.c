/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct normal {
	const char *path;
	const char *folded;
	const char *refusing; /* NULL: refused */
};

static const struct normal normals[] = {
	{ "/", "/", "/" },
	{ "//", "/", "/" },
	{ ".", ".", "." },
	{ "./.", ".", "." },
	{ "/.", "/", "/" },
	{ "a", "a", "a" },
	{ "a/", "a", "a" },
	{ "//a///b/./c/.", "/a/b/c", "/a/b/c" },
	{ "./a", "a", "a" },
	{ "..a/b..", "..a/b..", "..a/b.." },
	{ "...", "...", "..." },
	{ "/.a/..b/.../c.", "/.a/..b/.../c.", "/.a/..b/.../c." },
	{ "/a/.", "/a", "/a" },
	{ "/a/", "/a", "/a" },
	{ "/a/..", "/", NULL },
	{ "/a/../b", "/b", NULL },
	{ "/..", "/", NULL },
	{ "/../../a", "/a", NULL },
	{ "a/..", ".", NULL },
	{ "..", "..", NULL },
	{ "../..", "../..", NULL },
	{ "a/../..", "..", NULL },
	{ "a/../../b", "../b", NULL },
	{ "../a/../../b", "../../b", NULL },
	{ "/a/b/../../c", "/c", NULL },
	{ "a/b/..", "a", NULL },
};

/* `want` is NULL where the path is refused. */
static void check_normal(const char *path, enum path_dots dots,
			 const char *want)
{
	char got[64] = "";
	int n = path_normalise(path, dots, got, sizeof(got));

	CHECK_INT(n, want ? (int)strlen(want) : -EINVAL);
	CHECK(!want || strcmp(got, want) == 0);
}

static void normal_form(void)
{
	for (size_t i = 0; i < COUNT(normals); i++) {
		const struct normal *n = &normals[i];

		check_normal(n->path, PATH_DOTS_FOLD, n->folded);
		check_normal(n->path, PATH_DOTS_REFUSE, n->refusing);
	}
}

static void normal_form_has_room_or_fails(void)
{
	char got[8];

	CHECK_INT(path_normalise("", PATH_DOTS_FOLD, got, sizeof(got)),
		  -EINVAL);
	CHECK_INT(path_normalise("/ab/cde", PATH_DOTS_FOLD, got, 8), 7);
	memset(got, '#', sizeof(got));
	CHECK_INT(path_normalise("/ab/cde", PATH_DOTS_FOLD, got, 7),
		  -ENAMETOOLONG);
	CHECK(got[7] == '#');
	CHECK_INT(path_normalise("/", PATH_DOTS_FOLD, got, 1), -ENAMETOOLONG);
	CHECK_INT(path_normalise("a", PATH_DOTS_FOLD, got, 0), -ENAMETOOLONG);
	CHECK_INT(path_normalise("/", PATH_DOTS_FOLD, got, 2), 1);
}

static void join_puts_one_slash(void)
{
	static const char *const all[][3] = {
		{ "a", "b", "a/b" },
		{ "/", "b", "/b" },
		{ "/new", "/usr", "/new/usr" },
		{ "/new/", "//usr", "/new/usr" },
		{ "", "b", "b" },
		{ "a", "", "a" },
		{ "a", "/", "a" },
		{ "/", "/", "/" },
	};
	char got[16];

	for (size_t i = 0; i < COUNT(all); i++) {
		CHECK_INT(path_join(all[i][0], all[i][1], got, sizeof(got)),
			  (int)strlen(all[i][2]));
		CHECK(strcmp(got, all[i][2]) == 0);
	}
	CHECK_INT(path_join("abc", "de", got, 7), 6);
	memset(got, '#', sizeof(got));
	CHECK_INT(path_join("abc", "de", got, 6), -ENAMETOOLONG);
	CHECK(got[6] == '#');
	CHECK_INT(path_join("", "", got, 0), -ENAMETOOLONG);
}

static void beneath_goes_by_components(void)
{
	CHECK(path_is_beneath("/sandbox", "/sandbox"));
	CHECK(path_is_beneath("/sandbox/a", "/sandbox"));
	CHECK(path_is_beneath("/sandbox//./a", "//sandbox/"));
	CHECK(!path_is_beneath("/sandbox-evil", "/sandbox"));
	CHECK(!path_is_beneath("/sandbox-evil/a", "/sandbox"));
	CHECK(!path_is_beneath("/sand", "/sandbox"));
	CHECK(!path_is_beneath("/", "/sandbox"));
	CHECK(path_is_beneath("/anything", "/"));
	CHECK(path_is_beneath("a/b", "a"));
	CHECK(path_is_beneath("a", "."));
	CHECK(!path_is_beneath("/a", "a"));
	CHECK(!path_is_beneath("a", "/a"));
	CHECK(!path_is_beneath("a", "/"));
}

static void beneath_trusts_no_dotdot(void)
{
	CHECK(!path_is_beneath("/sandbox/../etc", "/sandbox"));
	CHECK(!path_is_beneath("/sandbox/a/..", "/sandbox"));
	CHECK(!path_is_beneath("/a/b", "/a/c/.."));
	CHECK(path_is_beneath("/sandbox/..x", "/sandbox"));
	CHECK(path_has_dotdot("a/../b"));
	CHECK(path_has_dotdot(".."));
	CHECK(!path_has_dotdot("..a/b../..."));
}

static void names_at_both_ends(void)
{
	static const char *const all[][3] = {
		{ "/", "/", "/" },	 { "//", "/", "/" },
		{ "", ".", "." },	 { "a", "a", "." },
		{ "a/", "a", "." },	 { "/a", "a", "/" },
		{ "//a//", "a", "/" },	 { "a/b", "b", "a" },
		{ "/a/b//", "b", "/a" }, { "a//b", "b", "a" },
		{ "/a/..", "..", "/a" },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		CHECK(path_part_is(path_basename(all[i][0]), all[i][1]));
		CHECK(path_part_is(path_dirname(all[i][0]), all[i][2]));
	}
}

static void components_come_one_by_one(void)
{
	const char *pos = "//a/./bc//../d/.";
	struct path_part p;

	CHECK(path_next(&pos, &p) && path_part_is(p, "a"));
	CHECK(path_next(&pos, &p) && path_part_is(p, "bc"));
	CHECK(path_next(&pos, &p) && path_part_is(p, ".."));
	CHECK(path_next(&pos, &p) && path_part_is(p, "d"));
	CHECK(!path_next(&pos, &p));
	CHECK(!path_next(&pos, &p));
	CHECK(path_part_is(p, "d"));
	CHECK(path_is_absolute("/x") && !path_is_absolute("x"));
	CHECK(!path_is_absolute(""));
	CHECK(path_is_dots(".") && path_is_dots(".."));
	CHECK(!path_is_dots("") && !path_is_dots("...") && !path_is_dots(".a"));
}

static void the_order_is_that_of_a_walk(void)
{
	static const char *const all[] = {
		".",   "#",	"+",   "-x", ".a",  "a", "a/#",
		"a/b", "a/b/c", "a/c", "a!", "a-b", "b", "\377",
	};

	for (size_t i = 0; i < COUNT(all); i++)
		for (size_t k = 0; k < COUNT(all); k++) {
			int order = path_compare(all[i], all[k]);

			CHECK_INT((order > 0) - (order < 0), (i > k) - (i < k));
		}
}

TESTS(T(normal_form), T(normal_form_has_room_or_fails), T(join_puts_one_slash),
      T(beneath_goes_by_components), T(beneath_trusts_no_dotdot),
      T(names_at_both_ends), T(components_come_one_by_one),
      T(the_order_is_that_of_a_walk))
