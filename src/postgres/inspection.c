/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/inspection.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "postgres/inner_tree.h"
#include "postgres/picture.h"
#include "postgres/private_server.h"
#include "postgres/query.h"
#include "postgres/whole_file.h"
#include "sys/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCHIVE_NEW    "archive.new"
#define STATEMENTS_NEW "statements.new"
#define SCHEMA_NEW     "schema.new"
#define REFUSED_LOG    "refused.log"
#define REFUSED_NEW    "refused.new"
#define SECOND	       "second"
#define LOG_MAX	       ((size_t)8 << 20)

/*
 * The role of the second server is an ordinary one.  It cannot be the user's
 * own, which may be named in the archive with more rights.
 */
#define ORDINARY "holdback_ordinary"

static int dump_used(struct private_server *s, const char *to,
		     struct hb_error *err)
{
	static const char *const arguments[] = { "-Fc", NULL };
	int r = private_start(s, err);
	int stopped;

	if (r >= 0)
		r = private_dump(s, s->facts->user, arguments, to, err);
	stopped = private_stop(s, r < 0 ? NULL : err);
	return r < 0 ? r : stopped;
}

/* One line for each object, and no line that changes from time to time. */
static int write_refused(int dir, struct hb_error *err)
{
	static const char of[] = "from TOC entry ";
	auto_free char *text = calloc(1, LOG_MAX);
	auto_buf struct buf out = BUF_INIT(LOG_MAX);
	char *line, *rest = NULL;
	ssize_t n = text ? sys_read_file_at(dir, REFUSED_LOG, text, LOG_MAX)
			 : -ENOMEM;

	if (n < 0)
		return hb_fail(err, (int)n, "cannot read '" REFUSED_LOG "'");
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *found = strstr(line, of);

		/* "123; 456 789 TYPE SCHEMA NAME OWNER" */
		found = found ? strchr(found, ';') : NULL;
		if (found) {
			found += 1 + strspn(found + 1, " 0123456789");
			(void)buf_add_fmt(&out, "%s\n", found);
			continue;
		}
		found = strstr(line, "ERROR:");
		if (found)
			(void)buf_add_fmt(&out, "\t%s\n",
					  found + 6 + strspn(found + 6, " "));
	}
	if (out.error < 0)
		return hb_fail(err, out.error, "too much is refused");
	return whole_put(dir, REFUSED_NEW, buf_str(&out), out.len, err);
}

/* The second server: the archive by an ordinary role, and what is there then.
 */
static int restore_second(struct private_server *s, const char *archive,
			  struct picture *p, const struct place *place,
			  struct hb_error *err)
{
	static const char *const statements[] = { "--rows-per-insert=100",
						  "--no-owner", PRIVATE_KEY,
						  NULL };
	char to[PATH_MAX];
	auto_connection PGconn *connection = NULL;
	int r = private_prepare(s, ORDINARY, false, err);

	if (r >= 0)
		r = private_restore(s, ORDINARY, archive, REFUSED_LOG, err);
	if (r >= 0)
		r = write_refused(place->dir, err);
	(void)snprintf(to, sizeof(to), "%s/" SCHEMA_NEW, place->path);
	if (r >= 0)
		r = private_schema(s, archive, to, err);
	(void)snprintf(to, sizeof(to), "%s/" STATEMENTS_NEW, place->path);
	if (r >= 0)
		r = private_dump(s, PRIVATE_OWNER, statements, to, err);
	if (r >= 0)
		r = private_connect(s, PRIVATE_OWNER, s->facts->name,
				    &connection, err);
	if (r >= 0)
		r = picture_take_rows(p, connection, err);
	if (r >= 0)
		r = picture_take_file(p, place->dir, SCHEMA_NEW, PICTURE_SCHEMA,
				      err);
	return r < 0 ? r
		     : picture_take_file(p, place->dir, REFUSED_NEW,
					 PICTURE_REFUSED, err);
}

static int look_at(const struct place *place, const struct database_facts *f,
		   const char *archive, struct picture *p, struct hb_error *err)
{
	struct private_server s = { .facts = f,
				    .envp = place->envp,
				    .dir = place->dir,
				    .path = place->path,
				    .data = SECOND,
				    .is_brief = true };
	int stopped;
	int r = private_init(&s, err);

	if (r >= 0)
		r = private_start(&s, err);
	if (r >= 0)
		r = restore_second(&s, archive, p, place, err);
	stopped = private_stop(&s, r < 0 ? NULL : err);
	if (r >= 0)
		r = stopped;
	if (r >= 0)
		r = inner_remove(place->dir, SECOND, err);
	return r < 0 ? r : picture_end(p, err);
}

/*
 * The database is as in the base: so are the bytes of it.  The command may have
 * written others there.
 */
static int put_back(const struct place *place, struct hb_error *err)
{
	static const char *const names[] = { PICTURE_ARCHIVE,
					     PICTURE_STATEMENTS };
	char ours[WHOLE_HEX_SIZE], theirs[WHOLE_HEX_SIZE];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < 2; i++) {
		if (whole_digest(place->picture, names[i], ours, NULL) >= 0 &&
		    whole_digest(place->base, names[i], theirs, NULL) >= 0 &&
		    strcmp(ours, theirs) == 0)
			continue;
		r = whole_copy(place->base, names[i], place->picture, names[i],
			       err);
		if (r >= 0)
			whole_take_time(place->base, place->picture, names[i]);
	}
	return r;
}

static int put_new(const struct place *place, struct hb_error *err)
{
	int r = whole_copy(place->dir, ARCHIVE_NEW, place->picture,
			   PICTURE_ARCHIVE, err);

	return r < 0 ? r
		     : whole_copy(place->dir, STATEMENTS_NEW, place->picture,
				  PICTURE_STATEMENTS, err);
}

static void sweep(int dir)
{
	static const char *const names[] = { ARCHIVE_NEW, STATEMENTS_NEW,
					     SCHEMA_NEW, REFUSED_LOG,
					     REFUSED_NEW };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)sys_unlinkat(dir, names[i], 0);
}

static int mark_filled(const struct place *place, struct hb_error *err)
{
	char digest[WHOLE_HEX_SIZE];
	int r = whole_digest(place->picture, PICTURE_ARCHIVE, digest, err);

	return r < 0 ? r
		     : whole_put(place->dir, INSPECTION_FILLED, digest,
				 strlen(digest), err);
}

int inspection_run(const struct place *place, struct hb_error *err)
{
	auto_facts struct database_facts f = { 0 };
	struct private_server used = { .facts = &f,
				       .envp = place->envp,
				       .dir = place->dir,
				       .path = place->path,
				       .data = "data" };
	char archive[PATH_MAX];
	struct picture p;
	int r = facts_read(place->facts, &f, err);

	picture_begin(&p, place->picture, place->base);
	(void)snprintf(archive, sizeof(archive), "%s/" ARCHIVE_NEW,
		       place->path);
	if (r >= 0)
		r = dump_used(&used, archive, err);
	if (r >= 0)
		r = look_at(place, &f, archive, &p, err);
	if (r >= 0)
		r = p.is_base ? put_back(place, err) : put_new(place, err);
	if (r >= 0)
		r = mark_filled(place, err);
	picture_done(&p);
	sweep(place->dir);
	return r;
}

int inspection_first(const struct place *place, struct hb_error *err)
{
	auto_facts struct database_facts f = { 0 };
	char archive[PATH_MAX];
	struct picture p;
	int r = facts_read(place->facts, &f, err);

	picture_begin(&p, place->picture, -1);
	(void)snprintf(archive, sizeof(archive), "%s/" PICTURE_ARCHIVE,
		       place->picture_path);
	if (r >= 0)
		r = look_at(place, &f, archive, &p, err);
	if (r >= 0)
		r = whole_copy(place->dir, STATEMENTS_NEW, place->picture,
			       PICTURE_STATEMENTS, err);
	picture_done(&p);
	sweep(place->dir);
	return r;
}
