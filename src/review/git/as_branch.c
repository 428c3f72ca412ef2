/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/as_branch.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "changes/changes.h"
#include "changes/git/delivered.h"
#include "git/kept/kept_refs.h"
#include "git/refname.h"
#include "review/git/deciding.h"
#include "review/git/deliveries.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD	 "cannot deliver a branch"
#define BRANCHES "refs/heads/"
#define OBJECTS	 "objects"

char *as_branch_ref(const char *name)
{
	char *ref = NULL;

	return name && asprintf(&ref, BRANCHES "%s", name) >= 0 ? ref : NULL;
}

int as_branch_need_name(const char *name, struct hb_error *err)
{
	auto_free char *ref = as_branch_ref(name);

	if (!ref)
		return hb_fail(err, -ENOMEM, WORD);
	/* git has its own meaning for the two. */
	if (refname_is_valid(ref) && name[0] != '-' &&
	    strcmp(name, "HEAD") != 0)
		return 0;
	return hb_fail(err, -HB_E_USAGE, "'%s' is no name of a branch",
		       quoted(name));
}

int as_branch_need_free(const struct deciding *d, const char *name,
			struct hb_error *err)
{
	auto_kept_refs struct kept_refs base = { 0 };
	auto_free char *ref = as_branch_ref(name);
	int r = ref ? kept_refs_look(d->resource->base, d->unit->prefix, &base)
		    : -ENOMEM;

	if (r < 0)
		return hb_fail(err, r, WORD);
	if (!kept_refs_value(&base, ref) && !kept_refs_clash(&base, ref))
		return 0;
	hb_fix(err, "--as-branch with another name");
	return hb_fail(err, -HB_E_STATE,
		       kept_refs_value(&base, ref)
			       ? "there is a branch '%s' already"
			       : "a branch is in the way of the name '%s'",
		       quoted(name));
}

static bool is_object_of(const char *path, const char *prefix)
{
	size_t n = strlen(prefix), k = strlen(OBJECTS);

	if (n > 0 && (strncmp(path, prefix, n) != 0 || path[n++] != '/'))
		return false;
	path += n;
	return strncmp(path, OBJECTS, k) == 0 &&
	       (path[k] == '/' || path[k] == '\0');
}

static bool is_delivered(const struct deliver_repo *repo)
{
	return repo->delivery.verdict == DELIVERY_TO_BRANCH;
}

/* Whether it goes with a branch that is delivered. */
static bool goes(const struct deliver *deliver, size_t resource,
		 const char *path)
{
	for (size_t i = 0; i < deliver->n; i++)
		if (deliver->repos[i].resource == resource &&
		    is_delivered(&deliver->repos[i]) &&
		    is_object_of(path, deliver->repos[i].prefix))
			return true;
	return false;
}

static int hold(const struct deliver *deliver, size_t resource,
		struct changes *changes, struct delivered *list,
		struct hb_error *err)
{
	auto_delivered struct delivered held = { 0 };
	struct change c;
	int r = changes_rewind(changes, err);

	delivered_sort(list);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		if (!(c.flags & CHANGE_CARRIED) &&
		    !delivered_find(list, c.path) &&
		    !goes(deliver, resource, c.path) &&
		    !delivered_add(&held, c.path, DELIVERED_HELD))
			return hb_fail(err, -ENOMEM, WORD);
	for (size_t i = 0; r >= 0 && i < held.n; i++)
		if (!delivered_add(list, held.items[i].path, DELIVERED_HELD))
			return hb_fail(err, -ENOMEM, WORD);
	return r < 0 ? r : changes_rewind(changes, err);
}

int as_branch_hold_rest(const struct deliver *deliver,
			struct changes *const *changes, struct delivered *lists,
			struct hb_error *err)
{
	bool has_any = false;
	int r = 0;

	for (size_t i = 0; i < deliver->n; i++)
		has_any |= is_delivered(&deliver->repos[i]) ||
			   (!deliver->merge && deliver->repos[i].is_own);
	if (!has_any) {
		hb_fix(err, "holdback exec @%s -- git commit",
		       deliver->session->record.name);
		return hb_fail(err, -HB_E_STATE,
			       "session '%s' has no commits for a branch",
			       deliver->session->record.name);
	}
	for (size_t i = 0; r >= 0 && i < deliver->session->record.n_resources;
	     i++)
		if (changes[i])
			r = hold(deliver, i, changes[i], &lists[i], err);
	return r;
}
