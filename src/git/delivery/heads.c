/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/heads.h"

#include "base/auto.h"
#include "git/delivery/decision.h"
#include "git/delivery/git_part.h"
#include "git/delivery/values.h"
#include "git/refname.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * HEAD, the commit below it, the index and the tracked files are one unit.  It
 * moves as a whole, or the commits go to a branch and the unit stays:
 *
 * - the user's HEAD or the commit below it moved as well;
 * - a merge, rebase or the like of the user's is under way;
 * - the session is on a branch that another desk of the user's is on;
 * - the user wants a branch.
 */

const char heads_asked[] = "asked for";
const char heads_moved[] = "moved meanwhile";
const char heads_elsewhere[] = "is checked out in another worktree";

#define SYMBOLIC "ref: "
#define BRANCHES "refs/heads/"
#define PATH_OF_HEAD_MAX                                              \
	(sizeof("worktrees/") + NAME_MAX + sizeof("/rebase-merge/") + \
	 sizeof("head-name"))

static const char *branch_of(const char *value)
{
	return strncmp(value, SYMBOLIC, strlen(SYMBOLIC)) == 0
		       ? value + strlen(SYMBOLIC)
		       : NULL;
}

/* How many bytes of the name of a HEAD are its desk; SIZE_MAX: it is none. */
static size_t desk_of(const char *name)
{
	const char *rest;
	size_t desk;

	return git_part_of(name, &desk, &rest) == GIT_PART_HEAD ? desk
								: SIZE_MAX;
}

static bool is_our_desk(const struct decision *d, const char *name, size_t desk)
{
	return strlen(d->q->desk) == desk &&
	       strncmp(d->q->desk, name, desk) == 0;
}

static int pin(struct decision *d, const char *branch, const char *head,
	       size_t desk)
{
	return refname_is_valid(branch)
		       ? kept_refs_add(&d->pinned, branch,
				       is_our_desk(d, head, desk) ? "ours"
								  : head)
		       : 0;
}

/* A rebase is on no branch, and moves one at its end. */
static int pin_operation(struct decision *d, const char *head, size_t desk,
			 const char *file)
{
	char path[PATH_OF_HEAD_MAX];
	char branch[GITREFS_FILE_MAX + sizeof(BRANCHES)];
	auto_free char *text = NULL;
	int r;

	(void)snprintf(path, sizeof(path), "%.*s%s%s", (int)desk, head,
		       desk ? "/" : "", file);
	r = gitref_read_file(d->q->base, d->q->prefix, path,
			     GITREFS_FILE_MAX - 1, &text);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(branch, sizeof(branch), "%s%s",
		       strncmp(text, "refs/", 5) == 0 ? "" : BRANCHES, text);
	return pin(d, branch, head, desk);
}

static int find_pinned(struct decision *d)
{
	static const char *const files[] = { "rebase-merge/head-name",
					     "rebase-apply/head-name",
					     "BISECT_START" };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->base.n; i++) {
		const char *name = d->base.refs[i].name;
		const char *branch = branch_of(d->base.refs[i].value);
		size_t desk = desk_of(name);

		if (desk == SIZE_MAX)
			continue;
		if (branch)
			r = pin(d, branch, name, desk);
		for (size_t k = 0; r >= 0 && k < sizeof(files) / sizeof(*files);
		     k++)
			r = pin_operation(d, name, desk, files[k]);
	}
	kept_refs_sort(&d->pinned);
	return r;
}

/* The name of what is under way at our desk of the base; NULL: nothing. */
static const char *operation(const struct decision *d)
{
	char path[PATH_OF_HEAD_MAX];

	for (size_t i = 0; i < git_operations_n; i++) {
		(void)snprintf(path, sizeof(path), "%s%s%s", d->q->desk,
			       d->q->desk[0] ? "/" : "",
			       git_operations[i].name);
		if (decision_base_has(d, path))
			return git_operations[i].words;
	}
	return NULL;
}

static bool is_on_other_desk(const struct decision *d, const char *branch)
{
	for (size_t i = 0; i < d->pinned.n; i++)
		if (strcmp(d->pinned.refs[i].name, branch) == 0 &&
		    strcmp(d->pinned.refs[i].value, "ours") != 0)
			return true;
	return false;
}

bool heads_is_pinned(const struct decision *d, const char *name)
{
	return is_on_other_desk(d, name) ||
	       (!d->is_forward && kept_refs_value(&d->pinned, name));
}

/* The three values of HEAD, and of the commit below it. */
struct unit {
	const char *head[3], *commit[3];
};
enum {
	THEN,
	BASE,
	SESSION
};

/* The id that a value of HEAD leads to. */
static const char *commit_below(const struct kept_refs *refs, const char *head)
{
	const char *branch = branch_of(head);

	return branch ? decision_resolve(refs, branch) : head;
}

/*
 * A HEAD that the session did not write follows the base's, but the session's
 * commits were made below another.  So HEAD of T0 counts, unless
 * the session moved the branch that the base is on by now.
 */
static int read_unit(struct decision *d, struct unit *ret)
{
	const struct kept_refs *of[] = { d->q->kept, &d->base, &d->session };
	char name[PATH_OF_HEAD_MAX];
	const char *branch;

	decision_head(d, name, sizeof(name));
	for (int i = 0; i < 3; i++) {
		ret->head[i] = kept_refs_value(of[i], name);
		if (!ret->head[i])
			return -EBADMSG;
	}
	branch = branch_of(ret->head[BASE]);
	if (decision_change(d, name))
		;
	else if (branch && strcmp(decision_base(d, branch),
				  decision_session(d, branch)) != 0)
		ret->head[THEN] = ret->head[SESSION] = ret->head[BASE];
	else
		ret->head[SESSION] = ret->head[THEN];
	for (int i = 0; i < 3; i++)
		ret->commit[i] = commit_below(of[i], ret->head[i]);
	d->session_branch = branch_of(ret->head[SESSION]);
	d->session_commit = ret->commit[SESSION];
	d->then_commit = ret->commit[THEN];
	d->base_commit = ret->commit[BASE];
	return 0;
}

/* Whether the base's own unit moved in a way that the session's has not. */
static int has_moved_outside(struct decision *d, const struct unit *u,
			     enum value_answer commit)
{
	bool is_switched = strcmp(u->head[SESSION], u->head[THEN]) != 0;

	if (strcmp(u->head[BASE], u->head[THEN]) != 0 &&
	    strcmp(u->head[BASE], u->head[SESSION]) != 0)
		return 1;
	if (commit == VALUE_DIVERGED || commit == VALUE_KEPT)
		return 1;
	/* The branch that was left does not say it. */
	if (is_switched && strcmp(u->commit[BASE], u->commit[THEN]) != 0)
		return values_is_ancestor(d->q->objects, u->commit[BASE],
					  u->commit[SESSION]) <= 0;
	return 0;
}

static int decide(struct decision *d, const struct unit *u,
		  enum value_answer commit)
{
	const char *target = branch_of(u->head[SESSION]);
	bool is_held = d->q->mode == DELIVERY_MODE_BRANCH;

	d->has_moved = (strcmp(u->head[SESSION], u->head[BASE]) != 0 &&
			strcmp(u->head[SESSION], u->head[THEN]) != 0) ||
		       commit != VALUE_SETTLED;
	d->is_merged = commit == VALUE_SETTLED &&
		       strcmp(u->commit[SESSION], u->commit[BASE]) != 0 &&
		       strcmp(u->commit[SESSION], u->commit[THEN]) != 0;
	d->why_name = branch_of(u->head[BASE]);
	d->why = operation(d);
	if (d->why || !d->has_moved)
		;
	else if (is_held)
		d->why = heads_asked;
	else if (has_moved_outside(d, u, commit))
		d->why = heads_moved;
	else if (target && is_on_other_desk(d, target)) {
		d->why = heads_elsewhere;
		d->why_name = target;
	}
	d->is_forward = !d->why && !is_held;
	return 0;
}

int heads_decide(struct decision *d)
{
	enum value_answer commit = VALUE_SETTLED;
	struct unit unit = { 0 };
	int r = find_pinned(d);

	if (r >= 0)
		r = read_unit(d, &unit);
	if (r >= 0)
		r = values_compare(d->q->objects, unit.commit[THEN],
				   unit.commit[BASE], unit.commit[SESSION],
				   &commit);
	return r < 0 ? r : decide(d, &unit, commit);
}

/* The text of a HEAD or a reference. */
char *heads_text(const char *value)
{
	char *text = NULL;

	return asprintf(&text, "%s\n", value) < 0 ? NULL : text;
}

static int add_ours(struct decision *d, const char *path)
{
	const char *base = decision_base(d, path);
	const char *session = decision_session(d, path);
	char *text;
	int r;

	if (strcmp(session, base) == 0 ||
	    strcmp(session, decision_then(d, path)) == 0)
		return decision_add(d, path, DELIVERY_SETTLED,
				    DELIVERY_STAGE_HEAD)
			       ? 0
			       : -ENOMEM;
	if (!d->is_forward) {
		r = kept_refs_add(&d->pending, path, "-");
		if (r >= 0 &&
		    !decision_add(d, path, DELIVERY_STAYS, DELIVERY_STAGE_HEAD))
			r = -ENOMEM;
		return r;
	}
	text = heads_text(session);
	r = decision_mark(decision_make(d, path, DELIVERY_STAGE_HEAD, text,
					text ? strlen(text) : 0),
			  base, session);
	return r < 0 ? r : kept_refs_add(&d->moved, path, session);
}

bool heads_is_removed_desk(const struct decision *d, const char *path,
			   size_t desk)
{
	char head[PATH_OF_HEAD_MAX];

	if (desk == 0 || is_our_desk(d, path, desk))
		return false;
	(void)snprintf(head, sizeof(head), "%.*s/HEAD", (int)desk, path);
	return !decision_base(d, head)[0] &&
	       (decision_then(d, head)[0] || !decision_session(d, head)[0]);
}

/* Of another worktree: the user's stays as it is, a new one is delivered. */
static enum delivery_how how_of_other(const struct decision *d,
				      const struct delivery_change *change)
{
	const char *base = decision_base(d, change->path);

	if (!base[0])
		return change->is_gone ? DELIVERY_SETTLED : DELIVERY_AS_IS;
	if (change->is_gone)
		return strcmp(base, decision_then(d, change->path)) == 0
			       ? DELIVERY_DELETE
			       : DELIVERY_STAYS;
	return strcmp(base, decision_session(d, change->path)) == 0
		       ? DELIVERY_SETTLED
		       : DELIVERY_STAYS;
}

static int add_other(struct decision *d, const struct delivery_change *change)
{
	enum delivery_how how = how_of_other(d, change);
	int r = 0;

	if (!change->is_gone &&
	    heads_is_removed_desk(d, change->path, desk_of(change->path)))
		how = DELIVERY_STAYS;
	if (!decision_add(d, change->path, how, DELIVERY_STAGE_HEAD))
		return -ENOMEM;
	if (how == DELIVERY_STAYS)
		r = kept_refs_add(&d->pending, change->path, "-");
	else if (how == DELIVERY_DELETE)
		r = kept_refs_add(&d->moved, change->path, "");
	else if (how == DELIVERY_AS_IS)
		r = kept_refs_add(&d->moved, change->path,
				  decision_session(d, change->path));
	return r;
}

/* Once for each of them: what is left of the session's there. */
static int say_removed(struct decision *d)
{
	const char *said = "";
	size_t said_len = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->q->n_changes; i++) {
		const char *path = d->q->changes[i].path, *rest;
		size_t desk;
		enum git_part part = git_part_of(path, &desk, &rest);

		if (part == GIT_PART_LOG || part == GIT_PART_NOTE ||
		    part == GIT_PART_LOCK || d->q->changes[i].is_gone ||
		    !heads_is_removed_desk(d, path, desk) ||
		    (said_len == desk && strncmp(said, path, desk) == 0))
			continue;
		said = path;
		said_len = desk;
		r = decision_say(d,
				 "the worktree %.*s was removed meanwhile: its "
				 "HEAD and index stay pending",
				 (int)desk, path);
	}
	return r;
}

int heads_add_items(struct decision *d)
{
	int r = say_removed(d);

	for (size_t i = 0; r >= 0 && i < d->q->n_changes; i++) {
		const struct delivery_change *change = &d->q->changes[i];
		size_t desk = desk_of(change->path);

		if (desk == SIZE_MAX)
			continue;
		r = is_our_desk(d, change->path, desk)
			    ? add_ours(d, change->path)
			    : add_other(d, change);
	}
	return r;
}
