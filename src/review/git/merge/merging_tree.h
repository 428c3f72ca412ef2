/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGING_TREE_H
#define HB_REVIEW_GIT_MERGING_TREE_H

#include "changes/changes.h"
#include "review/git/merge/path_list.h"

struct deciding;
struct delivery;
struct hb_error;
struct merge;
struct merge_repo;
struct objectstore;

/* A file of the work tree as the merge has it. */
struct merged_file {
	struct change change; /* its path is owned */
	bool is_used;
};

/* A directory that the session made or removed. */
struct merging_dir {
	char *path;
	bool is_gone;
	bool is_over;	  /* it began where the user has a file */
	bool has_settled; /* something in it is */
	bool has_other;	  /* something in it is not */
};

/*
 * The work tree of a repository whose commits were merged: part of merging.h.
 * Begins with all but the last six, which are its own; zero otherwise.
 */
struct merging_tree {
	struct deciding *d;
	struct merge *merge;
	const struct merge_repo *repo;
	const struct delivery *before; /* as it would go to a branch */
	struct objectstore *objects;   /* of session, base and merge */
	struct path_list paths;	       /* that the merge changes; taken */

	struct merged_file *files; /* sorted as paths are */
	size_t n_files;
	struct merging_dir *dirs;
	size_t n_dirs;
	char **alone; /* paths to ask the gate about; borrowed */
	size_t n_alone;
};

/* Adds the items.  merging_tree_done() in any case. */
int merging_tree_add(struct merging_tree *t, struct changes *const *changes,
		     struct hb_error *err);
void merging_tree_done(struct merging_tree *t);

#endif
