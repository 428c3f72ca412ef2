/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "changes/changes.h"
#include "changes/database.h"
#include "changes/resource.h"
#include "holdback/session.h"
#include "review/changeset.h"
#include "session/database/database_box.h"
#include "session/database/unit.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "tree/access.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The rows that differ: two single files are made of the two databases, and a
 * box compares them.  Its answer is an enemy's, and is text of known shape.
 */

#define ANSWER_MAX ((size_t)4 << 20)

/* The text up to the next tab, which ends there; NULL: there is none. */
static char *take_field(char **at)
{
	char *field = *at, *tab = field ? strchr(field, '\t') : NULL;

	if (!tab)
		return NULL;
	*tab = '\0';
	*at = tab + 1;
	return field;
}

static bool take_number(char **at, uint64_t *ret)
{
	const char *field = take_field(at);
	char *end = NULL;

	if (!field || field[0] < '0' || field[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(field, &end, 10);
	return errno == 0 && *end == '\0';
}

/* false: it is no line that src/db/rows.c writes. */
static bool parse(char *line, struct hb_database_line *ret)
{
	const char *what = take_field(&line);
	const char *kind = take_field(&line);

	*ret = (struct hb_database_line){ 0 };
	if (!what || !kind || strlen(kind) != 1)
		return false;
	ret->kind = kind[0];
	if (what[0] == 'S') {
		ret->text = line;
		return kind[0] == '+' || kind[0] == '-';
	}
	if (!take_number(&line, &ret->added) ||
	    !take_number(&line, &ret->removed) ||
	    !take_number(&line, &ret->changed))
		return false;
	ret->text = line;
	return strchr("ADM?", kind[0]) != NULL;
}

static int tell_lines(char *answer, hb_database_fn fn, void *ctx,
		      struct hb_error *err)
{
	char *next = answer, *line;
	int r = 0;

	while (r >= 0 && (line = strsep(&next, "\n")) != NULL && next) {
		struct hb_database_line told;

		if (parse(line, &told))
			r = fn(ctx, &told, err);
	}
	return r;
}

static int make_sides(const struct resource *resource,
		      const struct change *change, int dir,
		      struct hb_error *err)
{
	const char *slash = strrchr(change->path, '/');
	const char *name = slash ? slash + 1 : change->path;
	auto_fd int base = access_open_below(
		resource->base, change->path,
		slash ? (size_t)(slash - change->path) : 0, O_PATH, err);
	int r = base < 0 ? base
			 : database_picture(base, name, false, dir, "old", err);

	return r < 0 ? r
		     : database_clean(resource, change->path, dir, "new", err);
}

static int compare(const struct resource *resource, const struct change *change,
		   char *answer, struct hb_error *err)
{
	char name[48];
	auto_fd int dir = -1;
	int r;

	(void)snprintf(name, sizeof(name), "rows.%ld", (long)sys_getpid());
	(void)tree_remove(resource->dir, name, NULL);
	dir = sys_open_dir(resource->dir, name, true);
	if (dir < 0)
		return hb_fail(err, dir, "cannot make room for a database");
	r = make_sides(resource, change, dir, err);
	if (r >= 0)
		r = database_box_run("rows", dir, answer, ANSWER_MAX, err);
	(void)tree_remove(resource->dir, name, NULL);
	return r;
}

int hb_changes_database(struct hb_changes *changes, hb_database_fn fn,
			void *ctx, struct hb_error *err)
{
	const struct resource *resource = NULL;
	const struct change *change = session_changes_last(changes, &resource);
	auto_free char *answer = NULL;
	struct hb_database_line line = { .kind = '!' };
	enum database_part part;
	struct hb_error why = { 0 };
	int r;

	if (!change || change->kind != CHANGE_MODIFIED ||
	    !database_is_listed(resource, change->path, &part) ||
	    part != DATABASE_MAIN)
		return 0;
	if (change->old.size + change->new.size > HB_DATABASE_ROWS_MAX) {
		line.text = "too large for a comparison of rows";
		r = fn(ctx, &line, err);
		return r < 0 ? r : 1;
	}
	answer = malloc(ANSWER_MAX);
	if (!answer)
		return hb_fail(err, -ENOMEM, "cannot compare databases");
	r = compare(resource, change, answer, &why);
	if (r < 0) {
		line.text = why.text;
		r = fn(ctx, &line, err);
	} else {
		r = tell_lines(answer, fn, ctx, err);
	}
	return r < 0 ? r : 1;
}
