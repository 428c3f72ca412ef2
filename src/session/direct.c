/* SPDX-License-Identifier: Apache-2.0 */
#include "session/direct.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "session/look.h"
#include "session/prepare.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By role: what the user's own programs would run or believe. */
static const struct {
	const char *path;
	enum view_role role;
	bool is_file; /* as a directory it is not meant */
} protected[] = {
	{ ".git", VIEW_WORKSPACE, true },
	{ ".git/commondir", VIEW_WORKSPACE },
	{ ".git/config.worktree", VIEW_WORKSPACE },
	{ ".git/hooks", VIEW_WORKSPACE },
	{ ".git/config", VIEW_WORKSPACE },
	{ ".git/info/attributes", VIEW_WORKSPACE },
	{ ".gitmodules", VIEW_WORKSPACE },
	{ ".mcp.json", VIEW_WORKSPACE },
	{ ".vscode", VIEW_WORKSPACE },
	{ ".idea", VIEW_WORKSPACE },
	{ ".claude/settings.json", VIEW_WORKSPACE },
	{ ".claude/settings.local.json", VIEW_WORKSPACE },
	{ ".claude/hooks", VIEW_WORKSPACE },
	{ ".claude/commands", VIEW_WORKSPACE },
	{ ".claude/agents", VIEW_WORKSPACE },
	{ ".codex", VIEW_WORKSPACE },
	{ ".agents", VIEW_WORKSPACE },
	{ ".envrc", VIEW_WORKSPACE },
	{ ".husky", VIEW_WORKSPACE },
	{ ".holdback.conf", VIEW_WORKSPACE },
	{ ".bashrc", VIEW_WORKSPACE },
	{ ".bash_profile", VIEW_WORKSPACE },
	{ ".profile", VIEW_WORKSPACE },
	{ ".zshrc", VIEW_WORKSPACE },
	{ ".zshenv", VIEW_WORKSPACE },
	{ "hooks", VIEW_GIT },
	{ "config", VIEW_GIT },
	{ "info/attributes", VIEW_GIT },
	{ "commondir", VIEW_GIT },
	{ "config.worktree", VIEW_GIT },
};

#define N_PROTECTED (sizeof(protected) / sizeof(protected[0]))

/* What a link leads to lies in no more directories than this. */
#define DEPTH_MAX 8

/*
 * Each with the directories that it lies in, of which some share one, and the
 * same of what it leads to.
 */
_Static_assert((3 + DEPTH_MAX) * N_PROTECTED <= DIRECT_MAX,
	       "entries have room for all");

/* The path of a row in a resource; false if it is none of its. */
static bool path_of(const struct view_resource *resource, size_t row,
		    char source[PATH_MAX], char inside[PATH_MAX])
{
	return resource->is_direct && resource->role == protected[row].role &&
	       path_join(resource->source, protected[row].path, source,
			 PATH_MAX) >= 0 &&
	       path_join(resource->inside, protected[row].path, inside,
			 PATH_MAX) >= 0;
}

static bool is_there(const char *path, size_t row, struct stat *ret)
{
	return sys_fstatat(AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       (!protected[row].is_file || S_ISREG(ret->st_mode));
}

/* What tells one link from the next, which may get its number. */
static uint64_t mark_of(const char *path, const struct stat *st)
{
	uint64_t mark = st->st_ino;
	struct stat end;

	if (!S_ISLNK(st->st_mode))
		return mark;
	mark ^= ((uint64_t)st->st_ctim.tv_sec << 30) ^
		(uint64_t)st->st_ctim.tv_nsec;
	/* What it leads to may not have been there. */
	if (sys_fstatat(AT_FDCWD, path, &end, 0) >= 0)
		mark ^= (uint64_t)end.st_ino << 1 | 1;
	return mark;
}

static int add(struct run *run, const char *source, const char *inside,
	       enum view_class class, enum view_found found, uint64_t mark,
	       struct hb_error *err)
{
	size_t n = strlen(source) + 1, k = strlen(inside) + 1;
	char *copy = malloc(n + k);

	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	memcpy(copy, source, n);
	memcpy(copy + n, inside, k);
	run->entries[run->n_entries++] = (struct view_entry){
		.class = class,
		.found = found,
		.is_real = true,
		.source = copy,
		.path = copy + n,
		.mark = mark,
	};
	return plan_keep(&run->plan, copy, err);
}

static const struct view_entry *find(const struct run *run,
				     enum view_class class, const char *source)
{
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == class && !run->entries[i].item &&
		    strcmp(run->entries[i].source, source) == 0)
			return &run->entries[i];
	return NULL;
}

/*
 * The directories that an entry lies in could be put aside with it, and others
 * take their place.  As mounts of their own nobody can rename or remove them.
 * `path` is the end of both.
 */
static int hold_parents(struct run *run, const char *path,
			char source[PATH_MAX], char inside[PATH_MAX],
			struct hb_error *err)
{
	size_t n = strlen(path);
	char *source_end = source + strlen(source) - n;
	char *inside_end = inside + strlen(inside) - n;
	struct stat st;
	int r = 0;

	for (size_t i = 1; r >= 0 && i < n; i++) {
		if (path[i] != '/')
			continue;
		source_end[i] = inside_end[i] = '\0';
		if (sys_fstatat(AT_FDCWD, source, &st, AT_SYMLINK_NOFOLLOW) >=
			    0 &&
		    S_ISDIR(st.st_mode) && !find(run, VIEW_RW, source))
			r = add(run, source, inside, VIEW_RW, VIEW_DIR, 0, err);
		source_end[i] = inside_end[i] = '/';
	}
	return r;
}

/*
 * A link could lead anywhere on the host, and its place would be there: what it
 * leads to is protected if it is in the same directory, by its own path.  The
 * link itself cannot be; that it became another one is told.
 */
static int protect_behind_link(struct run *run,
			       const struct view_resource *resource,
			       char real[PATH_MAX], struct hb_error *err)
{
	char inside[PATH_MAX], path[PATH_MAX], shown[QUOTE_SHOWN];
	int depth = 0, r;

	if (!view_lies_in(real, resource->source) ||
	    strcmp(real, resource->source) == 0 || find(run, VIEW_RO, real))
		return 0;
	(void)snprintf(path, sizeof(path), "%s",
		       real + strlen(resource->source) + 1);
	for (const char *at = path; (at = strchr(at, '/')); at++)
		depth++;
	if (depth > DEPTH_MAX ||
	    path_join(resource->inside, path, inside, sizeof(inside)) < 0)
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' lies too deep to be protected",
			       quote_shown(path, shown, sizeof(shown)));
	r = add(run, real, inside, VIEW_RO, VIEW_DIR, 0, err);
	return r < 0 ? r : hold_parents(run, path, real, inside, err);
}

static int protect(struct run *run, const struct view_resource *resource,
		   size_t row, struct hb_error *err)
{
	char source[PATH_MAX], inside[PATH_MAX], real[PATH_MAX];
	struct stat st;
	bool is_link;
	int r;

	if (!path_of(resource, row, source, inside) ||
	    !is_there(source, row, &st))
		return 0;
	real[0] = '\0';
	is_link = look_real(source, real) < 0 || strcmp(real, source) != 0;
	r = add(run, source, inside, VIEW_RO, is_link ? VIEW_ABSENT : VIEW_DIR,
		mark_of(source, &st), err);
	if (r >= 0 && !is_link)
		return hold_parents(run, protected[row].path, source, inside,
				    err);
	return r < 0 ? r : protect_behind_link(run, resource, real, err);
}

int direct_protect(struct run *run, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; i < run->n_direct; i++)
		for (size_t row = 0; r >= 0 && row < N_PROTECTED; row++)
			r = protect(run, &run->resources[i], row, err);
	return r;
}

/* Whether the view had just that, read-only. */
static bool was_there(const struct run *run, const char *source, uint64_t mark)
{
	const struct view_entry *e = find(run, VIEW_RO, source);

	return e && e->mark == mark;
}

void direct_tell_new(const struct run *run,
		     void (*tell)(void *ctx, const char *path), void *ctx)
{
	char source[PATH_MAX], inside[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < run->n_direct; i++)
		for (size_t row = 0; row < N_PROTECTED; row++)
			if (path_of(&run->resources[i], row, source, inside) &&
			    is_there(source, row, &st) &&
			    !was_there(run, source, mark_of(source, &st)))
				tell(ctx, source);
}
