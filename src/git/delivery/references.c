/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/references.h"

#include "base/auto.h"
#include "base/quote.h"
#include "git/ancestry.h"
#include "git/delivery/decision.h"
#include "git/delivery/divert.h"
#include "git/delivery/heads.h"
#include "git/delivery/values.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFS	 "refs/"
#define BRANCHES "refs/heads/"
#define REMOTES	 "refs/remotes/"
#define STASH	 "refs/stash"
#define OLD_MAX	 4096 /* references that a walk begins at */

#define REASON_SIZE 256

/* References of a desk, and those of an operation, are not by value. */
static const char *const others[] = { "refs/bisect/", "refs/rewritten/",
				      "refs/worktree/", STASH };

static bool begins_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

static bool is_by_value(const char *name)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (begins_with(name, others[i]))
			return false;
	return begins_with(name, REFS);
}

/* "master" of "refs/heads/master". */
static const char *short_name(const char *name)
{
	return begins_with(name, BRANCHES) ? name + strlen(BRANCHES) : name;
}

static int add(struct decision *d, const char *path, enum delivery_how how)
{
	return decision_add(d, path, how, DELIVERY_STAGE_REFS) ? 0 : -ENOMEM;
}

/* It stays in the layer, also where a line of packed-refs is its value. */
static int stay(struct decision *d, const char *name)
{
	int r = kept_refs_add(&d->pending, name, "-");

	if (r >= 0 && decision_change(d, name))
		r = add(d, name, DELIVERY_STAYS);
	return r;
}

static int delete (struct decision *d, const char *name)
{
	struct delivery_item *item;
	int r;

	item = decision_add(d, name,
			    kept_refs_value(&d->loose, name) ? DELIVERY_DELETE
							     : DELIVERY_SETTLED,
			    DELIVERY_STAGE_GONE);
	r = decision_mark(item, decision_base(d, name), "");
	return r < 0 ? r : kept_refs_add(&d->moved, name, "");
}

int references_count(struct decision *d, const char *value, size_t *ret)
{
	auto_ancestry struct ancestry found = { 0 };
	auto_free struct git_id *old = NULL;
	struct git_id id;
	size_t n = 0;
	int r;

	*ret = 0;
	old = calloc(OLD_MAX, sizeof(*old));
	if (!old)
		return -ENOMEM;
	for (size_t i = 0; i < d->base.n && n < OLD_MAX; i++)
		n += git_id_parse(d->base.refs[i].value,
				  strlen(d->base.refs[i].value), &old[n]);
	if (!git_id_parse(value, strlen(value), &id))
		return 0;
	r = ancestry_find(d->q->objects, &id, 1, old, n, &found);
	if (r >= 0)
		*ret = found.n;
	return r == -ENOMEM ? r : 0;
}

static int say_where(struct decision *d, const char *why, const char *value,
		     const char *to)
{
	static const char *const words[2][2] = {
		{ "commits are on", "commit is on" },
		{ "commits go to", "commit goes to" },
	};
	size_t n;
	int r = references_count(d, value, &n);

	return r < 0 ? r
		     : decision_say(d, "%s%s%zu %s %s", why, why[0] ? ": " : "",
				    n, words[d->q->is_ahead][n == 1],
				    quoted(short_name(to)));
}

/* A value of the session that is taken need not follow on the base's. */
int references_say_forward(struct decision *d)
{
	const char *name = d->session_branch;
	const char *how = "new branch";
	char head[PATH_MAX];
	const char *old;
	size_t n;
	int r = references_count(d, d->session_commit, &n);

	if (r < 0 || n == 0)
		return r;
	decision_head(d, head, sizeof(head));
	old = decision_resolve(&d->base, name ? name : head);
	if (old[0]) {
		r = values_is_ancestor(d->q->objects, old, d->session_commit);
		if (r == -ENOMEM)
			return r;
		how = r > 0 ? "fast-forward"
			    : "and it loses commits that it has now";
	}
	return decision_say(d, "%s: %zu commit%s, %s",
			    name ? quoted(short_name(name)) : "HEAD", n,
			    n == 1 ? "" : "s", how);
}

static int say_left(struct decision *d, const char *name, const char *why,
		    const char *value, const char *to)
{
	char words[REASON_SIZE];

	(void)snprintf(words, sizeof(words), "%s %s", quoted(short_name(name)),
		       why);
	return to ? say_where(d, words, value, to)
		  : decision_say(d, "%s: it stays pending", words);
}

static const char *why_left(const struct decision *d, const char *name)
{
	if (kept_refs_value(&d->pinned, name))
		return "is checked out";
	if (kept_refs_clash(&d->base, name))
		return "has the name of a directory of others";
	if (decision_session(d, name)[0] &&
	    !decision_resolve(&d->session, name)[0])
		return "leads to no commit";
	return decision_base(d, name)[0] ? "moved meanwhile"
					 : "was deleted meanwhile";
}

/* The answer for one reference, by its values and by what git allows. */
static int judge(struct decision *d, const char *name, enum value_answer *ret)
{
	const char *base = decision_base(d, name);
	const char *session = decision_session(d, name);
	int r = values_compare(d->q->objects, decision_then(d, name), base,
			       session, ret);

	if (r < 0)
		return r;
	if (*ret == VALUE_TAKEN && heads_is_pinned(d, name))
		*ret = session[0] ? VALUE_DIVERGED : VALUE_KEPT;
	if (*ret == VALUE_TAKEN && session[0] && !base[0] &&
	    kept_refs_clash(&d->base, name))
		*ret = VALUE_DIVERGED;
	/* It leads to nothing, or round in a circle. */
	if (*ret == VALUE_TAKEN && session[0] &&
	    !decision_resolve(&d->session, name)[0])
		*ret = VALUE_DIVERGED;
	/* These only remember what another repository had. */
	if (*ret == VALUE_DIVERGED && begins_with(name, REMOTES))
		*ret = VALUE_SETTLED;
	return 0;
}

static int apply(struct decision *d, const char *name, enum value_answer answer)
{
	const char *session = decision_session(d, name);
	auto_free char *to = NULL;
	int r;

	switch (answer) {
	case VALUE_SETTLED:
		return decision_change(d, name) ? add(d, name, DELIVERY_SETTLED)
						: 0;
	case VALUE_TAKEN:
		return session[0] ? divert_write(d, name, session)
				  : delete (d, name);
	case VALUE_DIVERGED:
		r = divert(d, name, session, &to);
		if (r >= 0)
			r = say_left(d, name, why_left(d, name), session, to);
		return r < 0 ? r : stay(d, name);
	case VALUE_KEPT:
	default:
		r = say_left(d, name, why_left(d, name), session, NULL);
		return r < 0 ? r : stay(d, name);
	}
}

/* People paste the command: the shell must find nothing in it but a name. */
static bool is_plain(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._/+@=-";

	return name[0] != '-' && name[strspn(name, plain)] == '\0';
}

int references_set_branch(struct decision *d, const char *name,
			  const char *value)
{
	char why[REASON_SIZE] = "";
	const char *about = d->why_name ? short_name(d->why_name) : "HEAD";

	if (d->why == heads_moved || d->why == heads_elsewhere)
		(void)snprintf(why, sizeof(why), "%s %s", quoted(about),
			       d->why);
	else if (d->why != heads_asked)
		(void)snprintf(why, sizeof(why), "%s", d->why);
	d->out->branch = strdup(short_name(name));
	if (!d->out->branch ||
	    asprintf(&d->out->fix, "%s: git merge %s",
		     d->q->is_ahead ? "then" : "merge with",
		     is_plain(d->out->branch) ? d->out->branch : value) < 0) {
		d->out->fix = NULL;
		return -ENOMEM;
	}
	if (references_count(d, value, &d->out->n_commits) < 0)
		return -ENOMEM;
	(void)git_id_parse(value, strlen(value), &d->out->tip);
	d->out->can_merge = d->why == heads_moved || d->why == heads_elsewhere;
	return say_where(d, why, value, name);
}

/*
 * The commits below the session's HEAD, which stays: on their own branch if
 * that may move, else on one of ours.
 */
static int deliver_head(struct decision *d)
{
	const char *target = d->session_branch, *value = d->session_commit;
	enum value_answer answer = VALUE_DIVERGED;
	auto_free char *to = NULL;
	char head[PATH_MAX];
	size_t n;
	int r = target ? judge(d, target, &answer) : 0;

	decision_head(d, head, sizeof(head));
	if (r >= 0)
		r = references_count(d, value, &n);
	if (r < 0)
		return r;
	if (answer != VALUE_DIVERGED) {
		r = apply(d, target, answer);
		return r >= 0 && answer == VALUE_TAKEN
			       ? references_set_branch(d, target, value)
			       : r;
	}
	/* A HEAD without a branch may be where the base has been. */
	if (target || n > 0)
		r = divert(d, target ? target : head, value, &to);
	if (r >= 0 && to)
		r = references_set_branch(d, to, value);
	return r >= 0 && target ? stay(d, target) : r;
}

/* Those without a value that can be read, or with a name that is none. */
static int add_broken(struct decision *d)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->broken.n; i++) {
		const char *name = d->broken.refs[i].name;
		bool is_name = strcmp(d->broken.refs[i].value, "name") == 0;

		r = decision_say(d, "%s %s: it is not delivered", quoted(name),
				 is_name ? "is no name of a reference"
					 : "has no value");
		if (r >= 0)
			r = add(d, name,
				is_name ? DELIVERY_DROPPED : DELIVERY_STAYS);
	}
	return r;
}

static int decide_one(struct decision *d, const char *name, const char *first)
{
	enum value_answer answer;
	int r;

	if (!is_by_value(name) || (first && strcmp(name, first) == 0) ||
	    kept_refs_value(&d->broken, name))
		return 0;
	r = judge(d, name, &answer);
	return r < 0 ? r : apply(d, name, answer);
}

/* Files that are gone without a value that changed: git packed them. */
static int add_packed_files(struct decision *d)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->q->n_changes; i++) {
		const struct delivery_change *change = &d->q->changes[i];

		if (change->is_gone && is_by_value(change->path) &&
		    !decision_session(d, change->path)[0] &&
		    !decision_then(d, change->path)[0])
			r = add(d, change->path, DELIVERY_SETTLED);
	}
	return r;
}

int references_decide(struct decision *d)
{
	const struct kept_refs *kept = d->q->kept;
	const char *first = NULL;
	int r = add_broken(d);

	if (r >= 0 && d->has_moved && !d->is_forward) {
		first = d->session_branch;
		r = deliver_head(d);
	}
	for (size_t i = 0; r >= 0 && i < d->session.n; i++)
		r = decide_one(d, d->session.refs[i].name, first);
	for (size_t i = 0; r >= 0 && i < kept->n; i++)
		if (!kept_refs_value(&d->session, kept->refs[i].name))
			r = decide_one(d, kept->refs[i].name, first);
	return r < 0 ? r : add_packed_files(d);
}
