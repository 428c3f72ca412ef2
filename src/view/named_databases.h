/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_NAMED_DATABASES_H
#define HB_VIEW_NAMED_DATABASES_H

struct hb_error;
struct run;
struct setting_item;

/*
 * Looks at one database that a run holds back by its rows: the key `db`.
 * `path` is the file's path, or the value where setting_names_server().  A file
 * has to be a regular file with one name in a resource of the run, and has
 * to begin as an SQLite database: else -HB_E_USAGE or -HB_E_CONFIG.
 */
int databases_find(struct run *run, const struct setting_item *item,
		   const char *path, struct hb_error *err);

#endif
