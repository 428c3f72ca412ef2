/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

#include "base/error.h"

#include <string.h>

/*
 * How a pattern is matched
 * ------------------------
 *
 * All ways to match are followed at once.  A state is an offset into the
 * pattern; the set of states reached so far is stepped over each byte of the
 * path.  An offset is in the set at most once, so the product of the lengths
 * bounds the time of every pattern, and nothing goes back.  The set seldom has
 * more than three members, and an empty one ends the match.
 *
 * A "**" component owns two states: at its first star, where a component
 * starts, and at its second, inside of a component that it swallows.  What git
 * makes of odd patterns is kept: three stars are two, and a "**" before an
 * escaped slash takes any bytes.
 *
 * t_glob.c compares with a recursive definition, and runs the patterns which
 * cost exponential time elsewhere; tests/txn/ignored-git.py compares with git.
 */

enum token_kind {
	TOKEN_END,
	TOKEN_BYTE,	/* exactly this byte */
	TOKEN_ANY,	/* ? */
	TOKEN_CLASS,	/* [...] */
	TOKEN_STAR,	/* * within a component */
	TOKEN_DIRS,	/* a "**" and its slash, where a component starts */
	TOKEN_SWALLOW,	/* the same, inside of a component */
	TOKEN_ANYTHING, /* a "**" at the end, or before an escaped slash */
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
	uint64_t *work; /* what is left of it */
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

/* Bytes of the named classes, as ranges: those of ASCII, in every locale. */
struct named_class {
	const char *name;
	const char *ranges; /* pairs: from, to */
};

static const struct named_class named_classes[] = {
	{ "alnum", "09AZaz" },	 { "alpha", "AZaz" },
	{ "blank", "\t\t  " },	 { "cntrl", "\1\37\177\177" },
	{ "digit", "09" },	 { "graph", "!~" },
	{ "lower", "az" },	 { "print", " ~" },
	{ "punct", "!/:@[`{~" }, { "space", "\t\n\r\r  " },
	{ "upper", "AZ" },	 { "xdigit", "09AFaf" },
};

static bool is_in_ranges(const char *ranges, unsigned char c)
{
	for (; *ranges; ranges += 2)
		if (c >= (unsigned char)ranges[0] &&
		    c <= (unsigned char)ranges[1])
			return true;
	return false;
}

/*
 * A named class at `i`: the offset behind it and whether it has the byte; 0 for
 * something else that begins so; SIZE_MAX for an unknown class.
 */
static size_t read_named(const struct pattern *p, size_t i, unsigned char c,
			 bool *listed)
{
	size_t start = i + 2, end = start;

	if (i + 1 >= p->n || p->s[i] != '[' || p->s[i + 1] != ':')
		return 0;
	while (end < p->n && p->s[end] != ']')
		end++;
	if (end == p->n)
		return SIZE_MAX;
	if (end == start || p->s[end - 1] != ':')
		return 0;
	for (size_t k = 0; k < sizeof(named_classes) / sizeof(named_classes[0]);
	     k++) {
		const struct named_class *named = &named_classes[k];

		if (strlen(named->name) != end - 1 - start ||
		    memcmp(named->name, p->s + start, end - 1 - start) != 0)
			continue;
		*listed = *listed || is_in_ranges(named->ranges, c);
		return end + 1;
	}
	return SIZE_MAX;
}

/* One member of a class, which may be escaped; false: the pattern ends. */
static bool class_byte(const struct pattern *p, size_t *i, unsigned char *ret)
{
	if (*i < p->n && p->s[*i] == '\\')
		(*i)++;
	if (*i >= p->n)
		return false;
	*ret = (unsigned char)p->s[(*i)++];
	return true;
}

/*
 * The offset behind the class that begins at `i`, or 0 if it is malformed.
 * Also tells whether the class takes the byte.
 */
static size_t read_class(const struct pattern *p, size_t i, char c,
			 bool *ret_matches)
{
	unsigned char low, high, byte = (unsigned char)c;
	bool negated, listed = false;
	size_t first, next;

	i++;
	negated = i < p->n && (p->s[i] == '!' || p->s[i] == '^');
	if (negated)
		i++;
	first = i;
	while (i < p->n && (p->s[i] != ']' || i == first)) {
		next = read_named(p, i, byte, &listed);
		if (next == SIZE_MAX)
			return 0;
		if (next > 0) {
			i = next;
			continue;
		}
		if (!class_byte(p, &i, &low))
			return 0;
		high = low;
		if (i + 1 < p->n && p->s[i] == '-' && p->s[i + 1] != ']') {
			i++;
			if (!class_byte(p, &i, &high))
				return 0;
		}
		/* To git the first of a range is listed, though it be empty. */
		listed = listed || byte == low || (byte >= low && byte <= high);
	}
	*ret_matches = listed != negated;
	return i < p->n ? i + 1 : 0;
}

static bool class_matches(const struct pattern *p, size_t i, char c)
{
	char low = fold_byte(c);
	bool is_letter = low >= 'a' && low <= 'z';
	bool same = false, other = false;

	if (c == '/' || read_class(p, i, c, &same) == 0)
		return false;
	if (!p->fold || !is_letter)
		return same;
	(void)read_class(p, i, (char)(c == low ? low - 'a' + 'A' : low),
			 &other);
	/* Negated, both letters have to be none of the listed. */
	return p->s[i + 1] == '!' || p->s[i + 1] == '^' ? same && other
							: same || other;
}

static bool is_star(const struct pattern *p, size_t i)
{
	return i < p->n && p->s[i] == '*';
}

/* The offset behind the stars at `i`. */
static size_t skip_stars(const struct pattern *p, size_t i)
{
	while (is_star(p, i))
		i++;
	return i;
}

/* Whether a "**" that is a whole component begins at `i`. */
static bool is_dirs(const struct pattern *p, size_t i)
{
	size_t end;

	if (!is_star(p, i) || !is_star(p, i + 1) ||
	    (i > 0 && p->s[i - 1] != '/'))
		return false;
	end = skip_stars(p, i);
	return end == p->n || p->s[end] == '/' ||
	       (p->s[end] == '\\' && end + 1 < p->n && p->s[end + 1] == '/');
}

static struct token star_token(const struct pattern *p, size_t i)
{
	size_t end = skip_stars(p, i);
	bool is_first = is_dirs(p, i);

	if (!is_first && !(i > 0 && is_dirs(p, i - 1)))
		return (struct token){ TOKEN_STAR, 0, end };
	if (end == p->n || p->s[end] != '/')
		return (struct token){ TOKEN_ANYTHING, 0, end };
	return (struct token){ is_first ? TOKEN_DIRS : TOKEN_SWALLOW, 0,
			       end + 1 };
}

static struct token token_at(const struct pattern *p, size_t i)
{
	bool matches;
	size_t end;

	if (i == p->n)
		return (struct token){ TOKEN_END, 0, i };
	switch (p->s[i]) {
	case '?':
		return (struct token){ TOKEN_ANY, 0, i + 1 };
	case '*':
		return star_token(p, i);
	case '[':
		end = read_class(p, i, '\0', &matches);
		return (struct token){ end ? TOKEN_CLASS : TOKEN_BAD, 0, end };
	case '\\':
		if (i + 1 == p->n)
			return (struct token){ TOKEN_BAD, 0, i };
		return (struct token){ TOKEN_BYTE, p->s[i + 1], i + 2 };
	default:
		return (struct token){ TOKEN_BYTE, p->s[i], i + 1 };
	}
}

static void spend(const struct pattern *p, size_t n)
{
	*p->work -= n < *p->work ? n : *p->work;
}

/* The token costs what it is long: a class is read for each byte of the text.
 */
static struct token pay_token(const struct pattern *p, size_t i)
{
	struct token t = token_at(p, i);

	spend(p, (t.kind == TOKEN_BAD ? p->n : t.next) - i);
	return t;
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
		t = pay_token(p, i);
		i = t.next;
	} while (t.kind == TOKEN_STAR || t.kind == TOKEN_DIRS ||
		 t.kind == TOKEN_ANYTHING);
}

/* Where the state goes on this byte; SIZE_MAX for nowhere. */
static size_t step(const struct pattern *p, size_t i, char c)
{
	struct token t = pay_token(p, i);

	switch (t.kind) {
	case TOKEN_BYTE:
		if (c == t.byte ||
		    (p->fold && fold_byte(c) == fold_byte(t.byte)))
			return t.next;
		return SIZE_MAX;
	case TOKEN_ANY:
		return c != '/' ? t.next : SIZE_MAX;
	case TOKEN_CLASS:
		return class_matches(p, i, c) ? t.next : SIZE_MAX;
	case TOKEN_STAR:
		return c != '/' ? i : SIZE_MAX;
	case TOKEN_DIRS:
		return c != '/' ? i + 1 : i;
	case TOKEN_SWALLOW:
		return c == '/' ? i - 1 : i;
	case TOKEN_ANYTHING:
		return i;
	case TOKEN_END:
	case TOKEN_BAD:
		break;
	}
	return SIZE_MAX;
}

/* With `is_above`: whether it, or a directory that it is in, matches. */
static bool match_whole(const struct pattern *p, const char *path, size_t len,
			bool is_above)
{
	struct states sets[2], *now = &sets[0], *then = &sets[1], *swap;
	uint8_t seen[GLOB_PATTERN_MAX + 1];

	memset(seen, 0, p->n + 1);
	now->n = 0;
	states_add(now, seen, p, 0);
	for (; len > 0 && now->n > 0; path++, len--) {
		if (*p->work == 0)
			return false;
		if (is_above && *path == '/' && seen[p->n])
			return true;
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

/*
 * Whether the path ends in other bytes than the pattern asks for.  Nearly all
 * patterns end in literal bytes, and nearly no path ends in those of a pattern.
 * So most paths need no more than this.
 */
static bool ends_otherwise(const struct pattern *p, const char *path,
			   size_t len)
{
	for (size_t i = p->n; i > 0; i--, len--) {
		char c = p->s[i - 1];

		/* Behind "**" a slash may stand for no byte. */
		if (c == '/' || c == '*' || c == '?' || c == '[' || c == ']' ||
		    c == '\\')
			return false;
		if (len == 0)
			return true;
		if (c != path[len - 1] &&
		    !(p->fold && fold_byte(c) == fold_byte(path[len - 1])))
			return true;
	}
	return false;
}

/* NULL, or what is wrong with the pattern. */
static const char *find_fault(const char *pattern)
{
	struct pattern p = { .s = pattern, .n = strlen(pattern) };
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
			return "has a '[' without its ']', or a class that is not known";
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
	uint64_t work = UINT64_MAX;
	struct pattern p = { pattern, strlen(pattern), flags & GLOB_FOLD,
			     &work };
	bool is_above = flags & GLOB_ABOVE;
	size_t len = strlen(path);
	const char *last;

	if (p.n == 0 || p.n > GLOB_PATTERN_MAX)
		return false;
	if (p.s[p.n - 1] == '/') {
		last = strrchr(path, '/');
		if (!(flags & GLOB_DIR) && (!is_above || !last))
			return false;
		/* What is no directory itself lies in one. */
		if (!(flags & GLOB_DIR))
			len = (size_t)(last - path);
		p.n--;
	}
	if (p.n > 0 && p.s[0] == '/') {
		p.s++;
		p.n--;
	} else if (!memchr(p.s, '/', p.n)) {
		last = memrchr(path, '/', len);
		len -= last ? (size_t)(last + 1 - path) : 0;
		path = last ? last + 1 : path;
		is_above = false;
	}
	if (!is_above && ends_otherwise(&p, path, len))
		return false;
	return match_whole(&p, path, len, is_above);
}

bool glob_match_all(const char *pattern, size_t n, const char *text, size_t len,
		    uint64_t *work)
{
	struct pattern p = { pattern, n, false, work };

	return n <= GLOB_PATTERN_MAX && match_whole(&p, text, len, false) &&
	       *work > 0;
}
