/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_DB_DB_H
#define HB_DB_DB_H

#include <sqlite3.h>

/*
 * The program that knows SQLite; nothing else links it.  Each function is one
 * way to call it, and returns its exit status.  Words about a failure go to
 * standard error, one line.
 *
 *	settle		in a box: the files `x`, `x-wal`, `x-journal` in the
 *			working directory become the one file `x`
 *	clean		in a box: makes `clean` from them, page by page anew
 *	rows		in a box: compares `old` and `new`, answers on standard
 *			output (session/database/rows.h)
 *	write		outside: puts the pages of a clean file into a database
 *			that others use, as it is told on standard input
 */
enum db_exit {
	DB_OK = 0,
	DB_FAILED = 20, /* the database is at fault */
	DB_BUSY = 21,   /* another program writes to it */
	DB_USAGE = 22,
};

int db_settle(void);
int db_clean(void);
int db_rows(void);

/*
 * `name` in the working directory gets the pages of `from`.  Answers with one
 * letter on standard output and then waits for one on standard input:
 *
 *	L	it is locked for writing		-> p
 *	P	all pages but the last are in place	-> c
 *	D	the last one is as well: committed
 *	B	another program has it locked for too long: the end
 *
 * Any other letter, or the end of input, takes all of it back.
 */
int db_write(const char *name, const char *from);

/* Opens a copy that is ours, as a stranger's: nothing in it is executed. */
int db_open_strange(const char *name, int flags, sqlite3 **ret);

/* Says why, and closes. */
int db_fail(sqlite3 *db, const char *what);

#endif
