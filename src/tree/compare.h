/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_COMPARE_H
#define HB_TREE_COMPARE_H

#include "base/sha256.h"
#include "tree/entry.h"

#include <stdbool.h>
#include <stdint.h>

/* One object on one side of a comparison; everything is borrowed. */
struct side {
	int dir;	  /* the directory that it is in */
	const char *name; /* its name there */
	const struct entry *entry;
	bool in_layer;
};

/*
 * The extended attributes that commit carries: user.*, ACLs and file
 * capabilities, as one digest.  All zero: there are none.  Names that overlays
 * reserve do not count.
 */
struct xattrs {
	uint8_t digest[SHA256_SIZE];
	bool has_capability;
	bool has_reserved; /* data of the view that no commit carries */
};
int side_xattrs(const struct side *side, struct xattrs *ret_xattrs,
		struct hb_error *err);

/*
 * Whether two regular files hold the same bytes; holes count as zeroes and are
 * not read.  A base file that we may not read is never the same.
 */
int side_same_content(const struct side *a, const struct side *b,
		      struct hb_error *err);

/* The same, or targets of links; objects of one type without either are. */
int side_same_bytes(const struct side *a, const struct side *b,
		    struct hb_error *err);

/* Whether two symbolic links have the same target. */
int side_same_target(const struct side *a, const struct side *b,
		     struct hb_error *err);

/*
 * Names the content of a regular file or the target of a link; all zero for
 * anything else.  Does not depend on where a file has holes, and takes time in
 * proportion to its data.
 */
int side_content(const struct side *side, uint8_t ret_digest[SHA256_SIZE],
		 struct hb_error *err);

#endif
