/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_STANDIN_H
#define HB_TREE_STANDIN_H

#include "tree/entry.h"
#include "tree/overlay.h"

#include <limits.h>

/*
 * A file that may not be read cannot be copied.  On a copy an empty file stands
 * for it.  In every layer of ours it has a mark that names the real file.  So a
 * commit moves the real file, or refuses, and never puts an empty file in its
 * place.  The same holds for a directory; it cannot have a second name, so that
 * its move is refused.
 */
#define STANDIN_MARK OVERLAY_PREFIX "stand-in"

struct standin {
	char real[PATH_MAX]; /* of the real one, below the base */
	bool is_touched;     /* written to, or given other attributes */
};

/* Marks `fd`, a file of a layer; its mode may be any. */
int standin_mark(int fd, const struct entry *entry, const char *real,
		 bool is_touched);

/* What `name` in `dir`, which is_stand_in, stands for.  -errno without words.
 */
int standin_read(int dir, const char *name, const struct entry *entry,
		 struct standin *ret);

#endif
