/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_PICTURE_H
#define HB_POSTGRES_PICTURE_H

#include <postgresql/libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

struct hb_error;

/*
 * The picture of a database is a directory of small texts.  Each table has a
 * file with the number of its rows and the sum of their hashes.  So two
 *pictures are compared as directories are, and a picture is held back as one.
 *
 *	tables/SCHEMA/TABLE	"rows N", "hash N"
 *	sequences/SCHEMA/NAME	"value N"
 *	large-objects		"objects N", "hash N"
 *	schema.sql		everything that is no row
 *	archive			the database itself, as pg_dump writes it
 *	statements.sql		the same as statements
 *	refused			objects that an ordinary role cannot restore
 *
 * A byte of a name that is no letter, digit, '_', '-' or '$', or part of a
 * character beyond ASCII, is %XX.
 */
#define PICTURE_SCHEMA	   "schema.sql"
#define PICTURE_ARCHIVE	   "archive"
#define PICTURE_STATEMENTS "statements.sql"
#define PICTURE_REFUSED	   "refused"

struct picture {
	int dir;  /* the picture that is brought up to date */
	int base; /* another, to compare with; -1: none */
	int also; /* gets each file of `dir` that is new as well; -1: none */
	bool has_changed; /* out: something of `dir` is new */
	bool is_base;	  /* out: it is all as in `base` */
	/* Private. */
	char **names;
	size_t n_names;
};

void picture_begin(struct picture *p, int dir, int base);
void picture_done(struct picture *p);

/* Rows of all tables; the connection has a snapshot, or is alone. */
int picture_take_rows(struct picture *p, PGconn *connection,
		      struct hb_error *err);

/* One file of the picture, with the bytes of a file elsewhere. */
int picture_take_file(struct picture *p, int from_dir, const char *from,
		      const char *name, struct hb_error *err);

/* What was not taken since picture_begin() is gone. */
int picture_end(struct picture *p, struct hb_error *err);

#endif
