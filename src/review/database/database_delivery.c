/* SPDX-License-Identifier: Apache-2.0 */
#include "review/database/database_delivery.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "changes/changes.h"
#include "changes/filter.h"
#include "holdback/database.h"
#include "holdback/holdback.h"
#include "holdback/session.h"
#include "host/helper_error.h"
#include "review/wanted.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/session.h"
#include "store/pictures.h"
#include "store/store.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define CHUNK	   ((size_t)64 << 10)
#define STATEMENTS ".sql"
#define FRESH	   ".holdback-new"

/* Files of the picture, and what is put behind the user's name for each. */
static const struct {
	const char *name, *ending;
} parts[] = { { "archive", "" }, { "statements.sql", STATEMENTS } };

#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

bool hb_session_has_database(const struct hb_session *s)
{
	return pictures_find(s->store, &s->record) >= 0;
}

static int open_place(const struct hb_session *s, char path[PATH_MAX],
		      const char **ret_picture, struct hb_error *err)
{
	const char *source =
		s->record.resources[pictures_find(s->store, &s->record)].source;

	*ret_picture = path_basename(source).s;
	return pictures_open(source, path, err);
}

int hb_session_database_look(struct hb_session *s, struct hb_error *err)
{
	char path[PATH_MAX];
	const char *picture;
	const char *words[] = { "postgres", "look", path, NULL, NULL };
	auto_fd int place = -1;
	int status = 0, r;

	if (!hb_session_has_database(s))
		return 0;
	place = open_place(s, path, &picture, err);
	if (place < 0)
		return place;
	words[3] = picture;
	r = hb_run_helper("postgres", (char *const *)(uintptr_t)words,
			  s->store->envp, &status, err);
	if (r < 0)
		return r;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
		return WEXITSTATUS(status);
	r = helper_error(place, err);
	hb_fix(err, "start the server of the database, or holdback rollback");
	return hb_fail(err, r, "cannot compare with the real database");
}

/* The layer that has the picture's archive; -1: nothing is pending. */
static int find_layer(struct hb_session *s, size_t number, struct hb_error *err)
{
	struct resource *resource;
	int r = session_open_resources(s, err);

	if (r >= 0)
		r = session_open_layers(s, number, err);
	if (r < 0)
		return r;
	resource = &s->resources[number];
	for (size_t i = 0; i < resource->n_layers; i++)
		if (sys_faccessat(resource->layers[i], parts[0].name, 0) >= 0)
			return resource->layers[i];
	return -1;
}

static bool is_inspected(const struct hb_session *s)
{
	char path[PATH_MAX], name[PICTURES_NAME_SIZE];
	const char *picture;
	auto_fd int place = open_place(s, path, &picture, NULL);

	pictures_inspected(&s->record, name);
	return place >= 0 && sys_faccessat(place, name, 0) >= 0;
}

static int check(const struct hb_session *s, const char *file,
		 struct hb_error *err)
{
	if (!is_inspected(s)) {
		hb_fix(err, "holdback exec @%s -- true", s->record.name);
		return hb_fail(err, -HB_E_STATE,
			       "the changes of the database of session '%s' "
			       "could not be told after its last command",
			       s->record.name);
	}
	if (file)
		return 0;
	hb_fix(err, "--db-file FILE, or --except GLOB for the database");
	return hb_fail(err, -HB_E_STATE,
		       "changes of a database are written to a file, and none "
		       "is named");
}

static int copy(int from, int to)
{
	auto_free char *chunk = malloc(CHUNK);
	ssize_t n = chunk ? 0 : -ENOMEM;

	while (chunk && (n = sys_read(from, chunk, CHUNK)) > 0) {
		n = sys_write_all(to, chunk, (size_t)n);
		if (n < 0)
			break;
	}
	return n < 0 ? (int)n : sys_fsync(to);
}

static int name_part(const struct database_delivery *d, size_t i,
		     const char *more, char ret[NAME_MAX + 1])
{
	int r = snprintf(ret, NAME_MAX + 1, "%s%s%s", d->name, parts[i].ending,
			 more);

	return r < 0 || r > NAME_MAX ? -ENAMETOOLONG : 0;
}

static int write_part(const struct database_delivery *d, size_t i, int layer,
		      struct hb_error *err)
{
	char fresh[NAME_MAX + 1], name[NAME_MAX + 1];
	auto_fd int from = -1;
	auto_fd int to = -1;
	uint64_t size;
	int r = name_part(d, i, FRESH, fresh);

	if (r >= 0)
		r = name_part(d, i, "", name);
	if (r >= 0 && sys_faccessat(d->dir, name, 0) != -ENOENT) {
		hb_fix(err, "name a file that is not there");
		return hb_fail(err, -HB_E_STATE, "'%s%s' exists",
			       quoted(d->file), parts[i].ending);
	}
	from = r < 0 ? r : access_open_regular(layer, parts[i].name, &size);
	if (from < 0)
		return hb_fail(err, from, "cannot read '%s' of the session",
			       parts[i].name);
	to = sys_openat(d->dir, fresh,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	r = to < 0 ? to : copy(from, to);
	return r < 0 ? hb_fail(err, r, "cannot write '%s'", quoted(d->file))
		     : 0;
}

static int open_target(struct database_delivery *d, const char *file,
		       struct hb_error *err)
{
	struct path_part dir = path_dirname(file);
	struct path_part base = path_basename(file);
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.*s", (int)dir.n, dir.s);
	(void)snprintf(d->name, sizeof(d->name), "%.*s", (int)base.n, base.s);
	d->file = file;
	d->dir = sys_openat(AT_FDCWD, dir.n > 0 ? path : ".",
			    O_RDONLY | O_DIRECTORY, 0);
	if (d->dir < 0)
		return hb_fail(err, d->dir, "cannot open the directory of '%s'",
			       quoted(file));
	return base.n > 0 ? 0
			  : hb_fail(err, -HB_E_USAGE, "'%s' names no file",
				    quoted(file));
}

static void drop_fresh(const struct database_delivery *d)
{
	char fresh[NAME_MAX + 1];

	for (size_t i = 0; d->dir >= 0 && i < N_PARTS; i++)
		if (name_part(d, i, FRESH, fresh) >= 0)
			(void)sys_unlinkat(d->dir, fresh, 0);
}

/* Whether the commit would take the archive. */
static int is_wanted(const struct hb_session *s, size_t number,
		     const struct hb_filter *asked, struct hb_error *err)
{
	const struct change change = { .kind = CHANGE_MODIFIED,
				       .path = parts[0].name,
				       .resource = number };
	auto_wanted struct wanted wanted = { 0 };
	struct changes_filter filter;
	int r = wanted_filter(s, asked, &wanted, &filter, err);

	return r < 0 ? r : changes_filter_matches(&filter, &change);
}

int delivery_begin(struct database_delivery *d, struct hb_session *s,
		   const struct hb_commit_options *options,
		   struct hb_error *err)
{
	const char *file = options->database_file;
	int number = pictures_find(s->store, &s->record);
	int layer, r;

	if (number < 0)
		return file ? hb_fail(err, -HB_E_USAGE,
				      "session '%s' has no database for a file",
				      s->record.name)
			    : 0;
	layer = find_layer(s, (size_t)number, err);
	if (layer < 0)
		return layer == -1 ? 0 : layer;
	r = is_wanted(s, (size_t)number, &options->filter, err);
	if (r <= 0)
		return r;
	r = check(s, file, err);
	if (r >= 0)
		r = hb_session_database_look(s, err);
	if (r >= 0)
		r = open_target(d, file, err);
	for (size_t i = 0; r >= 0 && i < N_PARTS; i++)
		r = write_part(d, i, layer, err);
	d->is_pending = r >= 0;
	if (r < 0)
		drop_fresh(d);
	return r < 0 ? r : 0;
}

static int place_parts(const struct database_delivery *d, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < N_PARTS; i++) {
		char fresh[NAME_MAX + 1], name[NAME_MAX + 1];

		r = name_part(d, i, FRESH, fresh);
		if (r >= 0)
			r = name_part(d, i, "", name);
		if (r >= 0)
			r = sys_renameat2(d->dir, fresh, d->dir, name,
					  RENAME_KEEP);
	}
	if (r >= 0)
		r = sys_fsync(d->dir);
	return r < 0 ? hb_fail(err, r, "cannot name '%s'", quoted(d->file)) : 0;
}

int delivery_end(struct database_delivery *d, struct hb_session *s,
		 bool is_done, struct hb_error *err)
{
	int number = pictures_find(s->store, &s->record);
	int r = 0;

	if (!d->is_pending)
		return 0;
	/* What was left out is pending, and was not delivered. */
	is_done = is_done && find_layer(s, (size_t)number, NULL) == -1;
	session_close_resources(s);
	if (is_done)
		r = place_parts(d, err);
	if (r < 0)
		r = hb_fail(err, r,
			    "the changes are committed, and the archive is in "
			    "'%s'",
			    s->record.resources[number].source);
	else if (is_done)
		store_say(s->store,
			  "the database is in '%s' and, as statements, in "
			  "'%s" STATEMENTS "'; the server has not changed; to "
			  "load it: createdb NEW, then pg_restore -d NEW '%s'",
			  quoted(d->file), quoted(d->file), quoted(d->file));
	drop_fresh(d);
	fd_closep(&d->dir);
	return r;
}
