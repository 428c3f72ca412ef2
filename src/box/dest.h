/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_DEST_H
#define HB_BOX_DEST_H

#include <sys/types.h>

struct box;
struct hb_error;

/*
 * Destinations: places inside the root that is being built.
 *
 * Every look-up starts at the box's root and cannot leave it.  Symbolic links,
 * absolute or with "..", are followed as if that root were ours already
 * (RESOLVE_IN_ROOT).  So the owner of a bound tree cannot make set-up touch
 * anything beyond the bind.
 */

/* O_PATH of what is there; -ENOENT if nothing is.  Records no error. */
int dest_open(const struct box *box, const char *path);

/*
 * O_PATH of the directory, or of a file, at `path`.  A missing one is made with
 * `mode`, missing parents with the mode that dest_parent_mode() gives.  An
 * existing one is left alone.
 */
int dest_make_dir(const struct box *box, const char *path, mode_t mode,
		  mode_t parent_mode, struct hb_error *err);
int dest_make_file(const struct box *box, const char *path, mode_t mode,
		   mode_t parent_mode, struct hb_error *err);

/*
 * Makes a directory that lies right in the root, which most do: its name there,
 * part of `path`.  NULL: it lies elsewhere, was there, or cannot be made, and
 * the calls above tell.
 */
const char *dest_make_top(const struct box *box, const char *path, mode_t mode);

/*
 * The directory of the last component of `path`, made if missing, and the name
 * of that component.  The name points into `path`, and is "" for the root.
 */
int dest_open_parent(const struct box *box, const char *path,
		     mode_t parent_mode, const char **ret_name,
		     struct hb_error *err);

/* 0755, without what an object of mode `perms` keeps from group or others. */
mode_t dest_parent_mode(mode_t perms);

#endif
