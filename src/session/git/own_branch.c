/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/own_branch.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "changes/begun/begun.h"
#include "changes/changes.h"
#include "changes/part.h"
#include "git/delivery/commit_tree.h"
#include "git/delivery/git_part.h"
#include "git/gitrefs.h"
#include "git/ignore/tracked.h"
#include "git/kept/kept_refs.h"
#include "git/objectstore.h"
#include "git/refname.h"
#include "session/git/own_record.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/session.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIT	    ".git"
#define HEAD	    "HEAD"
#define SYMBOLIC    "ref: "
#define BRANCHES    "refs/heads/"
#define NUMBERS_MAX 1000
#define WORD	    "cannot begin on a branch"
#define INSIDE	    (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS)

static int refuse(const char *source, const char *why, const char *fix,
		  struct hb_error *err)
{
	hb_fix(err, "%s", fix);
	return hb_fail(err, -HB_E_STATE, "no branch of its own for '%s': %s",
		       quoted(source), why);
}

/* The commit that a HEAD leads to; false: none. */
static bool resolve(const struct kept_refs *refs, const char *head,
		    struct git_id *ret)
{
	const char *value = kept_refs_value(refs, head);

	if (value && strncmp(value, SYMBOLIC, strlen(SYMBOLIC)) == 0)
		value = kept_refs_value(refs, value + strlen(SYMBOLIC));
	return value && git_id_parse(value, strlen(value), ret);
}

/* The words for an operation of the user's that is under way; NULL: none. */
static const char *operation(int git)
{
	for (size_t i = 0; i < git_operations_n; i++) {
		auto_fd int fd = sys_openat2(git, git_operations[i].name,
					     O_PATH | O_NOFOLLOW, 0, INSIDE);

		if (fd >= 0)
			return git_operations[i].words;
	}
	return NULL;
}

/* A commit comes back only if its files and the index can be read here. */
static int check_files(int git, const char *source, const struct git_id *commit,
		       struct hb_error *err)
{
	struct objectstore *objects = objectstore_new();
	struct tracked tracked = { 0 };
	struct git_object object = { 0 };
	struct git_id tree;
	int r = objects ? objectstore_add(objects, git, "") : -ENOMEM;

	if (r >= 0)
		r = commit_tree(objects, commit->hex, &tree);
	if (r >= 0)
		r = objectstore_read(objects, &tree, OBJECTSTORE_TREE_MAX,
				     &object);
	free(object.data);
	objectstore_free(objects);
	if (r == -ENOENT || r == -EBADMSG)
		return refuse(source, "its objects lie in another repository",
			      "git repack -a, or --strategy overlay", err);
	if (r < 0)
		return hb_fail(err, r, WORD);
	r = tracked_read(&tracked, git, err);
	tracked_done(&tracked);
	return r != 0 ? (r < 0 ? r : 0)
		      : refuse(source, "its index is split, sparse or damaged",
			       "git update-index --no-split-index", err);
}

/* Of an open git directory; `ret` gets its references and the commit. */
static int check_repository(int git, const char *source,
			    struct kept_refs *ret_refs, struct git_id *ret,
			    struct hb_error *err)
{
	const char *why = operation(git);
	int r;

	if (why)
		return refuse(source, why, "end it first", err);
	r = kept_refs_look(git, "", ret_refs);
	if (r == -ENOTSUP || r == -EFBIG)
		return refuse(source,
			      "its references are of a format that holdback "
			      "does not read",
			      "--strategy overlay", err);
	if (r < 0)
		return hb_fail(err, r, WORD);
	if (!resolve(ret_refs, HEAD, ret))
		return refuse(source, "it has no commit yet",
			      "git commit first", err);
	return check_files(git, source, ret, err);
}

static int open_git(int base)
{
	return sys_openat2(base, GIT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
			   INSIDE);
}

int own_branch_check(int base, const char *source, struct hb_error *err)
{
	auto_kept_refs struct kept_refs refs = { 0 };
	auto_fd int git = open_git(base);
	struct git_id id;

	if (git >= 0)
		return check_repository(git, source, &refs, &id, err);
	return refuse(source,
		      "it is a linked worktree or a submodule, whose "
		      "repository lies elsewhere",
		      "name the checkout that has the repository, or "
		      "--strategy overlay",
		      err);
}

void own_start_done(struct own_start *start)
{
	free(start->branch);
	begun_done(&start->before);
	*start = (struct own_start){ 0 };
}

/* A name that the user has not; never one with the user's commits. */
static int find_name(const struct kept_refs *refs, const char *session,
		     char **ret)
{
	bool is_taken = kept_refs_value(refs, BRANCHES "holdback") != NULL;
	auto_buf struct buf name = BUF_INIT(GITREFS_NAME_MAX);

	for (int i = 1; i <= NUMBERS_MAX; i++) {
		buf_cut(&name, 0);
		(void)buf_add_str(&name, BRANCHES "holdback");
		(void)buf_add_char(&name, is_taken ? '-' : '/');
		refname_add_component(&name, session);
		if (i > 1)
			(void)buf_add_fmt(&name, "-%d", i);
		if (name.error)
			return name.error;
		if (kept_refs_value(refs, buf_str(&name)) ||
		    kept_refs_clash(refs, buf_str(&name)))
			continue;
		*ret = strdup(buf_str(&name) + strlen(BRANCHES));
		return *ret ? 0 : -ENOMEM;
	}
	return -EEXIST;
}

static int fill_start(struct hb_session *s, struct own_start *ret,
		      struct hb_error *err)
{
	const char *source = s->record.resources[ret->number].source;
	auto_kept_refs struct kept_refs refs = { 0 };
	auto_fd int git = open_git(s->resources[ret->number].base);
	int r;

	if (git < 0)
		return refuse(source, "it is no git checkout any more",
			      "put .git back", err);
	r = check_repository(git, source, &refs, &ret->commit, err);
	if (r < 0)
		return r;
	r = find_name(&refs, s->record.name, &ret->branch);
	return r < 0 ? hb_fail(err, r, WORD) : 0;
}

int own_branch_has_begun(struct hb_session *s, size_t number,
			 struct hb_error *err)
{
	auto_begun struct begun begun = { 0 };
	uint64_t after;
	int r = session_open_resources(s, err);

	if (r >= 0)
		r = session_open_layers(s, number, err);
	if (r >= 0)
		r = own_branch_load(s, number, &begun, &after, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return own_branch_is_in(&s->resources[number], &begun);
}

int own_branch_share(struct hb_session *from, size_t number, int dir,
		     struct hb_error *err)
{
	auto_begun struct begun begun = { 0 };
	uint64_t after;
	int r;

	if (!own_branch_is_asked(&from->record.resources[number]))
		return 0;
	r = own_branch_has_begun(from, number, err);
	if (r > 0)
		r = own_branch_load(from, number, &begun, &after, err);
	return r < 0 || !begun.branch ? r
				      : own_branch_store(dir, 0, &begun, err);
}

/* Calls `fn` for all that differs from the base, be it of a beginning. */
static int each_change(struct hb_session *s, size_t number, bool ignores,
		       int (*fn)(void *ctx, const struct resource *resource,
				 const struct change *change,
				 struct hb_error *err),
		       void *ctx, struct hb_error *err)
{
	struct txn *txn = NULL;
	int r = session_txn(s, &txn, err);
	struct resource plain = { 0 };
	struct changes *changes = NULL;
	struct change c;

	if (r >= 0) {
		const struct changes_request request = {
			.resource = &plain,
			.spill_dir = s->dir,
			.seen = txn->seen,
			.seen_ctx = txn->seen_ctx[number],
			.ignores = ignores,
			.without_hash = true,
		};

		plain = txn->resources[number];
		plain.begun = NULL;
		r = part_of(&plain)->changes(&request, &changes, err);
	}
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		if (!(c.flags & CHANGE_CARRIED) && !change_is_top(&c))
			r = fn(ctx, &plain, &c, err);
	changes_free(changes);
	return r;
}

struct noting {
	const struct begun *before;
	struct begun *to;
};

static int note_one(void *ctx, const struct resource *resource,
		    const struct change *change, struct hb_error *err)
{
	const struct noting *n = ctx;

	return begun_names(n->before, change->path)
		       ? 0
		       : begun_add(n->to, change, resource->layers, err);
}

/* Work that is on no branch: to begin would write over it. */
static int refuse_pending(const struct hb_session *s, const char *path,
			  struct hb_error *err)
{
	hb_fix(err, "holdback rollback @%s, which undo takes back",
	       s->record.name);
	return hb_fail(err, -HB_E_STATE,
		       "session '%s' cannot begin on a branch: '%s' is pending",
		       s->record.name, quoted(path));
}

struct looking {
	const struct hb_session *session;
	struct begun *before;
};

/*
 * Only ignored files may be pending, and files of git that no commit delivers
 * and no beginning writes, such as a commit-graph.
 */
static int look_one(void *ctx, const struct resource *resource,
		    const struct change *change, struct hb_error *err)
{
	const struct looking *l = ctx;
	bool is_gits = strncmp(change->path, GIT "/", strlen(GIT "/")) == 0 &&
		       strcmp(change->path, GIT "/index") != 0;

	if (change->flags & CHANGE_LOCK)
		return 0;
	return is_gits || change->flags & CHANGE_IGNORED
		       ? begun_add(l->before, change, resource->layers, err)
		       : refuse_pending(l->session, change->path, err);
}

/* git would write over it where the commit has a file. */
static int check_before(const struct hb_session *s,
			const struct own_start *start, struct hb_error *err)
{
	struct objectstore *objects = objectstore_new();
	int r = objects ? objectstore_add(objects,
					  s->resources[start->number].base, GIT)
			: -ENOMEM;

	for (size_t i = 0; r >= 0 && i < start->before.n; i++) {
		const struct begun_entry *e = &start->before.entries[i];

		r = commit_tree_meets(objects, start->commit.hex, e->path,
				      e->type == ENTRY_DIR);
		if (r > 0)
			r = refuse_pending(s, e->path, err);
	}
	objectstore_free(objects);
	return r < 0 && r != -HB_E_STATE ? hb_fail(err, r, WORD) : r;
}

/*
 * After a commit files that git ignores may be pending, and they stay so.  A
 * beginning that was cut short knows them: all else is of that beginning.
 */
static int look_before(struct hb_session *s, struct own_start *ret,
		       struct hb_error *err)
{
	struct looking l = { s, &ret->before };
	int r = own_mark_load(s->resources[ret->number].dir, &ret->before, err);

	if (r == -ENOENT)
		r = each_change(s, ret->number, true, look_one, &l, err);
	begun_sort(&ret->before);
	if (r >= 0)
		r = check_before(s, ret, err);
	session_close_resources(s);
	return r;
}

/* From here on nothing in the layers is taken for work but what was there. */
static int mark_start(struct hb_session *s, struct own_start *start,
		      struct hb_error *err)
{
	int r = look_before(s, start, err);

	if (r >= 0)
		r = session_open_resources(s, err);
	return r < 0 ? r
		     : own_mark_store(s->resources[start->number].dir,
				      &start->before, err);
}

/* 1: it has to begin. */
static int has_to_begin(struct hb_session *s, size_t number,
			struct hb_error *err)
{
	auto_begun struct begun before = { 0 };
	int r = own_branch_is_asked(&s->record.resources[number])
			? session_open_resources(s, err)
			: -ENOENT;

	if (r >= 0 && !s->resources[number].is_gone)
		r = own_mark_load(s->resources[number].dir, &before, err);
	else if (r >= 0)
		return 0;
	if (r != -ENOENT)
		return r < 0 ? r : 1;
	if (!own_branch_is_asked(&s->record.resources[number]))
		return 0;
	r = own_branch_has_begun(s, number, err);
	return r < 0 ? r : r == 0;
}

int own_branch_next(struct hb_session *s, size_t number, struct own_start *ret,
		    struct hb_error *err)
{
	int r = 0;

	while (number < s->record.n_resources &&
	       (r = has_to_begin(s, number, err)) == 0)
		number++;
	if (r <= 0)
		return r;
	*ret = (struct own_start){ .number = number };
	r = fill_start(s, ret, err);
	if (r >= 0)
		r = mark_start(s, ret, err);
	if (r < 0)
		own_start_done(ret);
	return r < 0 ? r : 1;
}

int own_branch_note(struct hb_session *s, const struct own_start *start,
		    struct hb_error *err)
{
	auto_begun struct begun begun = { .branch = strdup(start->branch),
					  .commit = strdup(start->commit.hex) };
	struct noting noting = { &start->before, &begun };
	uint64_t after = 0;
	int r = begun.branch && begun.commit ? 0 : hb_fail(err, -ENOMEM, WORD);

	if (r >= 0)
		r = each_change(s, start->number, false, note_one, &noting,
				err);
	if (r >= 0)
		r = session_last_done(s, &after, err);
	begun_sort(&begun);
	if (r >= 0)
		r = own_branch_store(s->resources[start->number].dir, after,
				     &begun, err);
	/* Only now all of it is known. */
	if (r >= 0)
		r = own_mark_drop(s->resources[start->number].dir, err);
	session_close_resources(s);
	return r < 0 ? r : 0;
}

int own_branch_need_whole(struct hb_session *s, struct hb_error *err)
{
	int r;

	if (!own_branch_is_any(&s->record))
		return 0;
	r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		int dir = s->resources[i].dir;

		if (!own_branch_is_asked(&s->record.resources[i]) || dir < 0 ||
		    !own_mark_is_there(dir))
			continue;
		hb_fix(err,
		       "holdback exec @%s -- true begins again; or cleanup",
		       s->record.name);
		return hb_fail(err, -HB_E_STATE,
			       "the beginning of session '%s' on its branch "
			       "was interrupted",
			       s->record.name);
	}
	return r < 0 ? r : 0;
}

/* Nothing in it is of a branch, so nothing of it may reach the user's tree. */
static int need_nothing(struct hb_session *s, size_t number,
			struct hb_error *err)
{
	auto_begun struct begun pending = { 0 };
	struct looking l = { s, &pending };
	int r = own_branch_has_begun(s, number, err);

	if (r != 0)
		return r < 0 ? r : 0;
	return each_change(s, number, true, look_one, &l, err);
}

static int need_quiet(const struct hb_session *s, size_t number,
		      struct hb_error *err)
{
	auto_fd int git = open_git(s->resources[number].base);
	const char *why = git < 0 ? NULL : operation(git);

	if (!why)
		return 0;
	hb_fix(err, "end it first");
	return hb_fail(err, -HB_E_CONFLICT, "session '%s' cannot be merged: %s",
		       s->record.name, why);
}

int own_branch_need_quiet(struct hb_session *s, struct hb_error *err)
{
	int r = own_branch_need_whole(s, err);

	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		if (!own_branch_is_asked(&s->record.resources[i]) ||
		    s->resources[i].is_gone)
			continue;
		r = need_quiet(s, i, err);
		if (r >= 0)
			r = need_nothing(s, i, err);
	}
	return r < 0 ? r : 0;
}
