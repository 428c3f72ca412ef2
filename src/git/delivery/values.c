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
	r = then[0] ? values_is_ancestor(objects, then, base) : 1;
	if (r > 0)
		r = values_is_ancestor(objects, base, session);
	if (r != 0)
		return r < 0 ? r : 0;
	*ret = VALUE_DIVERGED;
	return 0;
}
