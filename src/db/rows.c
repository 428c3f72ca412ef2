/* SPDX-License-Identifier: Apache-2.0 */
#include "db/db.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * Which rows differ.  Rows of a table with a key are told apart by it.  Other
 * rows have nothing but their values, so none of them counts as changed.
 * A line for each table:
 *
 *	T KIND ADDED REMOVED CHANGED NAME	tab between; A, D, M; `?`: the
 *						columns differ, so only counted
 *
 * and for each statement of the schema that went or came `S - SQL`, `S + SQL`,
 * where line breaks are spaces.
 */

#define TABLES_MAX  1000
#define COLUMNS_MAX 100

static void put_text(const char *text)
{
	for (; *text; text++)
		(void)putchar((unsigned char)*text < ' ' ? ' ' : *text);
}

static void put_table(char kind, const sqlite3_int64 n[3], const char *name)
{
	(void)printf("T\t%c\t%lld\t%lld\t%lld\t", kind, (long long)n[0],
		     (long long)n[1], (long long)n[2]);
	put_text(name);
	(void)putchar('\n');
}

/* The one number that a question is answered by; -1: it cannot be asked. */
static sqlite3_int64 number(sqlite3 *db, char *sql)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3_int64 n = -1;

	if (sql && sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return n;
}

static sqlite3_int64 count(sqlite3 *db, const char *in, const char *table)
{
	return number(db, sqlite3_mprintf("SELECT count(*) FROM %s.\"%w\"", in,
					  table));
}

/* What its columns are called, as lists for statements. */
struct columns {
	sqlite3_str *all;    /* "a","b" */
	sqlite3_str *same;   /* o."k" IS n."k" AND ... */
	sqlite3_str *differ; /* o."a" IS NOT n."a" OR ... */
	int n, n_keys;
};

static int read_columns(sqlite3 *db, const char *in, const char *table,
			struct columns *c)
{
	sqlite3_stmt *stmt = NULL;
	char *sql = sqlite3_mprintf(
		"SELECT name, pk FROM pragma_table_info(%Q, %Q)", table, in);
	int r = sql ? sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)
		    : SQLITE_NOMEM;

	while (r == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);
		bool is_key = sqlite3_column_int(stmt, 1) > 0;

		if (!name || c->n >= COLUMNS_MAX) {
			r = SQLITE_TOOBIG;
			break;
		}
		sqlite3_str_appendf(c->all, "%s\"%w\"", c->n ? "," : "", name);
		if (is_key)
			sqlite3_str_appendf(c->same, "%so.\"%w\" IS n.\"%w\"",
					    c->n_keys ? " AND " : "", name,
					    name);
		sqlite3_str_appendf(c->differ, "%so.\"%w\" IS NOT n.\"%w\"",
				    c->n ? " OR " : "", name, name);
		c->n++;
		c->n_keys += is_key;
	}
	(void)sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return r;
}

static void drop_columns(struct columns *c)
{
	sqlite3_free(sqlite3_str_finish(c->all));
	sqlite3_free(sqlite3_str_finish(c->same));
	sqlite3_free(sqlite3_str_finish(c->differ));
}

static struct columns new_columns(sqlite3 *db)
{
	return (struct columns){ .all = sqlite3_str_new(db),
				 .same = sqlite3_str_new(db),
				 .differ = sqlite3_str_new(db) };
}

static const char *text_of(sqlite3_str *s)
{
	const char *text = sqlite3_str_value(s);

	return text ? text : "";
}

static void compare_by_key(sqlite3 *db, const char *t, struct columns *c,
			   sqlite3_int64 ret[3])
{
	const char *same = text_of(c->same);

	ret[0] = number(
		db,
		sqlite3_mprintf("SELECT count(*) FROM n.\"%w\" n WHERE NOT "
				"EXISTS (SELECT 1 FROM main.\"%w\" o WHERE %s)",
				t, t, same));
	ret[1] = number(
		db,
		sqlite3_mprintf("SELECT count(*) FROM main.\"%w\" o WHERE NOT "
				"EXISTS (SELECT 1 FROM n.\"%w\" n WHERE %s)",
				t, t, same));
	ret[2] = number(db, sqlite3_mprintf("SELECT count(*) FROM n.\"%w\" n, "
					    "main.\"%w\" o WHERE %s AND (%s)",
					    t, t, same, text_of(c->differ)));
}

/* So often as the one side has a row more often than the other. */
static void compare_by_value(sqlite3 *db, const char *t, struct columns *c,
			     sqlite3_int64 ret[3])
{
	static const char *const signs[] = { "", "-" };
	const char *all = text_of(c->all);

	for (int i = 0; i < 2; i++)
		ret[i] = number(
			db,
			sqlite3_mprintf(
				"SELECT coalesce(sum(d), 0) FROM (SELECT "
				"%ssum(s) AS d FROM (SELECT %s, 1 AS s FROM "
				"n.\"%w\" UNION ALL SELECT %s, -1 FROM "
				"main.\"%w\") GROUP BY %s) WHERE d > 0",
				signs[i], all, t, all, t, all));
	ret[2] = 0;
}

static void compare_both(sqlite3 *db, const char *t)
{
	struct columns before = new_columns(db), after = new_columns(db);
	sqlite3_int64 n[3] = { -1, -1, -1 };
	bool is_same;

	is_same = read_columns(db, "main", t, &before) == SQLITE_OK &&
		  read_columns(db, "n", t, &after) == SQLITE_OK &&
		  before.n_keys == after.n_keys && before.n > 0 &&
		  strcmp(text_of(before.all), text_of(after.all)) == 0 &&
		  strcmp(text_of(before.same), text_of(after.same)) == 0;
	if (is_same && after.n_keys > 0)
		compare_by_key(db, t, &after, n);
	else if (is_same)
		compare_by_value(db, t, &after, n);
	if (n[0] < 0 || n[1] < 0 || n[2] < 0) {
		n[0] = count(db, "n", t);
		n[1] = count(db, "main", t);
		n[2] = 0;
		put_table('?', n, t);
	} else if (n[0] + n[1] + n[2] > 0) {
		put_table('M', n, t);
	}
	drop_columns(&before);
	drop_columns(&after);
}

static void compare_table(sqlite3 *db, const char *t, bool is_old, bool is_new)
{
	sqlite3_int64 n[3] = { 0 };

	if (is_old && is_new) {
		compare_both(db, t);
		return;
	}
	n[is_old] = count(db, is_old ? "main" : "n", t);
	put_table(is_old ? 'D' : 'A', n, t);
}

static const char tables[] =
	"SELECT name, max(o), max(n) FROM ("
	"SELECT name, 1 AS o, 0 AS n, sql FROM main.sqlite_schema"
	" WHERE type = 'table' UNION ALL "
	"SELECT name, 0, 1, sql FROM n.sqlite_schema WHERE type = 'table')"
	" WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
	" AND sql NOT LIKE 'CREATE VIRTUAL%' GROUP BY name ORDER BY name";

static const char schema[] =
	"SELECT '-', sql FROM (SELECT type, name, sql FROM main.sqlite_schema"
	" EXCEPT SELECT type, name, sql FROM n.sqlite_schema)"
	" WHERE sql IS NOT NULL UNION ALL "
	"SELECT '+', sql FROM (SELECT type, name, sql FROM n.sqlite_schema"
	" EXCEPT SELECT type, name, sql FROM main.sqlite_schema)"
	" WHERE sql IS NOT NULL";

static int each_table(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int n = 0;
	int r = sqlite3_prepare_v2(db, tables, -1, &stmt, NULL);

	while (r == SQLITE_OK && n++ < TABLES_MAX &&
	       sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		if (name)
			compare_table(db, name, sqlite3_column_int(stmt, 1),
				      sqlite3_column_int(stmt, 2));
	}
	(void)sqlite3_finalize(stmt);
	return r;
}

static int each_statement(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int n = 0;
	int r = sqlite3_prepare_v2(db, schema, -1, &stmt, NULL);

	while (r == SQLITE_OK && n++ < TABLES_MAX &&
	       sqlite3_step(stmt) == SQLITE_ROW) {
		const char *sql = (const char *)sqlite3_column_text(stmt, 1);

		(void)printf("S\t%s\t",
			     (const char *)sqlite3_column_text(stmt, 0));
		put_text(sql ? sql : "");
		(void)putchar('\n');
	}
	(void)sqlite3_finalize(stmt);
	return r;
}

int db_rows(void)
{
	sqlite3 *db = NULL;

	if (db_open_strange("old", SQLITE_OPEN_READWRITE, &db) != SQLITE_OK ||
	    sqlite3_exec(db, "ATTACH 'new' AS n", NULL, NULL, NULL) !=
		    SQLITE_OK ||
	    each_table(db) != SQLITE_OK || each_statement(db) != SQLITE_OK)
		return db_fail(db, "cannot compare the databases");
	(void)sqlite3_close(db);
	return fflush(stdout) == 0 ? DB_OK : DB_FAILED;
}
