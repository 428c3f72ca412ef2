/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_HOME_BOUNDS_H
#define HB_VIEW_HOME_BOUNDS_H

#include <stdbool.h>

struct run;

/*
 * No rule of ours shows a hidden path, the store or another project, nor a
 * directory above one of these.  Paths are absolute, normalised and without
 * links.
 */

/*
 * Whether `path` is, holds or lies in something hidden or the store.  True also
 * for the home directory and directories above it.
 */
bool bounds_keep_out(struct run *run, const char *path);

/*
 * Whether `path` is in a git checkout.  One of the home directory itself holds
 * dot files and does not count.
 */
bool bounds_is_checkout(const struct run *run, const char *path);

/* Whether a rule may show `path`: neither of the above. */
bool bounds_allow(struct run *run, const char *path);

/* Whether the view shows the host's `path` so far. */
bool bounds_is_shown(const struct run *run, const char *path);

/* Whether something would show it, also if it is hidden there. */
bool bounds_is_exposed(const struct run *run, const char *path);

/* Whether a resource holds `path`; of type look_in_fn. */
bool bounds_is_held(const void *run, const char *path);

#endif
