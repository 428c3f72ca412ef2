/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/private_server.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "postgres/inner_tree.h"
#include "postgres/query.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_LOG  "server.log"
#define PROGRAM_LOG "program.log"
#define START_WAIT  120000 /* ms */
#define START_PAUSE 20	   /* ms */
#define STATEMENT   ((size_t)64 << 10)
#define SOCKET_FILE ".s.PGSQL.5432"
#define SOCKET_LOCK SOCKET_FILE ".lock"
#define POSTMASTER  "postmaster.pid"
#define MAINTENANCE "template1"

static struct program program_of(const struct private_server *s,
				 const char *name, const char *const *arguments)
{
	return (struct program){
		.dir = s->facts->bin,
		.name = name,
		.arguments = arguments,
		.envp = s->envp,
		.dir_fd = s->dir,
		.log = PROGRAM_LOG,
	};
}

int private_init(struct private_server *s, struct hb_error *err)
{
	char data[PATH_MAX];
	const char *arguments[] = { "-D",	  data,
				    "-U",	  PRIVATE_OWNER,
				    "-A",	  "trust",
				    "--locale=C", "-E",
				    "UTF8",	  s->is_brief ? "-N" : NULL,
				    NULL };
	const struct program p = program_of(s, "initdb", arguments);
	int r = inner_remove(s->dir, s->data, err);

	if (r < 0)
		return r;
	(void)snprintf(data, sizeof(data), "%s/%s", s->path, s->data);
	r = program_run(&p, err);
	return r < 0 ? hb_fail(err, r, "cannot make a private server") : 0;
}

int private_connect(const struct private_server *s, const char *role,
		    const char *database, PGconn **ret, struct hb_error *err)
{
	const char *const keys[] = {
		"host", "port", "user", "dbname", "application_name", NULL
	};
	const char *const values[] = { s->path,	 "5432",     role,
				       database, "holdback", NULL };
	PGconn *connection = PQconnectdbParams(keys, values, 0);
	int r = 0;

	if (PQstatus(connection) != CONNECTION_OK)
		r = query_fail(connection, "the private server", err);
	if (r < 0)
		PQfinish(connection);
	else
		*ret = connection;
	return r;
}

static bool does_answer(const struct private_server *s)
{
	const char *const keys[] = { "host", "port", "dbname", NULL };
	const char *const values[] = { s->path, "5432", MAINTENANCE, NULL };

	return PQpingParams(keys, values, 0) == PQPING_OK;
}

static int wait_for_answer(struct private_server *s, const struct program *p,
			   struct hb_error *err)
{
	int64_t end = sys_now_ms() + START_WAIT;
	int status;

	while (!does_answer(s)) {
		if (sys_waitpid(s->pid, &status, WNOHANG) != 0) {
			s->pid = 0;
			(void)program_fail(p, -HB_E_STATE, err);
			return hb_fail(err, -HB_E_STATE,
				       "the private server does not start");
		}
		if (sys_now_ms() > end) {
			(void)private_stop(s, NULL);
			return hb_fail(err, -HB_E_STATE,
				       "the private server does not answer");
		}
		sys_pause(START_PAUSE);
	}
	return 0;
}

int private_start(struct private_server *s, struct hb_error *err)
{
	char data[PATH_MAX], left[PATH_MAX];
	const char *arguments[] = { "-D",
				    data,
				    "-k",
				    s->path,
				    "-p",
				    "5432",
				    "-c",
				    "listen_addresses=",
				    "-c",
				    "unix_socket_permissions=0700",
				    "-c",
				    "logging_collector=off",
				    s->is_brief ? "-c" : NULL,
				    "fsync=off",
				    NULL };
	struct program p = program_of(s, "postgres", arguments);

	(void)snprintf(data, sizeof(data), "%s/%s", s->path, s->data);
	(void)snprintf(left, sizeof(left), "%s/" POSTMASTER, s->data);
	(void)sys_unlinkat(s->dir, SOCKET_FILE, 0);
	(void)sys_unlinkat(s->dir, SOCKET_LOCK, 0);
	(void)sys_unlinkat(s->dir, left, 0);
	p.log = SERVER_LOG;
	p.is_apart = true;
	s->pid = program_start(&p, err);
	if (s->pid < 0) {
		int r = s->pid;

		s->pid = 0;
		return r;
	}
	return wait_for_answer(s, &p, err);
}

int private_stop(struct private_server *s, struct hb_error *err)
{
	int status = 0, r;

	if (s->pid == 0)
		return 0;
	r = sys_kill(s->pid, SIGINT);
	if (r >= 0)
		r = (int)sys_waitpid(s->pid, &status, 0);
	s->pid = 0;
	if (r < 0)
		return hb_fail(err, r, "cannot stop the private server");
	return status == 0 ? 0
			   : hb_fail(err, -HB_E_STATE,
				     "the private server did not stop well");
}

static void add_role(PGconn *connection, const char *role, const char *rights,
		     struct buf *sql)
{
	char *name = PQescapeIdentifier(connection, role, strlen(role));
	char *text = PQescapeLiteral(connection, role, strlen(role));

	if (name && text)
		(void)buf_add_fmt(sql,
				  "DO $holdback$ BEGIN IF NOT EXISTS (SELECT"
				  " FROM pg_catalog.pg_roles WHERE rolname ="
				  " %s) THEN CREATE ROLE %s %s; END IF; END"
				  " $holdback$;",
				  text, name, rights);
	else
		(void)buf_fail(sql, -ENOMEM);
	PQfreemem(name);
	PQfreemem(text);
}

/* No other role of the second server has any right that it had. */
static int create_roles(const struct private_server *s, PGconn *connection,
			const char *owner, bool is_superuser,
			struct hb_error *err)
{
	auto_buf struct buf sql = BUF_INIT(STATEMENT * 16);
	const struct database_facts *f = s->facts;

	add_role(connection, owner, is_superuser ? "LOGIN SUPERUSER" : "LOGIN",
		 &sql);
	add_role(connection, f->user, "NOLOGIN", &sql);
	for (size_t i = 0; i < f->n_roles; i++)
		add_role(connection, f->roles[i].name,
			 is_superuser && f->roles[i].is_superuser
				 ? "NOLOGIN SUPERUSER"
				 : "NOLOGIN",
			 &sql);
	return sql.error < 0 ? hb_fail(err, sql.error, "too many roles")
			     : query_run(connection, sql.data, err);
}

static int create_database(const struct private_server *s, PGconn *connection,
			   const char *owner, struct hb_error *err)
{
	const struct database_facts *f = s->facts;
	auto_buf struct buf sql = BUF_INIT(STATEMENT);
	char *name = PQescapeIdentifier(connection, f->name, strlen(f->name));
	char *by = PQescapeIdentifier(connection, owner, strlen(owner));
	char *collate =
		PQescapeLiteral(connection, f->collate, strlen(f->collate));
	char *ctype = PQescapeLiteral(connection, f->ctype, strlen(f->ctype));
	char *encoding =
		PQescapeLiteral(connection, f->encoding, strlen(f->encoding));
	char *icu = f->icu ? PQescapeLiteral(connection, f->icu, strlen(f->icu))
			   : NULL;
	int r;

	if (name && by && collate && ctype && encoding)
		(void)buf_add_fmt(&sql,
				  "CREATE DATABASE %s OWNER %s TEMPLATE "
				  "template0 ENCODING %s LC_COLLATE %s "
				  "LC_CTYPE %s",
				  name, by, encoding, collate, ctype);
	if (icu)
		(void)buf_add_fmt(&sql, " LOCALE_PROVIDER icu ICU_LOCALE %s",
				  icu);
	r = sql.len > 0 && sql.error >= 0
		    ? query_run(connection, sql.data, err)
		    : hb_fail(err, -ENOMEM, "cannot make a statement");
	PQfreemem(name);
	PQfreemem(by);
	PQfreemem(collate);
	PQfreemem(ctype);
	PQfreemem(encoding);
	PQfreemem(icu);
	return r;
}

int private_prepare(const struct private_server *s, const char *owner,
		    bool is_superuser, struct hb_error *err)
{
	auto_connection PGconn *connection = NULL;
	int r = private_connect(s, PRIVATE_OWNER, MAINTENANCE, &connection,
				err);

	if (r >= 0)
		r = create_roles(s, connection, owner, is_superuser, err);
	/* A new server has one of that name already, with another locale. */
	if (r >= 0)
		r = query_run(connection, "DROP DATABASE IF EXISTS postgres",
			      err);
	if (r >= 0)
		r = create_database(s, connection, owner, err);
	return r < 0 ? hb_fail(err, r, "cannot make the private database") : 0;
}

/* As libpq reads it: host and port are ours, and no file is asked. */
static int connection_text(const struct private_server *s, const char *role,
			   struct buf *out, struct hb_error *err)
{
	const struct {
		const char *key, *value;
	} pairs[] = { { "host", s->path },
		      { "port", "5432" },
		      { "user", role },
		      { "dbname", s->facts->name } };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		(void)buf_add_fmt(out, "%s='", pairs[i].key);
		for (const char *c = pairs[i].value; *c; c++) {
			if (*c == '\'' || *c == '\\')
				(void)buf_add_char(out, '\\');
			(void)buf_add_char(out, *c);
		}
		(void)buf_add_str(out, "' ");
	}
	return out->error < 0 ? hb_fail(err, out->error,
					"the name of the database is too long")
			      : 0;
}

int private_restore(const struct private_server *s, const char *role,
		    const char *archive, const char *log, struct hb_error *err)
{
	auto_buf struct buf to = BUF_INIT(STATEMENT);
	const char *arguments[8] = { "--no-password" };
	struct program p = program_of(s, "pg_restore", arguments);
	size_t n = 1;
	int r = connection_text(s, role, &to, err);

	if (r < 0)
		return r;
	arguments[n++] = log ? "--no-owner" : "--exit-on-error";
	arguments[n++] = "-d";
	arguments[n++] = to.data;
	arguments[n++] = archive;
	if (log)
		p.log = log;
	r = program_run(&p, log ? NULL : err);
	/* What it could not restore is in the log. */
	if (r == -HB_E_STATE && log)
		return 0;
	return r < 0 ? hb_fail(err, r,
			       "the database cannot be restored on a server "
			       "of its own")
		     : 0;
}

int private_schema(const struct private_server *s, const char *archive,
		   const char *to, struct hb_error *err)
{
	const char *arguments[] = { "--schema-only", PRIVATE_KEY, "-f", to,
				    archive,	     NULL };
	const struct program p = program_of(s, "pg_restore", arguments);
	int r = program_run(&p, err);

	return r < 0 ? hb_fail(err, r, "the archive cannot be read") : 0;
}

int private_dump(const struct private_server *s, const char *role,
		 const char *const *more, const char *to, struct hb_error *err)
{
	auto_buf struct buf from = BUF_INIT(STATEMENT);
	const char *arguments[PROGRAM_ARGUMENTS] = { "--no-password", "-f",
						     to };
	struct program p = program_of(s, "pg_dump", arguments);
	size_t n = 3;
	int r = connection_text(s, role, &from, err);

	if (r < 0)
		return r;
	for (size_t i = 0; more[i] && n < PROGRAM_ARGUMENTS - 3; i++)
		arguments[n++] = more[i];
	arguments[n++] = "-d";
	arguments[n] = from.data;
	r = program_run(&p, err);
	return r < 0 ? hb_fail(err, r, "the database cannot be dumped") : 0;
}
