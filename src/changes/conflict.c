/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/conflict.h"

#include "base/auto.h"
#include "base/time.h"
#include "changes/walk.h"

#include <stdio.h>
#include <string.h>

static const char *const words[CONFLICT_END] = {
	[CONFLICT_EDITED] = "edited in the base",
	[CONFLICT_METADATA] = "metadata changed or replaced in the base",
	[CONFLICT_ADDED] = "added to the base",
	[CONFLICT_MISSING] = "removed from the base",
	[CONFLICT_DIR] = "metadata changed in the base",
	[CONFLICT_MOVED] =
		"a directory above it was moved or its metadata changed in the base",
	[CONFLICT_PLACED] = "a directory above it was put into the base",
	[CONFLICT_LOST] = "a directory above it was removed from the base",
	[CONFLICT_UNREADABLE] = "the base cannot be read here",
	[CONFLICT_OPEN] = "a program has the database open",
	[CONFLICT_DATABASE] =
		"another file of the database was changed in the base",
	[CONFLICT_UNREAD] =
		"the real file may not be read, and the session wrote another",
	[CONFLICT_STAND_IN] =
		"the real file may not be read, and the session changed or moved its stand-in",
	[CONFLICT_CLOCK] =
		"the clock was set back since the session began, so a change of it in the base cannot be ruled out",
	[CONFLICT_BELOW] = "something in it was changed in the base",
};

const char *conflict_words(enum conflict conflict)
{
	return words[conflict];
}

bool conflict_is_firm(enum conflict conflict)
{
	return conflict == CONFLICT_OPEN || conflict == CONFLICT_DATABASE ||
	       conflict == CONFLICT_STAND_IN;
}

static bool is_zero(struct timespec t)
{
	return t.tv_sec == 0 && t.tv_nsec == 0;
}

bool conflict_has_start(const struct conflict_rule *rule)
{
	return !is_zero(rule->t0);
}

/* Equality counts: a clock has ticks. */
static bool is_since(struct timespec t, struct timespec t0)
{
	return !time_is_before(t, t0);
}

/* A dispute says nothing of what the base has. */
static bool find_seen(const struct conflict_rule *rule, const char *path,
		      struct seen *ret)
{
	return rule->seen && rule->seen(rule->seen_ctx, path, ret) &&
	       ret->conflict == CONFLICT_NONE;
}

static bool is_seen(const struct conflict_rule *rule, const char *path,
		    uint64_t ino, struct timespec ctime)
{
	struct seen seen;

	return find_seen(rule, path, &seen) && seen.base_ino == ino &&
	       time_is_same(seen.base_ctime, ctime);
}

/* One from before T0 is about changes that are no longer pending. */
enum conflict conflict_disputed(const struct conflict_rule *rule,
				const char *path)
{
	struct seen seen;

	if (is_zero(rule->t0) || !rule->seen ||
	    !rule->seen(rule->seen_ctx, path, &seen))
		return CONFLICT_NONE;
	if (!is_zero(seen.base_ctime) && !is_since(seen.base_ctime, rule->t0))
		return CONFLICT_NONE;
	return (enum conflict)seen.conflict;
}

bool conflict_is_others_too(const struct conflict_rule *rule, const char *path,
			    struct timespec mtime)
{
	struct seen seen;

	if (is_zero(rule->t0) || !is_since(mtime, rule->t0))
		return false;
	return !find_seen(rule, path, &seen) ||
	       (is_since(mtime, seen.base_ctime) &&
		!time_is_same(mtime, seen.base_ctime));
}

bool conflict_is_committed(const struct conflict_rule *rule,
			   const struct sighting *s)
{
	struct seen seen;

	return s->has_layer && find_seen(rule, s->path, &seen) &&
	       seen.layer_ino != 0 && seen.layer_ino == s->layer_ino &&
	       time_is_same(seen.layer_ctime, s->layer_ctime);
}

bool conflict_is_by_clock(const struct conflict_rule *rule,
			  enum conflict conflict)
{
	return time_is_same(rule->t0, CONFLICT_T0_ALWAYS) &&
	       (conflict == CONFLICT_EDITED || conflict == CONFLICT_METADATA ||
		conflict == CONFLICT_ADDED || conflict == CONFLICT_MISSING ||
		conflict == CONFLICT_DIR);
}

/* Moving one name of an inode gives all of them another ctime. */
static bool is_seen_inode(const struct conflict_rule *rule,
			  const struct entry *e)
{
	char path[SEEN_INODE_SIZE];

	if (e->type == ENTRY_DIR || e->nlink < 2)
		return false;
	(void)snprintf(path, sizeof(path), SEEN_INODE "%llu",
		       (unsigned long long)e->ino);
	return is_seen(rule, path, e->ino, e->ctime);
}

/* The base's entry changed, and not by our own commit. */
static bool is_hit(const struct conflict_rule *rule, const struct sighting *s)
{
	return is_since(s->old.ctime, rule->t0) &&
	       !is_seen(rule, s->path, s->old.ino, s->old.ctime) &&
	       !is_seen_inode(rule, &s->old);
}

bool conflict_is_touched(const struct conflict_rule *rule,
			 const struct sighting *s)
{
	return is_hit(rule, s);
}

/*
 * Of a directory on an overlay: it may have been there all the time.  If it was
 * made since, so was everything in it, and each says so itself.
 */
static bool is_copied_up(const struct conflict_rule *rule,
			 const struct sighting *s)
{
	return rule->is_overlay && is_since(s->old.btime, rule->t0) &&
	       !is_since(s->old.mtime, rule->t0);
}

/*
 * Renaming a directory bumps its ctime and leaves its mtime, which all that
 * goes on inside it bumps as well.
 */
static bool is_moved(const struct conflict_rule *rule, const struct sighting *s)
{
	return is_hit(rule, s) && !is_since(s->old.mtime, rule->t0) &&
	       !is_copied_up(rule, s);
}

enum conflict conflict_below(const struct conflict_rule *rule,
			     const struct sighting *s)
{
	enum conflict disputed;

	if (is_zero(rule->t0) ||
	    (s->old.type != ENTRY_DIR && s->new.type != ENTRY_DIR))
		return CONFLICT_NONE;
	disputed = conflict_disputed(rule, s->path);
	/* Its attributes alone: that says nothing of what is in it. */
	if (disputed != CONFLICT_NONE && disputed != CONFLICT_DIR)
		return disputed;
	return s->old.type == ENTRY_DIR && is_moved(rule, s) ? CONFLICT_MOVED
							     : CONFLICT_NONE;
}

/*
 * A directory that vanishes: its content is looked at entry by entry, so the
 * question is only whether the user made it.
 */
static enum conflict of_lost_dir(const struct conflict_rule *rule,
				 const struct sighting *s)
{
	bool has_birth = !is_zero(s->old.btime);

	if (!is_hit(rule, s) || is_copied_up(rule, s))
		return CONFLICT_NONE;
	if (is_moved(rule, s))
		return CONFLICT_MOVED;
	if (!has_birth || is_since(s->old.btime, rule->t0))
		return CONFLICT_ADDED;
	return CONFLICT_NONE;
}

/*
 * In a directory that is new as well there was nothing to remove.  Where our
 * own commit was the last to touch the directory, the user was not.
 */
static enum conflict of_missing(const struct conflict_rule *rule,
				const struct sighting *s)
{
	auto_free char *dir = NULL;
	size_t n = (size_t)(s->name - s->path);

	if (!s->new.has_origin || s->in_new ||
	    !is_since(s->parent_mtime, rule->t0))
		return CONFLICT_NONE;
	dir = strndup(s->path, n > 0 ? n - 1 : 0);
	if (dir && is_seen(rule, dir, s->parent_ino, s->parent_ctime))
		return CONFLICT_NONE;
	return CONFLICT_MISSING;
}

enum conflict conflict_of(const struct conflict_rule *rule,
			  const struct sighting *s, enum change_kind kind)
{
	enum conflict disputed;

	/* Times alone: the base has the new state already. */
	if (kind == CHANGE_TIMES)
		return CONFLICT_NONE;
	/* What is new in a directory that others have as well is no doubt. */
	if (s->doubt != CONFLICT_NONE &&
	    !(s->doubt == CONFLICT_PLACED && s->old.type == ENTRY_NONE))
		return s->doubt;
	if (is_zero(rule->t0))
		return CONFLICT_NONE;
	disputed = conflict_disputed(rule, s->path);
	if (disputed != CONFLICT_NONE)
		return disputed;
	if (s->old.type == ENTRY_NONE)
		return of_missing(rule, s);
	if (s->old.type == ENTRY_DIR && s->new.type != ENTRY_DIR)
		return of_lost_dir(rule, s);
	if (!is_hit(rule, s))
		return CONFLICT_NONE;
	if (s->old.type == ENTRY_DIR)
		return CONFLICT_DIR;
	return is_since(s->old.mtime, rule->t0) ? CONFLICT_EDITED
						: CONFLICT_METADATA;
}
