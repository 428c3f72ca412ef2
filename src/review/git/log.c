/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "git/ancestry.h"
#include "git/objectstore.h"
#include "git/treediff.h"
#include "holdback/git.h"
#include "review/git/repository.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The commits of a session with their files, as `git log -p` reads them.  The
 * objects are the agent's: what cannot be read is told and passed over.
 */

#define WORD	    "cannot look at the commits"
#define MODULE_LINE "Subproject commit "

struct file {
	char *path;
	unsigned mode[2];
	struct git_id id[2];
};

/* A reference of the session, and the commit that it leads to. */
struct named {
	struct git_id commit;
	const char *name; /* of the repository's list */
};

struct hb_log {
	struct repositories all;
	size_t at; /* the repository that is told */
	bool is_open;
	struct named *named;
	size_t n_named;
	struct ancestry found;
	size_t next; /* of `found` */

	/* The commit that was told last. */
	char *text;
	struct git_id tree;
	struct git_id *parent_ids;
	const char **parents;
	size_t n_parents;
	const char **refs;
	size_t n_refs;

	struct file *files;
	size_t n_files, next_file;
	bool has_files, is_cut;
};

static void drop_files(struct hb_log *log)
{
	for (size_t i = 0; i < log->n_files; i++)
		free(log->files[i].path);
	free(log->files);
	log->files = NULL;
	log->n_files = log->next_file = 0;
	log->has_files = log->is_cut = false;
}

static void drop_commit(struct hb_log *log)
{
	drop_files(log);
	free(log->text);
	free(log->parent_ids);
	free(log->parents);
	free(log->refs);
	log->text = NULL;
	log->parent_ids = NULL;
	log->parents = NULL;
	log->refs = NULL;
	log->n_parents = log->n_refs = 0;
}

static void close_repository(struct hb_log *log)
{
	drop_commit(log);
	ancestry_done(&log->found);
	free(log->named);
	log->named = NULL;
	log->n_named = log->next = 0;
	log->is_open = false;
}

void hb_log_free(struct hb_log *log)
{
	if (!log)
		return;
	close_repository(log);
	repositories_done(&log->all);
	free(log);
}

int hb_changes_log(struct hb_session *session, struct hb_changes *changes,
		   struct hb_log **ret_log, struct hb_error *err)
{
	struct hb_log *log = calloc(1, sizeof(*log));
	int r;

	if (!log)
		return hb_fail(err, -ENOMEM, WORD);
	r = repositories_find(session, changes, &log->all, err);
	if (r >= 0)
		r = hb_changes_rewind(changes, err);
	if (r < 0)
		hb_log_free(log);
	else
		*ret_log = log;
	return r;
}

/* The session's references, each with its commit where it has one. */
static int read_named(struct hb_log *log, const struct repository *repo)
{
	for (size_t i = 0; i < repo->new.n; i++) {
		const struct gitref *ref = &repo->new.refs[i];
		struct named named = { ref->id, ref->name };
		int r;

		r = ancestry_peel(repo->objects, &ref->id, &named.commit);
		if (r == -ENOMEM || r == -EFBIG)
			return r;
		if (grow(log->named, log->n_named) < 0)
			return -ENOMEM;
		log->named[log->n_named++] = named;
	}
	return 0;
}

static int open_repository(struct hb_log *log)
{
	const struct repository *repo = &log->all.list[log->at];
	int r = repo->is_unknown ? -EFBIG : read_named(log, repo);

	if (r >= 0)
		r = repository_all_new_commits(repo, &log->found);
	log->is_open = true;
	return r;
}

static int add_parents(struct hb_log *log, const struct git_commit *commit)
{
	const char *at = commit->parents;
	struct git_id id;

	while (git_commit_parent(&at, &id)) {
		if (grow(log->parent_ids, log->n_parents) < 0)
			return -ENOMEM;
		log->parent_ids[log->n_parents++] = id;
	}
	log->parents = calloc(log->n_parents + 1, sizeof(*log->parents));
	for (size_t i = 0; log->parents && i < log->n_parents; i++)
		log->parents[i] = log->parent_ids[i].hex;
	return log->parents ? 0 : -ENOMEM;
}

static int add_refs(struct hb_log *log, const struct git_id *id)
{
	for (size_t i = 0; i < log->n_named; i++) {
		if (!git_id_is_same(&log->named[i].commit, id))
			continue;
		if (grow(log->refs, log->n_refs) < 0)
			return -ENOMEM;
		log->refs[log->n_refs++] = log->named[i].name;
	}
	return 0;
}

/* The lines that are told end where they did; the text is ours. */
static const char *cut_line(const char *line)
{
	char *end = strchr(line, '\n');

	if (end)
		*end = '\0';
	return line;
}

static int read_commit(struct hb_log *log, const struct repository *repo,
		       const struct git_id *id, struct hb_commit *ret)
{
	struct git_object object = { 0 };
	struct git_commit commit = { 0 };
	int r = objectstore_read(repo->objects, id, OBJECTSTORE_COMMIT_MAX,
				 &object);

	if (r == -ENOMEM)
		return r;
	log->text = object.data;
	if (r >= 0)
		r = git_commit_parse(&object, &commit);
	if (r < 0) {
		ret->is_missing = true;
		return 0;
	}
	log->tree = commit.tree;
	r = add_parents(log, &commit);
	if (r < 0)
		return r;
	ret->parents = log->parents;
	ret->n_parents = log->n_parents;
	ret->message = commit.subject;
	ret->author = cut_line(commit.author);
	ret->committer = cut_line(commit.committer);
	return 0;
}

int hb_log_next(struct hb_log *log, struct hb_commit *ret_commit,
		struct hb_error *err)
{
	int r;

	drop_commit(log);
	for (; log->at < log->all.n; log->at++, close_repository(log)) {
		const struct repository *repo = &log->all.list[log->at];
		const struct git_id *id;

		*ret_commit = (struct hb_commit){ .resource = repo->resource,
						  .repository = repo->prefix };
		r = log->is_open ? 0 : open_repository(log);
		if (r == -EFBIG)
			return 2;
		if (r < 0)
			return hb_fail(err, r, WORD);
		if (log->next == log->found.n)
			continue;
		id = &log->found.items[log->next++].id;
		ret_commit->id = id->hex;
		r = read_commit(log, repo, id, ret_commit);
		if (r >= 0)
			r = add_refs(log, id);
		ret_commit->refs = log->refs;
		ret_commit->n_refs = log->n_refs;
		return r < 0 ? hb_fail(err, r, WORD) : 1;
	}
	return 0;
}

/* Of type treediff_fn. */
static int add_file(void *ctx, const struct treediff_change *change)
{
	struct hb_log *log = ctx;
	struct file *file;

	if (grow(log->files, log->n_files) < 0)
		return -ENOMEM;
	file = &log->files[log->n_files];
	*file = (struct file){
		.path = strdup(change->path),
		.mode = { (unsigned)change->old.mode,
			  (unsigned)change->new.mode },
		.id = { change->old.id, change->new.id },
	};
	if (!file->path)
		return -ENOMEM;
	log->n_files++;
	return 0;
}

/* The tree of the first parent; -ENOENT: it cannot be read. */
static int tree_of_parent(const struct repository *repo,
			  const struct hb_log *log, struct git_id *ret)
{
	struct git_object object = { 0 };
	struct git_commit commit = { 0 };
	int r = objectstore_read(repo->objects, &log->parent_ids[0],
				 OBJECTSTORE_COMMIT_MAX, &object);

	if (r >= 0)
		r = git_commit_parse(&object, &commit);
	if (r >= 0)
		*ret = commit.tree;
	free(object.data);
	return r;
}

static int find_files(struct hb_log *log)
{
	const struct repository *repo = &log->all.list[log->at];
	struct treediff diff = {
		.read = treediff_read,
		.ctx = repo->objects,
		.n_paths = TREEDIFF_PATHS,
		.n_trees = TREEDIFF_TREES,
	};
	struct git_id old;
	int r = 0;

	log->has_files = true;
	if (!log->text || log->n_parents > 1)
		return 0;
	if (log->n_parents == 1)
		r = tree_of_parent(repo, log, &old);
	if (r >= 0)
		r = treediff_run(&diff, log->n_parents == 1 ? &old : NULL,
				 &log->tree, add_file, log);
	log->is_cut = r < 0;
	return r == -ENOMEM ? r : 0;
}

int hb_log_file(struct hb_log *log, struct hb_commit_file *ret_file,
		struct hb_error *err)
{
	const struct file *file;
	int r = log->has_files ? 0 : find_files(log);

	if (r < 0)
		return hb_fail(err, r, WORD);
	if (log->next_file == log->n_files)
		return log->is_cut ? 2 : 0;
	file = &log->files[log->next_file++];
	*ret_file = (struct hb_commit_file){
		.path = file->path,
		.old_mode = file->mode[HB_SIDE_OLD],
		.new_mode = file->mode[HB_SIDE_NEW],
		.old = file->id[HB_SIDE_OLD].hex,
		.new = file->id[HB_SIDE_NEW].hex,
	};
	return 1;
}

int hb_log_read(struct hb_log *log, enum hb_side side, size_t max,
		char **ret_bytes, size_t *ret_n)
{
	const struct repository *repo = &log->all.list[log->at];
	const struct file *file = &log->files[log->next_file - 1];
	struct git_object object = { 0 };
	int r;

	if (file->mode[side] == GITTREE_MODULE) {
		r = asprintf(ret_bytes, MODULE_LINE "%s\n", file->id[side].hex);
		*ret_n = r < 0 ? 0 : (size_t)r;
		return r < 0 ? -ENOMEM : 0;
	}
	r = objectstore_read(repo->objects, &file->id[side], max, &object);
	if (r >= 0 && object.type != GIT_BLOB) {
		free(object.data);
		r = -ENOENT;
	}
	if (r < 0)
		return r;
	*ret_bytes = object.data;
	*ret_n = object.size;
	return 0;
}
