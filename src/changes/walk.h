/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_WALK_H
#define HB_CHANGES_WALK_H

#include "changes/conflict.h"
#include "git/gitunit.h"
#include "tree/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_listener;

/*
 * One walk over layers and base together: the old and the new object of each
 * path, in path order, without judging the difference.
 */
struct sighting {
	const char *path; /* relative to the resource */
	const char *name; /* the end of `path` */
	enum git_place git;
	struct entry old; /* in the base */
	struct entry new; /* in the view; ENTRY_NONE: not there */
	size_t layer;	  /* the layer that decides about `new` */
	bool has_layer;	  /* some layer says something about the path itself */
	uint64_t layer_ino; /* of what it has there: a whiteout, too */
	struct timespec layer_ctime;
	int base_dir;	/* the directory in the base, -1: none */
	int layer_dir;	/* the directory in `layer`, -1: none */
	bool in_new;	/* the directory is not in the base */
	bool in_gone;	/* the directory is in no layer */
	bool is_opaque; /* a directory of both that hides all of the base's */
	bool in_hidden; /* what the base has here is not in the view */
	uint64_t parent_ino; /* of the directory in the base */
	struct timespec parent_mtime, parent_ctime;
	/*
	 * Why the base cannot be trusted here.  Who is shown a directory may
	 * set `doubt_below` for all that is in it.
	 */
	enum conflict doubt;
	enum conflict doubt_below;
};

/*
 * Whether a path of a resource is, or lies in, what holdback itself has at its
 * top: `store_name`, or that, "-" and an id.
 */
bool walk_is_store(const char *path, const char *store_name);

enum walk_answer {
	WALK_ON = 0,
	WALK_SKIP, /* do not look at what is in the base below this */
	WALK_PAST, /* nor at what a layer has there */
};

/* Returns enum walk_answer, or a negated code that ends the walk. */
typedef int (*sight_fn)(void *ctx, struct sighting *s, struct hb_error *err);

struct walk_request {
	int base;
	const int *layers;
	size_t n_layers;
	int spill_dir;
	const char *store_name; /* as struct resource has it */
	bool is_git;		/* likewise */
	/*
	 * Also paths in no layer, which are in the view unless in_hidden or
	 * in_gone.  A directory that cannot be listed, or that is a mount
	 * point, has a doubt.
	 */
	bool is_whole;
	bool is_own_base; /* may be opened up for us, as a layer may */
	sight_fn sight;
	/*
	 * What a layer had at a path when it was last looked at, and which;
	 * NULL: not known.  Asked for each path before it is looked at.  May be
	 * NULL.
	 */
	const struct entry *(*known)(void *ctx, const char *path,
				     size_t *ret_layer);
	/*
	 * 1: all is known of this file of the topmost layer, in `dir`; the base
	 * is not asked, and nothing is shown.  0: it is not.  May be NULL.
	 */
	int (*settled)(void *ctx, const char *path, int dir,
		       const struct entry *file, struct hb_error *err);
	void *ctx;
	const struct hb_listener *listener; /* hears progress; may be NULL */
};

/* As changes_scan() says. */
int walk_run(const struct walk_request *request, struct hb_error *err);

#endif
