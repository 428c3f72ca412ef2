/* SPDX-License-Identifier: Apache-2.0 */
#include "git/ignore/ignorefile.h"

#include "base/glob.h"
#include "git/ignore/ignored.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What git makes of a list, tried with it; tests/txn/ignored-git.py tries more.
 */
struct sample {
	const char *text;
	const char *path;
	bool is_directory;
	enum ignore_verdict verdict;
};

#define NOTHING	 IGNORE_SAYS_NOTHING
#define EXCLUDED IGNORE_IS_EXCLUDED
#define INCLUDED IGNORE_IS_INCLUDED

static const struct sample samples[] = {
	{ "a", "a", false, EXCLUDED },
	{ "a", "x/y/a", false, EXCLUDED },
	{ "a", "a/b", false, NOTHING },
	{ "/a", "x/a", false, NOTHING },
	{ "x/a", "x/a", false, EXCLUDED },
	{ "x/a", "y/x/a", false, NOTHING },
	{ "a/", "a", false, NOTHING },
	{ "a/", "a", true, EXCLUDED },
	{ "*.o\n!k.o", "k.o", false, INCLUDED },
	{ "!k.o\n*.o", "k.o", false, EXCLUDED },
	/* Lines. */
	{ "#a", "#a", false, NOTHING },
	{ "\\#a", "#a", false, EXCLUDED },
	{ "\\!a", "!a", false, EXCLUDED },
	{ "a  ", "a", false, EXCLUDED },
	{ "a\\ ", "a ", false, EXCLUDED },
	{ "a\\  ", "a ", false, EXCLUDED },
	{ "a\t", "a", false, NOTHING },
	{ "a\r\nb\r\n", "a", false, EXCLUDED },
	{ "a\r\r\n", "a", false, NOTHING },
	{ "\r\n\n/\n!\n", "a", true, NOTHING },
	{ "\357\273\277a", "a", false, EXCLUDED },
	{ "x\n\357\273\277a", "a", false, NOTHING },
	{ "a\\", "a\\", false, NOTHING },
	/* Stars after a beginning that is none count as the start. */
	{ "/foo**", "foo/x/y", false, EXCLUDED },
	{ "/foo**", "foo", false, EXCLUDED },
	{ "foo**/bar", "foobar", false, EXCLUDED },
	{ "foo**/bar", "foo/bar", false, EXCLUDED },
	{ "foo**/bar", "fooa/b/bar", false, EXCLUDED },
	{ "f?o**/bar", "foo/x/bar", false, NOTHING },
	{ "a/**", "a", true, NOTHING },
	{ "a/**", "a/b/c", false, EXCLUDED },
	{ "**/b", "b", false, EXCLUDED },
	{ "a/***/b", "a/b", false, EXCLUDED },
	{ "a**", "ab", false, EXCLUDED },
	{ "*", "x/y", false, EXCLUDED },
	{ "[[:digit:]]", "7", false, EXCLUDED },
	{ "[[:nothing:]]", "7", false, NOTHING },
	{ "[a", "[a", false, NOTHING },
};

static enum ignore_verdict judge(const char *text, size_t size,
				 const char *path, bool is_directory)
{
	struct ignore_file file = { 0 };
	enum ignore_verdict verdict;
	uint64_t work = UINT64_MAX;
	char *copy = malloc(size + 1);

	memcpy(copy, text, size);
	copy[size] = '\0';
	CHECK_INT(ignore_file_parse(copy, size, &file), 0);
	verdict = ignore_file_judge(&file, path, strlen(path), is_directory,
				    &work);
	ignore_file_done(&file);
	return verdict;
}

static void samples_hold(void)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		enum ignore_verdict got = judge(s->text, strlen(s->text),
						s->path, s->is_directory);

		if (got != s->verdict)
			printf("# '%s' and '%s'\n", s->text, s->path);
		CHECK_INT(got, s->verdict);
	}
}

static void a_nul_ends_a_pattern(void)
{
	static const char text[] = "a \0b\nc";

	CHECK_INT(judge(text, sizeof(text) - 1, "a", false), EXCLUDED);
	CHECK_INT(judge(text, sizeof(text) - 1, "b", false), NOTHING);
	CHECK_INT(judge(text, sizeof(text) - 1, "c", false), EXCLUDED);
}

static void nothing_is_a_list(void)
{
	struct ignore_file file = { 0 };
	uint64_t work = 1;

	CHECK_INT(judge("", 0, "a", false), NOTHING);
	CHECK_INT(ignore_file_judge(&file, "a", 1, false, &work), NOTHING);
	ignore_file_done(&file);
}

/* A list of `n` lines, with the line's number where they have a "#". */
static struct ignore_file make_list(const char *const *lines, size_t n_lines,
				    size_t n)
{
	struct ignore_file file = { 0 };
	size_t size = 0, room = n * 128;
	char *text = malloc(room + 1);

	for (size_t i = 0; i < n; i++) {
		const char *line = lines[i % n_lines];
		size_t cut = strcspn(line, "#");

		size += (size_t)snprintf(text + size, room - size, "%.*s",
					 (int)cut, line);
		if (line[cut])
			size += (size_t)snprintf(text + size, room - size,
						 "%zu%s", i, line + cut + 1);
		text[size++] = '\n';
	}
	text[size] = '\0';
	CHECK_INT(ignore_file_parse(text, size, &file), 0);
	return file;
}

/* Each kind of line that the lists of common languages have. */
static const char *const ordinary[] = {
	"*.o#",	       "/build#/",    "node_modules#/", "*.py[co]#",
	"name#",       ".env.#.*",    "/out#/*.map",	"**/gen#/*.cs",
	"!keep#.lock", "lib/*/#.jar", "[Dd]ebug#/",	"npm-#.log*",
	"*~#",	       "doc#/api/",   ".cache#",	"cov-#.xml",
	"*.sw?#",      "a#/**/b.txt", "Thumbs#.db",	"*.[Pp]ublish#.xml",
	"dist#/",      "*.#.*",	      "coverage#/",	".idea#/",
};

static void ordinary_rules_stay_far_below_the_bound(void)
{
	struct ignore_file file = make_list(
		ordinary, sizeof(ordinary) / sizeof(ordinary[0]), 2000);
	uint64_t work = UINT64_MAX;
	char path[128];

	/* Every hundredth of 20 000 paths. */
	for (int i = 0; i < 200; i++) {
		int n = snprintf(path, sizeof(path),
				 "src/component%d/internal/module_%d.test.js",
				 i, i * 100);

		CHECK_INT(
			ignore_file_judge(&file, path, (size_t)n, false, &work),
			NOTHING);
	}
	printf("# %llu steps for 20 000 paths and 2000 rules\n",
	       (unsigned long long)(UINT64_MAX - work) * 100);
	CHECK((UINT64_MAX - work) * 100 < IGNORED_WORK / 3);
	ignore_file_done(&file);
}

#define SLOW "**/a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b?#"

static void slow_rules_end_with_the_work(void)
{
	static const char *const slow[] = { SLOW "*" };
	static const char *const last[] = { "*", SLOW "*" };
	struct ignore_file file = make_list(slow, 1, 1000);
	uint64_t all = UINT64_MAX, work = 100000, none = 0;
	char path[64];

	memset(path, 'a', sizeof(path));
	/* What the list costs shows that it is one to be afraid of. */
	CHECK_INT(ignore_file_judge(&file, path, sizeof(path), false, &all),
		  NOTHING);
	CHECK(UINT64_MAX - all > 1000000);
	CHECK(UINT64_MAX - all < (uint64_t)1000 * 64 * 64 * 4);
	CHECK_INT(ignore_file_judge(&file, path, sizeof(path), false, &work),
		  NOTHING);
	CHECK_INT((int)work, 0);
	CHECK_INT(ignore_file_judge(&file, path, sizeof(path), false, &none),
		  NOTHING);
	ignore_file_done(&file);

	/* The rule that would exclude it comes behind, and is not reached. */
	file = make_list(last, 2, 1000);
	all = UINT64_MAX;
	work = 1000;
	CHECK_INT(ignore_file_judge(&file, path, sizeof(path), false, &all),
		  EXCLUDED);
	CHECK_INT(ignore_file_judge(&file, path, sizeof(path), false, &work),
		  NOTHING);
	ignore_file_done(&file);
}

TESTS(T(samples_hold), T(a_nul_ends_a_pattern), T(nothing_is_a_list),
      T(ordinary_rules_stay_far_below_the_bound),
      T(slow_rules_end_with_the_work))
