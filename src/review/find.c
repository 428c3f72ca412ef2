/* SPDX-License-Identifier: Apache-2.0 */
#include "review/find.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "session/session.h"
#include "sys/file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Which resource a path is in. */

static int make_absolute(const char *path, char *ret, size_t size)
{
	char cwd[PATH_MAX], joined[PATH_MAX];
	int r;

	if (path_is_absolute(path))
		return path_normalise(path, PATH_DOTS_FOLD, ret, size);
	r = (int)sys_getcwd(cwd, sizeof(cwd));
	if (r >= 0)
		r = path_join(cwd, path, joined, sizeof(joined));
	return r < 0 ? r : path_normalise(joined, PATH_DOTS_FOLD, ret, size);
}

static bool is_in(const char *path, const char *dir, const char **ret_rest)
{
	if (!path_is_beneath(path, dir))
		return false;
	*ret_rest = path + strlen(dir);
	*ret_rest += strspn(*ret_rest, "/");
	return true;
}

int session_find_path(const struct hb_session *s, const char *path,
		      size_t *ret_resource, char *ret_rest,
		      struct hb_error *err)
{
	char absolute[PATH_MAX], shown[QUOTE_SHOWN];
	const char *rest, *found = NULL;
	int r;

	(void)quote_shown(path, shown, sizeof(shown));
	r = make_absolute(path, absolute, sizeof(absolute));
	if (r < 0)
		return hb_fail(err, r, "cannot use the path '%s'", shown);
	/*
	 * The host's paths first: those of the view may hide others.  Of
	 * directories in each other the innermost has it.
	 */
	for (size_t i = 0; i < 2 * s->record.n_resources; i++) {
		size_t number = i % s->record.n_resources;
		const struct record_resource *resource =
			&s->record.resources[number];

		if (found && i == s->record.n_resources)
			break;
		if (!is_in(absolute,
			   i == number ? resource->source : resource->inside,
			   &rest) ||
		    (found && rest < found))
			continue;
		*ret_resource = number;
		found = rest;
	}
	if (found) {
		(void)snprintf(ret_rest, PATH_MAX, "%s", found);
		return 0;
	}
	return hb_fail(err, -HB_E_USAGE,
		       "'%s' is in no resource of session '%s'", shown,
		       s->record.name);
}
