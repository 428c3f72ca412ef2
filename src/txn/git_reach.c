/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/git_reach.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "base/time.h"
#include "git/ancestry.h"
#include "git/gitrefs.h"
#include "git/gitunit.h"
#include "git/kept/kept_file.h"
#include "git/kept/kept_refs.h"
#include "git/objectstore.h"
#include "sys/attr.h"
#include "tree/access.h"
#include "tree/tree.h"
#include "txn/apply.h"
#include "txn/git_locks.h"
#include "txn/git_values.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Undo takes references back and leaves objects.  So a branch that the user
 * made on a commit of the session stays whole.  But the session has the commit
 * pending again, and would bring it a second time.  The user decides first.
 */
#define IDS_MAX	     ((size_t)1 << 16)
#define PATHS_MAX    ((size_t)1 << 16)
#define LOG_MAX	     ((uint64_t)64 << 20)
#define REPOS_MAX    256
#define PACKED	     "packed-refs"
#define LOG_ID_AT(n) ((n) + 1) /* behind the old one, of `n` digits */

struct ids {
	struct git_id *list;
	const char **from; /* by id: the path that has it, or NULL */
	size_t n;
};

/* One repository that the transaction wrote to. */
struct repo {
	uint32_t resource;
	char *prefix;
	struct ids new, old; /* that its references had after and before */
};

struct reach {
	struct apply *a;
	struct timespec stamp;
	struct repo *repos;
	size_t n;
	char **ours; /* paths that the transaction wrote, with a resource */
	size_t n_ours;
	/* while one is looked through */
	const struct repo *repo;
	bool in_logs; /* they come last: a reference is the better name */
	struct ids foreign;
	char **paths; /* that foreign.from points to */
	size_t n_paths;
};

static void ids_done(struct ids *ids)
{
	free(ids->list);
	free(ids->from);
	*ids = (struct ids){ 0 };
}

static int ids_add(struct ids *ids, const struct git_id *id, const char *from)
{
	if (ids->n >= IDS_MAX)
		return -EFBIG;
	/* Of 40 or 64 zeros: there was none. */
	if (id->hex[strspn(id->hex, "0")] == '\0')
		return 0;
	if (grow(ids->list, ids->n) < 0 || grow(ids->from, ids->n) < 0)
		return -ENOMEM;
	ids->from[ids->n] = from;
	ids->list[ids->n++] = *id;
	return 0;
}

static void forget_foreign(struct reach *x)
{
	ids_done(&x->foreign);
	for (size_t i = 0; i < x->n_paths; i++)
		free(x->paths[i]);
	free(x->paths);
	x->paths = NULL;
	x->n_paths = 0;
}

static void reach_done(struct reach *x)
{
	forget_foreign(x);
	for (size_t i = 0; i < x->n; i++) {
		free(x->repos[i].prefix);
		ids_done(&x->repos[i].new);
		ids_done(&x->repos[i].old);
	}
	for (size_t i = 0; i < x->n_ours; i++)
		free(x->ours[i]);
	free(x->repos);
	free(x->ours);
}

static char *read_text(int dir, const char *name, uint64_t max)
{
	uint64_t size = 0;
	auto_fd int fd = dir < 0 ? -1 : access_open_regular(dir, name, &size);
	auto_free char *text = NULL;
	ssize_t n;

	if (fd < 0 || size > max)
		return NULL;
	text = malloc((size_t)size + 1);
	n = text ? sys_pread_full(fd, text, (size_t)size, 0) : -1;
	if (n < 0)
		return NULL;
	text[n] = '\0';
	return take_ptr(&text);
}

static int add_ref(struct ids *ids, int dir, const char *name, const char *from)
{
	auto_free char *text = read_text(dir, name, GITREFS_FILE_MAX);
	struct git_id id;
	const char *other;

	return text && gitref_parse(text, &id, &other) == 1
		       ? ids_add(ids, &id, from)
		       : 0;
}

/* Whether the transaction wrote the reference of that line itself. */
static bool is_ours(const struct reach *x, const char *path);

static bool is_our_line(const struct reach *x, const char *name)
{
	auto_free char *path = NULL;

	if (asprintf(&path, "%s%s%s", x->repo->prefix,
		     *x->repo->prefix ? "/" : "", name) < 0) {
		path = NULL;
		return false;
	}
	return is_ours(x, path);
}

/* `x`: without those of the transaction, which git may have packed since. */
static int add_packed(const struct reach *x, struct ids *ids, int dir,
		      const char *name, const char *from)
{
	auto_free char *text = read_text(dir, name, GITREFS_PACKED_MAX);
	auto_gitrefs struct gitrefs refs = { 0 };
	int r = text ? gitrefs_add_packed(&refs, text) : 0;

	for (size_t i = 0; r >= 0 && i < refs.n; i++)
		if (!x || !is_our_line(x, refs.refs[i].name))
			r = ids_add(ids, &refs.refs[i].id, from);
	return r;
}

/* The value that the transaction gave it, which git may have packed since. */
static int add_now(const struct reach *x, const struct repo *repo,
		   struct ids *ids, const char *path)
{
	int base = x->a->sites[repo->resource].resource->base;
	size_t n = strlen(repo->prefix);
	auto_free char *value = NULL;
	struct git_id id;
	int r = kept_refs_now(base, repo->prefix, path + n + (n > 0), &value);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return git_id_parse(value, strlen(value), &id) ? ids_add(ids, &id, NULL)
						       : 0;
}

/* Each line names the value before and the value after. */
static int add_log(struct ids *ids, int dir, const char *name, const char *from)
{
	auto_free char *text = read_text(dir, name, LOG_MAX);
	struct git_id id;
	int r = 0;

	for (char *line = text; line && *line && r >= 0;) {
		size_t n = strcspn(line, " \n");

		if (line[n] == ' ' &&
		    git_id_parse(line + LOG_ID_AT(n),
				 strcspn(line + LOG_ID_AT(n), " \n"), &id))
			r = ids_add(ids, &id, from);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return r;
}

static bool is_head(const char *rest)
{
	const char *slash = strrchr(rest, '/');

	return strcmp(slash ? slash + 1 : rest, "HEAD") == 0 &&
	       !strstr(rest, "logs/");
}

static bool is_ref(const char *rest)
{
	return strncmp(rest, "refs/", 5) == 0 || strstr(rest, "/refs/");
}

static bool is_log(const char *rest)
{
	return strncmp(rest, "logs/", 5) == 0 || strstr(rest, "/logs/") != NULL;
}

/* A linked worktree is a part of its repository. */
static struct repo *repo_of(struct reach *x, uint32_t resource,
			    const char *path)
{
	bool is_git = x->a->sites[resource].resource->is_git;
	size_t n = git_repository_in(git_root(is_git), path);
	struct repo *repo;

	if (n == SIZE_MAX)
		return NULL;
	for (size_t i = 0; i < x->n; i++) {
		repo = &x->repos[i];
		if (repo->resource == resource && strlen(repo->prefix) == n &&
		    strncmp(repo->prefix, path, n) == 0)
			return repo;
	}
	if (x->n >= REPOS_MAX || grow(x->repos, x->n) < 0)
		return NULL;
	repo = &x->repos[x->n];
	*repo = (struct repo){ .resource = resource,
			       .prefix = strndup(path, n) };
	if (!repo->prefix)
		return NULL;
	x->n++;
	return repo;
}

static int note_ours(struct reach *x, const struct op *op)
{
	if (x->n_ours >= PATHS_MAX)
		return -EFBIG;
	if (grow(x->ours, x->n_ours) < 0 ||
	    asprintf(&x->ours[x->n_ours], "%u %s", op->resource, op->path) < 0)
		return -ENOMEM;
	x->n_ours++;
	return 0;
}

/* What the operation put there, and what was there before it. */
static int note_op(struct reach *x, const struct op *op)
{
	struct site *s = &x->a->sites[op->resource];
	const char *rest =
		op_moves(op) && !(op->effect & OP_UPPER)
			? git_path_in_unit(git_root(s->resource->is_git),
					   op->path)
			: NULL;
	bool is_packed = rest && strcmp(rest, PACKED) == 0;
	struct place now = { .dir = -1 }, before = { .dir = -1 };
	struct repo *repo;
	int r;

	if (!rest ||
	    git_is_object_path(git_root(s->resource->is_git), op->path))
		return 0;
	r = note_ours(x, op);
	if (r < 0 || !(is_packed || is_ref(rest) || is_head(rest)))
		return r;
	repo = repo_of(x, op->resource, op->path);
	if (!repo)
		return -ENOMEM;
	if (site_base(s, op, &now, NULL) < 0)
		now.dir = -1;
	site_undo(s, op, &before);
	if (is_packed) {
		r = add_packed(NULL, &repo->new, now.dir, now.name, NULL);
		return r < 0 ? r
			     : add_packed(NULL, &repo->old, before.dir,
					  before.name, NULL);
	}
	r = add_now(x, repo, &repo->new, op->path);
	return r < 0 ? r : add_ref(&repo->old, before.dir, before.name, NULL);
}

static bool is_ours(const struct reach *x, const char *path)
{
	for (size_t i = 0; i < x->n_ours; i++) {
		char *at = strchr(x->ours[i], ' ');

		if ((uint32_t)strtoul(x->ours[i], NULL, 10) ==
			    x->repo->resource &&
		    strcmp(at + 1, path) == 0)
			return true;
	}
	return false;
}

/* Of type tree_fn: a file of the repository that another program wrote. */
static int look(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	struct reach *x = ctx;
	auto_free char *path = NULL;
	const char *kept;

	(void)err;
	if (v->when != TREE_ENTER)
		return 0;
	if (S_ISDIR(v->attr.mode))
		return strcmp(v->path, "objects") == 0 ||
				       strcmp(v->path, "modules") == 0
			       ? TREE_SKIP
			       : 0;
	if (time_is_before(v->attr.ctime, x->stamp) ||
	    is_log(v->path) != x->in_logs)
		return 0;
	if (asprintf(&path, "%s%s%s", x->repo->prefix,
		     *x->repo->prefix ? "/" : "", v->path) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (is_ours(x, path))
		return 0;
	if (x->n_paths >= PATHS_MAX || grow(x->paths, x->n_paths) < 0)
		return -ENOMEM;
	kept = x->paths[x->n_paths++] = take_ptr(&path);
	if (is_log(v->path))
		return add_log(&x->foreign, v->dir, v->name, kept);
	if (strcmp(v->path, PACKED) == 0)
		return add_packed(x, &x->foreign, v->dir, v->name, kept);
	return is_ref(v->path) || is_head(v->path)
		       ? add_ref(&x->foreign, v->dir, v->name, kept)
		       : 0;
}

static int refuse(const char *path, struct hb_error *err)
{
	hb_fix(err, "remove it first, or keep the commits");
	return hb_fail(err, -HB_E_CONFLICT,
		       "%s has commits of the session, which undo would take "
		       "off their branch",
		       quoted(path));
}

/* Whether one of the foreign ids leads to a commit of the transaction. */
static int compare(struct reach *x, struct objectstore *objects,
		   struct hb_error *err)
{
	auto_ancestry struct ancestry ours = { 0 };
	auto_ancestry struct ancestry theirs = { 0 };
	const struct repo *repo = x->repo;
	int r = ancestry_find(objects, repo->new.list, repo->new.n,
			      repo->old.list, repo->old.n, &ours);

	if (r >= 0 && ours.n > 0)
		r = ancestry_find(objects, x->foreign.list, x->foreign.n,
				  repo->old.list, repo->old.n, &theirs);
	if (r == -EFBIG) {
		hb_fix(err, "git reset puts a branch back by hand");
		return hb_fail(err, -HB_E_CONFLICT,
			       "the history of the repository is too long to "
			       "tell which branches have the commits");
	}
	for (size_t i = 0; r >= 0 && i < theirs.n; i++)
		for (size_t k = 0; k < ours.n; k++)
			if (git_id_is_same(&theirs.items[i].id,
					   &ours.items[k].id))
				return refuse(
					x->foreign.from[theirs.items[i].tip],
					err);
	return r < 0 ? hb_fail(err, r, "cannot look at the repository") : 0;
}

/*
 * What the user had when the session began is no commit of it.  A new branch
 * has no value of before, and would be the session's down to the first commit.
 */
static int add_begun(struct reach *x, struct repo *repo)
{
	auto_kept_refs struct kept_refs then = { 0 };
	struct git_id id;
	int r = kept_refs_load(x->a->sites[repo->resource].resource->dir,
			       repo->prefix, 0, &then);

	if (r == -ENOENT)
		return 0;
	for (size_t i = 0; r >= 0 && i < then.n; i++)
		if (git_id_parse(then.refs[i].value, strlen(then.refs[i].value),
				 &id))
			r = ids_add(&repo->old, &id, NULL);
	return r == -EFBIG ? 0 : r;
}

static int check_repo(struct reach *x, struct repo *repo, struct hb_error *err)
{
	int base = x->a->sites[repo->resource].resource->base;
	auto_fd int dir = access_open_below(
		base, repo->prefix, strlen(repo->prefix), O_RDONLY, NULL);
	struct objectstore *objects;
	int r;

	if (dir < 0 || repo->new.n == 0)
		return 0;
	x->repo = repo;
	forget_foreign(x);
	r = add_begun(x, repo);
	for (int i = 0; r >= 0 && i < 2; i++) {
		x->in_logs = i == 1;
		r = tree_walk(dir, ".", TREE_LENIENT, look, x, NULL);
	}
	if (r < 0)
		return hb_fail(err, r, "cannot look at the repository");
	if (x->foreign.n == 0)
		return 0;
	objects = objectstore_new();
	r = objects ? objectstore_add(objects, base, repo->prefix) : -ENOMEM;
	r = r < 0 ? hb_fail(err, r, "cannot look at the repository")
		  : compare(x, objects, err);
	objectstore_free(objects);
	return r;
}

struct before {
	struct reach *reach;
	uint32_t resource;
};

/* Of type git_values_fn. */
static int note_before(void *ctx, const char *path, const char *then)
{
	const struct before *b = ctx;
	struct repo *repo = repo_of(b->reach, b->resource, path);
	struct git_id id;

	return repo && git_id_parse(then, strlen(then), &id)
		       ? ids_add(&repo->old, &id, NULL)
		       : 0;
}

/* A reference that was in packed-refs alone has no file of before. */
static int note_values(struct reach *x)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < x->a->txn->n_resources; i++) {
		struct before before = { x, (uint32_t)i };
		auto_buf struct buf list = BUF_INIT(GIT_LOCKS_MAX);

		if (!x->a->sites[i].resource)
			continue;
		r = git_locks_read(&x->a->sites[i], &list);
		if (r >= 0)
			r = git_values_before(&list, note_before, &before);
	}
	return r;
}

int git_reach_check(struct apply *a, struct timespec stamp,
		    struct hb_error *err)
{
	struct reach x = { .a = a, .stamp = stamp };
	struct op op;
	int r;

	journal_to_start(a->journal);
	while ((r = journal_next(a->journal, &op, err)) == 1) {
		r = note_op(&x, &op);
		if (r < 0) {
			(void)hb_fail(err, r, "cannot look at a repository");
			break;
		}
	}
	if (r == 0) {
		r = note_values(&x);
		if (r < 0)
			(void)hb_fail(err, r, "cannot look at a repository");
	}
	for (size_t i = 0; r == 0 && i < x.n; i++)
		r = check_repo(&x, &x.repos[i], err);
	reach_done(&x);
	return r;
}
