/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_DATABASE_TAKING_H
#define HB_RUN_DATABASE_TAKING_H

#include <limits.h>

struct hb_error;
struct hb_store;

/*
 * Makes a place for a database, dumps it, and has its first picture made in a
 * box.  `*ret_lock` as in pictures_make().  On failure nothing is left.
 */
int database_take(const struct hb_store *store, const char *url,
		  char *const *envp, char ret_picture[PATH_MAX], int *ret_lock,
		  struct hb_error *err);

#endif
