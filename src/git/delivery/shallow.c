/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/shallow.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/grow.h"
#include "git/ancestry.h"
#include "git/delivery/decision.h"
#include "git/delivery/values.h"
#include "git/objectstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHALLOW	      KEPT_SHALLOW
#define SHALLOW_LINES 65536
#define DEEPER_MAX    64 /* boundaries, each of them a walk */

/* The three versions, and what they become. */
struct merge {
	struct decision *d;
	char *base, *session; /* "" for none */
	struct kept_refs then;
	struct buf text;
	bool has_said;
};

/* The next line that is an id; false: there is none. */
static bool next_id(const char **at, struct git_id *ret)
{
	while (**at) {
		size_t n = strcspn(*at, "\n");
		bool is_id = git_id_parse(*at, n, ret);

		*at += n + ((*at)[n] == '\n');
		if (is_id)
			return true;
	}
	return false;
}

static bool has_line(const char *text, const struct git_id *id)
{
	struct git_id other;

	while (next_id(&text, &other))
		if (git_id_is_same(&other, id))
			return true;
	return false;
}

bool shallow_is_beyond(struct objectstore *objects, const char *text,
		       const struct git_id *id)
{
	struct git_id boundary;

	while (next_id(&text, &boundary)) {
		struct git_object object = { 0 };
		bool is_parent = false;

		if (objectstore_read(objects, &boundary, OBJECTSTORE_COMMIT_MAX,
				     &object) >= 0)
			is_parent = strstr(object.data, id->hex) != NULL;
		free(object.data);
		if (is_parent)
			return true;
	}
	return false;
}

/* The parents that a commit names; -ENOENT: it cannot be read. */
static int parents_of(struct decision *d, const struct git_id *id,
		      struct git_id **ret, size_t *ret_n)
{
	struct git_object object = { 0 };
	struct git_commit commit;
	struct git_id parent;
	const char *at;
	int r = objectstore_read(d->q->objects, id, OBJECTSTORE_COMMIT_MAX,
				 &object);

	if (r >= 0)
		r = git_commit_parse(&object, &commit);
	at = r < 0 ? NULL : commit.parents;
	while (r >= 0 && git_commit_parent(&at, &parent)) {
		r = grow(*ret, *ret_n) < 0 ? -ENOMEM : 0;
		if (r >= 0)
			(*ret)[(*ret_n)++] = parent;
	}
	free(object.data);
	return r;
}

/*
 * Whether history is missing below a commit.  Where another boundary of the
 * session is, nothing is missing.
 */
static int is_missing_below(const struct merge *m, const struct git_id *id)
{
	struct decision *d = m->d;
	auto_free struct git_id *parents = NULL;
	auto_ancestry struct ancestry found = { 0 };
	size_t n = 0;
	int r = parents_of(d, id, &parents, &n);

	if (r < 0)
		return r == -ENOMEM ? r : 1;
	for (size_t i = 0; i < n; i++)
		if (!objectstore_has(d->q->objects, &parents[i]))
			return 1;
	r = n > 0 ? ancestry_find(d->q->objects, parents, n, NULL, 0, &found)
		  : 0;
	/* Too far to tell: its parents are there. */
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < found.n; i++)
		if (found.items[i].is_missing &&
		    !shallow_is_beyond(d->q->objects, m->session,
				       &found.items[i].id) &&
		    !shallow_is_beyond(d->q->objects, m->base,
				       &found.items[i].id))
			return 1;
	return 0;
}

static int add_line(struct merge *m, const struct git_id *id)
{
	return buf_add_fmt(&m->text, "%s\n", id->hex);
}

/* Once: there may be thousands of them. */
static int say(struct merge *m, const char *why, const struct git_id *id,
	       const char *what)
{
	if (m->has_said)
		return 0;
	m->has_said = true;
	return decision_say(m->d, "shallow: %s %.12s, so %s", why, id->hex,
			    what);
}

/* The user fetched history, down to this one: that was below one of T0. */
static int is_deeper(const struct merge *m, const struct git_id *id)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->then.n_shallow; i++)
		r = i == DEEPER_MAX
			    ? -EFBIG
			    : values_is_ancestor(m->d->q->objects, id->hex,
						 m->then.shallow[i]);
	return r == -EFBIG ? 0 : r;
}

/* Of a boundary that the session does not have: 1: it goes. */
static int is_passed(struct merge *m, const struct git_id *id)
{
	int r = kept_refs_is_shallow(&m->then, id->hex) ? 1 : is_deeper(m, id);

	if (r <= 0)
		return r;
	r = is_missing_below(m, id);
	if (r <= 0)
		return r < 0 ? r : 1;
	return say(m, "history is missing below", id, "that boundary stays");
}

/* Boundaries of the user's: the session may have fetched what is below. */
static int merge_base(struct merge *m)
{
	const char *at = m->base;
	struct git_id id;
	int r = 0;

	while (r >= 0 && next_id(&at, &id)) {
		r = has_line(m->session, &id) ? 0 : is_passed(m, &id);
		if (r == 0)
			r = add_line(m, &id);
	}
	return r;
}

/* Boundaries of the session alone: the user may have fetched what is below. */
static int merge_session(struct merge *m)
{
	const char *at = m->session;
	struct git_id id;
	int r = 0;

	while (r >= 0 && next_id(&at, &id)) {
		if (has_line(m->base, &id) || has_line(buf_str(&m->text), &id))
			continue;
		r = is_missing_below(m, &id);
		if (r > 0)
			r = add_line(m, &id);
		else if (r == 0 && !kept_refs_is_shallow(&m->then, id.hex))
			r = say(m, "the session cuts off the history of", &id,
				"history stays as it is");
	}
	return r;
}

static int add_item(struct merge *m)
{
	struct decision *d = m->d;
	const char *text = buf_str(&m->text);
	bool has_base = decision_base_has(d, SHALLOW);
	enum delivery_how how = DELIVERY_SETTLED;

	if (strcmp(text, m->base) != 0 && text[0])
		return decision_make(d, SHALLOW, DELIVERY_STAGE_OBJECTS,
				     strdup(text), m->text.len)
			       ? 1
			       : -ENOMEM;
	if (!text[0] && has_base)
		how = DELIVERY_DELETE;
	return decision_add(d, SHALLOW, how, DELIVERY_STAGE_OBJECTS) ? 1
								     : -ENOMEM;
}

static int count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n > SHALLOW_LINES ? -EFBIG : 0;
}

/*
 * Without a record the base's is the one of T0, unless it changed since.  Then
 * all boundaries of the base stay.
 */
static int read_then(struct merge *m, const struct delivery_change *change)
{
	const struct kept_refs *kept = m->d->q->kept;
	int r = 0;

	for (size_t i = 0; kept && r >= 0 && i < kept->n_shallow; i++)
		r = kept_refs_add_shallow(&m->then, kept->shallow[i]);
	if (r >= 0 && (!kept || kept->n == 0) && !change->is_newer)
		r = kept_refs_add_shallow(&m->then, m->base);
	kept_refs_sort(&m->then);
	return r;
}

static int read_all(struct merge *m, const struct delivery_change *change)
{
	const struct delivery_request *q = m->d->q;
	size_t len;
	int r = gitref_read_file(q->base, q->prefix, SHALLOW, KEPT_SHALLOW_MAX,
				 &m->base);

	if (r == -ENOENT) {
		m->base = strdup("");
		r = m->base ? 0 : -ENOMEM;
	}
	if (r >= 0 && change && !change->is_gone) {
		r = q->read(q->ctx, SHALLOW, KEPT_SHALLOW_MAX, &m->session,
			    &len);
	} else if (r >= 0) {
		m->session = strdup("");
		r = m->session ? 0 : -ENOMEM;
	}
	if (r >= 0)
		r = count_lines(m->base);
	if (r >= 0)
		r = count_lines(m->session);
	return r >= 0 && change ? read_then(m, change) : r;
}

int shallow_decide(struct decision *d)
{
	const struct delivery_change *change = decision_change(d, SHALLOW);
	struct merge m = { .d = d, .text = BUF_INIT(2 * KEPT_SHALLOW_MAX) };
	int r = read_all(&m, change);

	if (r >= 0 && change)
		r = merge_base(&m);
	if (r >= 0 && change)
		r = merge_session(&m);
	if (r >= 0) {
		d->shallow = strdup(change ? buf_str(&m.text) : m.base);
		r = d->shallow ? 1 : -ENOMEM;
	}
	if (r >= 0 && change)
		r = add_item(&m);
	if (r == -EFBIG || r == -E2BIG)
		r = decision_say(d, "the file shallow is too long: nothing of "
				    "the repository is delivered");
	free(m.base);
	free(m.session);
	kept_refs_done(&m.then);
	buf_done(&m.text);
	return r;
}
