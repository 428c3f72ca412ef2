/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/ignorefile.h"

#include "base/auto.h"
#include "base/glob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A pattern without a slash inside is compared with the last component, any
 * other with the whole path.  Of the latter the bytes up to the first special
 * one are compared as they are and cut off, as git does: so in "foo**" with a
 * slash elsewhere the stars are the start of what is left, and take anything.
 *
 * tests/txn/ignored-git.py compares all of this with git.
 */
#define BOM	"\357\273\277"
#define SPECIAL "*?[\\"

/* Spaces at the end are none of the pattern's, but for one that is escaped. */
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

static bool matches_name(const struct ignore_rule *rule, const char *name,
			 size_t len)
{
	size_t n = rule->len;

	if (rule->literal == n)
		return n == len && memcmp(rule->pattern, name, n) == 0;
	if (rule->is_for_ends)
		return n - 1 <= len && memcmp(rule->pattern + 1,
					      name + len - (n - 1), n - 1) == 0;
	return glob_match_all(rule->pattern, n, name, len);
}

static bool matches_path(const struct ignore_rule *rule, const char *path,
			 size_t len)
{
	size_t n = rule->literal;

	if (n > len || memcmp(rule->pattern, path, n) != 0)
		return false;
	return glob_match_all(rule->pattern + n, rule->len - n, path + n,
			      len - n);
}

enum ignore_verdict ignore_file_judge(const struct ignore_file *file,
				      const char *path, size_t len,
				      bool is_directory)
{
	const char *name = memrchr(path, '/', len);

	name = name ? name + 1 : path;
	for (size_t i = file->n; i > 0; i--) {
		const struct ignore_rule *rule = &file->rules[i - 1];

		if (rule->is_for_directories && !is_directory)
			continue;
		if (rule->is_for_names
			    ? matches_name(rule, name,
					   len - (size_t)(name - path))
			    : matches_path(rule, path, len))
			return rule->is_negated ? IGNORE_IS_INCLUDED
						: IGNORE_IS_EXCLUDED;
	}
	return IGNORE_SAYS_NOTHING;
}
