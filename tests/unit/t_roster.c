/* SPDX-License-Identifier: Apache-2.0 */
#include "host/roster.h"

#include "trees.h"

#include <limits.h>

static void begin(struct tree *t, char path[PATH_MAX])
{
	tree_init(t, 1);
	(void)snprintf(path, PATH_MAX, "%s/base", t->path);
}

static bool may_have(const struct roster *roster, const char *dir,
		     const char *below)
{
	char path[2 * PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, below);
	return roster_may_have(roster, dir, path);
}

static void what_is_there_is_never_missing(void)
{
	char path[PATH_MAX];
	struct tree t;
	struct roster roster;

	begin(&t, path);
	for (int i = 0; i < 500; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), "Name-%d", i);
		CHECK_INT(mknodat(t.base, name, S_IFREG | 0644, 0), 0);
	}
	roster_read(path, &roster);
	CHECK(roster.is_known);
	for (int i = 0; i < 500; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), "Name-%d/below", i);
		CHECK(may_have(&roster, path, name));
		/* Some directories do not tell these apart. */
		(void)snprintf(name, sizeof(name), "nAMe-%d", i);
		CHECK(may_have(&roster, path, name));
	}
	tree_done(&t);
}

static void most_of_what_is_missing_is_told(void)
{
	char path[PATH_MAX];
	struct tree t;
	struct roster roster;
	int n = 0;

	begin(&t, path);
	CHECK_INT(mknodat(t.base, "there", S_IFREG | 0644, 0), 0);
	roster_read(path, &roster);
	CHECK(may_have(&roster, path, "there"));
	for (int i = 0; i < 100; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), ".missing-%d/x", i);
		n += !may_have(&roster, path, name);
	}
	CHECK(n > 90);
	tree_done(&t);
}

static void nothing_is_said_of_the_rest(void)
{
	char path[PATH_MAX];
	struct tree t;
	struct roster roster, unread = { 0 }, none;

	begin(&t, path);
	roster_read(path, &roster);
	CHECK(roster.is_known);
	CHECK(roster_may_have(&roster, path, "/elsewhere"));
	CHECK(roster_may_have(&roster, path, path));
	CHECK(may_have(&roster, path, "\303\244rger"));
	CHECK(may_have(&unread, path, "x"));
	roster_read("/nonexistent/dir", &none);
	CHECK(may_have(&none, "/nonexistent/dir", "x"));
	tree_done(&t);
}

static void too_many_names_say_nothing(void)
{
	char path[PATH_MAX];
	struct tree t;
	struct roster roster;

	begin(&t, path);
	for (int i = 0; i < 4000; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), "a-rather-long-name-%d", i);
		CHECK_INT(mknodat(t.base, name, S_IFREG | 0644, 0), 0);
	}
	roster_read(path, &roster);
	CHECK(!roster.is_known);
	CHECK(may_have(&roster, path, "missing"));
	tree_done(&t);
}

TESTS(T(what_is_there_is_never_missing), T(most_of_what_is_missing_is_told),
      T(nothing_is_said_of_the_rest), T(too_many_names_say_nothing))
