/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_DATABASE_DATABASE_DELIVERY_H
#define HB_REVIEW_DATABASE_DATABASE_DELIVERY_H

#include <limits.h>
#include <stdbool.h>

struct hb_commit_options;
struct hb_error;
struct hb_session;

/*
 * A commit brings the picture of a database to its base, as it does with any
 * directory.  Beside that it writes the archive to a file of the user, and the
 * statements to FILE.sql.  The real server is not changed.
 *
 *	delivery_begin()	the session may be committed, and both files are
 *				there under other names, synced
 *	...			the commit
 *	delivery_end()		they have their names, or are gone
 */
struct database_delivery {
	bool is_pending; /* there is something to be written */
	int dir;	 /* where FILE lies; -1 */
	char name[NAME_MAX + 1];
	const char *file; /* as the caller named it; borrowed */
};

#define DATABASE_DELIVERY_NONE     \
	(struct database_delivery) \
	{                          \
		.dir = -1          \
	}

/*
 * The options have the file, or NULL, and what the commit takes.  -HB_E_STATE:
 * a database is pending and no file was named, the file is there already, or
 * the last command's changes could not be told.  Nothing is left then.
 */
int delivery_begin(struct database_delivery *d, struct hb_session *s,
		   const struct hb_commit_options *options,
		   struct hb_error *err);

/*
 * `is_done`: the commit has succeeded.  Says how to load the archive.  On
 * failure the changes are committed, and the message has the archive's place.
 */
int delivery_end(struct database_delivery *d, struct hb_session *s,
		 bool is_done, struct hb_error *err);

#endif
