/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/own_tip.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "changes/begun/begun.h"
#include "git/ancestry.h"
#include "git/gitrefs.h"
#include "git/kept/kept_refs.h"
#include "git/objectstore.h"
#include "review/git/deciding.h"
#include "session/git/own_record.h"
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLIC     "ref: "
#define SYMBOLIC_MAX 5
#define PACKED	     "packed-refs"

bool own_tip_is_of(const struct deciding *d)
{
	const struct hb_session *s = d->session;

	return d->below && d->below[0] == '\0' && !d->is_module &&
	       own_branch_is_asked(&s->record.resources[d->tree]) &&
	       s->resources[d->tree].begun &&
	       s->resources[d->tree].begun->branch;
}

/* The value of a reference in the session's packed-refs; "": none. */
static int read_packed(const struct deciding *d, const char *name, char **ret,
		       bool *ret_theirs)
{
	auto_gitrefs struct gitrefs packed = { 0 };
	auto_free char *text = NULL;
	const struct gitref *found;
	size_t len;
	int r = deciding_read(d, PACKED, GITREFS_PACKED_MAX, &text, &len);

	*ret_theirs = r == -ENOENT;
	if (r == -ENOENT)
		return kept_refs_now(d->resource->base, d->unit->prefix, name,
				     ret);
	if (r >= 0)
		r = gitrefs_add_packed(&packed, text);
	if (r < 0)
		return r;
	gitrefs_sort(&packed);
	found = gitrefs_find(&packed, name);
	*ret = strdup(found ? found->id.hex : "");
	return *ret ? 0 : -ENOMEM;
}

/*
 * A file that the session left alone comes before a line of packed-refs.
 * `ret_theirs`: it is the user's value.
 */
static int read_value(const struct deciding *d, const char *name, char **ret,
		      bool *ret_theirs)
{
	const struct unit_file *file = unit_find(d->unit, name);
	auto_free char *text = NULL;
	size_t len;
	int r;

	if (file && file->is_gone)
		return read_packed(d, name, ret, ret_theirs);
	*ret_theirs = !file;
	r = file ? deciding_read(d, name, GITREFS_FILE_MAX - 1, &text, &len)
		 : gitref_read_file(d->resource->base, d->unit->prefix, name,
				    GITREFS_FILE_MAX - 1, &text);
	if (r == -ENOENT && !file)
		return read_packed(d, name, ret, ret_theirs);
	return r < 0 ? r : kept_refs_read_value(text, ret);
}

static int no_commit(struct hb_error *err)
{
	hb_fix(err, "holdback exec -- git status");
	return hb_fail(err, -HB_E_CONFLICT,
		       "HEAD of the session leads to no commit");
}

/*
 * HEAD is on a branch of the user's, which the session did not move.  Its work
 * is upon the commit that it began at, and not upon a later one.
 */
static int need_unmoved(const struct deciding *d, const char *name,
			struct hb_error *err)
{
	const struct begun *begun = d->session->resources[d->tree].begun;

	if (strcmp(begun->commit, d->delivery->tip.hex) == 0)
		return 0;
	hb_fix(err, "holdback exec @%s -- git reset --soft %.12s",
	       d->session->record.name, begun->commit);
	return hb_fail(err, -HB_E_CONFLICT,
		       "the session is on a branch of yours that moved: %s",
		       quoted(name));
}

/* How many commits the session has that no reference of the user reaches. */
static int count_commits(struct deciding *d)
{
	auto_ancestry struct ancestry found = { 0 };
	auto_kept_refs struct kept_refs base = { 0 };
	struct objectstore *objects = NULL;
	auto_free struct git_id *old = NULL;
	size_t n = 0;
	int r = kept_refs_look(d->resource->base, d->unit->prefix, &base);

	if (r >= 0)
		r = deciding_objects(d, &objects);
	if (r >= 0)
		old = calloc(base.n + 1, sizeof(*old));
	for (size_t i = 0; old && i < base.n; i++)
		n += git_id_parse(base.refs[i].value,
				  strlen(base.refs[i].value), &old[n]);
	if (old)
		r = ancestry_find(objects, &d->delivery->tip, 1, old, n,
				  &found);
	d->delivery->n_commits = found.n;
	objectstore_free(objects);
	return r == -ENOMEM ? r : 0;
}

int own_tip_read(struct deciding *d, struct hb_error *err)
{
	const struct begun *begun = d->session->resources[d->tree].begun;
	char head[sizeof(d->desk) + sizeof("/HEAD")];
	auto_free char *name = NULL;
	bool is_theirs = false;
	int r = 0;

	(void)snprintf(head, sizeof(head), "%s%sHEAD", d->desk,
		       d->desk[0] ? "/" : "");
	name = strdup(head);
	for (int i = 0; name && i < SYMBOLIC_MAX; i++) {
		auto_free char *value = NULL;

		r = read_value(d, name, &value, &is_theirs);
		if (r < 0)
			return r == -ENOMEM ? hb_fail(err, r, "cannot merge")
					    : no_commit(err);
		if (git_id_parse(value, strlen(value), &d->delivery->tip))
			break;
		if (strncmp(value, SYMBOLIC, strlen(SYMBOLIC)) != 0)
			return no_commit(err);
		free(name);
		name = strdup(value + strlen(SYMBOLIC));
	}
	d->delivery->branch = strdup(begun->branch);
	if (!name || !d->delivery->branch)
		return hb_fail(err, -ENOMEM, "cannot merge");
	if (!d->delivery->tip.hex[0])
		return no_commit(err);
	r = is_theirs ? need_unmoved(d, name, err) : 0;
	if (r < 0)
		return r;
	r = count_commits(d);
	return r < 0 ? hb_fail(err, r, "cannot merge") : 0;
}
