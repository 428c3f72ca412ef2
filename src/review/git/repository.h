/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_REPOSITORY_H
#define HB_REVIEW_GIT_REPOSITORY_H

#include "git/ancestry.h"
#include "git/gitrefs.h"

struct hb_changes;
struct hb_error;
struct hb_session;
struct objectstore;
struct resource;

/* A repository of which a change set has references. */
struct repository {
	size_t resource;
	char *prefix; /* its git directory, from the resource on; "" is that */
	struct gitrefs touched; /* files of references; without an id: gone */
	char *packed;		/* packed-refs of the session, if it changed */
	bool has_packed;
	char *head; /* HEAD of the session, if it changed; else NULL */
	struct gitrefs heads; /* those that changed; without an id: a branch */
	/* All references, in order, and each HEAD that is detached. */
	struct gitrefs old, new;
	struct objectstore *objects;
	bool is_unknown; /* too large, or not readable: old and new are empty */
};

struct repositories {
	struct repository *list;
	size_t n;
};

/*
 * The repositories whose references a change set touches.  `changes` is read
 * from its start, and not rewound.
 */
int repositories_find(struct hb_session *s, struct hb_changes *changes,
		      struct repositories *ret, struct hb_error *err);
/*
 * All objects of the git directory `prefix`: of the layers, of the base, and
 * those that the base borrows.  The caller frees, also after a failure.
 */
int repository_objects(const struct resource *resource, const char *prefix,
		       struct objectstore **ret_objects);

void repositories_done(struct repositories *repositories);
#define auto_repositories __attribute__((cleanup(repositories_done)))

/*
 * The commits that `tip` reaches in the session, and no reference of the real
 * repository.  As ancestry_find().
 */
int repository_new_commits(const struct repository *repo,
			   const struct git_id *tip, struct ancestry *ret);

/* The same of all references of the session that are new or moved. */
int repository_all_new_commits(const struct repository *repo,
			       struct ancestry *ret);

/* Those that `tip` reaches there, and no reference of the session. */
int repository_lost_commits(const struct repository *repo,
			    const struct git_id *tip, struct ancestry *ret);

#endif
