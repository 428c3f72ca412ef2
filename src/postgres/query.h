/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_QUERY_H
#define HB_POSTGRES_QUERY_H

#include <postgresql/libpq-fe.h>

struct hb_error;

/* One statement by libpq, with the server's own words where it fails. */

static inline void result_clearp(PGresult **result)
{
	PQclear(*result);
}
#define auto_result __attribute__((cleanup(result_clearp)))

static inline void connection_finishp(PGconn **connection)
{
	PQfinish(*connection);
}
#define auto_connection __attribute__((cleanup(connection_finishp)))

/* Rows for the caller to clear.  A failure is -HB_E_STATE. */
int query_rows(PGconn *connection, const char *sql, PGresult **ret,
	       struct hb_error *err);

/* Any number of statements, all or none, without rows. */
int query_run(PGconn *connection, const char *sql, struct hb_error *err);

/* A failure in the words of the server. */
int query_fail(PGconn *connection, const char *what, struct hb_error *err);

/* So that a row has the same text in every connection. */
int query_settle(PGconn *connection, struct hb_error *err);

#endif
