/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_PICTURES_H
#define HB_STORE_PICTURES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct hb_store;
struct session_record;

/*
 * Databases of servers that sessions hold back.
 *
 *	PATH/databases/ID/lock		held while the place is made
 *	PATH/databases/ID/facts		about the real database
 *	PATH/databases/ID/original/	its picture when it was last looked at
 *	PATH/databases/ID/NAME.holdback-database/
 *			the picture that sessions lie over, as a directory
 *	PATH/databases/ID/server-SESSION/	the private server's data
 *	PATH/databases/ID/inspected-SESSION	the session's picture is of the
 *						data as they are
 *
 * The picture is an ordinary resource, and is found by where it lies.  The data
 * of the private server are only a copy of the archive in the picture.
 */
#define PICTURES_DIR	  "databases"
#define PICTURES_ENDING	  ".holdback-database"
#define PICTURES_FACTS	  "facts"
#define PICTURES_ORIGINAL "original"

/* Whether a source is the picture of a database. */
bool pictures_hold(const struct hb_store *store, const char *source);

/* Which resource of the record is one; -1: none is. */
int pictures_find(const struct hb_store *store,
		  const struct session_record *record);

/*
 * The directory of the place that a picture lies in, open, and its path.  The
 * caller closes it.
 */
int pictures_open(const char *source, char ret_path[PATH_MAX],
		  struct hb_error *err);

/* Names in it for one session. */
#define PICTURES_NAME_SIZE 64
void pictures_server(const struct session_record *record,
		     char ret[PICTURES_NAME_SIZE]);
void pictures_inspected(const struct session_record *record,
			char ret[PICTURES_NAME_SIZE]);

/*
 * Makes a place for a database of this name, locked, with an empty picture.
 * The caller closes the lock when a session refers to the picture.
 */
int pictures_make(const struct hb_store *store, const char *name,
		  char ret_picture[PATH_MAX], int *ret_lock,
		  struct hb_error *err);

/* Removes the places and data that no session refers to, and none is making. */
void pictures_sweep(const struct hb_store *store);

#endif
