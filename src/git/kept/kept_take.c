/* SPDX-License-Identifier: Apache-2.0 */
#include "git/kept/kept_take.h"

#include "base/auto.h"
#include "git/kept/kept_file.h"
#include "git/kept/kept_index.h"
#include "git/kept/kept_refs.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

static void take(const struct kept_refs_request *q, const char *path)
{
	auto_kept_refs struct kept_refs refs = { 0 };
	int r;

	if (q->is_pending && q->is_pending(q->ctx, path))
		return;
	r = kept_refs_look(q->base, path, &refs);
	if (r >= 0)
		r = kept_refs_store(q->dir, path, 0, &refs);
	if (r < 0)
		kept_refs_forget(q->dir, path);
}

struct modules {
	const struct kept_refs_request *request;
	const char *above;
	size_t n;
};

/* Of type tree_fn.  The name of a submodule may be a path: it goes on. */
static int take_module(void *ctx, const struct tree_visit *visit,
		       struct hb_error *err)
{
	struct modules *m = ctx;
	char path[PATH_MAX];
	struct sys_attr head;
	int n;

	(void)err;
	if (visit->when != TREE_ENTER || !S_ISDIR(visit->attr.mode))
		return 0;
	if (m->n++ == KEPT_INDEXES_MAX)
		return -EFBIG;
	n = snprintf(path, sizeof(path), "%s/HEAD", visit->name);
	if (n < 0 || (size_t)n >= sizeof(path) ||
	    sys_attr_at(visit->dir, path, &head) < 0)
		return 0;
	n = snprintf(path, sizeof(path), "%s/%s", m->above, visit->path);
	if (n > 0 && (size_t)n < sizeof(path))
		take(m->request, path);
	return TREE_SKIP;
}

void kept_refs_take(const struct kept_refs_request *request)
{
	bool is_git = request->root == GIT_TOP;
	struct modules m = { request, is_git ? "modules" : ".git/modules", 0 };
	auto_fd int git = -1;
	auto_fd int modules = -1;

	git = sys_openat2(request->base, is_git ? "refs" : ".git/refs",
			  O_PATH | O_DIRECTORY, 0,
			  K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);
	if (git < 0)
		return;
	take(request, is_git ? "" : ".git");
	modules = sys_openat2(request->base, m.above, O_RDONLY | O_DIRECTORY, 0,
			      K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);
	if (modules >= 0)
		(void)tree_walk(modules, ".", TREE_LENIENT, take_module, &m,
				NULL);
}
