/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/orphans.h"

#include "base/auto.h"
#include "base/grow.h"
#include "base/quote.h"
#include "git/ancestry.h"
#include "git/delivery/decision.h"
#include "git/delivery/divert.h"
#include "git/delivery/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * An orphan is a commit that the base reaches now, that nothing will reach once
 * the delivery is in place.  The session did not drop it, either.  It has
 * the references that it changed, and else those of T0.  The base's present
 * values do not count: the layer shows them inside, as if the session had moved
 * the user's branch itself.
 *
 * All walks start at values that this delivery takes away.  There is nothing to
 * walk where it only moves forward, or where the user neither took something
 * away nor packed what the session moved.
 */

#define PACKED	 "packed-refs"
#define STASH	 "refs/stash"
#define BRANCHES "refs/heads/"

struct ids {
	struct git_id *ids;
	const char **names; /* of the references, or NULL */
	size_t n;
};

struct orphans {
	struct decision *d;
	struct ids dropped; /* values that the base loses, with their names */
	/* All values afterwards; behind `n_final`, those of the session. */
	struct ids kept;
	size_t n_final;
};

static void ids_done(struct ids *ids)
{
	free(ids->ids);
	free(ids->names);
}

static int ids_add(struct ids *ids, const char *name, const char *value)
{
	struct git_id id;
	size_t n = ids->n;

	if (!git_id_parse(value, strlen(value), &id))
		return 0;
	if (grow(ids->ids, ids->n) < 0 || grow(ids->names, n) < 0)
		return -ENOMEM;
	ids->ids[ids->n] = id;
	ids->names[ids->n++] = name;
	return 0;
}

static bool has_stash(const struct kept_refs *refs, const char *id)
{
	for (size_t i = 0; i < refs->n_stash; i++)
		if (strcmp(refs->stash[i], id) == 0)
			return true;
	return false;
}

/* Whether the user took a value or a stash of T0 away. */
static bool has_base_dropped(const struct decision *d)
{
	const struct kept_refs *then = d->q->kept;

	for (size_t i = 0; i < then->n; i++)
		if (strcmp(decision_base(d, then->refs[i].name),
			   then->refs[i].value) != 0)
			return true;
	for (size_t i = 0; i < then->n_stash; i++)
		if (!has_stash(&d->loose, then->stash[i]))
			return true;
	return false;
}

static int add_dropped(struct orphans *o, const struct kept_ref *ref,
		       const char *moved)
{
	int r = values_is_ancestor(o->d->q->objects, ref->value, moved);

	if (r == 0)
		r = ids_add(&o->dropped, ref->name, ref->value);
	return r < 0 ? r : 0;
}

/* Values of the base, and those that it gets. */
static int add_final(struct orphans *o)
{
	struct decision *d = o->d;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->base.n; i++) {
		const struct kept_ref *ref = &d->base.refs[i];
		const char *moved = kept_refs_value(&d->moved, ref->name);

		if (!moved)
			r = ids_add(&o->kept, ref->name, ref->value);
		else
			r = add_dropped(o, ref, moved);
	}
	for (size_t i = 0; r >= 0 && i < d->moved.n; i++)
		r = ids_add(&o->kept, d->moved.refs[i].name,
			    d->moved.refs[i].value);
	for (size_t i = 0; r >= 0 && i < d->out->next.n_stash; i++)
		r = ids_add(&o->kept, STASH, d->out->next.stash[i]);
	for (size_t i = 0; r >= 0 && i < d->loose.n_stash; i++)
		if (!has_stash(&d->out->next, d->loose.stash[i]))
			r = ids_add(&o->dropped, STASH, d->loose.stash[i]);
	return r;
}

/* Whether the session has its value of that name by its own doing. */
static bool is_own(const struct decision *d, const char *name)
{
	return decision_change(d, name) ||
	       (decision_change(d, PACKED) &&
		strcmp(decision_session(d, name), decision_base(d, name)) != 0);
}

/*
 * The user packed it since, and the session's own packed-refs hides that line.
 * The value of T0 could not be seen inside, and a commit made there has no
 * parent.  So a value of the session need not come from it.
 */
static bool was_hidden(const struct decision *d, const char *name)
{
	const struct delivery_change *packed = decision_change(d, PACKED);

	return packed && !packed->is_gone && decision_change(d, name) &&
	       !kept_refs_is_packed(d->q->kept, name) &&
	       !kept_refs_value(&d->loose, name) && decision_base(d, name)[0];
}

static bool has_hidden(const struct decision *d)
{
	const struct kept_refs *then = d->q->kept;

	for (size_t i = 0; i < then->n; i++)
		if (was_hidden(d, then->refs[i].name))
			return true;
	return false;
}

static int add_session(struct orphans *o)
{
	struct decision *d = o->d;
	const struct kept_refs *then = d->q->kept;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->session.n; i++)
		if (is_own(d, d->session.refs[i].name))
			r = ids_add(&o->kept, NULL, d->session.refs[i].value);
	for (size_t i = 0; r >= 0 && i < then->n; i++)
		if (!is_own(d, then->refs[i].name) ||
		    was_hidden(d, then->refs[i].name))
			r = ids_add(&o->kept, NULL, then->refs[i].value);
	/* The session dropped a stash that the base has and will not have. */
	for (size_t i = 0; r >= 0 && i < then->n_stash; i++)
		if (has_stash(&d->out->next, then->stash[i]) ||
		    !has_stash(&d->loose, then->stash[i]))
			r = ids_add(&o->kept, NULL, then->stash[i]);
	return r;
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct ancestry_item *)a)->id.hex,
		      ((const struct ancestry_item *)b)->id.hex);
}

/* The first that is in one list and not in the other; NULL: there is none. */
static const struct ancestry_item *first_orphan(const struct ancestry *lost,
						struct ancestry *dropped)
{
	if (dropped->n > 0)
		qsort(dropped->items, dropped->n, sizeof(*dropped->items),
		      by_id);
	for (size_t i = 0; i < lost->n; i++)
		if (!lost->items[i].is_missing &&
		    (dropped->n == 0 ||
		     !bsearch(&lost->items[i], dropped->items, dropped->n,
			      sizeof(*dropped->items), by_id)))
			return &lost->items[i];
	return NULL;
}

static const char *short_name(const char *name)
{
	return strncmp(name, BRANCHES, strlen(BRANCHES)) == 0
		       ? name + strlen(BRANCHES)
		       : name;
}

static int keep(struct orphans *o, const char *name, const struct git_id *id)
{
	struct decision *d = o->d;
	const char *moved = kept_refs_value(&d->moved, name);
	auto_free char *to = NULL;
	int r = divert(d, name, id->hex, &to);

	if (r >= 0 && !to)
		r = -EFBIG;
	if (r >= 0)
		r = decision_say(d,
				 "%s %s, and nothing else reaches commit %.12s "
				 "any more: it is kept as %s",
				 quoted(short_name(name)),
				 moved && !moved[0] ? "goes" : "moves", id->hex,
				 quoted(short_name(to)));
	kept_refs_sort(&d->moved);
	return r;
}

/* From now on its parents are reached. */
static int add_kept(struct orphans *o, const struct git_id *id)
{
	int r = ids_add(&o->kept, NULL, id->hex);

	if (r < 0)
		return r;
	o->kept.ids[o->kept.n - 1] = o->kept.ids[o->n_final];
	o->kept.ids[o->n_final++] = *id;
	return 0;
}

/* 1: one was found and kept, and there may be more; 0: there is none. */
static int keep_one(struct orphans *o)
{
	auto_ancestry struct ancestry lost = { 0 };
	auto_ancestry struct ancestry dropped = { 0 };
	const struct ids *from = &o->dropped, *to = &o->kept;
	const struct ancestry_item *item;
	int r = ancestry_find(o->d->q->objects, from->ids, from->n, to->ids,
			      o->n_final, &lost);

	if (r >= 0 && lost.n > 0)
		r = ancestry_find(o->d->q->objects, from->ids, from->n, to->ids,
				  to->n, &dropped);
	if (r < 0)
		return r;
	item = first_orphan(&lost, &dropped);
	if (!item)
		return 0;
	r = keep(o, from->names[item->tip], &item->id);
	if (r >= 0)
		r = add_kept(o, &item->id);
	return r < 0 ? r : 1;
}

static int keep_all(struct orphans *o)
{
	int r = add_final(o);

	o->n_final = o->kept.n;
	if (r >= 0 && o->dropped.n > 0)
		r = add_session(o);
	if (r < 0 || o->dropped.n == 0)
		return r;
	do
		r = keep_one(o);
	while (r > 0);
	/* Too far to tell: then all of them count. */
	for (size_t i = 0; r == -EFBIG && i < o->dropped.n; i++)
		if (keep(o, o->dropped.names[i], &o->dropped.ids[i]) < 0)
			return -EFBIG;
	return r == -EFBIG ? 0 : r;
}

int orphans_keep(struct decision *d)
{
	struct orphans o = { .d = d };
	int r = 0;

	kept_refs_sort(&d->moved);
	if (has_base_dropped(d) || has_hidden(d))
		r = keep_all(&o);
	ids_done(&o.dropped);
	ids_done(&o.kept);
	return r;
}
