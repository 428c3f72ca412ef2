/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/config_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_SIZE 128
#define BLANKS	  " \t\r"

struct parser {
	const char *at;
	char section[WORD_SIZE]; /* "": a skipped section */
	char key[WORD_SIZE];
	char value[GITCONFIG_VALUE];
	gitconfig_fn fn;
	void *ctx;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/* A word in lower case; false if there is none or it is too long. */
static bool take_word(struct parser *p, char word[WORD_SIZE])
{
	size_t n = 0;

	for (; is_word(*p->at); p->at++) {
		if (n == WORD_SIZE - 1)
			return false;
		word[n++] = (char)(*p->at >= 'A' && *p->at <= 'Z' ? *p->at | 32
								  : *p->at);
	}
	word[n] = '\0';
	return n > 0;
}

static int take_section(struct parser *p)
{
	bool has_second;

	p->at++;
	if (!take_word(p, p->section))
		return -EINVAL;
	p->at += strspn(p->at, BLANKS);
	has_second = *p->at == '"' || strchr(p->section, '.');
	if (*p->at == '"') {
		for (p->at++; *p->at && *p->at != '"' && *p->at != '\n';
		     p->at++)
			if (*p->at == '\\' && p->at[1] && p->at[1] != '\n')
				p->at++;
		if (*p->at != '"')
			return -EINVAL;
		p->at++;
	}
	if (*p->at != ']')
		return -EINVAL;
	p->at++;
	if (has_second)
		p->section[0] = '\0';
	return 0;
}

/* What a backslash and the letter behind it stand for; 0: nothing. */
static char escaped(char c)
{
	static const char letters[] = "ntb\"\\", bytes[] = "\n\t\b\"\\";
	const char *found = c ? strchr(letters, c) : NULL;

	return (char)(found ? bytes[found - letters] : 0);
}

static void put(struct parser *p, size_t *n, char c)
{
	if (*n < sizeof(p->value) - 1)
		p->value[(*n)++] = c;
}

static void skip_line(struct parser *p)
{
	p->at += strcspn(p->at, "\n");
}

/* The bytes up to the end of the line, and over it after a backslash. */
static int take_value(struct parser *p)
{
	size_t n = 0, kept = 0; /* `kept`: what is no blank at the end */
	bool in_quotes = false;

	for (; *p->at && *p->at != '\n'; p->at++) {
		char c = *p->at;

		if (!in_quotes && (c == '#' || c == ';')) {
			skip_line(p);
			break;
		}
		if (c == '"') {
			in_quotes = !in_quotes;
			kept = n;
			continue;
		}
		if (c == '\\') {
			p->at++;
			if (*p->at == '\n')
				continue;
			c = escaped(*p->at);
			if (!c)
				return -EINVAL;
			put(p, &n, c);
			kept = n;
			continue;
		}
		put(p, &n, c);
		if (in_quotes || !strchr(BLANKS, c))
			kept = n;
	}
	p->value[kept] = '\0';
	return in_quotes ? -EINVAL : 0;
}

static int take_entry(struct parser *p)
{
	char name[2 * WORD_SIZE];
	int r = 0;

	if (!take_word(p, p->key))
		return -EINVAL;
	p->at += strspn(p->at, BLANKS);
	if (*p->at == '=') {
		p->at++;
		p->at += strspn(p->at, BLANKS);
		r = take_value(p);
	} else if (*p->at == '\0' || strchr("\n#;", *p->at)) {
		skip_line(p);
		(void)snprintf(p->value, sizeof(p->value), "true");
	} else {
		return -EINVAL;
	}
	if (r < 0)
		return r;
	(void)snprintf(name, sizeof(name), "%s.%s", p->section, p->key);
	if (p->section[0])
		p->fn(p->ctx, name, p->value);
	return 0;
}

int gitconfig_parse(const char *text, gitconfig_fn fn, void *ctx)
{
	struct parser p = { .at = text, .fn = fn, .ctx = ctx };
	bool has_section = false;
	int r = 0;

	while (r >= 0) {
		p.at += strspn(p.at, BLANKS "\n");
		if (*p.at == '\0')
			break;
		if (*p.at == '#' || *p.at == ';') {
			skip_line(&p);
		} else if (*p.at == '[') {
			r = take_section(&p);
			has_section = true;
		} else {
			r = has_section ? take_entry(&p) : -EINVAL;
		}
	}
	return r;
}
