/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/picture.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "postgres/inner_tree.h"
#include "postgres/query.h"
#include "postgres/whole_file.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SQL_MAX	      ((size_t)64 << 10)
#define FILE_READ_MAX ((size_t)256 << 20) /* of a text of the picture */
#define LARGE_OBJECTS "large-objects"

/* Kinds of relations with rows of their own, and of what else has a value. */
#define LIST                                                             \
	"SELECT c.oid, c.relkind, n.nspname, c.relname"                  \
	" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace" \
	" WHERE c.relkind IN ('r', 'S') AND c.relpersistence <> 't'"     \
	" AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'" \
	" AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid" \
	" AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')"     \
	" ORDER BY 3, 4"

void picture_begin(struct picture *p, int dir, int base)
{
	*p = (struct picture){
		.dir = dir, .base = base, .also = -1, .is_base = base >= 0
	};
}

void picture_done(struct picture *p)
{
	for (size_t i = 0; i < p->n_names; i++)
		free(p->names[i]);
	free(p->names);
	p->names = NULL;
	p->n_names = 0;
}

/* Opens the directory that the last name of the path lies in. */
static int open_above(int dir, const char *path, bool make,
		      const char **ret_name)
{
	auto_fd int at = sys_dup_above(dir, 3);
	const char *slash;

	while (at >= 0 && (slash = strchr(path, '/'))) {
		char name[NAME_MAX + 1];
		int next, r;

		(void)snprintf(name, sizeof(name), "%.*s", (int)(slash - path),
			       path);
		r = make ? sys_mkdirat(at, name, 0700) : 0;
		if (r < 0 && r != -EEXIST)
			return r;
		next = sys_openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
				  0);
		if (next < 0)
			return next;
		sys_close(at);
		at = next;
		path = slash + 1;
	}
	*ret_name = path;
	return at < 0 ? at : take_fd(&at);
}

static int put_at(int dir, const char *path, const void *bytes, size_t n,
		  struct hb_error *err)
{
	const char *name = path;
	auto_fd int at = open_above(dir, path, true, &name);

	return at < 0 ? hb_fail(err, at, "cannot make '%s'", quoted(path))
		      : whole_put(at, name, bytes, n, err);
}

static bool is_at(int dir, const char *path, const void *bytes, size_t n)
{
	const char *name = path;
	auto_fd int at = open_above(dir, path, false, &name);

	return at >= 0 && whole_is(at, name, bytes, n);
}

static void take_time(const struct picture *p, const char *path)
{
	const char *name = path;
	auto_fd int from = open_above(p->base, path, false, &name);
	auto_fd int to = open_above(p->dir, path, false, &name);

	if (from >= 0 && to >= 0)
		whole_take_time(from, to, name);
}

/* Notes the name, and writes the file if it is not as it should be. */
static int take(struct picture *p, const char *path, const void *bytes,
		size_t n, struct hb_error *err)
{
	bool is_base = p->base >= 0 && is_at(p->base, path, bytes, n);
	char *copy = strdup(path);
	int r;

	if (!copy || grow(p->names, p->n_names) < 0) {
		free(copy);
		return hb_fail(err, -ENOMEM, "cannot keep a name");
	}
	p->names[p->n_names++] = copy;
	p->is_base &= is_base;
	if (is_at(p->dir, path, bytes, n))
		return 0;
	p->has_changed = true;
	r = put_at(p->dir, path, bytes, n, err);
	if (r >= 0 && p->also >= 0)
		r = put_at(p->also, path, bytes, n, err);
	if (r >= 0 && is_base)
		take_time(p, path);
	return r;
}

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$' ||
	       c >= 0x80;
}

static void add_name(struct buf *out, const char *name)
{
	for (; *name; name++)
		if (is_plain((unsigned char)*name))
			(void)buf_add_char(out, *name);
		else
			(void)buf_add_fmt(out, "%%%02X", (unsigned char)*name);
}

static int select_state(PGconn *connection, const char *schema,
			const char *name, bool is_sequence, PGresult **ret,
			struct hb_error *err)
{
	auto_buf struct buf sql = BUF_INIT(SQL_MAX);
	char *a = PQescapeIdentifier(connection, schema, strlen(schema));
	char *b = PQescapeIdentifier(connection, name, strlen(name));
	int r;

	if (is_sequence)
		(void)buf_add_fmt(&sql,
				  "SELECT last_value, is_called FROM %s.%s",
				  a ? a : "", b ? b : "");
	else
		(void)buf_add_fmt(
			&sql,
			"SELECT count(*), coalesce(sum(pg_catalog."
			"hashtextextended(ROW(t.*)::pg_catalog.text, 0)), 0)"
			" FROM ONLY %s.%s t",
			a ? a : "", b ? b : "");
	r = a && b && sql.error >= 0
		    ? query_rows(connection, sql.data, ret, err)
		    : hb_fail(err, -ENOMEM, "cannot make a query");
	PQfreemem(a);
	PQfreemem(b);
	return r;
}

static int take_relation(struct picture *p, PGconn *connection,
			 const PGresult *list, int row, struct hb_error *err)
{
	const char *schema = PQgetvalue(list, row, 2);
	const char *name = PQgetvalue(list, row, 3);
	bool is_sequence = PQgetvalue(list, row, 1)[0] == 'S';
	auto_buf struct buf path = BUF_INIT(PATH_MAX);
	auto_result PGresult *state = NULL;
	char text[160];
	int n, r;

	(void)buf_add_str(&path, is_sequence ? "sequences/" : "tables/");
	add_name(&path, schema);
	(void)buf_add_char(&path, '/');
	add_name(&path, name);
	if (path.error < 0)
		return hb_fail(err, path.error, "a name is too long");
	r = select_state(connection, schema, name, is_sequence, &state, err);
	if (r < 0)
		return hb_fail(err, r, "'%s'", quoted(name));
	if (is_sequence)
		n = snprintf(text, sizeof(text), "value %s%s\n",
			     PQgetvalue(state, 0, 0),
			     PQgetvalue(state, 0, 1)[0] == 't' ? ""
							       : " not used");
	else
		n = snprintf(text, sizeof(text), "rows %s\nhash %s\n",
			     PQgetvalue(state, 0, 0), PQgetvalue(state, 0, 1));
	return take(p, path.data, text, (size_t)n, err);
}

static int take_large_objects(struct picture *p, PGconn *connection,
			      struct hb_error *err)
{
	auto_result PGresult *state = NULL;
	char text[160];
	int n, r;

	r = query_rows(connection,
		       "SELECT count(*), coalesce(sum(hashtextextended("
		       "oid || encode(lo_get(oid), 'hex'), 0)), 0)"
		       " FROM pg_largeobject_metadata",
		       &state, err);
	if (r < 0)
		return hb_fail(err, r, "large objects");
	if (strcmp(PQgetvalue(state, 0, 0), "0") == 0)
		return 0;
	n = snprintf(text, sizeof(text), "objects %s\nhash %s\n",
		     PQgetvalue(state, 0, 0), PQgetvalue(state, 0, 1));
	return take(p, LARGE_OBJECTS, text, (size_t)n, err);
}

int picture_take_rows(struct picture *p, PGconn *connection,
		      struct hb_error *err)
{
	auto_result PGresult *list = NULL;
	int r = query_settle(connection, err);

	if (r >= 0)
		r = query_rows(connection, LIST, &list, err);
	for (int i = 0; r >= 0 && i < PQntuples(list); i++)
		r = take_relation(p, connection, list, i, err);
	return r < 0 ? r : take_large_objects(p, connection, err);
}

int picture_take_file(struct picture *p, int from_dir, const char *from,
		      const char *name, struct hb_error *err)
{
	auto_fd int fd = sys_openat(from_dir, from, O_RDONLY | O_NOFOLLOW, 0);
	auto_free char *text = NULL;
	struct stat st;
	ssize_t n;
	int r = fd < 0 ? fd : sys_fstat(fd, &st);

	if (r >= 0 &&
	    (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > FILE_READ_MAX))
		r = -EFBIG;
	if (r < 0)
		return hb_fail(err, r, "cannot read '%s'", quoted(from));
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read '%s'", quoted(from));
	n = sys_read_full(fd, text, (size_t)st.st_size);
	return n < 0 ? hb_fail(err, (int)n, "cannot read '%s'", quoted(from))
		     : take(p, name, text, (size_t)n, err);
}

static bool is_taken(const struct picture *p, const char *path)
{
	for (size_t i = 0; i < p->n_names; i++)
		if (strcmp(p->names[i], path) == 0)
			return true;
	return false;
}

/* Those are of all of the database, and have a way of their own. */
static bool is_whole(const char *path)
{
	return strcmp(path, PICTURE_ARCHIVE) == 0 ||
	       strcmp(path, PICTURE_STATEMENTS) == 0;
}

/* Of type inner_fn. */
static int drop(void *ctx, int dir, const char *name, const char *path,
		struct hb_error *err)
{
	struct picture *p = ctx;
	int r;

	if (is_taken(p, path) || is_whole(path))
		return 0;
	p->has_changed = true;
	r = sys_unlinkat(dir, name, 0);
	if (r >= 0 && p->also >= 0) {
		const char *last = path;
		auto_fd int at = open_above(p->also, path, false, &last);

		if (at >= 0)
			(void)sys_unlinkat(at, last, 0);
	}
	return r < 0 ? hb_fail_at(err, r, path, "cannot remove") : 0;
}

/* Of type inner_fn. */
static int miss(void *ctx, int dir, const char *name, const char *path,
		struct hb_error *err)
{
	struct picture *p = ctx;

	(void)dir;
	(void)name;
	(void)err;
	if (!is_taken(p, path) && !is_whole(path))
		p->is_base = false;
	return 0;
}

int picture_end(struct picture *p, struct hb_error *err)
{
	int r = inner_each(p->dir, drop, p, err);

	return r < 0 || p->base < 0 ? r : inner_each(p->base, miss, p, err);
}
