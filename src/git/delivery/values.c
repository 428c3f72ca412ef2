/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/values.h"

#include "git/ancestry.h"
#include "git/objectstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* A tag with a message leads to a commit, but it is more than that. */
static int is_commit(struct objectstore *objects, const struct git_id *id)
{
	struct git_object object = { 0 };
	int r = objectstore_read(objects, id, OBJECTSTORE_COMMIT_MAX, &object);

	free(object.data);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return object.type == GIT_COMMIT;
}

int values_is_ancestor(struct objectstore *objects, const char *a,
		       const char *b)
{
	auto_ancestry struct ancestry found = { 0 };
	struct git_id first, second;
	int r;

	if (!git_id_parse(a, strlen(a), &first) ||
	    !git_id_parse(b, strlen(b), &second))
		return 0;
	if (is_same(a, b))
		return 1;
	r = is_commit(objects, &first);
	if (r <= 0)
		return r;
	r = ancestry_find(objects, &first, 1, &second, 1, &found);
	/* Too far to tell: then it is not known to be one. */
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return found.n == 0;
}

/*
 * Whether the session's commits beyond the base's have none of T0: the user
 * took those back.  1: so it is.
 */
static int brings_none_again(struct objectstore *objects, const char *then,
			     const char *base, const char *session)
{
	auto_ancestry struct ancestry all = { 0 };
	auto_ancestry struct ancestry fresh = { 0 };
	struct git_id new, old[2];
	int r;

	if (!then[0])
		return 1;
	if (!git_id_parse(session, strlen(session), &new) ||
	    !git_id_parse(base, strlen(base), &old[0]) ||
	    !git_id_parse(then, strlen(then), &old[1]))
		return 0;
	r = ancestry_find(objects, &new, 1, old, 1, &all);
	if (r >= 0)
		r = ancestry_find(objects, &new, 1, old, 2, &fresh);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return all.n == fresh.n;
}

int values_compare(struct objectstore *objects, const char *then,
		   const char *base, const char *session,
		   enum value_answer *ret)
{
	int r;

	*ret = VALUE_SETTLED;
	if (is_same(session, base) || is_same(session, then))
		return 0;
	*ret = VALUE_TAKEN;
	if (is_same(base, then))
		return 0;
	*ret = VALUE_KEPT;
	if (!session[0])
		return 0;
	r = values_is_ancestor(objects, session, then);
	if (r != 0)
		return r < 0 ? r : 0;
	*ret = VALUE_SETTLED;
	r = values_is_ancestor(objects, session, base);
	if (r != 0)
		return r < 0 ? r : 0;
	*ret = VALUE_TAKEN;
	r = values_is_ancestor(objects, base, session);
	if (r > 0)
		r = brings_none_again(objects, then, base, session);
	if (r != 0)
		return r < 0 ? r : 0;
	*ret = VALUE_DIVERGED;
	return 0;
}
