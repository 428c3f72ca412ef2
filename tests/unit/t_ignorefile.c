/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/ignorefile.h"

#include "base/glob.h"

#include "tap.h"

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
	char *copy = malloc(size + 1);

	memcpy(copy, text, size);
	copy[size] = '\0';
	CHECK_INT(ignore_file_parse(copy, size, &file), 0);
	verdict = ignore_file_judge(&file, path, strlen(path), is_directory);
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

	CHECK_INT(judge("", 0, "a", false), NOTHING);
	CHECK_INT(ignore_file_judge(&file, "a", 1, false), NOTHING);
	ignore_file_done(&file);
}

TESTS(T(samples_hold), T(a_nul_ends_a_pattern), T(nothing_is_a_list))
