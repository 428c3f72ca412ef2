/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

bool path_is_absolute(const char *path)
{
	return path[0] == '/';
}

static int rank(char c)
{
	return c == '\0' ? 0 : c == '/' ? 1 : (unsigned char)c + 1;
}

int path_compare(const char *a, const char *b)
{
	bool is_top = strcmp(a, ".") == 0;

	if (is_top != (strcmp(b, ".") == 0))
		return is_top ? -1 : 1;
	while (*a && *a == *b)
		a++, b++;
	return rank(*a) - rank(*b);
}

bool path_is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool path_part_is(struct path_part part, const char *s)
{
	return strlen(s) == part.n && memcmp(part.s, s, part.n) == 0;
}

bool path_next(const char **pos, struct path_part *ret)
{
	const char *s = *pos;
	struct path_part part;

	do {
		while (*s == '/')
			s++;
		part = (struct path_part){ s, 0 };
		while (*s && *s != '/')
			s++;
		part.n = (size_t)(s - part.s);
	} while (part.n == 1 && part.s[0] == '.');

	*pos = s;
	if (part.n == 0)
		return false;
	*ret = part;
	return true;
}

bool path_has_dotdot(const char *path)
{
	struct path_part part;

	while (path_next(&path, &part))
		if (path_part_is(part, ".."))
			return true;
	return false;
}

/*
 * Removes the last component of the `n` bytes written so far, of which the
 * first `root` are the leading slash.  False when there is none to remove, or
 * when it is itself a ".." that had to stay.
 */
static bool drop_last(const char *s, size_t root, size_t *n)
{
	size_t start = *n;

	while (start > root && s[start - 1] != '/')
		start--;
	if (*n == root ||
	    path_part_is((struct path_part){ s + start, *n - start }, ".."))
		return false;
	*n = start > root ? start - 1 : root;
	return true;
}

/* Whether `s`, behind a slash, is no name: empty, "." or "..". */
static bool is_no_name(const char *s)
{
	size_t n = s[0] != '.' ? 0 : s[1] == '.' ? 2 : 1;

	return s[n] == '/' || s[n] == '\0';
}

/*
 * The length of an absolute path that is as it should be; 0: it has to be
 * looked at part by part.  Nearly all are, and a start has hundreds.
 */
static size_t normal_length(const char *path)
{
	const char *s = path;

	if (*s != '/')
		return 0;
	for (; *s; s++)
		if (*s == '/' && is_no_name(s + 1))
			return 0;
	return (size_t)(s - path);
}

int path_normalise(const char *path, enum path_dots dots, char *ret,
		   size_t size)
{
	size_t root = path_is_absolute(path) ? 1 : 0, n = root;
	size_t whole = normal_length(path);
	struct path_part part;

	if (whole > 0 && whole < size && whole < INT_MAX) {
		memcpy(ret, path, whole + 1);
		return (int)whole;
	}
	if (path[0] == '\0')
		return -EINVAL;
	/* The shortest results, "/" and ".", need two bytes. */
	if (size < 2)
		return -ENAMETOOLONG;
	if (root)
		ret[0] = '/';

	while (path_next(&path, &part)) {
		size_t slash = n > root ? 1 : 0;

		if (path_part_is(part, "..")) {
			if (dots == PATH_DOTS_REFUSE)
				return -EINVAL;
			if (drop_last(ret, root, &n) || root)
				continue;
		}
		if (part.n + slash >= size - n)
			return -ENAMETOOLONG;
		if (slash)
			ret[n++] = '/';
		memcpy(ret + n, part.s, part.n);
		n += part.n;
	}
	if (n == 0)
		ret[n++] = '.';
	ret[n] = '\0';
	return n > INT_MAX ? -ENAMETOOLONG : (int)n;
}

int path_join(const char *dir, const char *name, char *ret, size_t size)
{
	size_t n = strlen(dir), n_name, n_slash;

	while (*name == '/')
		name++;
	n_name = strlen(name);
	n_slash = n > 0 && dir[n - 1] != '/' && n_name > 0 ? 1 : 0;
	if (n + n_slash + n_name >= size || n + n_name >= INT_MAX)
		return -ENAMETOOLONG;
	memcpy(ret, dir, n + 1);
	if (n_slash)
		ret[n++] = '/';
	memcpy(ret + n, name, n_name + 1);
	return (int)(n + n_name);
}

bool path_is_beneath(const char *path, const char *dir)
{
	struct path_part want, have;

	if (path_is_absolute(path) != path_is_absolute(dir))
		return false;
	if (path_has_dotdot(path) || path_has_dotdot(dir))
		return false;
	while (path_next(&dir, &want)) {
		if (!path_next(&path, &have))
			return false;
		if (have.n != want.n || memcmp(have.s, want.s, want.n) != 0)
			return false;
	}
	return true;
}

static size_t length_without_slashes(const char *s, size_t n)
{
	while (n > 0 && s[n - 1] == '/')
		n--;
	return n;
}

struct path_part path_basename(const char *path)
{
	size_t end = length_without_slashes(path, strlen(path));
	size_t start = end;

	if (end == 0)
		return (struct path_part){ path[0] == '/' ? "/" : ".", 1 };
	while (start > 0 && path[start - 1] != '/')
		start--;
	return (struct path_part){ path + start, end - start };
}

struct path_part path_dirname(const char *path)
{
	size_t n = length_without_slashes(path, strlen(path));

	while (n > 0 && path[n - 1] != '/')
		n--;
	n = length_without_slashes(path, n);
	if (n == 0)
		return (struct path_part){ path[0] == '/' ? "/" : ".", 1 };
	return (struct path_part){ path, n };
}
