/* SPDX-License-Identifier: Apache-2.0 */
#include "db/db.h"

#include "sys/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int db_fail(sqlite3 *db, const char *what)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%s: %.300s\n", what,
		       db ? sqlite3_errmsg(db) : "no memory");
	(void)sys_write_all(STDERR_FILENO, text, strlen(text));
	(void)sqlite3_close(db);
	return DB_FAILED;
}

int db_open_strange(const char *name, int flags, sqlite3 **ret)
{
	int r = sqlite3_open_v2(name, ret, flags | SQLITE_OPEN_NOFOLLOW, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_db_config(*ret, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_db_config(*ret, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
				      NULL);
	if (r == SQLITE_OK)
		r = sqlite3_db_config(*ret, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0,
				      NULL);
	if (r == SQLITE_OK)
		r = sqlite3_exec(*ret, "PRAGMA cell_size_check=ON", NULL, NULL,
				 NULL);
	return r;
}

int main(int argc, char **argv)
{
	static const char usage[] = "usage: db settle | clean | rows | "
				    "write NAME FROM\n";

	if (argc == 2 && strcmp(argv[1], "settle") == 0)
		return db_settle();
	if (argc == 2 && strcmp(argv[1], "clean") == 0)
		return db_clean();
	if (argc == 2 && strcmp(argv[1], "rows") == 0)
		return db_rows();
	if (argc == 4 && strcmp(argv[1], "write") == 0)
		return db_write(argv[2], argv[3]);
	(void)sys_write_all(STDERR_FILENO, usage, sizeof(usage) - 1);
	return DB_USAGE;
}
