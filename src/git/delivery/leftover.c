/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/leftover.h"

#include "git/delivery/decision.h"
#include "git/delivery/git_part.h"
#include "git/delivery/heads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fate {
	enum delivery_how how;
	enum delivery_stage stage;
};

static bool is_our_desk(const struct decision *d, const char *path, size_t desk)
{
	return strlen(d->q->desk) == desk &&
	       strncmp(d->q->desk, path, desk) == 0;
}

/* Whether the base has a worktree there: the user's, which stays as it is. */
static bool is_other_desk(const struct decision *d, const char *path,
			  size_t desk)
{
	char head[GITREFS_NAME_MAX];

	if (is_our_desk(d, path, desk) || desk + sizeof("/HEAD") > sizeof(head))
		return false;
	memcpy(head, path, desk);
	memcpy(head + desk, desk ? "/HEAD" : "HEAD", desk ? 6 : 5);
	return decision_base(d, head)[0] && decision_session(d, head)[0];
}

/* What the user removed with its worktree stays so: half of one is damage. */
static enum delivery_how how_at_removed_desk(enum git_part part)
{
	return part == GIT_PART_LOG || part == GIT_PART_NOTE ? DELIVERY_DROPPED
							     : DELIVERY_STAYS;
}

/* An object has its content in its name: what is there is the same. */
static struct fate fate_of_object(const struct decision *d,
				  const struct delivery_change *change)
{
	return (struct fate){ change->is_gone ||
					      decision_base_has(d, change->path)
				      ? DELIVERY_SETTLED
				      : DELIVERY_AS_IS,
			      DELIVERY_STAGE_OBJECTS };
}

/* The session's file, or that it has none, without a merge. */
static enum delivery_how whole(const struct decision *d,
			       const struct delivery_change *change)
{
	if (!change->is_gone)
		return DELIVERY_AS_IS;
	return decision_base_has(d, change->path) ? DELIVERY_DELETE
						  : DELIVERY_SETTLED;
}

/* The host's where it is newer; ORIG_HEAD goes with its HEAD. */
static enum delivery_how how_of_note(const struct decision *d,
				     const struct delivery_change *change,
				     const char *rest)
{
	if (change->is_newer)
		return DELIVERY_SETTLED;
	if (!d->is_forward && strcmp(rest, "FETCH_HEAD") != 0)
		return DELIVERY_STAYS;
	return whole(d, change);
}

/*
 * A log that got no lines: it stays with its pending reference.  Else the
 * base's stays as it is, also where the session removed old lines.
 */
static enum delivery_how how_of_log(const struct decision *d,
				    const struct delivery_change *change,
				    const char *rest)
{
	const char *name = rest + strlen("logs/");

	if (strcmp(name, "HEAD") == 0)
		return d->is_forward ? DELIVERY_SETTLED : DELIVERY_STAYS;
	if (kept_refs_value(&d->pending, name))
		return DELIVERY_STAYS;
	if (decision_base_has(d, change->path) || change->is_gone ||
	    !decision_base(d, name)[0])
		return DELIVERY_SETTLED;
	return DELIVERY_AS_IS;
}

static struct fate fate_of(const struct decision *d,
			   const struct delivery_change *change)
{
	const char *rest;
	size_t desk;
	enum git_part part = git_part_of(change->path, &desk, &rest);
	enum delivery_how how = whole(d, change);

	if (part == GIT_PART_OBJECT)
		return fate_of_object(d, change);
	if (part == GIT_PART_CACHE || part == GIT_PART_LOCK)
		return (struct fate){ DELIVERY_DROPPED,
				      DELIVERY_STAGE_OBJECTS };
	if (heads_is_removed_desk(d, change->path, desk))
		return (struct fate){ how_at_removed_desk(part),
				      DELIVERY_STAGE_REST };
	if (is_other_desk(d, change->path, desk))
		return (struct fate){ DELIVERY_STAYS, DELIVERY_STAGE_REST };
	if (part == GIT_PART_NOTE)
		how = how_of_note(d, change, rest);
	if (part == GIT_PART_LOG &&
	    (desk == 0 || is_our_desk(d, change->path, desk)))
		how = how_of_log(d, change, rest);
	if ((part == GIT_PART_OPERATION || part == GIT_PART_INDEX) &&
	    is_our_desk(d, change->path, desk) && !d->is_forward)
		how = DELIVERY_STAYS;
	return (struct fate){ how, DELIVERY_STAGE_REST };
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct delivery_item *)a)->path,
		      ((const struct delivery_item *)b)->path);
}

static int is_path(const void *key, const void *item)
{
	return strcmp(key, ((const struct delivery_item *)item)->path);
}

static void sort(struct delivery *out)
{
	if (out->n > 0)
		qsort(out->items, out->n, sizeof(*out->items), by_path);
}

int leftover_add_items(struct decision *d)
{
	size_t n = d->out->n;

	sort(d->out);
	for (size_t i = 0; i < d->q->n_changes; i++) {
		const struct delivery_change *change = &d->q->changes[i];
		struct fate fate;

		if (n > 0 && bsearch(change->path, d->out->items, n,
				     sizeof(*d->out->items), is_path))
			continue;
		fate = fate_of(d, change);
		if (!decision_add(d, change->path, fate.how, fate.stage))
			return -ENOMEM;
	}
	sort(d->out);
	return 0;
}

static void keep(struct delivery_item *item)
{
	bool is_done = (item->how == DELIVERY_SETTLED && !item->is_ref) ||
		       item->how == DELIVERY_DROPPED;

	if (item->stage == DELIVERY_STAGE_OBJECTS)
		return;
	free(item->content);
	free(item->old);
	free(item->new);
	item->content = item->old = item->new = NULL;
	item->len = 0;
	item->is_ref = item->keeps_layer = false;
	if (!is_done)
		item->how = DELIVERY_STAYS;
}

void leftover_keep_all(struct decision *d, const char *but)
{
	struct delivery *out = d->out;
	size_t n = 0;

	for (size_t i = 0; i < out->n; i++) {
		if (but && strcmp(out->items[i].path, but) == 0) {
			out->items[n++] = out->items[i];
			continue;
		}
		/* Of our own making: the session has nothing there. */
		if (!decision_change(d, out->items[i].path)) {
			free(out->items[i].path);
			free(out->items[i].content);
			free(out->items[i].old);
			free(out->items[i].new);
			continue;
		}
		keep(&out->items[i]);
		out->items[n++] = out->items[i];
	}
	out->n = n;
}
