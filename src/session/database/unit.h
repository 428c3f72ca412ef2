/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_DATABASE_UNIT_H
#define HB_SESSION_DATABASE_UNIT_H

#include <stdbool.h>

struct database_state;
struct hb_error;
struct resource;
struct txn_databases;

/*
 * One file made of a database and its side files.  Each of these makes `name`
 * in `dir`, a directory of ours, by a box that works on copies there.
 */

/* Of a base, as txn_databases.picture(). */
int database_picture(int base, const char *main, bool is_locked, int dir,
		     const char *name, struct hb_error *err);

/* Of the layers, as txn_databases.clean(). */
int database_clean(const struct resource *resource, const char *path, int dir,
		   const char *name, struct hb_error *err);

/* How the transaction of a session writes to databases. */
extern const struct txn_databases session_databases;

#endif
