/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/original.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "postgres/picture.h"
#include "postgres/query.h"
#include "postgres/whole_file.h"
#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME	   "postgres:///"
#define DUMP_LOG   "dump.log"
#define SCHEMA_NEW "schema.new"

static int fail_url(const char *url, const char *why, struct hb_error *err)
{
	hb_fix(err, "--db postgres:///NAME, or "
		    "postgres:///NAME?host=/DIR&port=N&user=ROLE");
	return hb_fail(err, -HB_E_USAGE, "'%s' %s", quoted(url), why);
}

/* NULL: a word of the URL that may be there. */
static const char *find_lack(const PQconninfoOption *o)
{
	if (!o->val)
		return strcmp(o->keyword, "dbname") == 0 ? "names no database"
							 : NULL;
	if (strcmp(o->keyword, "dbname") == 0)
		return strncmp(o->val, "template", 8) == 0
			       ? "is a template of its server"
		       : o->val[0] == '\0' ? "names no database"
					   : NULL;
	if (strcmp(o->keyword, "host") == 0)
		return o->val[0] == '/' ? NULL
					: "names a host: the server has to be "
					  "on this one";
	if (strcmp(o->keyword, "port") == 0 || strcmp(o->keyword, "user") == 0)
		return NULL;
	return "has a word that is not host, port or user";
}

static int check_url(const char *url, struct hb_error *err)
{
	PQconninfoOption *options;
	char *words = NULL;
	int r = 0;

	if (strncmp(url, SCHEME, sizeof(SCHEME) - 1) != 0)
		return fail_url(url, "is no URL of a database on this host",
				err);
	options = PQconninfoParse(url, &words);
	if (!options) {
		PQfreemem(words);
		return fail_url(url, "cannot be understood", err);
	}
	for (const PQconninfoOption *o = options; r >= 0 && o->keyword; o++)
		if (find_lack(o))
			r = fail_url(url, find_lack(o), err);
	PQconninfoFree(options);
	return r;
}

int original_connect(const char *url, PGconn **ret, struct hb_error *err)
{
	const char *const keys[] = { "dbname", "application_name", NULL };
	const char *const values[] = { url, "holdback", NULL };
	auto_connection PGconn *connection = NULL;
	int r = check_url(url, err);

	if (r < 0)
		return r;
	connection = PQconnectdbParams(keys, values, 1);
	if (PQstatus(connection) != CONNECTION_OK)
		return query_fail(connection, "the database", err);
	*ret = connection;
	connection = NULL;
	return 0;
}

/* All that follows is of this moment, also in pg_dump. */
static int begin(PGconn *connection, char *ret_snapshot, size_t size,
		 struct hb_error *err)
{
	auto_result PGresult *rows = NULL;
	int r;

	r = query_run(connection,
		      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
	if (r >= 0)
		r = query_rows(connection,
			       "SELECT pg_catalog.pg_export_snapshot()", &rows,
			       err);
	if (r >= 0)
		(void)snprintf(ret_snapshot, size, "--snapshot=%s",
			       PQgetvalue(rows, 0, 0));
	return r;
}

static int copy_value(const PGresult *rows, int column, char **ret)
{
	*ret = strdup(PQgetvalue(rows, 0, column));
	return *ret ? 0 : -ENOMEM;
}

static int take_roles(PGconn *connection, struct database_facts *f,
		      struct hb_error *err)
{
	auto_result PGresult *rows = NULL;
	int r = query_rows(connection,
			   "SELECT rolname, rolsuper FROM"
			   " pg_catalog.pg_roles WHERE"
			   " rolname !~ '^pg_' AND rolname <> current_user"
			   " ORDER BY 1",
			   &rows, err);

	for (int i = 0; r >= 0 && i < PQntuples(rows); i++)
		if (facts_add_role(f, PQgetvalue(rows, i, 0),
				   PQgetvalue(rows, i, 1)[0] == 't') < 0)
			return hb_fail(err, -ENOMEM, "cannot keep a role");
	return r;
}

static int take_facts(PGconn *connection, const char *url, char *const *envp,
		      struct database_facts *f, struct hb_error *err)
{
	auto_result PGresult *rows = NULL;
	const char *icu;
	int r;

	f->major = PQserverVersion(connection) / 10000;
	r = program_find(f->major, envp, f->bin, err);
	if (r < 0)
		return r;
	icu = f->major >= 17   ? "datlocale"
	      : f->major >= 15 ? "daticulocale"
			       : "NULL";
	f->url = strdup(url);
	{
		auto_buf struct buf sql = BUF_INIT(1024);

		(void)buf_add_fmt(
			&sql,
			"SELECT datname, current_user,"
			" pg_catalog.pg_encoding_to_char(encoding),"
			" datcollate, datctype, %s FROM pg_catalog.pg_database"
			" WHERE datname = pg_catalog.current_database()",
			icu);
		r = query_rows(connection, buf_str(&sql), &rows, err);
	}
	if (r < 0)
		return r;
	r = f->url ? copy_value(rows, 0, &f->name) : -ENOMEM;
	if (r >= 0)
		r = copy_value(rows, 1, &f->user);
	if (r >= 0)
		r = copy_value(rows, 2, &f->encoding);
	if (r >= 0)
		r = copy_value(rows, 3, &f->collate);
	if (r >= 0)
		r = copy_value(rows, 4, &f->ctype);
	if (r >= 0 && !PQgetisnull(rows, 0, 5))
		r = copy_value(rows, 5, &f->icu);
	return r < 0 ? hb_fail(err, r, "cannot keep the facts")
		     : take_roles(connection, f, err);
}

/* pg_dump of the original; `what` NULL: an archive. */
static int dump(const struct database_facts *f, const char *snapshot, int dir,
		const char *what, const char *name, char *const *envp,
		struct hb_error *err)
{
	char path[PATH_MAX], to[PATH_MAX + 64];
	const char *arguments[] = { "--no-password",
				    snapshot,
				    "-d",
				    f->url,
				    "-f",
				    to,
				    what ? what : "-Fc",
				    what ? "--restrict-key=holdback" : NULL,
				    NULL };
	const struct program p = { .dir = f->bin,
				   .name = "pg_dump",
				   .arguments = arguments,
				   .envp = envp,
				   .dir_fd = dir,
				   .log = DUMP_LOG };
	int r = (int)sys_fd_path(dir, path, sizeof(path));

	if (r < 0)
		return hb_fail(err, r, "cannot tell where the dump goes");
	(void)snprintf(to, sizeof(to), "%s/%s", path, name);
	r = program_run(&p, err);
	return r < 0 ? hb_fail(err, r, "cannot dump '%s'", quoted(f->name)) : 0;
}

/* Rows and schema of now; `also` as in struct picture. */
static int take_picture(PGconn *connection, const struct database_facts *f,
			const char *snapshot, int dir, int also,
			char *const *envp, bool *ret_changed,
			struct hb_error *err)
{
	auto_fd int to = sys_openat(dir, ORIGINAL_DIR,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	struct picture p;
	int r;

	if (to < 0)
		return hb_fail(err, to, "cannot open '" ORIGINAL_DIR "'");
	picture_begin(&p, to, -1);
	p.also = also;
	r = picture_take_rows(&p, connection, err);
	if (r >= 0)
		r = dump(f, snapshot, dir, "--schema-only", SCHEMA_NEW, envp,
			 err);
	if (r >= 0)
		r = picture_take_file(&p, dir, SCHEMA_NEW, PICTURE_SCHEMA, err);
	if (r >= 0)
		r = picture_end(&p, err);
	(void)sys_unlinkat(dir, SCHEMA_NEW, 0);
	*ret_changed = p.has_changed;
	picture_done(&p);
	return r;
}

/* pg_dump writes as it goes: a file that is cut short is no archive. */
static int take_archive(const struct database_facts *f, const char *snapshot,
			int dir, int picture, char *const *envp,
			struct hb_error *err)
{
	int r = dump(f, snapshot, dir, NULL, FACTS_ARCHIVE, envp, err);

	if (r >= 0)
		r = whole_copy(dir, FACTS_ARCHIVE, picture, PICTURE_ARCHIVE,
			       err);
	(void)sys_unlinkat(dir, FACTS_ARCHIVE, 0);
	return r;
}

int original_take(const char *url, int dir, const char *picture,
		  char *const *envp, struct hb_error *err)
{
	auto_connection PGconn *connection = NULL;
	auto_facts struct database_facts f = { 0 };
	auto_fd int to = sys_openat(dir, picture,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	char snapshot[64];
	bool has_changed;
	int r = original_connect(url, &connection, err);

	if (r >= 0 && to < 0)
		r = hb_fail(err, to, "cannot open '%s'", quoted(picture));
	if (r >= 0)
		r = take_facts(connection, url, envp, &f, err);
	if (r >= 0)
		r = begin(connection, snapshot, sizeof(snapshot), err);
	if (r >= 0)
		r = take_archive(&f, snapshot, dir, to, envp, err);
	if (r >= 0)
		r = take_picture(connection, &f, snapshot, dir, -1, envp,
				 &has_changed, err);
	return r < 0 ? r : facts_write(dir, &f, err);
}

int original_look(int dir, const char *picture, char *const *envp,
		  struct hb_error *err)
{
	auto_connection PGconn *connection = NULL;
	auto_facts struct database_facts f = { 0 };
	auto_fd int also = sys_openat(dir, picture,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	bool has_changed = false;
	char snapshot[64];
	int r = facts_read(dir, &f, err);

	if (r >= 0 && also < 0)
		r = hb_fail(err, also, "cannot open '%s'", quoted(picture));
	if (r >= 0)
		r = original_connect(f.url, &connection, err);
	if (r >= 0 && PQserverVersion(connection) / 10000 != f.major)
		r = hb_fail(err, -HB_E_STATE,
			    "the server was PostgreSQL %d and is %d now",
			    f.major, PQserverVersion(connection) / 10000);
	if (r >= 0)
		r = begin(connection, snapshot, sizeof(snapshot), err);
	if (r >= 0)
		r = take_picture(connection, &f, snapshot, dir, also, envp,
				 &has_changed, err);
	if (r >= 0 && has_changed)
		r = take_archive(&f, snapshot, dir, also, envp, err);
	return r < 0 ? r : has_changed;
}
