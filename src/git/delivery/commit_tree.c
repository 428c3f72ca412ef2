/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/commit_tree.h"

#include "base/auto.h"
#include "git/ancestry.h"
#include "git/gittree.h"
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

int commit_tree_entry(struct objectstore *objects, const char *commit,
		      const char *path, struct git_id *ret_id,
		      enum gittree_mode *ret_mode)
{
	struct git_id id;
	int r = commit_tree(objects, commit, &id);

	while (r >= 0) {
		size_t n = strcspn(path, "/");
		struct git_object object = { 0 };
		struct gittree_entry entry;
		struct gittree tree;
		bool is_found = false;

		r = objectstore_read(objects, &id, OBJECTSTORE_TREE_MAX,
				     &object);
		if (r < 0)
			return r;
		gittree_open(&tree, &object, strlen(id.hex));
		while (!is_found && (r = gittree_next(&tree, &entry)) == 1)
			is_found = entry.name_len == n &&
				   memcmp(entry.name, path, n) == 0;
		if (is_found) {
			gittree_id(&tree, &entry, &id);
			*ret_mode = entry.mode;
		}
		free(object.data);
		if (!is_found || r < 0)
			return r < 0 ? r : 0;
		path += n;
		if (*path++ == '\0') {
			*ret_id = id;
			return 1;
		}
		if (*ret_mode != GITTREE_DIR)
			return 0;
	}
	return r;
}

int commit_tree_meets(struct objectstore *objects, const char *commit,
		      const char *path, bool is_dir)
{
	for (const char *at = path;; at++) {
		auto_free char *part = NULL;
		enum gittree_mode mode;
		struct git_id id;
		bool is_last;
		int r;

		at += strcspn(at, "/");
		is_last = *at == '\0';
		part = strndup(path, (size_t)(at - path));
		r = part ? commit_tree_entry(objects, commit, part, &id, &mode)
			 : -ENOMEM;
		if (r <= 0)
			return r;
		if (mode != GITTREE_DIR || is_last)
			return mode != GITTREE_DIR || !is_dir;
	}
}
