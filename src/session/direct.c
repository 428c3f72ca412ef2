/* SPDX-License-Identifier: Apache-2.0 */
#include "session/direct.h"

#include "base/error.h"
#include "base/path.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "session/prepare.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* By role: what the user's own programs would run or believe. */
static const struct {
	enum view_role role;
	const char *path;
} protected[] = {
	{ VIEW_WORKSPACE, ".git/hooks" },
	{ VIEW_WORKSPACE, ".git/config" },
	{ VIEW_WORKSPACE, ".git/info/attributes" },
	{ VIEW_WORKSPACE, ".gitmodules" },
	{ VIEW_WORKSPACE, ".mcp.json" },
	{ VIEW_WORKSPACE, ".vscode" },
	{ VIEW_WORKSPACE, ".idea" },
	{ VIEW_WORKSPACE, ".claude/settings.json" },
	{ VIEW_WORKSPACE, ".claude/settings.local.json" },
	{ VIEW_WORKSPACE, ".claude/hooks" },
	{ VIEW_WORKSPACE, ".claude/commands" },
	{ VIEW_WORKSPACE, ".claude/agents" },
	{ VIEW_WORKSPACE, ".codex" },
	{ VIEW_WORKSPACE, ".agents" },
	{ VIEW_WORKSPACE, ".envrc" },
	{ VIEW_WORKSPACE, ".husky" },
	{ VIEW_WORKSPACE, ".holdback.conf" },
	{ VIEW_WORKSPACE, ".bashrc" },
	{ VIEW_WORKSPACE, ".bash_profile" },
	{ VIEW_WORKSPACE, ".profile" },
	{ VIEW_WORKSPACE, ".zshrc" },
	{ VIEW_WORKSPACE, ".zshenv" },
	{ VIEW_GIT, "hooks" },
	{ VIEW_GIT, "config" },
	{ VIEW_GIT, "info/attributes" },
};

#define N_PROTECTED (sizeof(protected) / sizeof(protected[0]))

_Static_assert(N_PROTECTED <= DIRECT_MAX, "entries have room for all");

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

static bool is_there(const char *path)
{
	struct stat st;

	return sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) >= 0;
}

static int add(struct run *run, const char *source, const char *inside,
	       struct hb_error *err)
{
	size_t n = strlen(source) + 1, k = strlen(inside) + 1;
	char *copy = malloc(n + k);

	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	memcpy(copy, source, n);
	memcpy(copy + n, inside, k);
	run->entries[run->n_entries++] = (struct view_entry){
		.class = VIEW_RO,
		.found = VIEW_DIR,
		.source = copy,
		.path = copy + n,
	};
	return plan_keep(&run->plan, copy, err);
}

int direct_protect(struct run *run, struct hb_error *err)
{
	char source[PATH_MAX], inside[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < run->n_direct; i++)
		for (size_t row = 0; r >= 0 && row < N_PROTECTED; row++)
			if (path_of(&run->resources[i], row, source, inside) &&
			    is_there(source))
				r = add(run, source, inside, err);
	return r;
}

/* Whether the view had it read-only. */
static bool was_there(const struct run *run, const char *source)
{
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_RO &&
		    strcmp(run->entries[i].source, source) == 0)
			return true;
	return false;
}

void direct_tell_new(const struct run *run,
		     void (*tell)(void *ctx, const char *path), void *ctx)
{
	char source[PATH_MAX], inside[PATH_MAX];

	for (size_t i = 0; i < run->n_direct; i++)
		for (size_t row = 0; row < N_PROTECTED; row++)
			if (path_of(&run->resources[i], row, source, inside) &&
			    is_there(source) && !was_there(run, source))
				tell(ctx, source);
}
