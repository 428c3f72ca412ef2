/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_ENTRY_PATHS_H
#define HB_VIEW_ENTRY_PATHS_H

#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct run;
struct setting_item;

/* Fails with what an item says: its place before the words. */
int entries_fail(const struct setting_item *item, struct hb_error *err,
		 const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * The path that an item names, absolute and normalised, into `ret`, which has
 * room for PATH_MAX.  "~/" is the home directory.  A relative path is so to the
 * working directory for an option, to the workspace for its own file, and an
 * error elsewhere.  Returns -ENOENT without words for "~/" if there is no home
 * directory.
 */
int entries_path(const struct run *run, const struct setting_item *item,
		 const char *value, char *ret, struct hb_error *err);

/*
 * Divides DIR:INSIDE at the last colon that an absolute path follows. `ret_dir`
 * has room for PATH_MAX; `ret_inside` points into the value, or is NULL.
 */
void entries_split(const char *value, char *ret_dir, const char **ret_inside);

/* Makes room for `n` entries more than were asked for so far. */
int entries_more(struct run *run, size_t n, struct hb_error *err);

/*
 * Whether writes at the path of a row `data` reach the host.  A row of a
 * profile without a name of the project in it is carried instead.
 */
bool entries_are_shared(const struct setting_item *item);

/*
 * Where a path in an agent's directory lies on the host: a link may lead to
 * that directory.  Any other path is its own place.  `ret`: PATH_MAX bytes.
 */
void entries_source(const struct run *run, const char *path, char *ret);

/*
 * Whether a directory that a profile names is missing and can be made: the home
 * directory is there, and no link is on the way.  run/places.h makes it.
 */
bool entries_can_make(const struct run *run, const struct setting_item *item,
		      const char *path);

/*
 * Whether a path may be there, as far as one look at the home directory tells:
 * without it nothing has to be looked for.
 */
bool entries_may_exist(const struct run *run, const char *path);

/*
 * Whether something that is to be hidden lies in `dir`, or `dir` in it.  The
 * first call looks for all of it; run_done() frees that.
 */
bool entries_would_hide(struct run *run, const char *dir);

#endif
