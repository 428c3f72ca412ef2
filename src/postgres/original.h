/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_ORIGINAL_H
#define HB_POSTGRES_ORIGINAL_H

#include "postgres/database_facts.h"

#include <postgresql/libpq-fe.h>

struct hb_error;

/*
 * The real database, which is only read.  Its server is reached from outside of
 * any box, with the rights of the user.
 */

/*
 * Connects.  The URL is postgres:///NAME, with ?host=, port= and user= if need
 * be: -HB_E_USAGE for any other.
 */
int original_connect(const char *url, PGconn **ret, struct hb_error *err);

/*
 * Begins a directory for the database: its facts, the archive, and the picture
 * of the original, all of one moment.  `dir` has the empty directories
 * ORIGINAL_DIR and `picture`.
 */
#define ORIGINAL_DIR "original"
int original_take(const char *url, int dir, const char *picture,
		  char *const *envp, struct hb_error *err);

/*
 * Compares the original with its picture.  1: it has changed since, and
 * the changed files of `picture` are those of now, with the archive.
 */
int original_look(int dir, const char *picture, char *const *envp,
		  struct hb_error *err);

#endif
