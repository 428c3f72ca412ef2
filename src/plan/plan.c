/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INODE_BYTES 4096
#define INODES_MIN  1024

void plan_set_tty(struct plan *plan, const char *tty)
{
	plan->settings &= ~(unsigned)PLAN_TTY_REAL;
	if (strcmp(tty, "real") == 0)
		plan->settings |= PLAN_TTY_REAL;
}

uint64_t plan_inodes(uint64_t inodes, uint64_t size)
{
	uint64_t usual = size / INODE_BYTES;

	if (inodes != PLAN_USUAL)
		return inodes;
	return usual < INODES_MIN ? INODES_MIN : usual;
}

void plan_init(struct plan *plan)
{
	*plan = (struct plan){ .uid = -1, .gid = -1 };
	for (size_t i = 0; i < PLAN_FD_COUNT; i++)
		plan->fds[i] = -1;
}

void plan_done(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_kept; i++)
		free(plan->kept[i]);
	free(plan->kept);
	free(plan->ops);
	free(plan->layers);
	free(plan->env);
	free(plan->lock_files);
	free(plan->filter_fds);
	*plan = (struct plan){ 0 };
}

/*
 * Makes room for one more element after the `n` of `array`.  *ret_array is
 * where it is now; on failure `array` stays valid.
 */
static int reserve(void *array, size_t n, size_t max, size_t size, size_t *room,
		   void **ret_array, struct hb_error *err)
{
	size_t more = *room ? *room * 2 : 8;

	if (n >= max)
		return hb_fail(err, -E2BIG, "more than %zu entries", max);
	if (n >= *room) {
		array = reallocarray(array, more, size);
		if (!array)
			return hb_fail(err, -ENOMEM, "cannot extend the plan");
		*room = more;
	}
	*ret_array = array;
	return 0;
}

int plan_add(struct plan *plan, enum plan_op_kind kind, struct plan_op **ret_op,
	     struct hb_error *err)
{
	void *ops = NULL;
	int r;

	r = reserve(plan->ops, plan->n_ops, PLAN_MAX_OPS, sizeof(*plan->ops),
		    &plan->room_ops, &ops, err);
	if (r < 0)
		return r;
	plan->ops = ops;
	*ret_op = &plan->ops[plan->n_ops++];
	**ret_op = (struct plan_op){ .kind = kind, .fd = -1 };
	return 0;
}

int plan_add_layer(struct plan *plan, const char *dir, struct hb_error *err)
{
	void *layers = NULL;
	int r;

	r = reserve(plan->layers, plan->n_layers, PLAN_MAX_ALL,
		    sizeof(*plan->layers), &plan->room_layers, &layers, err);
	if (r < 0)
		return r;
	plan->layers = layers;
	plan->layers[plan->n_layers++] = dir;
	return 0;
}

int plan_add_env(struct plan *plan, enum plan_env_kind kind, const char *name,
		 const char *value, struct hb_error *err)
{
	void *env = NULL;
	int r;

	r = reserve(plan->env, plan->n_env, PLAN_MAX_OPS, sizeof(*plan->env),
		    &plan->room_env, &env, err);
	if (r < 0)
		return r;
	plan->env = env;
	plan->env[plan->n_env++] = (struct plan_env){ kind, name, value };
	return 0;
}

int plan_add_lock_file(struct plan *plan, const char *path,
		       struct hb_error *err)
{
	void *files = NULL;
	int r;

	r = reserve(plan->lock_files, plan->n_lock_files, PLAN_MAX_OPS,
		    sizeof(*plan->lock_files), &plan->room_lock_files, &files,
		    err);
	if (r < 0)
		return r;
	plan->lock_files = files;
	plan->lock_files[plan->n_lock_files++] = path;
	return 0;
}

int plan_add_filter_fd(struct plan *plan, int fd, struct hb_error *err)
{
	void *fds = NULL;
	int r;

	r = reserve(plan->filter_fds, plan->n_filter_fds, PLAN_MAX_OPS,
		    sizeof(*plan->filter_fds), &plan->room_filter_fds, &fds,
		    err);
	if (r < 0)
		return r;
	plan->filter_fds = fds;
	plan->filter_fds[plan->n_filter_fds++] = fd;
	return 0;
}

/*
 * A prefix sorts before what it is a prefix of.  The list is short and nearly
 * sorted.
 */
void plan_sort_by_dest(struct plan *plan)
{
	for (size_t i = 1; i < plan->n_ops; i++) {
		struct plan_op op = plan->ops[i];
		size_t at = i;

		while (at > 0 && strcmp(plan->ops[at - 1].dest, op.dest) > 0) {
			plan->ops[at] = plan->ops[at - 1];
			at--;
		}
		plan->ops[at] = op;
	}
}

int plan_keep(struct plan *plan, void *ptr, struct hb_error *err)
{
	void *kept = NULL;
	int r;

	r = reserve(plan->kept, plan->n_kept, PLAN_MAX_OPS, sizeof(*plan->kept),
		    &plan->room_kept, &kept, err);
	if (r < 0) {
		free(ptr);
		return r;
	}
	plan->kept = kept;
	plan->kept[plan->n_kept++] = ptr;
	return 0;
}

int plan_keep_text(struct plan *plan, const char *text, const char **ret_copy,
		   struct hb_error *err)
{
	char *copy = strdup(text);
	int r;

	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	r = plan_keep(plan, copy, err);
	if (r >= 0)
		*ret_copy = copy;
	return r;
}
