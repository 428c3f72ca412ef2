/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/uncommitted.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "changes/begun/begun.h"
#include "changes/changes.h"
#include "git/delivery/commit_tree.h"
#include "git/delivery/git_part.h"
#include "git/objectstore.h"
#include "git/treediff.h"
#include "review/git/merge/aside_files.h"
#include "review/git/merge/blob_name.h"
#include "review/git/merge/merge.h"
#include "review/git/merge/staged.h"
#include "session/session.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/access.h"
#include "tree/content.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD	  "cannot merge"
#define LIST_MAX  ((size_t)256 << 20)
#define PATHS_MAX ((uint64_t)1000000)
#define EXECUTES  0100
#define INSIDE	  (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS)

/* What the change set says about the file of a path. */
enum how {
	HOW_TAKEN,   /* it becomes a part of the commit */
	HOW_BEGUN,   /* as at the beginning */
	HOW_SAME,    /* the content of the base */
	HOW_IGNORED, /* by git, and the session does not track it */
	HOW_OTHER,   /* nothing that git can have */
};

struct looked {
	char *path;
	enum how how;
	bool is_there;
};

/* A path of the session's commit, of the one it began at, or of both. */
struct tracked_path {
	char *path;
	struct treediff_side old, now; /* mode 0: it has none */
};

struct paths {
	struct tracked_path *list; /* sorted as strcmp() does */
	size_t n;
};

struct copying {
	struct merge_repo *repo;
	const struct hb_session *session;
	const struct resource *tree; /* of the session */
	struct objectstore *objects;
	struct staged staged;
	struct paths moved; /* differ between the two commits */
	struct paths all;   /* of the session's commit; `old` is not told */
	struct looked *seen;
	size_t n_seen;
	int upper; /* of the git directory, aside */
	char *dir; /* in that: UNCOMMITTED_DIR */
	struct buf there, fresh, gone, info;
};

static void paths_done(struct paths *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free(paths->list[i].path);
	free(paths->list);
}

static void copying_done(struct copying *c)
{
	staged_done(&c->staged);
	paths_done(&c->moved);
	paths_done(&c->all);
	for (size_t i = 0; i < c->n_seen; i++)
		free(c->seen[i].path);
	free(c->seen);
	objectstore_free(c->objects);
	free(c->dir);
	buf_done(&c->there);
	buf_done(&c->fresh);
	buf_done(&c->gone);
	buf_done(&c->info);
}

static int no_memory(struct hb_error *err)
{
	return hb_fail(err, -ENOMEM, WORD);
}

static int refuse(const struct copying *c, const char *why, const char *path,
		  struct hb_error *err)
{
	hb_fix(err, "holdback shell @%s: git commit, restore or rm it there",
	       c->session->record.name);
	return hb_fail(err, -HB_E_CONFLICT, "%s: %s", why, quoted(path));
}

/* Whether some layer or the base has `.git` in that directory. */
static bool has_git(const struct resource *tree, const char *dir, size_t n)
{
	auto_free char *path = NULL;

	if (asprintf(&path, "%.*s/.git", (int)n, dir) < 0) {
		path = NULL;
		return true;
	}
	for (size_t i = 0; i <= tree->n_layers; i++) {
		auto_fd int fd = sys_openat2(
			i < tree->n_layers ? tree->layers[i] : tree->base, path,
			O_PATH | O_NOFOLLOW, 0, INSIDE);

		if (fd >= 0)
			return true;
	}
	return false;
}

/* Hooks and settings are no part of the unit, and in no commit either. */
static bool is_in_git(const char *path)
{
	for (const char *at = path; (at = strstr(at, ".git")); at++)
		if ((at == path || at[-1] == '/') &&
		    (at[4] == '/' || at[4] == '\0'))
			return true;
	return false;
}

/* Of a path that lies in another repository, which has commits of its own. */
static bool is_in_other(const struct resource *tree, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
		if (has_git(tree, path, (size_t)(slash - path)))
			return true;
	return false;
}

static bool is_file(const struct entry *e)
{
	return e->type == ENTRY_FILE || e->type == ENTRY_LINK;
}

static enum how judge(const struct copying *c, const struct change *change)
{
	const struct entry *new = &change->new, *old = &change->old;
	const struct staged_entry *staged;

	if (change->flags & CHANGE_BEGUN)
		return HOW_BEGUN;
	if (change->kind == CHANGE_TIMES ||
	    (change->kind == CHANGE_ATTRIBUTES &&
	     !((new->mode ^ old->mode) & EXECUTES)))
		return HOW_SAME;
	staged = staged_find(&c->staged, change->path);
	if ((!is_file(new->type != ENTRY_NONE ? new : old) &&
	     change->kind != CHANGE_TYPE) ||
	    /* To git it is there, though its file is not. */
	    (new->type == ENTRY_NONE &&staged && staged->is_skipped) ||
	    is_in_git(change->path) || is_in_other(c->tree, change->path))
		return HOW_OTHER;
	if (change->flags & CHANGE_IGNORED && !staged)
		return HOW_IGNORED;
	return HOW_TAKEN;
}

static int by_path(const void *a, const void *b)
{
	const struct tracked_path *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static const struct tracked_path *find_path(const struct paths *paths,
					    const char *path)
{
	const struct tracked_path key = { .path = (char *)(uintptr_t)path };

	return paths->n == 0 ? NULL
			     : bsearch(&key, paths->list, paths->n, sizeof(key),
				       by_path);
}

/* Whether one of the two commits has a file there. */
static bool is_in_commits(const struct copying *c, const char *path)
{
	return find_path(&c->all, path) || find_path(&c->moved, path);
}

/* A file that the session changed, or that it has not any more. */
static int take(struct copying *c, const struct change *change,
		struct hb_error *err)
{
	bool is_there = is_file(&change->new);
	bool is_fresh = is_there && !staged_find(&c->staged, change->path);
	struct buf *list = is_there ? &c->there : &c->gone;
	const struct content_place place = {
		.root = c->tree->layers[change->layer],
		.in_layer = true,
		.path = change->path,
		.entry = &change->new,
	};
	auto_free char *to = NULL;

	if (is_fresh && is_in_commits(c, change->path))
		return refuse(c,
			      "the session does not track a file any more, and "
			      "changed it",
			      change->path, err);
	if (buf_add(list, change->path, strlen(change->path) + 1) < 0)
		return hb_fail(err, list->error, WORD);
	if (is_fresh &&
	    buf_add(&c->fresh, change->path, strlen(change->path) + 1) < 0)
		return hb_fail(err, c->fresh.error, WORD);
	if (path_list_add(&c->repo->taken, change->path) < 0)
		return no_memory(err);
	if (!is_there)
		return 0;
	if (asprintf(&to, "%s/tree/%s", c->dir, change->path) < 0) {
		to = NULL;
		return no_memory(err);
	}
	return aside_copy(&place, c->upper, to,
			  change->new.mode &EXECUTES ? 0755 : 0644, err);
}

static int see(struct copying *c, const struct change *change,
	       struct hb_error *err)
{
	struct looked seen = { .is_there = is_file(&change->new) };
	bool is_dir = change->new.type == ENTRY_DIR ||
		      (change->new.type == ENTRY_NONE &&
		       change->old.type == ENTRY_DIR);

	if ((change->flags & (CHANGE_GIT | CHANGE_CARRIED)) ||
	    change_is_top(change) || (is_dir && change->kind != CHANGE_TYPE))
		return 0;
	seen.how = judge(c, change);
	seen.path = strdup(change->path);
	if (!seen.path || grow(c->seen, c->n_seen) < 0) {
		free(seen.path);
		return no_memory(err);
	}
	c->seen[c->n_seen++] = seen;
	return seen.how == HOW_TAKEN ? take(c, change, err) : 0;
}

static int by_seen(const void *a, const void *b)
{
	const struct looked *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int see_all(struct copying *c, struct changes *changes,
		   struct hb_error *err)
{
	struct change change;
	int r = changes_rewind(changes, err);

	while (r >= 0 && (r = changes_next(changes, &change, err)) == 1)
		r = see(c, &change, err);
	if (c->n_seen > 0)
		qsort(c->seen, c->n_seen, sizeof(*c->seen), by_seen);
	return r < 0 ? r : changes_rewind(changes, err);
}

static int add_path(void *ctx, const struct treediff_change *change)
{
	struct paths *paths = ctx;
	struct tracked_path path = { .path = strdup(change->path),
				     .old = change->old,
				     .now = change->new };

	if (!path.path || grow(paths->list, paths->n) < 0) {
		free(path.path);
		return -ENOMEM;
	}
	paths->list[paths->n++] = path;
	return 0;
}

static int load_paths(const struct copying *c, const char *from,
		      struct paths *ret, struct hb_error *err)
{
	struct treediff diff = { .read = treediff_read,
				 .ctx = c->objects,
				 .n_paths = PATHS_MAX,
				 .n_trees = PATHS_MAX };
	struct git_id tree, old;
	int r = commit_tree(c->objects, c->repo->tip.hex, &tree);

	if (r >= 0 && from)
		r = commit_tree(c->objects, from, &old);
	if (r >= 0)
		r = treediff_run(&diff, from ? &old : NULL, &tree, add_path,
				 ret);
	if (ret->n > 0)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_path);
	if (r == -ENOMEM)
		return no_memory(err);
	if (r >= 0)
		return 0;
	hb_fix(err, "holdback exec @%s -- git fsck", c->session->record.name);
	return hb_fail(err, -HB_E_CONFLICT,
		       "the files of the session's commits cannot be read");
}

static bool is_same_side(const struct treediff_side *a,
			 const struct treediff_side *b)
{
	return a->mode == b->mode &&
	       (a->mode == 0 || git_id_is_same(&a->id, &b->id));
}

/* The user's file, which a deletion by the merge would take. */
static int leave(const struct copying *c, const char *path,
		 struct hb_error *err)
{
	return path_list_add(&c->repo->stays, path) < 0 ? no_memory(err) : 0;
}

static int remove_path(struct copying *c, const char *path,
		       struct hb_error *err)
{
	return buf_add(&c->gone, path, strlen(path) + 1) < 0
		       ? hb_fail(err, c->gone.error, WORD)
		       : 0;
}

static int put_back(struct copying *c, const char *path,
		    const struct treediff_side *side, struct hb_error *err)
{
	(void)buf_add_fmt(&c->info, "%06o %s\t%s", (unsigned)side->mode,
			  side->id.hex, path);
	return buf_add(&c->info, "", 1) < 0 ? hb_fail(err, c->info.error, WORD)
					    : 0;
}

/* The view has the user's file: as git would have it, without filters. */
static int name_base(const struct copying *c, const char *path,
		     struct treediff_side *ret, struct hb_error *err)
{
	const char *slash = strrchr(path, '/');
	auto_fd int dir = access_open_below(c->tree->base, path,
					    slash ? (size_t)(slash - path) : 0,
					    O_PATH, NULL);
	struct entry e = { 0 };
	const struct content_place place = { .root = c->tree->base,
					     .path = path,
					     .entry = &e };
	int r = 0;

	*ret = (struct treediff_side){ 0 };
	if (dir < 0)
		return access_is_gone(dir) ? 0 : hb_fail(err, dir, WORD);
	r = entry_read_base(dir, slash ? slash + 1 : path, &e, err);
	if (r < 0 || e.type == ENTRY_NONE || e.type == ENTRY_DIR)
		return r;
	if (!is_file(&e))
		return refuse(c,
			      "the session's commits change it, and it is "
			      "no file",
			      path, err);
	ret->mode = blob_mode(&e);
	return blob_name(&place, strlen(c->repo->tip.hex), &ret->id, err);
}

static const struct looked *find_seen(const struct copying *c, const char *path)
{
	const struct looked key = { .path = (char *)(uintptr_t)path };

	return c->n_seen == 0 ? NULL
			      : bsearch(&key, c->seen, c->n_seen, sizeof(key),
					by_seen);
}

/*
 * A path of a commit that is no change to take.  The commit gets what the view
 * has there, if the session's own commit has not.
 */
static int settle(struct copying *c, const struct tracked_path *path,
		  const struct staged_entry *staged,
		  const struct treediff_side *view, struct hb_error *err)
{
	const struct treediff_side *wanted = &path->now;
	struct treediff_side index = { 0 };

	if (view->mode == 0 && staged && staged->is_skipped)
		return 0;
	if (view->mode == 0)
		return path->now.mode ? remove_path(c, path->path, err) : 0;
	if (!staged) {
		int r = path->now.mode ? remove_path(c, path->path, err) : 0;

		return r < 0 ? r : leave(c, path->path, err);
	}
	index.mode = staged->mode;
	index.id = staged->id;
	if (!is_same_side(view, wanted)) {
		if (!is_same_side(view, &path->old))
			return refuse(c,
				      "the session's commits change it, and it "
				      "has your file there",
				      path->path, err);
		wanted = &path->old;
	}
	if (!is_same_side(&index, &path->now) && !is_same_side(&index, wanted))
		return refuse(c, "staged, and the file is another", path->path,
			      err);
	return wanted == &path->old ? put_back(c, path->path, wanted, err) : 0;
}

static int consider(struct copying *c, const struct tracked_path *path,
		    struct hb_error *err)
{
	const struct staged_entry *staged = staged_find(&c->staged, path->path);
	const struct looked *seen = find_seen(c, path->path);
	struct treediff_side view;
	int r;

	if (path->now.mode == GITTREE_MODULE ||
	    (path->now.mode == 0 && path->old.mode == GITTREE_MODULE))
		return 0;
	if (seen && (seen->how == HOW_TAKEN || seen->how == HOW_OTHER))
		return 0;
	if (seen && seen->how == HOW_IGNORED && seen->is_there)
		return refuse(c,
			      "the session does not track a file any more, and "
			      "changed it",
			      path->path, err);
	if (seen && seen->how == HOW_IGNORED)
		return path->now.mode ? remove_path(c, path->path, err) : 0;
	if (seen && seen->how == HOW_BEGUN)
		return settle(c, path, staged,
			      seen->is_there ? &path->old
					     : &(struct treediff_side){ 0 },
			      err);
	r = name_base(c, path->path, &view, err);
	return r < 0 ? r : settle(c, path, staged, &view, err);
}

/* Paths that the index has in another way, or not at all. */
static int consider_staged(struct copying *c, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < c->all.n; i++) {
		struct tracked_path *path = &c->all.list[i];
		const struct staged_entry *staged =
			staged_find(&c->staged, path->path);

		if (find_path(&c->moved, path->path) ||
		    (staged && staged->mode == path->now.mode &&
		     git_id_is_same(&staged->id, &path->now.id)))
			continue;
		path->old = path->now;
		r = consider(c, path, err);
	}
	return r;
}

static int write_list(const struct copying *c, const char *name,
		      const struct buf *list, struct hb_error *err)
{
	auto_free char *path = NULL;

	if (asprintf(&path, "%s/%s", c->dir, name) < 0) {
		path = NULL;
		return no_memory(err);
	}
	return aside_write(c->upper, path, buf_str(list), list->len, err);
}

static int write_lists(const struct copying *c, struct hb_error *err)
{
	static const struct buf none = { 0 };
	int r = write_list(c, "there", &c->there, err);

	if (r >= 0)
		r = write_list(c, "fresh", &c->fresh, err);
	if (r >= 0)
		r = write_list(c, "gone", &c->gone, err);
	if (r >= 0)
		r = write_list(c, "info", &c->info, err);
	/* A directory to be in, also without a file. */
	if (r >= 0 && c->there.len == 0)
		r = write_list(c, "tree/.none", &none, err);
	return r;
}

/* Half of a merge is no work that could come back. */
static int need_quiet(const struct copying *c, const struct unit *unit,
		      struct hb_error *err)
{
	for (size_t i = 0; i < unit->n; i++)
		for (size_t k = 0; k < git_operations_n; k++) {
			const char *path = unit->files[i].path;
			size_t n = strlen(git_operations[k].name);

			if (unit->files[i].is_gone ||
			    strncmp(path, git_operations[k].name, n) != 0 ||
			    (path[n] != '\0' && path[n] != '/'))
				continue;
			hb_fix(err, "holdback shell @%s: end it there",
			       c->session->record.name);
			return hb_fail(err, -HB_E_CONFLICT,
				       "in session '%s' %s",
				       c->session->record.name,
				       git_operations[k].words);
		}
	return 0;
}

static int open_objects(struct copying *c, const struct unit *unit,
			struct hb_error *err)
{
	const struct resource *resource =
		&c->session->resources[unit->resource];
	int r = 0;

	c->objects = objectstore_new();
	if (!c->objects)
		return no_memory(err);
	for (size_t i = 0; r >= 0 && i < resource->n_layers; i++)
		r = objectstore_add(c->objects, resource->layers[i],
				    unit->prefix);
	if (r >= 0)
		r = objectstore_add(c->objects, resource->base, unit->prefix);
	return r < 0 ? hb_fail(err, r, WORD) : 0;
}

static int load(struct copying *c, const struct unit *unit,
		struct hb_error *err)
{
	int r = need_quiet(c, unit, err);

	if (r >= 0)
		r = open_objects(c, unit, err);
	if (r >= 0)
		r = staged_load(unit, c->session, strlen(c->repo->tip.hex),
				&c->staged, err);
	if (r >= 0)
		r = load_paths(c, c->tree->begun->commit, &c->moved, err);
	return r < 0 ? r : load_paths(c, NULL, &c->all, err);
}

int uncommitted_copy(struct merge_repo *repo, const struct hb_session *s,
		     const struct unit *unit, struct changes *changes,
		     const struct hb_session *aside, struct hb_error *err)
{
	struct copying c = { .repo = repo,
			     .session = s,
			     .tree = &s->resources[repo->tree],
			     .upper = aside->resources[repo->resource].upper,
			     .there = BUF_INIT(LIST_MAX),
			     .fresh = BUF_INIT(LIST_MAX),
			     .gone = BUF_INIT(LIST_MAX),
			     .info = BUF_INIT(LIST_MAX) };
	int r = 0;

	if (asprintf(&c.dir, "%s%s" UNCOMMITTED_DIR, repo->prefix,
		     repo->prefix[0] ? "/" : "") < 0) {
		c.dir = NULL;
		r = no_memory(err);
	}
	if (r >= 0)
		r = load(&c, unit, err);
	if (r >= 0)
		r = see_all(&c, changes, err);
	for (size_t i = 0; r >= 0 && i < c.moved.n; i++)
		r = consider(&c, &c.moved.list[i], err);
	if (r >= 0)
		r = consider_staged(&c, err);
	if (r >= 0)
		r = write_lists(&c, err);
	path_list_sort(&repo->taken);
	path_list_sort(&repo->stays);
	copying_done(&c);
	return r;
}

static int take_names(const char *text, size_t n, struct path_list *ret)
{
	for (const char *at = text; at < text + n; at += strlen(at) + 1)
		if (path_list_add(ret, at) < 0)
			return -ENOMEM;
	path_list_sort(ret);
	return 0;
}

int uncommitted_read(struct merge_repo *repo, const struct hb_session *aside,
		     struct hb_error *err)
{
	auto_free char *path = NULL;
	auto_free char *text = NULL;
	auto_fd int fd = -1;
	struct stat st;
	ssize_t n;

	if (asprintf(&path, "%s%s" UNCOMMITTED_DIR "/ignored", repo->prefix,
		     repo->prefix[0] ? "/" : "") < 0) {
		path = NULL;
		return no_memory(err);
	}
	fd = sys_openat2(aside->resources[repo->resource].upper, path,
			 O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, INSIDE);
	if (fd < 0)
		return hb_fail(err, fd, WORD);
	if (sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (size_t)st.st_size > LIST_MAX)
		return hb_fail(err, -EFBIG, WORD);
	text = malloc((size_t)st.st_size + 1);
	n = text ? sys_read_full(fd, text, (size_t)st.st_size) : -ENOMEM;
	if (n >= 0) {
		text[n] = '\0';
		n = take_names(text, (size_t)n, &repo->ignored);
	}
	return n < 0 ? hb_fail(err, (int)n, WORD) : 0;
}
