/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view.h"

#include "base/error.h"
#include "base/path.h"
#include "plan/plan.h"
#include "plan/view_env.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The view is built up, not masked down: what is not put into it is not there.
 *
 *	(a) Of the host only the workspace's copy-on-write layer, which is in
 *	    memory, and what the caller asked to be writable can be written.
 *	(b) Operations are in the order of their destinations, so that what
 *	    lies inside of something comes after it; of two at one place the
 *	    later one is what was asked for, the earlier one is ours.
 *	(c) Secrets in a system directory are covered after that directory.
 *
 * tests/unit/t_view.c holds all three.
 */

const struct view_path view_paths[VIEW_PATHS] = {
	{ VIEW_SYSTEM, "/usr" },
	{ VIEW_SYSTEM, "/bin" },
	{ VIEW_SYSTEM, "/sbin" },
	{ VIEW_SYSTEM, "/lib" },
	{ VIEW_SYSTEM, "/lib32" },
	{ VIEW_SYSTEM, "/lib64" },
	{ VIEW_SYSTEM, "/libx32" },
	{ VIEW_SYSTEM, "/opt" },
	{ VIEW_SYSTEM, "/nix/store" },
	{ VIEW_SYSTEM, "/run/current-system/sw" },
	{ VIEW_SYSTEM, "/home/linuxbrew" },
	{ VIEW_SYSTEM, "/etc" },
	{ VIEW_HIDDEN_FILE, "/etc/shadow" },
	{ VIEW_HIDDEN_FILE, "/etc/shadow-" },
	{ VIEW_HIDDEN_FILE, "/etc/gshadow" },
	{ VIEW_HIDDEN_FILE, "/etc/gshadow-" },
	{ VIEW_HIDDEN_FILE, "/etc/sudoers" },
	{ VIEW_HIDDEN_DIR, "/etc/sudoers.d" },
	{ VIEW_HIDDEN_DIR, "/etc/ssh" },
	{ VIEW_HIDDEN_DIR, "/etc/ssl/private" },
	{ VIEW_HIDDEN_DIR, "/etc/credstore" },
	{ VIEW_HIDDEN_DIR, "/etc/credstore.encrypted" },
	{ VIEW_HIDDEN_DIR, "/etc/NetworkManager" },
	{ VIEW_TOOL, ".local/bin" },
	{ VIEW_TOOL, ".local/lib" },
	{ VIEW_TOOL, ".local/share/claude" },
	{ VIEW_TOOL, ".local/share/fnm" },
	{ VIEW_TOOL, ".local/share/mise" },
	{ VIEW_TOOL, ".local/share/pnpm" },
	{ VIEW_TOOL, ".local/share/uv" },
	{ VIEW_TOOL, ".cargo/bin" },
	{ VIEW_TOOL, ".cargo/env" },
	{ VIEW_TOOL, ".rustup" },
	{ VIEW_TOOL, ".nvm" },
	{ VIEW_TOOL, ".fnm" },
	{ VIEW_TOOL, ".volta" },
	{ VIEW_TOOL, ".bun" },
	{ VIEW_TOOL, ".deno" },
	{ VIEW_TOOL, ".pyenv" },
	{ VIEW_TOOL, ".sdkman" },
	{ VIEW_TOOL, "go/bin" },
	{ VIEW_TOOL, ".opencode/bin" },
	{ VIEW_TOOL, ".gitconfig" },
	{ VIEW_TOOL, ".config/git/config" },
	{ VIEW_TOOL, ".config/git/ignore" },
};

/* What the view has of its own, in memory. */
static const struct private_place {
	const char *path;
	enum plan_op_kind kind;
	unsigned flags;
	mode_t perms;
} private_places[] = {
	{ "/tmp", OP_TMPFS, PLAN_HAS_PERMS, 01777 },
	{ "/run", OP_TMPFS, PLAN_HAS_PERMS, 0755 },
	{ "/dev", OP_DEV, PLAN_RO, 0 },
	{ "/dev/shm", OP_TMPFS, PLAN_HAS_PERMS, 01777 },
	{ "/proc", OP_PROC, 0, 0 },
};

#define PRIVATE_PLACES (sizeof(private_places) / sizeof(private_places[0]))
#define VAR_TMP	       "/var/tmp"
#define LINKS_MAX      8

struct builder {
	const struct view_request *request;
	const struct view_host *host;
	struct plan *plan;
	struct hb_error *err;
};

static int add(struct builder *b, enum plan_op_kind kind, const char *source,
	       const char *dest, unsigned flags)
{
	struct plan_op *op;
	int r;

	r = plan_add(b->plan, kind, &op, b->err);
	if (r < 0)
		return r;
	op->source = source;
	op->dest = dest;
	op->flags = flags;
	return 0;
}

static struct plan_op *last_op(const struct builder *b)
{
	return &b->plan->ops[b->plan->n_ops - 1];
}

static int add_memory(struct builder *b, const char *dest, mode_t perms)
{
	int r = add(b, OP_TMPFS, NULL, dest, PLAN_HAS_PERMS);

	if (r < 0)
		return r;
	last_op(b)->perms = perms;
	last_op(b)->size = b->request->size;
	return 0;
}

/* The row's path in the view; lives as long as the plan. */
static int row_path(struct builder *b, size_t i, const char **ret_path)
{
	const char *name = view_paths[i].path, *home = b->host->home;
	size_t size;
	char *path;

	*ret_path = name;
	if (view_paths[i].class != VIEW_TOOL)
		return 0;
	size = strlen(home) + strlen(name) + 2;
	path = malloc(size);
	if (!path)
		return hb_fail(b->err, -ENOMEM, "cannot make the view");
	(void)path_join(home, name, path, size);
	*ret_path = path;
	return plan_keep(b->plan, path, b->err);
}

/* Whether a system directory that is really there holds `path`. */
static bool is_in_system(const struct view_host *host, const char *path)
{
	for (size_t i = 0; i < VIEW_PATHS; i++)
		if (view_paths[i].class == VIEW_SYSTEM &&
		    host->found[i] == VIEW_PRESENT &&
		    path_is_beneath(path, view_paths[i].path))
			return true;
	return false;
}

/*
 * Where a link at `link` with the text `target` leads to, and then `rest` from
 * there: `ret` has room for PATH_MAX.
 */
static int follow(const char *link, const char *target, const char *rest,
		  char *ret)
{
	struct path_part dir = path_dirname(link);
	char joined[PATH_MAX];
	int n;

	if (path_is_absolute(target))
		dir.n = 0;
	n = snprintf(joined, sizeof(joined), "%.*s/%s%s", (int)dir.n, dir.s,
		     target, rest);
	if (n < 0 || (size_t)n >= sizeof(joined))
		return -ENAMETOOLONG;
	return path_normalise(joined, PATH_DOTS_FOLD, ret, PATH_MAX);
}

/* Whether something of the host has its place at or below `dir`. */
static bool is_used(const struct builder *b, const char *dir)
{
	const struct view_request *q = b->request;

	if (path_is_beneath(q->workspace, dir) ||
	    (b->host->home && path_is_beneath(b->host->home, dir)))
		return true;
	for (size_t i = 0; i < q->n_trees; i++)
		if (path_is_beneath(q->trees[i].path, dir))
			return true;
	return false;
}

static int add_hidden(struct builder *b, enum view_class class,
		      const char *path)
{
	int r;

	if (class == VIEW_HIDDEN_FILE) {
		/* Empty, and mode 0 on top: also its owner reads nothing. */
		return add(b, OP_BIND_DATA, "", path,
			   PLAN_TEXT | PLAN_RO | PLAN_HAS_PERMS);
	}
	/* Something in it was asked for by name: the way there is open. */
	if (is_used(b, path))
		return add_memory(b, path, 0755);
	r = add_memory(b, path, 0);
	if (r < 0)
		return r;
	return add(b, OP_REMOUNT_RO, NULL, path, 0);
}

static int add_row(struct builder *b, size_t i)
{
	const struct view_host *host = b->host;
	enum view_class class = view_paths[i].class;
	char target[PATH_MAX];
	const char *path;
	bool is_hidden = class == VIEW_HIDDEN_DIR || class == VIEW_HIDDEN_FILE;
	int r;

	if (host->found[i] == VIEW_ABSENT ||
	    (class == VIEW_TOOL && !host->home))
		return 0;
	r = row_path(b, i, &path);
	if (r < 0)
		return r;
	/* The workspace shows its own part of the host, secrets excepted. */
	if (path_is_beneath(path, b->request->workspace) &&
	    (!is_hidden || strcmp(path, b->request->workspace) == 0))
		return 0;
	if (is_hidden && path_is_beneath(b->request->workspace, path))
		return 0;
	if (is_hidden)
		return add_hidden(b, class, path);
	if (class == VIEW_SYSTEM && host->found[i] == VIEW_LINK &&
	    follow(path, host->target[i], "", target) >= 0 &&
	    is_in_system(host, target))
		return add(b, OP_SYMLINK, host->target[i], path, 0);
	return add(b, OP_BIND, path, path, PLAN_RO | PLAN_TRY);
}

static int add_private(struct builder *b)
{
	for (size_t i = 0; i < PRIVATE_PLACES; i++) {
		const struct private_place *p = &private_places[i];
		int r = p->kind == OP_TMPFS
				? add_memory(b, p->path, p->perms)
				: add(b, p->kind, NULL, p->path, p->flags);

		if (r < 0)
			return r;
	}
	/* Below a tree that was asked for it is that tree's own. */
	for (size_t i = 0; i < b->request->n_trees; i++)
		if (path_is_beneath(VAR_TMP, b->request->trees[i].path))
			return 0;
	/* A link costs less, but what lies below it would get another path. */
	if (is_used(b, VAR_TMP))
		return add_memory(b, VAR_TMP, 01777);
	return add(b, OP_SYMLINK, "/tmp", VAR_TMP, 0);
}

static int add_workspace(struct builder *b)
{
	const struct view_request *q = b->request;
	struct plan_op *op;
	int r;

	r = add(b, OP_OVERLAY, NULL, q->workspace,
		PLAN_OVERLAY_TMP | PLAN_HAS_PERMS);
	if (r < 0)
		return r;
	op = last_op(b);
	op->perms = q->mode;
	op->size = q->size;
	op->first_layer = b->plan->n_layers;
	op->n_layers = 1;
	return plan_add_layer(b->plan, q->workspace, b->err);
}

static int add_trees(struct builder *b)
{
	const struct view_request *q = b->request;

	for (size_t i = 0; i < q->n_trees; i++) {
		const struct view_tree *tree = &q->trees[i];
		int r = add(b, OP_BIND, tree->path, tree->path,
			    tree->is_writable ? 0 : PLAN_RO);

		if (r < 0)
			return r;
	}
	return 0;
}

/* A name under which something in the view is also known. */
static int add_name(struct builder *b, const char *name, const char *path)
{
	if (!name || !path || strcmp(name, path) == 0 ||
	    path_has_dotdot(name) || view_has(b->plan, name))
		return 0;
	return add(b, OP_SYMLINK, path, name, 0);
}

static int add_names(struct builder *b)
{
	const struct view_request *q = b->request;
	int r;

	r = add_name(b, b->host->home_name, b->host->home);
	if (r >= 0)
		r = add_name(b, q->cwd_name, q->cwd);
	for (size_t i = 0; r >= 0 && i < q->n_trees; i++)
		r = add_name(b, q->trees[i].name, q->trees[i].path);
	return r;
}

static void set_settings(const struct builder *b)
{
	const struct view_request *q = b->request;
	struct plan *plan = b->plan;

	plan->ns = PLAN_NS_USER | PLAN_NS_IPC | PLAN_NS_PID | PLAN_NS_UTS |
		   PLAN_NS_CGROUP;
	if (!q->has_net)
		plan->ns |= PLAN_NS_NET;
	plan->settings = PLAN_FILTER | PLAN_JOBS | PLAN_CLOSE_FDS |
			 PLAN_WAIT_ALL | PLAN_PROVE | PLAN_LIMITS |
			 PLAN_DIE_WITH_PARENT;
	if (q->no_ptrace)
		plan->settings |= PLAN_FILTER_NO_PTRACE;
	/* Under landlock's file rules nobody mounts, not even further in. */
	plan->settings |= q->allow_nested ? PLAN_FILTER_NESTED
					  : PLAN_NO_USERNS | PLAN_LANDLOCK;
	if (b->host->is_root)
		plan->settings |= PLAN_MAP_ALL;
	plan->chdir = q->cwd;
}

int view_build(const struct view_request *request, const struct view_host *host,
	       struct plan *plan, struct hb_error *err)
{
	struct builder b = { request, host, plan, err };
	int r;

	r = add_private(&b);
	if (r >= 0 && host->home)
		r = add_memory(&b, host->home, 0700);
	for (size_t i = 0; r >= 0 && i < VIEW_PATHS; i++)
		r = add_row(&b, i);
	if (r >= 0)
		r = add_workspace(&b);
	if (r >= 0)
		r = add_trees(&b);
	if (r >= 0 && request->has_net && host->resolver)
		r = add(&b, OP_BIND, host->resolver, host->resolver,
			PLAN_RO | PLAN_TRY);
	if (r >= 0)
		r = add_names(&b);
	if (r < 0)
		return r;
	plan_sort_by_dest(plan);
	set_settings(&b);
	return view_env(request, host, plan, err);
}

/* The operation whose place `path` is in: the innermost, the last of equals. */
static const struct plan_op *place_of(const struct plan *plan, const char *path)
{
	const struct plan_op *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct plan_op *op = &plan->ops[i];
		size_t len = strlen(op->dest);

		if (len < best_len || op->kind == OP_REMOUNT_RO ||
		    !path_is_beneath(path, op->dest))
			continue;
		best = op;
		best_len = len;
	}
	return best;
}

bool view_has(const struct plan *plan, const char *path)
{
	static const bool shows_the_host[OP_END] = {
		[OP_BIND] = true,
		[OP_OVERLAY] = true,
	};
	char now[PATH_MAX], next[PATH_MAX];

	if (path_normalise(path, PATH_DOTS_REFUSE, now, sizeof(now)) < 0)
		return false;
	for (int i = 0; i < LINKS_MAX; i++) {
		const struct plan_op *op = place_of(plan, now);

		if (!op)
			return false;
		if (op->kind != OP_SYMLINK)
			return shows_the_host[op->kind];
		if (follow(op->dest, op->source, now + strlen(op->dest), next) <
		    0)
			return false;
		memcpy(now, next, strlen(next) + 1);
	}
	return false;
}

/* Directories of keys, wherever they lie: no workspace is in one. */
static const char *const secret_names[] = {
	".ssh",	   ".gnupg",	      ".aws",	      ".azure",	    ".kube",
	".docker", ".password-store", ".terraform.d", ".1password",
};

static bool has_secret_name(const char *path)
{
	struct path_part part;

	for (const char *at = path; path_next(&at, &part);)
		for (size_t i = 0;
		     i < sizeof(secret_names) / sizeof(secret_names[0]); i++)
			if (path_part_is(part, secret_names[i]))
				return true;
	return false;
}

const char *view_refuses_workspace(const char *path, const char *home)
{
	if (strcmp(path, "/") == 0)
		return "the root directory cannot be a workspace";
	if (home && strcmp(path, home) == 0)
		return "the home directory cannot be a workspace";
	if (home && path_is_beneath(home, path))
		return "a directory that holds the home directory cannot be a workspace";
	if (path_is_beneath(path, "/proc") || path_is_beneath(path, "/sys"))
		return "the kernel's file systems cannot be a workspace";
	if (has_secret_name(path))
		return "a directory of keys cannot be a workspace";
	for (size_t i = 0; i < VIEW_PATHS; i++)
		if (view_paths[i].class == VIEW_HIDDEN_DIR &&
		    path_is_beneath(path, view_paths[i].path))
			return "a directory that is hidden in the view cannot be a workspace";
	for (size_t i = 0; i < PRIVATE_PLACES; i++)
		if (path_is_beneath(private_places[i].path, path))
			return "a directory that is private in the view cannot be a workspace";
	return NULL;
}
