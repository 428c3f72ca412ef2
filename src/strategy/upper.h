/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_UPPER_H
#define HB_STRATEGY_UPPER_H

#include "strategy/links.h"
#include "strategy/trail.h"

#include <stdbool.h>

struct resource;

/*
 * The upper layer as something that is written to: what the kernel's overlay
 * does when a program in the view changes something.  Everything can be done
 * twice.
 */
struct upper {
	const struct resource *resource;
	int copy; /* where directories and files come from; borrowed */
	struct trail trail;
	struct links links;
};

int upper_begin(struct upper *u, const struct resource *resource, int copy,
		struct hb_error *err);

/* As trail_end(). */
int upper_end(struct upper *u, int r, struct hb_error *err);

/* What lies at the path in the copy, as `entry` says and in `dir`. */
struct upper_source {
	const char *path, *name;
	const struct entry *entry;
	int dir;
	bool was_there; /* before the box as well, if not the same object */
	/* NULL, or what it stands for, and whether it is as it was made. */
	const char *stands_for;
	bool is_touched;
};

/*
 * The view has a file there; `ret_made` is what it is in the layer.  A file
 * that came from below has the mark of a copy-up, if the file system has
 * attributes.  So it can be told from a new one when the base has none any
 * more.
 */
int upper_put_file(struct upper *u, const struct upper_source *source,
		   struct entry *ret_made, struct hb_error *err);

/*
 * The view has a directory there.  `is_new`: it had none before, so nothing of
 * what lies below the layer is in it unless the copy has it.
 */
int upper_put_dir(struct upper *u, const struct upper_source *source,
		  bool is_new, struct hb_error *err);

/* The view has nothing at the path any more; the last component is `name`. */
int upper_remove(struct upper *u, const char *path, const char *name,
		 struct hb_error *err);

#endif
