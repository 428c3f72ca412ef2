/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/commit_tree.h"

#include "base/auto.h"
#include "git/ancestry.h"
#include "git/objectstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TREE   "tree "
#define PARENT "parent "

int commit_tree_parent(struct objectstore *objects, const char *commit,
		       struct git_id *ret_tree, struct git_id *ret_parent)
{
	struct git_object object = { 0 };
	struct git_commit parsed;
	auto_free char *text = NULL;
	struct git_id id;
	int r;

	if (!git_id_parse(commit, strlen(commit), &id))
		return -EBADMSG;
	r = objectstore_read(objects, &id, OBJECTSTORE_COMMIT_MAX, &object);
	if (r < 0)
		return r;
	text = object.data;
	r = git_commit_parse(&object, &parsed);
	if (r < 0)
		return r;
	ret_parent->hex[0] = '\0';
	if (strncmp(parsed.parents, PARENT, strlen(PARENT)) == 0 &&
	    !git_id_parse(parsed.parents + strlen(PARENT),
			  strcspn(parsed.parents + strlen(PARENT), "\n"),
			  ret_parent))
		return -EBADMSG;
	return git_id_parse(text + strlen(TREE),
			    strcspn(text + strlen(TREE), "\n"), ret_tree)
		       ? 0
		       : -EBADMSG;
}

int commit_tree(struct objectstore *objects, const char *commit,
		struct git_id *ret_tree)
{
	struct git_id parent;

	return commit_tree_parent(objects, commit, ret_tree, &parent);
}
