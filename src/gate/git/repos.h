/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GIT_REPOS_H
#define HB_GATE_GIT_REPOS_H

#include "git/gitrefs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct look;

/*
 * The repositories of which a change set has references, a HEAD, a stash or an
 * index.  They are collected while the stream is read, and looked into when it
 * has ended: git_news.h.
 */
#define REPOS_MAX	 256
#define REPO_INDEXES_MAX 64
#define REPO_LOG_MAX	 ((size_t)4 << 20)

/* Both files are held open: they are the very objects of the stream. */
struct repo_index {
	char *path;   /* from the git directory on */
	int old, new; /* -1: there is none */
	uint64_t old_size, new_size;
};

struct repo {
	char *prefix; /* its git directory, from the resource on; "" is that */
	struct gitrefs touched; /* files of references; without an id: gone */
	/* HEAD and the like with an id in it, by path; of the session. */
	struct gitrefs heads;
	struct gitrefs stashed; /* what the log of the stash names */
	struct gitrefs known;	/* what both of these named before */
	char *packed;		/* packed-refs of the session, if it changed */
	bool has_packed;
	struct repo_index *indexes;
	size_t n_indexes;
	/* Why not all of it can be looked at; or NULL. */
	const char *unread;
};

struct repos {
	struct repo *list;
	size_t n;
	bool has_more; /* than can be looked at */
};

void repos_done(struct repos *repos);

/*
 * Notes the change that is being looked at, which is part of a unit.  `is_git`:
 * the resource itself is a git directory.  A negated code ends the gate.
 */
int repos_note(struct repos *repos, struct look *look, bool is_git,
	       struct hb_error *err);

#endif
