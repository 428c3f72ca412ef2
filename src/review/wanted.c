/* SPDX-License-Identifier: Apache-2.0 */
#include "review/wanted.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/quote.h"
#include "holdback/session.h"
#include "review/find.h"
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The words of a caller about changes, checked and taken apart. */

/* Patterns are checked once, and here: what is malformed matches nothing. */
static int check_globs(const char *const *globs, size_t n, struct hb_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = glob_check(globs[i], err);

		if (r < 0) {
			char shown[QUOTE_SHOWN];

			if (err && err->code == HB_E_CONFIG)
				err->code = HB_E_USAGE;
			hb_fix(err,
			       "put a backslash before an ordinary character");
			return hb_fail(
				err, r == -HB_E_CONFIG ? -HB_E_USAGE : r,
				"'%s'",
				quote_shown(globs[i], shown, sizeof(shown)));
		}
	}
	return 0;
}

static int choose_resources(const struct hb_session *s,
			    const struct hb_filter *filter, bool *chosen,
			    struct hb_error *err)
{
	char rest[PATH_MAX], shown[QUOTE_SHOWN];
	size_t number = 0;

	memset(chosen, 0, s->record.n_resources * sizeof(*chosen));
	for (size_t i = 0; i < filter->n_resources; i++) {
		const char *dir = filter->resources[i];
		int r = session_find_path(s, dir, &number, rest, err);

		if (r >= 0 && rest[0]) {
			hb_fix(err, "--only GLOB takes a part of a directory");
			r = hb_fail(err, -HB_E_USAGE,
				    "'%s' is not the whole of a directory of "
				    "session '%s'",
				    quote_shown(dir, shown, sizeof(shown)),
				    s->record.name);
		}
		if (r < 0)
			return r;
		chosen[number] = true;
	}
	return 0;
}

static int find_paths(const struct hb_session *s, const char *const *paths,
		      size_t n, bool is_out, struct wanted *wanted,
		      struct hb_error *err)
{
	char path[PATH_MAX];
	int r;

	for (size_t i = 0; i < n; i++) {
		struct changes_within *w = &wanted->within[wanted->n_within];

		r = session_find_path(s, paths[i], &w->resource, path, err);
		if (r < 0)
			return r;
		w->is_out = is_out;
		w->path = strdup(path);
		if (!w->path)
			return hb_fail(err, -ENOMEM, "cannot look for changes");
		wanted->n_within++;
	}
	return 0;
}

static int find_all(const struct hb_session *s, const struct hb_filter *filter,
		    struct wanted *wanted, struct hb_error *err)
{
	size_t n = filter->n_paths + filter->n_without;
	int r;

	if (n == 0)
		return 0;
	wanted->within = calloc(n, sizeof(*wanted->within));
	if (!wanted->within)
		return hb_fail(err, -ENOMEM, "cannot look for changes");
	r = find_paths(s, filter->paths, filter->n_paths, false, wanted, err);
	return r < 0 ? r
		     : find_paths(s, filter->without, filter->n_without, true,
				  wanted, err);
}

void wanted_done(struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->n_within; i++)
		free(wanted->within[i].path);
	free(wanted->within);
	*wanted = (struct wanted){ 0 };
}

int wanted_filter(const struct hb_session *s, const struct hb_filter *filter,
		  struct wanted *wanted, struct changes_filter *ret,
		  struct hb_error *err)
{
	int r = check_globs(filter->only, filter->n_only, err);

	if (r >= 0)
		r = check_globs(filter->except, filter->n_except, err);
	if (r >= 0)
		r = choose_resources(s, filter, wanted->chosen, err);
	if (r >= 0)
		r = find_all(s, filter, wanted, err);
	if (r < 0)
		return r;
	*ret = (struct changes_filter){
		.only = filter->only,
		.n_only = filter->n_only,
		.except = filter->except,
		.n_except = filter->n_except,
		.within = wanted->within,
		.n_within = wanted->n_within,
		.resources = filter->n_resources > 0 ? wanted->chosen : NULL,
	};
	return 0;
}
