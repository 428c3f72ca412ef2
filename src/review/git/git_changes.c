/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "git/delivery/values.h"
#include "git/objectstore.h"
#include "holdback/git.h"
#include "holdback/session.h"
#include "review/git/repository.h"
#include "session/git/kept_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a session did to the references of its repositories, in words of git. */

#define SUBJECT_MAX 200

struct telling {
	const struct repository *repo;
	const struct kept_refs *kept; /* NULL: there is no record */
	hb_git_fn fn;
	void *ctx;
};

/* The oldest first, as they were made. */
struct told {
	struct hb_git_commit commits[HB_GIT_COMMITS];
	char ids[HB_GIT_COMMITS][GIT_HEX_SIZE];
	char subjects[HB_GIT_COMMITS][SUBJECT_MAX];
};

static void read_subject(const struct repository *repo, const struct git_id *id,
			 char *ret)
{
	struct git_object object = { 0 };
	struct git_commit commit;

	ret[0] = '\0';
	if (objectstore_read(repo->objects, id, OBJECTSTORE_COMMIT_MAX,
			     &object) >= 0 &&
	    git_commit_parse(&object, &commit) >= 0)
		(void)snprintf(ret, SUBJECT_MAX, "%.*s",
			       (int)(commit.subject_len < SUBJECT_MAX
					     ? commit.subject_len
					     : SUBJECT_MAX - 1),
			       commit.subject);
	free(object.data);
}

static int add_commits(const struct repository *repo, const struct git_id *tip,
		       struct told *told, struct hb_git_ref *ref)
{
	auto_ancestry struct ancestry found = { 0 };
	int r = repository_new_commits(repo, tip, &found);

	if (r == -EFBIG) {
		ref->is_unknown = true;
		return 0;
	}
	if (r < 0)
		return r;
	ref->n_commits = found.n;
	for (size_t i = 0; i < found.n && i < HB_GIT_COMMITS; i++) {
		const struct git_id *id = &found.items[found.n - 1 - i].id;

		memcpy(told->ids[i], id->hex, GIT_HEX_SIZE);
		read_subject(repo, id, told->subjects[i]);
		told->commits[i] = (struct hb_git_commit){ told->ids[i],
							   told->subjects[i] };
		ref->n_told++;
	}
	ref->commits = told->commits;
	return 0;
}

/*
 * What becomes of a reference of both sides.  Without a record the session's
 * value counts.
 */
static int answer(const struct telling *t, const char *name,
		  const struct gitref *old, const struct gitref *new,
		  enum value_answer *ret)
{
	const char *then = t->kept ? kept_refs_value(t->kept, name) : NULL;

	*ret = VALUE_TAKEN;
	if (!t->kept || !old || strncmp(name, "refs/", 5) != 0)
		return 0;
	return values_compare(t->repo->objects, then ? then : "", old->id.hex,
			      new ? new->id.hex : "", ret);
}

static int tell(const struct telling *t, const char *name,
		const struct gitref *old, const struct gitref *new,
		struct hb_error *err)
{
	auto_free struct told *told = NULL;
	auto_ancestry struct ancestry lost = { 0 };
	struct hb_git_ref ref = {
		.resource = t->repo->resource,
		.repository = t->repo->prefix,
		.name = name,
		.old = old ? old->id.hex : NULL,
		.new = new ? new->id.hex : NULL,
	};
	enum value_answer fate = VALUE_TAKEN;
	int r = answer(t, name, old, new, &fate);

	/* The user has merged it, or it only shows an older value. */
	if (r >= 0 && fate == VALUE_SETTLED)
		return 0;
	told = r < 0 ? NULL : malloc(sizeof(*told));
	if (r >= 0 && !told)
		r = -ENOMEM;
	if (r >= 0 && new)
		r = add_commits(t->repo, &new->id, told, &ref);
	/* The user's own commits stay where both sides moved it. */
	if (r >= 0 && old && fate == VALUE_TAKEN) {
		r = repository_lost_commits(t->repo, &old->id, &lost);
		ref.is_unknown = ref.is_unknown || r == -EFBIG;
		ref.n_lost = lost.n;
		r = r == -EFBIG ? 0 : r;
	}
	if (r < 0)
		return hb_fail(err, r, "cannot look at the repository");
	return t->fn(t->ctx, &ref, err);
}

/* Both lists are in order: one walk over the two. */
static int compare(const struct telling *t, struct hb_error *err)
{
	const struct gitrefs *a = &t->repo->old, *b = &t->repo->new;
	size_t i = 0, k = 0;
	int r = 0;

	while (r >= 0 && (i < a->n || k < b->n)) {
		const struct gitref *old = i < a->n ? &a->refs[i] : NULL;
		const struct gitref *new = k < b->n ? &b->refs[k] : NULL;
		int order = old && new ? strcmp(old->name, new->name) : 0;

		i += !new || order <= 0;
		k += !old || order >= 0;
		if (old && (!new || order < 0))
			r = tell(t, old->name, old, NULL, err);
		else if (new && (!old || order > 0))
			r = tell(t, new->name, NULL, new, err);
		else if (old && new && !git_id_is_same(&old->id, &new->id))
			r = tell(t, new->name, old, new, err);
	}
	return r;
}

int hb_changes_git(struct hb_session *session, struct hb_changes *changes,
		   hb_git_fn fn, void *ctx, struct hb_error *err)
{
	auto_repositories struct repositories all = { 0 };
	int r = repositories_find(session, changes, &all, err);

	for (size_t i = 0; r >= 0 && i < all.n; i++) {
		auto_kept_refs struct kept_refs kept = { 0 };
		bool has_record =
			session_load_kept(session, all.list[i].resource,
					  all.list[i].prefix, &kept) >= 0;
		const struct telling telling = { &all.list[i],
						 has_record ? &kept : NULL, fn,
						 ctx };
		const struct hb_git_ref unknown = {
			.resource = all.list[i].resource,
			.repository = all.list[i].prefix,
			.is_unknown = true,
		};

		r = all.list[i].is_unknown ? fn(ctx, &unknown, err)
					   : compare(&telling, err);
	}
	return r < 0 ? r : hb_changes_rewind(changes, err);
}
