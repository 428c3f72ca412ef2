/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view_place.h"

#include "base/path.h"
#include "plan/view.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What is where in a view, and what may be. */

#define LINKS_MAX 8

const struct view_place view_places[VIEW_PLACES] = {
	{ "/tmp", OP_TMPFS, PLAN_HAS_PERMS, 01777 },
	{ "/run", OP_TMPFS, PLAN_HAS_PERMS, 0755 },
	{ "/dev", OP_DEV, PLAN_RO, 0 },
	{ "/dev/shm", OP_TMPFS, PLAN_HAS_PERMS, 01777 },
	{ "/proc", OP_PROC, PLAN_OWN, 0 },
};

bool view_lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	/* "/" ends with the slash that the others lack. */
	if (n == 1)
		return true;
	return strncmp(path, dir, n) == 0 &&
	       (path[n] == '\0' || path[n] == '/');
}

bool view_is_asked(const struct view_entry *e)
{
	return e->class == VIEW_RO || e->class == VIEW_RW ||
	       e->class == VIEW_SOCKET;
}

int view_follow(const char *link, const char *target, const char *rest,
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

/* The operation whose place `path` is in: the innermost, the last of equals. */
static const struct plan_op *place_of(const struct plan *plan, const char *path)
{
	const struct plan_op *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct plan_op *op = &plan->ops[i];
		size_t len = strlen(op->dest);

		if (len < best_len || op->kind == OP_REMOUNT_RO ||
		    op->kind == OP_HOLD || !view_lies_in(path, op->dest))
			continue;
		best = op;
		best_len = len;
	}
	return best;
}

const char *view_work_dir(const struct plan *plan)
{
	static const char *const candidates[] = { "/tmp/agent-work",
						  "/run/agent-work",
						  "/dev/shm/agent-work" };

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]);
	     i++) {
		const struct plan_op *op = place_of(plan, candidates[i]);

		if (op && (op->kind == OP_TMPFS || op->kind == OP_DIR))
			return candidates[i];
	}
	return NULL;
}

const struct plan_op *view_find(const struct plan *plan, const char *path,
				char *ret_path)
{
	char next[PATH_MAX];

	(void)snprintf(ret_path, PATH_MAX, "%s", path);
	for (int i = 0; i < LINKS_MAX; i++) {
		const struct plan_op *op = place_of(plan, ret_path);

		if (!op || op->kind != OP_SYMLINK)
			return op;
		if (view_follow(op->dest, op->source,
				ret_path + strlen(op->dest), next) < 0)
			return NULL;
		memcpy(ret_path, next, strlen(next) + 1);
	}
	return NULL;
}

/* Whether its place has the host's content. */
static bool is_of_host(const struct plan_op *op)
{
	return plan_kinds[op->kind].traits & OP_IS_HOST &&
	       !(op->flags & PLAN_OURS);
}

/* `ret` gets where `path` leads to in the view. */
static const struct plan_op *find_place(const struct plan *plan,
					const char *path, char *ret)
{
	char now[PATH_MAX];

	if (path_normalise(path, PATH_DOTS_REFUSE, now, sizeof(now)) < 0)
		return NULL;
	return view_find(plan, now, ret);
}

bool view_has(const struct plan *plan, const char *path)
{
	char found[PATH_MAX];
	const struct plan_op *op = find_place(plan, path, found);

	return op && is_of_host(op);
}

bool view_has_part(const struct plan *plan, const char *path)
{
	char found[PATH_MAX];
	const struct plan_op *op;

	found[0] = '\0';
	op = find_place(plan, path, found);
	if (op && is_of_host(op))
		return true;
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct plan_op *part = &plan->ops[i];

		/* A link of the view leads to a file of the host. */
		if ((is_of_host(part) || part->kind == OP_SYMLINK) &&
		    found[0] && view_lies_in(part->dest, found))
			return true;
	}
	return false;
}

int view_inside(const struct view_request *request, const char *path, char *ret)
{
	for (size_t i = 0; i < request->n_resources; i++) {
		const struct view_resource *resource = &request->resources[i];

		if (view_lies_in(path, resource->source))
			return path_join(resource->inside,
					 path + strlen(resource->source), ret,
					 PATH_MAX);
	}
	return path_join(path, "", ret, PATH_MAX);
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
	if (home && strcmp(path, home) != 0 && view_lies_in(home, path))
		return "a directory that holds the home directory cannot be a workspace";
	if (view_lies_in(path, "/proc") || view_lies_in(path, "/sys"))
		return "the kernel's file systems cannot be a workspace";
	if (has_secret_name(path))
		return "a directory of keys cannot be a workspace";
	for (size_t i = 0; i < VIEW_PLACES; i++)
		if (view_lies_in(view_places[i].path, path))
			return "a directory that is private in the view cannot be a workspace";
	return NULL;
}
