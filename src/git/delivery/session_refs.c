/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/session_refs.h"

#include "base/auto.h"
#include "git/delivery/decision.h"
#include "git/delivery/git_part.h"
#include "git/refname.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKED	 "packed-refs"
#define BRANCHES "refs/heads/"

static int copy_refs(struct kept_refs *to, const struct kept_refs *from)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < from->n; i++)
		r = kept_refs_add(to, from->refs[i].name, from->refs[i].value);
	return r;
}

/* The value in a file that the session changed; "" is one without. */
static int read_value(struct decision *d, const char *path, char **ret_value)
{
	auto_free char *text = NULL;
	size_t len;
	int r = d->q->read(d->q->ctx, path, GITREFS_FILE_MAX - 1, &text, &len);

	if (r == -ENOMEM)
		return r;
	if (r < 0 || strlen(text) != len) {
		*ret_value = strdup("");
		return *ret_value ? 0 : -ENOMEM;
	}
	return kept_refs_read_value(text, ret_value);
}

/* A HEAD or a reference that the session wrote. */
static int add_changed(struct decision *d, const struct delivery_change *change,
		       enum git_part part)
{
	auto_free char *value = NULL;
	int r;

	if (part == GIT_PART_REF && !refname_is_valid(change->path))
		return kept_refs_add(&d->broken, change->path, "name");
	r = read_value(d, change->path, &value);
	if (r < 0)
		return r;
	if (value[0])
		return kept_refs_add(&d->session, change->path, value);
	if (part == GIT_PART_HEAD)
		return -EBADMSG;
	/* What it leads to is not known: as if the session had not moved it. */
	r = kept_refs_add(&d->broken, change->path, "value");
	if (r >= 0 && decision_base(d, change->path)[0])
		r = kept_refs_add(&d->session, change->path,
				  decision_base(d, change->path));
	return r;
}

static int add_files(struct decision *d)
{
	const struct delivery_request *q = d->q;
	const char *rest;
	size_t desk;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < q->n_changes; i++) {
		enum git_part part =
			git_part_of(q->changes[i].path, &desk, &rest);

		if (part != GIT_PART_REF && part != GIT_PART_HEAD)
			continue;
		if (!q->changes[i].is_gone)
			r = add_changed(d, &q->changes[i], part);
		else if (part == GIT_PART_HEAD && desk == 0)
			r = -EBADMSG;
	}
	for (size_t i = 0; r >= 0 && i < d->loose.n; i++)
		if (!decision_change(d, d->loose.refs[i].name))
			r = kept_refs_add(&d->session, d->loose.refs[i].name,
					  d->loose.refs[i].value);
	kept_refs_sort(&d->session);
	kept_refs_sort(&d->broken);
	return r;
}

/* git removes the log of a branch with the branch. */
static bool has_removed_log(const struct decision *d, const char *name)
{
	char path[sizeof("logs/") + GITREFS_NAME_MAX];
	const struct delivery_change *change;

	(void)snprintf(path, sizeof(path), "logs/%s", name);
	change = decision_change(d, path);
	return change && change->is_gone;
}

/* Whether the base has its log, which the session then left alone. */
static bool has_log(const struct decision *d, const char *name)
{
	char path[sizeof("logs/") + GITREFS_NAME_MAX];

	(void)snprintf(path, sizeof(path), "logs/%s", name);
	return decision_base_has(d, path);
}

/*
 * Whether the session deleted a reference that packed-refs of the base has.
 * Times tell nothing: after an undo, or beside a pending packed-refs, the
 * user's looks like ours.  `has_own`: the session has a packed-refs of its own,
 * without that line.
 *
 * At T0 it was a file, or has come since: the user has packed it.  Then its
 * file is gone, and an older packed-refs of the session hides the line.  So the
 * session has deleted it if it removed the file or the log.  Of a line of T0 it
 * is enough that the line is missing.  But a log that is there tells that the
 * user deleted the branch and made it again.
 *
 * Packing inside removes files as well.  If the user packs the same, the
 * session's packed-refs is no change, and its lines are those of the base.
 */
static bool is_deleted(const struct decision *d, const char *name, bool has_own)
{
	bool was_packed = kept_refs_is_packed(d->q->kept, name);

	if (has_own && has_removed_log(d, name))
		return true;
	if (was_packed)
		return has_own && !has_log(d, name);
	return kept_refs_value(d->q->kept, name) && d->q->trace &&
	       d->q->trace(d->q->ctx, name) == DELIVERY_TRACE_REMOVED &&
	       (has_own ||
		d->q->trace(d->q->ctx, PACKED) != DELIVERY_TRACE_FILE);
}

/* Lines of the base that the session's own packed-refs, if any, lacks. */
static int add_hidden(struct decision *d, bool has_own)
{
	auto_kept_refs struct kept_refs hidden = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->packed.n; i++) {
		const char *name = d->packed.refs[i].name;

		if (!kept_refs_value(&d->session, name) &&
		    (has_own ? !decision_change(d, name) : true) &&
		    !is_deleted(d, name, has_own))
			r = kept_refs_add(&hidden, name,
					  has_own ? decision_base(d, name)
						  : d->packed.refs[i].id.hex);
	}
	if (r >= 0)
		r = copy_refs(&d->session, &hidden);
	kept_refs_sort(&d->session);
	return r;
}

static int add_lines(struct decision *d)
{
	const struct delivery_change *change = decision_change(d, PACKED);
	auto_gitrefs struct gitrefs packed = { 0 };
	auto_free char *text = NULL;
	size_t len = 0;
	int r;

	if (!change)
		return add_hidden(d, false);
	if (change->is_gone)
		return add_hidden(d, true);
	r = d->q->read(d->q->ctx, PACKED, GITREFS_PACKED_MAX, &text, &len);
	if (r < 0 || strlen(text) != len)
		return r == -ENOMEM ? r : -EBADMSG;
	r = gitrefs_add_packed(&packed, text);
	if (r >= 0)
		r = kept_refs_add_packed(&d->session, &packed);
	return r < 0 ? r : add_hidden(d, true);
}

/* Also a line of packed-refs may say it. */
static void drop_without(struct decision *d)
{
	struct kept_refs *refs = &d->session;
	size_t n = strlen(BRANCHES);

	for (size_t i = 0; d->q->without && i < refs->n; i++) {
		if (strncmp(refs->refs[i].name, BRANCHES, n) != 0 ||
		    strcmp(refs->refs[i].name + n, d->q->without) != 0)
			continue;
		free(refs->refs[i].name);
		free(refs->refs[i].value);
		memmove(&refs->refs[i], &refs->refs[i + 1],
			(--refs->n - i) * sizeof(*refs->refs));
		return;
	}
}

int session_refs_read(struct decision *d)
{
	const struct delivery_request *q = d->q;
	int r = kept_refs_look_loose(q->base, q->prefix, &d->loose);

	if (r >= 0)
		r = gitrefs_add_packed_file(&d->packed, q->base, q->prefix);
	if (r >= 0)
		r = copy_refs(&d->base, &d->loose);
	kept_refs_sort(&d->base);
	gitrefs_sort(&d->packed);
	if (r >= 0)
		r = kept_refs_add_packed(&d->base, &d->packed);
	if (r >= 0)
		r = add_files(d);
	if (r >= 0)
		r = add_lines(d);
	drop_without(d);
	return r;
}
