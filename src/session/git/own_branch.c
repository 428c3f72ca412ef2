/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/own_branch.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "changes/begun/begun.h"
#include "changes/changes.h"
#include "changes/part.h"
#include "git/delivery/git_part.h"
#include "git/gitrefs.h"
#include "git/kept/kept_refs.h"
#include "git/refname.h"
#include "host/worktree.h"
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
#define GITDIR	    "gitdir: "
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

static void name_head(const char *desk, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%s%sHEAD", desk, desk[0] ? "/" : "");
}

/* The words for an operation of the user's that is under way; NULL: none. */
static const char *operation(int git, const char *desk)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < git_operations_n; i++) {
		auto_fd int fd = -1;

		(void)snprintf(path, sizeof(path), "%s%s%s", desk,
			       desk[0] ? "/" : "", git_operations[i].name);
		fd = sys_openat2(git, path, O_PATH | O_NOFOLLOW, 0, INSIDE);
		if (fd >= 0)
			return git_operations[i].words;
	}
	return NULL;
}

/* Of an open git directory; `ret` gets its references and the commit. */
static int check_repository(int git, const char *desk, const char *source,
			    struct kept_refs *ret_refs, struct git_id *ret,
			    struct hb_error *err)
{
	const char *why = operation(git, desk);
	char head[PATH_MAX];
	int r;

	if (why)
		return refuse(source, why, "end it first", err);
	r = kept_refs_look(git, "", ret_refs);
	if (r == -ENOTSUP || r == -EFBIG)
		return refuse(source,
			      "its references are of a format that holdback "
			      "does not read",
			      "--strategy of another kind", err);
	if (r < 0)
		return hb_fail(err, r, WORD);
	name_head(desk, head, sizeof(head));
	return resolve(ret_refs, head, ret)
		       ? 0
		       : refuse(source, "it has no commit yet",
				"git commit first", err);
}

/* Of `.git`, a file: the end of the path that it says is the desk. */
static int read_desk(int base, char *ret, size_t size)
{
	auto_free char *text = NULL;
	const char *at = NULL;
	int r = gitref_read_file(base, "", GIT, PATH_MAX, &text);

	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	for (const char *next = text; (next = strstr(next, "/worktrees/"));)
		at = ++next;
	/* A submodule's own repository has no other desk. */
	(void)snprintf(ret, size, "%s", at ? at : "");
	return strncmp(text, GITDIR, strlen(GITDIR)) == 0 && strlen(ret) < size
		       ? 0
		       : -EINVAL;
}

int own_branch_check(int base, const char *source, struct hb_error *err)
{
	auto_kept_refs struct kept_refs refs = { 0 };
	char desk[NAME_MAX + 16] = "";
	auto_fd int git = sys_openat2(
		base, GIT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, INSIDE);
	auto_fd int own = -1;
	struct git_id id;

	if (git < 0 && worktree_open(source, &own, &git) > 0 &&
	    read_desk(base, desk, sizeof(desk)) < 0)
		fd_closep(&git);
	if (git >= 0)
		return check_repository(git, desk, source, &refs, &id, err);
	if (worktree_is_repository(base, sys_effective_uid()))
		return refuse(source, "it is a bare repository",
			      "git clone it, and name the clone", err);
	return refuse(source, "it is no top level of a git checkout",
		      "name one, or git init and git commit", err);
}

int own_branch_place(const struct session_record *record, size_t number,
		     struct own_place *ret, struct hb_error *err)
{
	const char *source = record->resources[number].source;
	char common[PATH_MAX];
	auto_fd int base = -1;
	const char *why;

	*ret = (struct own_place){ .resource = number, .prefix = GIT };
	if (worktree_find(source, common, &why) <= 0)
		return 0;
	base = sys_openat(AT_FDCWD, source, O_PATH | O_DIRECTORY, 0);
	for (size_t i = 0; base >= 0 && i < record->n_resources; i++) {
		if (strcmp(record->resources[i].source, common) != 0)
			continue;
		ret->resource = i;
		ret->prefix = "";
		return read_desk(base, ret->desk, sizeof(ret->desk)) < 0
			       ? hb_fail(err, -HB_E_STATE, WORD)
			       : 0;
	}
	hb_fix(err, "holdback run --strategy, or name the repository's own "
		    "directory");
	return hb_fail(err, -HB_E_STATE,
		       "no branch of its own for '%s': its repository '%s' is "
		       "not held back",
		       quoted(source), quoted(common));
}

void own_start_done(struct own_start *start)
{
	free(start->branch);
	for (size_t i = 0; i < start->n_before; i++)
		begun_done(&start->before[i]);
	free(start->before);
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

static int fill_start(struct hb_session *s, const struct own_place *place,
		      struct own_start *ret, struct hb_error *err)
{
	const char *source = s->record.resources[ret->number].source;
	auto_kept_refs struct kept_refs refs = { 0 };
	auto_fd int git = gitrefs_open_below(s->resources[place->resource].base,
					     place->prefix, ".");
	int r;

	if (git < 0)
		return refuse(source, "it is no git checkout any more",
			      "put .git back", err);
	r = check_repository(git, place->desk, source, &refs, &ret->commit,
			     err);
	if (r < 0)
		return r;
	r = find_name(&refs, s->record.name, &ret->branch);
	return r < 0 ? hb_fail(err, r, WORD) : 0;
}

/* Whether a layer says something about HEAD, be it that there is none. */
static bool has_head(const struct resource *git, const struct own_place *place)
{
	char path[PATH_MAX + 8], head[PATH_MAX];

	name_head(place->desk, head, sizeof(head));
	(void)snprintf(path, sizeof(path), "%s%s%s", place->prefix,
		       place->prefix[0] ? "/" : "", head);
	for (size_t i = 0; i < git->n_layers; i++) {
		auto_fd int fd = sys_openat2(git->layers[i], path,
					     O_PATH | O_NOFOLLOW, 0, INSIDE);

		if (fd != -ENOENT)
			return true;
	}
	return false;
}

int own_branch_has_begun(struct hb_session *s, size_t number,
			 struct hb_error *err)
{
	auto_begun struct begun begun = { 0 };
	struct own_place place = { 0 };
	int r = session_open_resources(s, err);

	if (r >= 0)
		r = own_branch_place(&s->record, number, &place, err);
	if (r >= 0)
		r = session_open_layers(s, place.resource, err);
	if (r < 0)
		return r;
	r = own_branch_load(s, number, &begun);
	if (r < 0 && r != -ENOENT)
		return hb_fail(err, r, WORD);
	return r >= 0 && begun.branch &&
	       has_head(&s->resources[place.resource], &place);
}

static int scan_one(struct hb_session *s, const struct txn *txn, size_t i,
		    const struct begun *before, struct begun *ret,
		    struct hb_error *err)
{
	struct resource plain = txn->resources[i];
	const struct changes_request request = {
		.resource = &plain,
		.spill_dir = s->dir,
		.seen = txn->seen,
		.seen_ctx = txn->seen_ctx[i],
		.without_hash = true,
	};
	struct changes *changes = NULL;
	struct change c;
	int r;

	plain.begun = NULL;
	r = part_of(&plain)->changes(&request, &changes, err);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		if (!(c.flags & CHANGE_CARRIED) && !change_is_top(&c) &&
		    !(before && begun_names(before, c.path)))
			r = begun_add(ret, &c, plain.layers, err);
	changes_free(changes);
	begun_sort(ret);
	return r;
}

/*
 * After a commit files that git ignores may be pending, and they stay so.
 * Before the first one there is nothing but a beginning that was cut short.
 */
static int look_before(struct hb_session *s, struct own_start *ret,
		       struct hb_error *err)
{
	struct txn *txn = NULL;
	uint64_t after = 0;
	int r = session_last_done(s, &after, err);

	if (r < 0 || after == 0)
		return r;
	r = session_txn(s, &txn, err);
	if (r < 0)
		return r;
	ret->before = calloc(txn->n_resources, sizeof(*ret->before));
	if (!ret->before)
		return hb_fail(err, -ENOMEM, WORD);
	ret->n_before = txn->n_resources;
	for (size_t i = 0; r >= 0 && i < txn->n_resources; i++)
		if (!txn->resources[i].is_gone)
			r = scan_one(s, txn, i, NULL, &ret->before[i], err);
	return r < 0 ? r : 0;
}

int own_branch_next(struct hb_session *s, size_t number, struct own_start *ret,
		    struct hb_error *err)
{
	for (; number < s->record.n_resources; number++) {
		struct own_place place;
		int r;

		if (!own_branch_is_asked(&s->record.resources[number]))
			continue;
		r = own_branch_has_begun(s, number, err);
		if (r < 0)
			return r;
		if (r > 0 || s->resources[number].is_gone)
			continue;
		*ret = (struct own_start){ .number = number };
		r = own_branch_place(&s->record, number, &place, err);
		if (r >= 0)
			r = fill_start(s, &place, ret, err);
		if (r >= 0)
			r = look_before(s, ret, err);
		if (r < 0)
			own_start_done(ret);
		return r < 0 ? r : 1;
	}
	return 0;
}

static int name_start(const struct own_start *start, struct begun *ret,
		      struct hb_error *err)
{
	ret->branch = strdup(start->branch);
	ret->commit = strdup(start->commit.hex);
	return ret->branch && ret->commit ? 0 : hb_fail(err, -ENOMEM, WORD);
}

/* The work tree that the start is about comes last: then it has begun. */
int own_branch_note(struct hb_session *s, const struct own_start *start,
		    struct hb_error *err)
{
	struct txn *txn = NULL;
	uint64_t after = 0;
	int r = session_txn(s, &txn, err);

	if (r >= 0)
		r = session_last_done(s, &after, err);
	for (size_t k = 1; r >= 0 && k <= txn->n_resources; k++) {
		size_t i = (start->number + k) % txn->n_resources;
		auto_begun struct begun begun = { 0 };

		if (txn->resources[i].is_gone)
			continue;
		if (i == start->number) {
			r = name_start(start, &begun, err);
		}
		if (r >= 0)
			r = scan_one(s, txn, i,
				     start->before ? &start->before[i] : NULL,
				     &begun, err);
		if (r >= 0 && (begun.n > 0 || begun.branch))
			r = own_branch_store(txn->resources[i].dir, after,
					     &begun, err);
	}
	session_close_resources(s);
	return r < 0 ? r : 0;
}

static int need_quiet(const struct hb_session *s, const struct own_place *place,
		      struct hb_error *err)
{
	auto_fd int git = gitrefs_open_below(s->resources[place->resource].base,
					     place->prefix, ".");
	const char *why = git < 0 ? NULL : operation(git, place->desk);

	if (!why)
		return 0;
	hb_fix(err, "end it first");
	return hb_fail(err, -HB_E_CONFLICT, "session '%s' cannot be merged: %s",
		       s->record.name, why);
}

int own_branch_need_begun(struct hb_session *s, struct hb_error *err)
{
	for (size_t i = 0; i < s->record.n_resources; i++) {
		struct own_place place;
		int r;

		if (!own_branch_is_asked(&s->record.resources[i]))
			continue;
		r = own_branch_has_begun(s, i, err);
		if (r < 0 || own_branch_place(&s->record, i, &place, err) < 0)
			return r < 0 ? r : -HB_E_STATE;
		if (r > 0 && need_quiet(s, &place, err) < 0)
			return -HB_E_CONFLICT;
		if (r > 0)
			continue;
		/* After a commit it begins with the next command. */
		if (!has_head(&s->resources[place.resource], &place))
			continue;
		hb_fix(err, "holdback exec @%s -- true", s->record.name);
		return hb_fail(err, -HB_E_STATE,
			       "the beginning of session '%s' on its branch "
			       "was interrupted",
			       s->record.name);
	}
	return 0;
}
