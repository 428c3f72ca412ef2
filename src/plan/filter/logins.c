/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/filter/logins.h"

#include "base/buf.h"

#include <string.h>
#include <strings.h>

bool login_name_fits(const char *pattern, const char *name)
{
	const char *star = NULL, *again = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			again = name;
		} else if (strncasecmp(pattern, name, 1) == 0) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Whether a name before "://" is one where a name alone is no secret. */
static bool is_ssh(const char *from, const char *colon)
{
	size_t n = (size_t)(colon - from);

	return n >= 3 &&
	       (strncasecmp(colon - 3, "ssh", 3) == 0 ||
		(n >= 7 && strncasecmp(colon - 7, "ssh+git", 7) == 0));
}

/* Where the user's part of an authority ends, behind its "@"; or its start. */
static const char *user_end(const char *at, const char *end, bool keeps_name)
{
	const char *last = NULL, *colon = NULL;

	for (const char *p = at; p < end; p++) {
		if (*p == '@')
			last = p;
		if (!colon && (*p == ':' || *p == '%'))
			colon = p;
	}
	if (!last || (keeps_name && !(colon && colon < last)))
		return at;
	return last + 1;
}

/* A password with a slash in it looks like a port that is none. */
static bool is_broken(const char *at, const char *end)
{
	const char *colon = memchr(at, ':', (size_t)(end - at));

	return colon && *at != '[' && colon + 1 < end &&
	       colon[1 + strspn(colon + 1, "0123456789")] != '\0' &&
	       colon + 1 + strspn(colon + 1, "0123456789") < end &&
	       strchr(end, '@');
}

enum login_cut login_cut(const char *text, bool is_proxy, struct buf *out)
{
	static const char ends[] = "/?#\\ \t\r\n\"'`<>|;,";
	const char *at = text, *sep;
	enum login_cut cut = LOGIN_CUT_NONE;

	if (is_proxy && !strstr(text, "://")) {
		const char *rest =
			user_end(text, text + strcspn(text, ends), false);

		(void)buf_add_str(out, rest);
		return rest == text ? LOGIN_CUT_NONE : LOGIN_CUT_SOME;
	}
	while ((sep = strstr(at, "://"))) {
		const char *host = sep + 3;
		const char *end = host + strcspn(host, ends);
		const char *rest = user_end(host, end, is_ssh(at, sep));

		if (is_broken(rest, end))
			return LOGIN_CUT_ALL;
		if (rest != host)
			cut = LOGIN_CUT_SOME;
		(void)buf_add(out, at, (size_t)(host - at));
		at = rest;
	}
	(void)buf_add_str(out, at);
	return cut;
}
