/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_LOOK_H
#define HB_HOST_LOOK_H

#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct stat;

/* Looks at the host for a view; changes nothing. */

/*
 * The absolute path of what `path` leads to, without links, into `ret`, which
 * has room for PATH_MAX.  Returns -errno and records nothing.
 */
int look_real(const char *path, char *ret);

/* The working directory, into `ret`, which has room for PATH_MAX. */
int look_cwd(char *ret, struct hb_error *err);

/*
 * The home directory, without links, into `real`, which has room for PATH_MAX.
 * Returns how it is spelled, or NULL if there is none that can be used.
 */
const char *look_home(char *const *envp, char *real);

/*
 * The workspace of a working directory: the nearest directory at or above it
 * that has a `.git`, else the directory itself.  What cannot be a workspace is
 * not looked at.  `home` may be NULL.
 */
void look_workspace(const char *cwd, const char *home, char *ret);

/* A mount below `dir`, as the kernel's list has it; false if there is none. */
bool look_mount_below(const char *dir, char *ret, size_t size);

/*
 * Finds the command `word` as a shell would: in `path_list` (NULL: a default)
 * if it has no slash, else from `cwd`.  `name` is the path that was found and
 * `real` what that leads to, without links; both have room for PATH_MAX.  A
 * link to this program is passed over: it stands in front of what it is named
 * after.  -HB_E_NOT_FOUND, -HB_E_NOT_EXECUTABLE.
 */
int look_command(const char *word, const char *path_list, const char *cwd,
		 char *name, char *real, struct hb_error *err);

/*
 * Whether the program that was found for `word` is this one under another name:
 * then the program behind it is meant.
 */
bool look_stands_in_front(const char *word, const struct stat *st);

/* Whether the caller asks about this place. */
typedef bool (*look_in_fn)(const void *ctx, const char *path);

/*
 * Whether `name`, or a link on the way to what it leads to, lies in such a
 * place.  True also where that cannot be told.
 */
bool look_leads_through(const char *name, look_in_fn is_in, const void *ctx);

/*
 * Whether the command `word`, as look_command() finds it, is there by way of
 * such a place: a writer of that place chose the file.
 */
bool look_is_chosen_in(const char *word, const char *path_list, const char *cwd,
		       look_in_fn is_in, const void *ctx);

#endif
