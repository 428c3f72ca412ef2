/* SPDX-License-Identifier: Apache-2.0 */
#include "db/db.h"

#include <stddef.h>

#define UNIT "x"

/*
 * A look at the first page rolls a journal of a dead program back.  The last
 * connection that closes takes the write-ahead log into the file.
 */
static int open_unit(sqlite3 **ret)
{
	int r = db_open_strange(UNIT, SQLITE_OPEN_READWRITE, ret);

	return r == SQLITE_OK
		       ? sqlite3_exec(*ret,
				      "SELECT count(*) FROM sqlite_schema",
				      NULL, NULL, NULL)
		       : r;
}

int db_settle(void)
{
	sqlite3 *db = NULL;

	if (open_unit(&db) != SQLITE_OK ||
	    sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL,
			 NULL) != SQLITE_OK)
		return db_fail(db, "cannot read the database");
	return sqlite3_close(db) == SQLITE_OK ? DB_OK : DB_FAILED;
}

int db_clean(void)
{
	sqlite3 *db = NULL;

	if (open_unit(&db) != SQLITE_OK ||
	    sqlite3_exec(db, "VACUUM INTO 'clean'", NULL, NULL, NULL) !=
		    SQLITE_OK)
		return db_fail(db, "cannot read the session's database");
	return sqlite3_close(db) == SQLITE_OK ? DB_OK : DB_FAILED;
}
