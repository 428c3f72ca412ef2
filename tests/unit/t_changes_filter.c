/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/changes.h"
#include "changes/filter.h"

#include "tap.h"

#include <string.h>

static bool passes(const char *only, const char *except, const char *path,
		   unsigned flags, bool is_dir)
{
	const char *const onlies[] = { only }, *const excepts[] = { except };
	const struct changes_filter filter = {
		.only = onlies,
		.n_only = only ? 1 : 0,
		.except = excepts,
		.n_except = except ? 1 : 0,
	};
	const struct change change = {
		.kind = CHANGE_ADDED,
		.path = path,
		.flags = flags,
		.new = { .type = is_dir ? ENTRY_DIR : ENTRY_FILE },
	};

	return changes_filter_passes(&filter, &change);
}

static void patterns_take_paths(void)
{
	static const struct {
		const char *only, *except, *path;
		bool want;
	} cases[] = {
		{ NULL, NULL, "a", true },
		{ "a", NULL, "a", true },
		{ "a", NULL, "b", false },
		{ "a", NULL, "ab", false },
		{ "*.c", NULL, "src/x/f.c", true },
		{ "*.c", NULL, "src/x/f.h", false },
		{ NULL, "*.c", "src/f.c", false },
		{ NULL, "*.c", "src/f.h", true },
		{ "src", "*.c", "src/f.c", false },
		{ "src/*.c", NULL, "src/f.c", true },
		{ "src/*.c", NULL, "src/x/f.c", false },
		{ "src/*.c", NULL, "x/src/f.c", false },
		{ "/src", NULL, "src/f.c", true },
		{ "/src", NULL, "x/src/f.c", false },
		{ "**/x", NULL, "a/b/x", true },
		{ "src/**", NULL, "src/a/b", true },
		{ "", NULL, "a", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool got = passes(cases[i].only, cases[i].except, cases[i].path,
				  0, false);

		if (got != cases[i].want)
			printf("# case %zu: %s\n", i, cases[i].path);
		CHECK(got == cases[i].want);
	}
}

static void a_directory_takes_what_is_in_it(void)
{
	CHECK(passes("src", NULL, "src/a/b/c", CHANGE_IN_NEW, false));
	CHECK(passes("a", NULL, "src/a/b/c", 0, false));
	CHECK(passes("src/a", NULL, "src/a/b/c", 0, false));
	CHECK(passes("src/a/", NULL, "src/a/b/c", 0, false));
	CHECK(passes("s*/**/b", NULL, "src/a/b/c", 0, false));
	CHECK(!passes("src/b", NULL, "src/a/b/c", 0, false));
	CHECK(!passes(NULL, "node_modules/", "x/node_modules/y", 0, false));
	CHECK(passes("src/a/", NULL, "src/a", 0, true));
	CHECK(!passes("src/a/", NULL, "src/a", 0, false));
}

static void a_unit_is_never_split(void)
{
	CHECK(passes(".git", NULL, ".git/index", CHANGE_GIT, false));
	CHECK(passes(".git/index", NULL, ".git/index", CHANGE_GIT, false));
	CHECK(passes("/.git/index", NULL, ".git/refs/heads/x", CHANGE_GIT,
		     false));
	CHECK(!passes(".git/index", NULL, "x/.git/index", CHANGE_GIT, false));
	CHECK(!passes(".git/hooks/x", NULL, ".git/index", CHANGE_GIT, false));
	CHECK(!passes(NULL, ".git/index", ".git/index", CHANGE_GIT, false));
	CHECK(!passes(NULL, "/.git/index", ".git/refs/heads/x", CHANGE_GIT,
		      false));
	CHECK(passes(NULL, "x/.git/index", ".git/index", CHANGE_GIT, false));
	CHECK(passes(NULL, ".git/hooks/x", ".git/index", CHANGE_GIT, false));
	CHECK(!passes("index", NULL, "x/.git/index", CHANGE_GIT, false));
	CHECK(passes("x", NULL, "x/.git/objects/index", CHANGE_GIT, false));
	/* Hooks are their own. */
	CHECK(passes(".git/hooks/x", NULL, ".git/hooks/x", 0, false));
	CHECK(!passes(NULL, ".git/hooks", ".git/hooks/x", 0, false));
}

TESTS(T(patterns_take_paths), T(a_directory_takes_what_is_in_it),
      T(a_unit_is_never_split))
