/* SPDX-License-Identifier: Apache-2.0 */
#include "git/ignore/ignorefile.h"

#include "base/auto.h"
#include "base/glob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A pattern without a slash inside is compared with the last component, any
 * other with the whole path.  Of the latter the bytes up to the first special
 * byte are compared literally and cut off, as git does.  So in "foo**" with a
 * slash elsewhere the stars begin the rest, and take anything.
 *
 * tests/txn/ignored-git.py compares all of this with git.
 */
#define BOM	"\357\273\277"
#define SPECIAL "*?[\\"

/* So many bytes are compared, or searched, for the price of one step. */
#define STEP_SIZE   64
#define SEARCH_SIZE 8

static void spend(uint64_t *work, uint64_t cost)
{
	*work -= cost < *work ? cost : *work;
}

/* Spaces at the end do not belong to the pattern, but for an escaped one. */
static void cut_spaces(char *line)
{
	char *spaces = NULL;

	for (char *p = line; *p; p++) {
		if (*p == ' ') {
			if (!spaces)
				spaces = p;
			continue;
		}
		spaces = NULL;
		if (*p == '\\' && !*++p)
			return;
	}
	if (spaces)
		*spaces = '\0';
}

/*
 * The bytes in which a match has to end.  They alone show that most rules do
 * not match.  A slash is none of them, because a "**" may stand for no
 * component and take it away.
 */
static size_t count_tail(const char *pattern, size_t n)
{
	size_t i = n;

	while (i > 0 && !strchr(SPECIAL "]/", pattern[i - 1]))
		i--;
	if (i > 0 && i < n && pattern[i - 1] == '\\')
		i++;
	return n - i;
}

/* Bytes that a match has to have somewhere: those behind the first stars. */
static void find_needle(struct ignore_rule *rule)
{
	const char *p = rule->pattern;
	size_t i = rule->literal;

	while (i < rule->len && strchr("*?/", p[i]))
		i++;
	rule->needle = i;
	while (i < rule->len && !strchr(SPECIAL "]/", p[i]))
		i++;
	rule->needle_len = i - rule->needle;
}

static struct ignore_rule read_rule(const char *line)
{
	struct ignore_rule rule = { .is_negated = *line == '!' };
	const char *p = line + rule.is_negated;
	size_t n = strlen(p);

	rule.is_for_ends = *p == '*' && !strpbrk(p + 1, SPECIAL);
	if (n > 0 && p[n - 1] == '/') {
		rule.is_for_directories = true;
		n--;
	}
	rule.is_for_names = !memchr(p, '/', n);
	if (!rule.is_for_names && *p == '/') {
		p++;
		n--;
	}
	rule.pattern = p;
	rule.len = n;
	rule.literal = strcspn(p, SPECIAL);
	if (rule.literal > n)
		rule.literal = n;
	rule.tail = count_tail(p, n);
	find_needle(&rule);
	return rule;
}

static size_t count_lines(const char *text, size_t size)
{
	size_t n = 1;

	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	return n;
}

int ignore_file_parse(char *text, size_t size, struct ignore_file *ret)
{
	struct ignore_file file = { .text = text };
	char *line = text, *end, *stop = text + size;

	file.rules = calloc(count_lines(text, size), sizeof(*file.rules));
	if (!file.rules) {
		free(text);
		return -ENOMEM;
	}
	if (size >= strlen(BOM) && memcmp(text, BOM, strlen(BOM)) == 0)
		line += strlen(BOM);
	for (; line < stop; line = end + 1) {
		end = memchr(line, '\n', (size_t)(stop - line));
		if (!end)
			end = stop;
		if (end == line || *line == '#')
			continue;
		/* A NUL before that ends the pattern, and not the line. */
		*end = '\0';
		if (end[-1] == '\r')
			end[-1] = '\0';
		cut_spaces(line);
		file.rules[file.n] = read_rule(line);
		file.n += file.rules[file.n].len > 0;
	}
	*ret = file;
	return 0;
}

void ignore_file_done(struct ignore_file *file)
{
	free(file->text);
	free(file->rules);
	*file = (struct ignore_file){ 0 };
}

/*
 * Whether the text begins and ends as it has to, and has what it has to.  For
 * what has a pattern.
 */
static bool may_match(const struct ignore_rule *rule, const char *text,
		      size_t len, uint64_t *work)
{
	if (rule->literal + rule->tail > len ||
	    memcmp(rule->pattern, text, rule->literal) != 0 ||
	    memcmp(rule->pattern + rule->len - rule->tail,
		   text + len - rule->tail, rule->tail) != 0)
		return false;
	spend(work, len / SEARCH_SIZE);
	return memmem(text + rule->literal, len - rule->literal,
		      rule->pattern + rule->needle, rule->needle_len) != NULL;
}

static bool matches_name(const struct ignore_rule *rule, const char *name,
			 size_t len, uint64_t *work)
{
	size_t n = rule->len;

	if (rule->literal == n)
		return n == len && memcmp(rule->pattern, name, n) == 0;
	if (rule->is_for_ends)
		return n - 1 <= len && memcmp(rule->pattern + 1,
					      name + len - (n - 1), n - 1) == 0;
	return may_match(rule, name, len, work) &&
	       glob_match_all(rule->pattern, n, name, len, work);
}

static bool matches_path(const struct ignore_rule *rule, const char *path,
			 size_t len, uint64_t *work)
{
	size_t n = rule->literal;

	if (n == rule->len)
		return n == len && memcmp(rule->pattern, path, n) == 0;
	return may_match(rule, path, len, work) &&
	       glob_match_all(rule->pattern + n, rule->len - n, path + n,
			      len - n, work);
}

enum ignore_verdict ignore_file_judge(const struct ignore_file *file,
				      const char *path, size_t len,
				      bool is_directory, uint64_t *work)
{
	const char *name = memrchr(path, '/', len);

	name = name ? name + 1 : path;
	for (size_t i = file->n; i > 0 && *work > 0; i--) {
		const struct ignore_rule *rule = &file->rules[i - 1];
		uint64_t cost =
			1 + (rule->len < len ? rule->len : len) / STEP_SIZE;

		spend(work, cost);
		if (rule->is_for_directories && !is_directory)
			continue;
		if (rule->is_for_names
			    ? matches_name(rule, name,
					   len - (size_t)(name - path), work)
			    : matches_path(rule, path, len, work))
			return rule->is_negated ? IGNORE_IS_INCLUDED
						: IGNORE_IS_EXCLUDED;
	}
	return IGNORE_SAYS_NOTHING;
}
