/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

#include "base/error.h"

#include <stdint.h>
#include <string.h>

/*
 * How a pattern is matched
 * ------------------------
 *
 * All ways to match are followed at once.  A state is an offset into the
 * pattern; the set of states reached so far is stepped over each byte of the
 * path.  An offset is in the set at most once, so the time is bounded by the
 * product of the lengths whatever the pattern, and there is nothing to go back
 * to.  The set seldom has more than three members, and an empty one ends the
 * match.
 *
 * A "**" component owns two states: at its first star, where a component
 * starts, and at its second, inside of a component that it swallows.
 *
 * t_glob.c compares with a recursive definition, and runs the patterns which
 * cost exponential time elsewhere.
 */

enum token_kind {
	TOKEN_END,
	TOKEN_BYTE,	/* exactly this byte */
	TOKEN_ANY,	/* ? */
	TOKEN_CLASS,	/* [...] */
	TOKEN_STAR,	/* * within a component */
	TOKEN_DIRS,	/* a "**" and its slash, where a component starts */
	TOKEN_SWALLOW,	/* the same, inside of a component */
	TOKEN_REST,	/* a "**" at the end, before its first byte */
	TOKEN_REST_ANY, /* the same, after it */
	TOKEN_BAD,	/* malformed */
};

struct token {
	enum token_kind kind;
	char byte;   /* of TOKEN_BYTE */
	size_t next; /* offset behind it */
};

struct pattern {
	const char *s;
	size_t n;
	bool fold;
};

struct states {
	uint16_t at[GLOB_PATTERN_MAX + 1];
	size_t n;
};

static_assert(GLOB_PATTERN_MAX <= UINT16_MAX, "a state is an offset");

static char fold_byte(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* The offset behind the class that begins at `i`, or 0 if it has no end. */
static size_t class_end(const struct pattern *p, size_t i)
{
	size_t first;

	i++;
	if (i < p->n && (p->s[i] == '!' || p->s[i] == '^'))
		i++;
	for (first = i; i < p->n; i++) {
		if (p->s[i] == ']' && i > first)
			return i + 1;
		if (p->s[i] == '[' && i + 1 < p->n && p->s[i + 1] == ':')
			return 0;
		if (p->s[i] == '\\')
			i++;
	}
	return 0;
}

/* One member of a class, which may be escaped. */
static unsigned char class_byte(const struct pattern *p, size_t *i)
{
	if (p->s[*i] == '\\')
		(*i)++;
	return (unsigned char)p->s[(*i)++];
}

/* Whether the class in i..end, which is well-formed, lists the byte. */
static bool is_listed(const struct pattern *p, size_t i, size_t end, char c)
{
	unsigned char low, high, byte = (unsigned char)c;

	while (i < end) {
		low = class_byte(p, &i);
		high = low;
		if (i + 1 < end && p->s[i] == '-') {
			i++;
			high = class_byte(p, &i);
		}
		if (byte >= low && byte <= high)
			return true;
	}
	return false;
}

static bool class_matches(const struct pattern *p, size_t i, size_t next,
			  char c)
{
	size_t end = next - 1;
	bool negated, listed;

	if (c == '/')
		return false;
	i++;
	negated = p->s[i] == '!' || p->s[i] == '^';
	if (negated)
		i++;
	listed = is_listed(p, i, end, c);
	if (!listed && p->fold) {
		char low = fold_byte(c);
		char up =
			(char)(low >= 'a' && low <= 'z' ? low - 'a' + 'A' : c);

		listed = is_listed(p, i, end, low) || is_listed(p, i, end, up);
	}
	return listed != negated;
}

static bool is_star(const struct pattern *p, size_t i)
{
	return i < p->n && p->s[i] == '*';
}

/* Whether a "**" that is a whole component begins at `i`. */
static bool is_dirs(const struct pattern *p, size_t i)
{
	return is_star(p, i) && is_star(p, i + 1) &&
	       (i == 0 || p->s[i - 1] == '/') &&
	       (i + 2 == p->n || p->s[i + 2] == '/');
}

static struct token star_token(const struct pattern *p, size_t i)
{
	size_t next = i + 1;

	if (is_dirs(p, i))
		return i + 2 == p->n ? (struct token){ TOKEN_REST, 0, p->n }
				     : (struct token){ TOKEN_DIRS, 0, i + 3 };
	if (i > 0 && is_dirs(p, i - 1))
		return i + 1 == p->n
			       ? (struct token){ TOKEN_REST_ANY, 0, p->n }
			       : (struct token){ TOKEN_SWALLOW, 0, i + 2 };
	while (is_star(p, next))
		next++;
	return (struct token){ TOKEN_STAR, 0, next };
}

static struct token token_at(const struct pattern *p, size_t i)
{
	size_t end;

	if (i == p->n)
		return (struct token){ TOKEN_END, 0, i };
	switch (p->s[i]) {
	case '?':
		return (struct token){ TOKEN_ANY, 0, i + 1 };
	case '*':
		return star_token(p, i);
	case '[':
		end = class_end(p, i);
		return (struct token){ end ? TOKEN_CLASS : TOKEN_BAD, 0, end };
	case '\\':
		if (i + 1 == p->n)
			return (struct token){ TOKEN_BAD, 0, i };
		return (struct token){ TOKEN_BYTE, p->s[i + 1], i + 2 };
	default:
		return (struct token){ TOKEN_BYTE, p->s[i], i + 1 };
	}
}

/* Adds the state and those that follow from it without a byte. */
static void states_add(struct states *set, uint8_t *seen,
		       const struct pattern *p, size_t i)
{
	struct token t;

	do {
		if (seen[i])
			return;
		seen[i] = 1;
		set->at[set->n++] = (uint16_t)i;
		t = token_at(p, i);
		i = t.next;
	} while (t.kind == TOKEN_STAR || t.kind == TOKEN_DIRS ||
		 t.kind == TOKEN_REST_ANY);
}

/* Where the state goes on this byte; SIZE_MAX for nowhere. */
static size_t step(const struct pattern *p, size_t i, char c)
{
	struct token t = token_at(p, i);

	switch (t.kind) {
	case TOKEN_BYTE:
		if (c == t.byte ||
		    (p->fold && fold_byte(c) == fold_byte(t.byte)))
			return t.next;
		return SIZE_MAX;
	case TOKEN_ANY:
		return c != '/' ? t.next : SIZE_MAX;
	case TOKEN_CLASS:
		return class_matches(p, i, t.next, c) ? t.next : SIZE_MAX;
	case TOKEN_STAR:
		return c != '/' ? i : SIZE_MAX;
	case TOKEN_DIRS:
		return c != '/' ? i + 1 : SIZE_MAX;
	case TOKEN_SWALLOW:
		return c == '/' ? i - 1 : i;
	case TOKEN_REST:
		return i + 1;
	case TOKEN_REST_ANY:
		return i;
	case TOKEN_END:
	case TOKEN_BAD:
		break;
	}
	return SIZE_MAX;
}

static bool match_whole(const struct pattern *p, const char *path)
{
	struct states sets[2], *now = &sets[0], *then = &sets[1], *swap;
	uint8_t seen[GLOB_PATTERN_MAX + 1];

	memset(seen, 0, p->n + 1);
	now->n = 0;
	states_add(now, seen, p, 0);
	for (; *path && now->n > 0; path++) {
		for (size_t i = 0; i < now->n; i++)
			seen[now->at[i]] = 0;
		then->n = 0;
		for (size_t i = 0; i < now->n; i++) {
			size_t to = step(p, now->at[i], *path);

			if (to != SIZE_MAX)
				states_add(then, seen, p, to);
		}
		swap = now;
		now = then;
		then = swap;
	}
	return now->n > 0 && seen[p->n];
}

/* NULL, or what is wrong with the pattern. */
static const char *find_fault(const char *pattern)
{
	struct pattern p = { pattern, strlen(pattern), false };
	struct token t;

	if (p.n == 0)
		return "is empty";
	if (p.n > GLOB_PATTERN_MAX)
		return "is too long";
	for (size_t i = 0; i < p.n; i = t.next) {
		t = token_at(&p, i);
		if (t.kind == TOKEN_BAD && p.s[i] == '\\')
			return "ends in a backslash";
		if (t.kind == TOKEN_BAD)
			return "has a '[' without its ']', or a named class";
	}
	return NULL;
}

int glob_check(const char *pattern, struct hb_error *err)
{
	const char *fault = find_fault(pattern);

	if (fault)
		return hb_fail(err, -HB_E_CONFIG, "the pattern %s", fault);
	return 0;
}

bool glob_match(const char *pattern, const char *path, unsigned int flags)
{
	struct pattern p = { pattern, strlen(pattern), flags & GLOB_FOLD };
	const char *last;

	if (p.n == 0 || p.n > GLOB_PATTERN_MAX)
		return false;
	if (p.s[p.n - 1] == '/') {
		if (!(flags & GLOB_DIR))
			return false;
		p.n--;
	}
	if (p.n > 0 && p.s[0] == '/') {
		p.s++;
		p.n--;
	} else if (!memchr(p.s, '/', p.n)) {
		last = strrchr(path, '/');
		path = last ? last + 1 : path;
	}
	return match_whole(&p, path);
}
