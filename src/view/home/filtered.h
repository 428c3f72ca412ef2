/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_HOME_FILTERED_H
#define HB_VIEW_HOME_FILTERED_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct hb_error;
struct run;
struct scan;

/*
 * Files of the user that the view has as texts of ours, without logins.  A
 * zeroed struct is ready; filtered_done() frees.
 */
struct filtered {
	struct scan *scan; /* made for the first value */
	bool has_secret;
};

void filtered_done(struct filtered *f);

/*
 * Whether a value has the format of a secret.  True also if it cannot be
 * judged.  `ctx` is a struct filtered.
 */
bool filtered_is_secret(void *ctx, const char *name, const char *value,
			size_t n);

/*
 * Reads a regular file, up to the limit of `ret`.  Returns -ENOENT if there is
 * none, another -errno if it is something else.
 */
int filtered_read(const char *path, struct buf *ret);

/*
 * The absolute path that a file of the user names.  "~/" and "${HOME}/" are the
 * home directory; any other relative path begins in `dir`, which may be NULL.
 * `ret` has room for PATH_MAX.
 */
bool filtered_path(const struct run *run, const char *dir, const char *path,
		   char *ret);

/*
 * Adds an entry with the text, which it takes in any case.  run->entries has
 * room.
 */
int filtered_show(struct run *run, const char *path, char *text,
		  struct hb_error *err);

#endif
