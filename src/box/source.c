/* SPDX-License-Identifier: Apache-2.0 */
#include "box/source.h"

#include "base/auto.h"
#include "base/grow.h"
#include "base/path.h"
#include "box/state.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Sources are host paths, and the host's root is still ours while the view is
 * built.  But ".." of it crosses onto the new root, which lies on top of it.
 * So a path that goes up is resolved before there is a new root.
 */
struct source {
	const char *given;
	char *real;
};

static int add(struct box *box, const char *path, struct hb_error *err)
{
	char link[32], real[PATH_MAX];
	auto_fd int fd = -1;
	struct source *more;

	if (!path || !path_has_dotdot(path))
		return 0;
	fd = sys_openat(AT_FDCWD, path, O_PATH, 0);
	/* What is missing is missed by the operation, in its own words. */
	if (fd < 0)
		return 0;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (sys_readlinkat(AT_FDCWD, link, real, sizeof(real)) < 0)
		return 0;
	if (grow(box->sources, box->n_sources) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep '%s'", path);
	more = &box->sources[box->n_sources];
	*more = (struct source){ .given = path, .real = strdup(real) };
	if (!more->real)
		return hb_fail(err, -ENOMEM, "cannot keep '%s'", path);
	box->n_sources++;
	return 0;
}

int source_resolve_all(struct box *box, struct hb_error *err)
{
	const struct plan *plan = box->plan;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < plan->n_ops; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (op->kind == OP_BIND)
			r = add(box, op->source, err);
		if (r >= 0 && op->kind == OP_OVERLAY)
			r = add(box, op->upper, err);
		if (r >= 0 && op->kind == OP_OVERLAY)
			r = add(box, op->work, err);
	}
	for (size_t i = 0; r >= 0 && i < plan->n_layers; i++)
		r = add(box, plan->layers[i], err);
	return r;
}

const char *source_path(const struct box *box, const char *given)
{
	for (size_t i = 0; i < box->n_sources; i++)
		if (box->sources[i].given == given)
			return box->sources[i].real;
	return given;
}

void source_free_all(struct box *box)
{
	for (size_t i = 0; i < box->n_sources; i++)
		free(box->sources[i].real);
	free(box->sources);
}
