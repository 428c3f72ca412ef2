/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/renames.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "tree/access.h"
#include "tree/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void side_done(struct rename_side *side)
{
	for (size_t i = 0; i < side->n; i++)
		free(side->ends[i].path);
	free(side->ends);
	*side = (struct rename_side){ 0 };
}

void renames_done(struct renames *renames)
{
	side_done(&renames->added);
	side_done(&renames->deleted);
	free(renames->names);
	renames->names = NULL;
}

int renames_note(struct renames *renames, const struct change *change,
		 uint64_t number, bool is_missing, struct hb_error *err)
{
	bool is_added = change->kind == CHANGE_ADDED;
	struct rename_side *side =
		is_added ? &renames->added : &renames->deleted;
	const struct entry *e = is_added ? &change->new : &change->old;
	struct rename_end *end;
	bool is_ignored = change->flags & CHANGE_IGNORED;
	bool is_name = is_missing && change->link_group != 0;
	size_t n = strlen(change->path) + 1;

	if (is_ignored && (is_added || side->n >= RENAMES_IGNORED))
		return 0;
	if ((e->type != ENTRY_FILE || e->size == 0 ||
	     (change->flags & CHANGE_GIT)) &&
	    !is_name)
		return 0;
	if (side->n == RENAMES_MAX || side->bytes + n > RENAMES_PATHS_MAX)
		return 0;
	if (!side->ends) {
		side->ends = calloc(RENAMES_MAX, sizeof(*side->ends));
		if (!side->ends)
			return hb_fail(err, -ENOMEM, "cannot find renames");
	}
	end = &side->ends[side->n];
	*end = (struct rename_end){
		.number = number,
		.path = strdup(change->path),
		.entry = *e,
		.layer = change->layer,
		.is_missing = is_missing,
		.is_ignored = is_ignored,
		.is_disputed = !is_added && (change->flags & CHANGE_CONFLICT),
		.is_alone = e->size == 0 || (change->flags & CHANGE_GIT),
	};
	if (!end->path)
		return hb_fail(err, -ENOMEM, "cannot find renames");
	side->n++;
	side->bytes += n;
	return 0;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * What cannot be read is no end of a rename: the walk could read it, or said
 * what is wrong with it.
 */
static int need_digest(struct rename_end *end, int root, bool in_layer)
{
	auto_fd int dir = -1;
	const char *name = name_of(end->path);
	size_t n = (size_t)(name - end->path);
	struct side side = {
		.name = name,
		.entry = &end->entry,
		.in_layer = in_layer,
	};

	if (end->has_digest || end->is_unreadable)
		return end->has_digest;
	dir = access_open_below(root, end->path, n > 0 ? n - 1 : 0, O_PATH,
				NULL);
	side.dir = dir;
	if (dir < 0 || side_content(&side, end->digest, NULL) < 0)
		end->is_unreadable = true;
	else
		end->has_digest = true;
	return end->has_digest;
}

static bool is_pair(struct rename_end *added, struct rename_end *deleted,
		    const struct resource *resource)
{
	return need_digest(added, resource->layers[added->layer], true) &&
	       need_digest(deleted, resource->base, false) &&
	       memcmp(added->digest, deleted->digest, SHA256_SIZE) == 0;
}

/* The best is one of the same name, then the first in the stream. */
static void find_other(struct renames *renames, size_t at,
		       const struct resource *resource)
{
	struct rename_end *added = &renames->added.ends[at];
	size_t best = 0;

	for (size_t i = 0; i < renames->deleted.n; i++) {
		struct rename_end *d = &renames->deleted.ends[i];
		bool is_namesake =
			strcmp(name_of(added->path), name_of(d->path)) == 0;

		if (d->other || d->entry.size != added->entry.size ||
		    (best && !is_namesake) || !is_pair(added, d, resource))
			continue;
		best = i + 1;
		if (is_namesake)
			break;
	}
	if (!best)
		return;
	added->other = best;
	renames->deleted.ends[best - 1].other = at + 1;
}

void renames_note_name(struct renames *renames, uint64_t ino)
{
	if (renames->n_names >= RENAMES_NAMES_MAX ||
	    grow(renames->names, renames->n_names) < 0)
		return;
	renames->names[renames->n_names++] = ino;
}

static int compare_inodes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool renames_explain(const struct rename_end *added)
{
	return added->is_missing && (added->other || added->is_name);
}

void renames_resolve(struct renames *renames, const struct resource *resource,
		     bool all)
{
	if (renames->n_names > 1)
		qsort(renames->names, renames->n_names, sizeof(*renames->names),
		      compare_inodes);
	for (size_t i = 0; i < renames->added.n; i++) {
		struct rename_end *end = &renames->added.ends[i];

		end->is_name = end->is_missing && end->entry.nlink > 1 &&
			       renames->n_names > 0 &&
			       bsearch(&end->entry.ino, renames->names,
				       renames->n_names,
				       sizeof(*renames->names), compare_inodes);
		if (!end->is_alone && (all || end->is_missing))
			find_other(renames, i, resource);
	}
}

bool renames_is_split(const struct renames *renames,
		      const struct rename_end *added)
{
	const struct rename_end *deleted =
		added->other ? &renames->deleted.ends[added->other - 1] : NULL;

	return deleted && (deleted->is_ignored || deleted->is_disputed);
}

void renames_rewind(struct renames *renames)
{
	renames->added.cursor = 0;
	renames->deleted.cursor = 0;
}

static const struct rename_end *find(struct rename_side *side, uint64_t number)
{
	while (side->cursor < side->n &&
	       side->ends[side->cursor].number < number)
		side->cursor++;
	if (side->cursor == side->n ||
	    side->ends[side->cursor].number != number)
		return NULL;
	return &side->ends[side->cursor];
}

const struct rename_end *renames_added(struct renames *renames, uint64_t number)
{
	return find(&renames->added, number);
}

const struct rename_end *renames_deleted(struct renames *renames,
					 uint64_t number)
{
	return find(&renames->deleted, number);
}
