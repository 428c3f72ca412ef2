/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/query.h"

#include "base/error.h"
#include "base/quote.h"

#include <stdio.h>
#include <string.h>

#define WORDS_SHOWN ((size_t)240)

int query_fail(PGconn *connection, const char *what, struct hb_error *err)
{
	char first[WORDS_SHOWN], shown[WORDS_SHOWN];
	const char *words = PQerrorMessage(connection);

	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(words, "\n"),
		       words);
	return hb_fail(err, -HB_E_STATE, "%s: %s", what,
		       quote_shown(first, shown, sizeof(shown)));
}

int query_rows(PGconn *connection, const char *sql, PGresult **ret,
	       struct hb_error *err)
{
	PGresult *result = PQexec(connection, sql);

	if (PQresultStatus(result) != PGRES_TUPLES_OK) {
		PQclear(result);
		return query_fail(connection, "the server refuses a query",
				  err);
	}
	*ret = result;
	return 0;
}

int query_run(PGconn *connection, const char *sql, struct hb_error *err)
{
	PGresult *result = PQexec(connection, sql);
	ExecStatusType status = PQresultStatus(result);

	PQclear(result);
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
			       status == PGRES_EMPTY_QUERY
		       ? 0
		       : query_fail(connection,
				    "the server refuses a statement", err);
}

int query_settle(PGconn *connection, struct hb_error *err)
{
	return query_run(connection,
			 "SET search_path = pg_catalog;"
			 "SET client_encoding = 'UTF8';"
			 "SET client_min_messages = error;"
			 "SET row_security = off;"
			 "SET DateStyle = 'ISO, YMD';"
			 "SET IntervalStyle = 'postgres';"
			 "SET TimeZone = 'UTC';"
			 "SET bytea_output = 'hex';"
			 "SET extra_float_digits = 3;"
			 "SET lc_monetary = 'C';"
			 "SET xmlbinary = 'base64';"
			 "SET statement_timeout = 0",
			 err);
}
