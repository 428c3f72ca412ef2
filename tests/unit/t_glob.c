/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

#include "base/error.h"

#include "tap.h"

#include <string.h>
#include <time.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct sample {
	const char *pattern;
	const char *path;
	unsigned int flags;
	bool matches;
};

static const struct sample samples[] = {
	/* Without a slash the last component counts. */
	{ "*.o", "a.o", 0, true },
	{ "*.o", "x/y/a.o", 0, true },
	{ "*.o", "a.o/b", 0, false },
	{ "*.o", ".o", 0, true },
	{ "a?c", "abc", 0, true },
	{ "a?c", "ac", 0, false },
	{ "*", "anything/at/all", 0, true },
	/* With one, the whole path. */
	{ "/a", "a", 0, true },
	{ "/a", "x/a", 0, false },
	{ "x/*.o", "x/a.o", 0, true },
	{ "x/*.o", "x/y/a.o", 0, false },
	{ "x/*.o", "z/x/a.o", 0, false },
	{ "a?b/c", "a/b/c", 0, false },
	/* Classes. */
	{ "[abc]", "b", 0, true },
	{ "[a-c]x", "bx", 0, true },
	{ "[a-c]x", "dx", 0, false },
	{ "[!a-c]x", "dx", 0, true },
	{ "[^a-c]x", "ax", 0, false },
	{ "[c-a]", "c", 0, true },
	{ "[c-a]", "b", 0, false },
	{ "[!c-a]", "c", 0, false },
	{ "[[--0]", "[", 0, true },
	{ "[]]", "]", 0, true },
	{ "[]-]", "-", 0, true },
	{ "[!]]", "]", 0, false },
	{ "[-a]", "-", 0, true },
	{ "[a-]", "-", 0, true },
	{ "[a\\-z]", "b", 0, false },
	{ "[a\\-z]", "-", 0, true },
	{ "[\\]]", "]", 0, true },
	{ "a[/]b", "a/b", 0, false },
	{ "/a[!x]b", "a/b", 0, false },
	{ "[\200-\377]", "\303", 0, true },
	{ "[[:alpha:]]", "b", 0, true },
	{ "[[:alpha:]]", "1", 0, false },
	{ "[![:alpha:]]", "1", 0, true },
	{ "[_[:digit:]-z]", "-", 0, true },
	{ "[_[:digit:]-z]", "x", 0, false },
	{ "[[:]", ":", 0, true },
	{ "[[:x]", "[", 0, true },
	{ "[[:upper:]]", "b", GLOB_FOLD, true },
	{ "[![:upper:]]", "b", GLOB_FOLD, false },
	/* Escapes. */
	{ "\\*", "*", 0, true },
	{ "\\*", "a", 0, false },
	{ "\\**", "*abc", 0, true },
	{ "a\\b", "ab", 0, true },
	/* Whole components of stars. */
	{ "**/a", "a", 0, true },
	{ "**/a", "x/y/a", 0, true },
	{ "**/a", "xa", 0, false },
	{ "**/a", "x/ba", 0, false },
	{ "a/**", "a/b", 0, true },
	{ "a/**", "a/b/c", 0, true },
	{ "a/**", "a", 0, false },
	{ "a/**", "ab/c", 0, false },
	{ "a/**/b", "a/b", 0, true },
	{ "a/**/b", "a/x/y/b", 0, true },
	{ "a/**/b", "a/xb", 0, false },
	{ "a/**/b", "ab", 0, false },
	{ "**/.git/hooks/**", ".git/hooks/pre-commit", 0, true },
	{ "**/.git/hooks/**", "sub/.git/hooks/x", 0, true },
	{ "**/.git/hooks/**", "sub/x.git/hooks/x", 0, false },
	{ "**", "a/b", 0, true },
	{ "**/**/a", "a", 0, true },
	{ "a**b/c", "axxb/c", 0, true },
	{ "a**b/c", "a/b/c", 0, false },
	{ "a/***/b", "a/x/b", 0, true },
	{ "a/***/b", "a/b", 0, true },
	{ "a/**\\/b", "a/x/y/b", 0, true },
	{ "a/**\\/b", "a/b", 0, false },
	{ "**/*.c", "a/b/c.c", 0, true },
	{ "a/**/*/b", "a/b", 0, false },
	{ "a/**/*/b", "a/x/b", 0, true },
	/* Directories only. */
	{ "build/", "build", 0, false },
	{ "build/", "build", GLOB_DIR, true },
	{ "build/", "x/build", GLOB_DIR, true },
	{ "/build/", "x/build", GLOB_DIR, false },
	/* Case. */
	{ ".GIT", ".git", 0, false },
	{ ".GIT", ".git", GLOB_FOLD, true },
	{ ".git", ".GiT", GLOB_FOLD, true },
	{ "[a-c]", "B", GLOB_FOLD, true },
	{ "[A-C]", "b", GLOB_FOLD, true },
	{ "[!A-C]", "b", GLOB_FOLD, false },
	{ "\303\204", "\303\244", GLOB_FOLD, false },
	{ "[Z-_]", "[", GLOB_FOLD, true },
	{ "@", "`", GLOB_FOLD, false },
	/* Nothing. */
	{ "", "", 0, false },
	{ "a", "", 0, false },
	{ "*", "", 0, true },
};

static void samples_hold(void)
{
	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct sample *s = &samples[i];

		if (glob_match(s->pattern, s->path, s->flags) != s->matches)
			printf("# '%s' and '%s'\n", s->pattern, s->path);
		CHECK(glob_match(s->pattern, s->path, s->flags) == s->matches);
	}
}

/* The definition, as simple as it can be said. */
static bool defined(const char *p, const char *s, bool start)
{
	size_t n = strspn(p, "*");

	if (start && n > 1 && (p[n] == '/' || p[n] == '\0')) {
		if (p[n] == '\0')
			return *s != '\0';
		if (defined(p + n + 1, s, true))
			return true;
		for (; *s; s++)
			if (*s == '/' && defined(p + n + 1, s + 1, true))
				return true;
		return false;
	}
	if (*p == '\0')
		return *s == '\0';
	if (*p == '*')
		return defined(p + 1, s, false) ||
		       (*s && *s != '/' && defined(p, s + 1, false));
	if (*s == '\0' || (*p == '?' ? *s == '/' : *p != *s))
		return false;
	return defined(p + 1, s + 1, *p == '/');
}

/* The i-th string over the letters; false for those that are not normal. */
static bool make_string(size_t i, const char *letters, char *s)
{
	size_t base = strlen(letters), n = 0;

	for (; i > 0; i = (i - 1) / base)
		s[n++] = letters[(i - 1) % base];
	s[n] = '\0';
	return n > 0 && s[0] != '/' && s[n - 1] != '/' && !strstr(s, "//");
}

/* Compares on all short paths; returns how many. */
static size_t compare(const char *pattern)
{
	char anchored[17], path[16];
	size_t n = 0;

	(void)snprintf(anchored, sizeof(anchored), "/%s", pattern);
	for (size_t i = 1; i < 360; i++) {
		bool want;

		if (!make_string(i, "a/b", path))
			continue;
		want = defined(pattern, path, true);
		if (glob_match(anchored, path, 0) != want)
			printf("# '%s' and '%s'\n", pattern, path);
		CHECK(glob_match(anchored, path, 0) == want);
		n++;
	}
	return n;
}

static void agrees_with_the_definition(void)
{
	char pattern[16];
	size_t n = 0;

	for (size_t i = 1; i < 5000; i++)
		if (make_string(i, "*/a?b", pattern))
			n += compare(pattern);
	CHECK(n > 100000);
}

/* Of the path, or of a directory that it is in. */
static bool defined_above(const char *pattern, char *path, unsigned flags)
{
	for (char *end = path; (end = strchr(end, '/')); end++) {
		bool is_match;

		*end = '\0';
		is_match = glob_match(pattern, path, GLOB_DIR);
		*end = '/';
		if (is_match)
			return true;
	}
	return glob_match(pattern, path, flags);
}

static void above_is_every_directory(void)
{
	char pattern[18], path[16];
	size_t n = 0;

	for (size_t i = 1; i < 2000; i++) {
		size_t len;

		pattern[0] = '/';
		if (!make_string(i, "*/a?b", pattern + 1))
			continue;
		len = strlen(pattern);
		for (size_t k = 1; k < 720; k++) {
			unsigned flags = k % 2 ? GLOB_DIR : 0;

			if (!make_string(k / 2, "a/b", path))
				continue;
			/* And once with a slash at its end. */
			for (int slash = 0; slash < 2; slash++) {
				pattern[len] = slash ? '/' : '\0';
				pattern[len + 1] = '\0';
				CHECK(glob_match(pattern, path,
						 flags | GLOB_ABOVE) ==
				      defined_above(pattern, path, flags));
				n++;
			}
			pattern[len] = '\0';
		}
	}
	CHECK(n > 100000);
}

static void hard_patterns_end_soon(void)
{
	static char path[4097], pattern[GLOB_PATTERN_MAX + 1];
	clock_t start = clock();

	/* Each of these takes ages where a matcher goes back and tries again.
	 */
	for (size_t i = 0; i < 4096; i++)
		path[i] = i % 2 ? '/' : 'a';
	path[4095] = 'a';
	for (size_t i = 0; i + 4 < sizeof(pattern); i += 5)
		memcpy(pattern + i, "**/a/", 5);
	memcpy(pattern + GLOB_PATTERN_MAX - 4, "**/b", 5);
	CHECK(!glob_match(pattern, path, 0));

	memset(path, 'a', 4096);
	for (size_t i = 0; i + 1 < GLOB_PATTERN_MAX; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[GLOB_PATTERN_MAX - 1] = 'b';
	pattern[GLOB_PATTERN_MAX] = '\0';
	CHECK(!glob_match(pattern, path, 0));

	memset(pattern, '*', GLOB_PATTERN_MAX - 1);
	CHECK(!glob_match(pattern, path, 0));
	CHECK((clock() - start) / CLOCKS_PER_SEC < 10);
}

static void long_patterns_match_nothing(void)
{
	static char pattern[GLOB_PATTERN_MAX + 2];

	memset(pattern, '*', GLOB_PATTERN_MAX);
	CHECK(glob_match(pattern, "a", 0));
	CHECK_INT(glob_check(pattern, NULL), 0);
	pattern[GLOB_PATTERN_MAX] = '*';
	CHECK(!glob_match(pattern, "a", 0));
	CHECK_INT(glob_check(pattern, NULL), -HB_E_CONFIG);
}

static void malformed_patterns_are_named(void)
{
	static const char *const bad[] = { "",		 "[",	"[a",  "[!",
					   "[]",	 "[!]", "a\\", "[a\\]",
					   "[[:alfa:]]", "x[" };
	static const char *const good[] = { "a",   "[]]",   "[[]",
					    "\\[", "a]",    "[a:]",
					    "**",  "[\\]]", "[[:alpha:]]" };
	struct hb_error err = { 0 };

	for (size_t i = 0; i < COUNT(bad); i++) {
		CHECK_INT(glob_check(bad[i], NULL), -HB_E_CONFIG);
		CHECK(!glob_match(bad[i], bad[i], 0));
	}
	for (size_t i = 0; i < COUNT(good); i++)
		CHECK_INT(glob_check(good[i], &err), 0);
	CHECK_INT(err.code, 0);
	CHECK_INT(glob_check("a\\", &err), -HB_E_CONFIG);
	CHECK(strcmp(err.text, "the pattern ends in a backslash") == 0);
}

TESTS(T(samples_hold), T(agrees_with_the_definition),
      T(above_is_every_directory), T(hard_patterns_end_soon),
      T(long_patterns_match_nothing), T(malformed_patterns_are_named))
