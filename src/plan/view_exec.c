/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view_exec.h"

#include "base/error.h"
#include "base/path.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_env.h"
#include "plan/view_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 *	(a) Of the host only the upper layers, or the trees that stand for
 *	    them, can be written.
 *	(b) The store is nowhere in the view: not at its own path, and not where
 *	    a resource that holds it is seen.
 *	(c) A private place that a resource holds or is belongs to the resource.
 *	(d) What lies inside of something comes after it.
 *
 * t_view_exec holds these.
 */

#define MEMORY_SIZE (1ULL << 30)

static const struct {
	const char *path;
	enum plan_op_kind kind;
	unsigned flags;
	mode_t perms;
} private_places[] = {
	{ "/tmp", OP_TMPFS, PLAN_HAS_PERMS, 01777 },
	{ "/var/tmp", OP_TMPFS, PLAN_HAS_PERMS, 01777 },
	{ "/run", OP_TMPFS, PLAN_HAS_PERMS, 0755 },
	{ "/dev", OP_DEV, PLAN_RO, 0 },
	{ "/dev/shm", OP_TMPFS, PLAN_HAS_PERMS, 01777 },
	{ "/proc", OP_PROC, PLAN_OWN, 0 },
};

struct builder {
	const struct view_exec_request *request;
	const struct view_host *host;
	struct plan *plan;
	struct hb_error *err;
};

static int add(struct builder *b, enum plan_op_kind kind, const char *source,
	       const char *dest, unsigned flags, struct plan_op **ret_op)
{
	struct plan_op *op;
	int r;

	r = plan_add(b->plan, kind, &op, b->err);
	if (r < 0)
		return r;
	op->source = source;
	op->dest = dest;
	op->flags = flags;
	if (ret_op)
		*ret_op = op;
	return 0;
}

static int add_memory(struct builder *b, const char *dest, mode_t perms)
{
	struct plan_op *op = NULL;
	int r;

	r = add(b, OP_TMPFS, NULL, dest, PLAN_HAS_PERMS, &op);
	if (r < 0)
		return r;
	op->perms = perms;
	op->size = MEMORY_SIZE;
	return 0;
}

/* Whether a resource has its place at or above `path`. */
static bool is_in_resource(const struct builder *b, const char *path)
{
	for (size_t i = 0; i < b->request->n_overlays; i++)
		if (path_is_beneath(path, b->request->overlays[i].inside))
			return true;
	return false;
}

static int add_private(struct builder *b)
{
	int r = 0;

	for (size_t i = 0;
	     r >= 0 && i < sizeof(private_places) / sizeof(private_places[0]);
	     i++) {
		const char *path = private_places[i].path;

		if (is_in_resource(b, path))
			continue;
		r = private_places[i].kind == OP_TMPFS
			    ? add_memory(b, path, private_places[i].perms)
			    : add(b, private_places[i].kind, NULL, path,
				  private_places[i].flags, NULL);
	}
	if (r >= 0 && b->host->home && !is_in_resource(b, b->host->home))
		r = add_memory(b, b->host->home, 0700);
	return r;
}

static int add_overlay(struct builder *b, const struct view_overlay *overlay)
{
	struct plan_op *op = NULL;
	int r;

	if (overlay->tree)
		return add(b, OP_BIND, overlay->tree, overlay->inside, 0, NULL);
	r = add(b, OP_OVERLAY, NULL, overlay->inside,
		b->request->is_volatile ? PLAN_VOLATILE : 0, &op);
	if (r < 0)
		return r;
	op->first_layer = b->plan->n_layers;
	op->n_layers = 1 + overlay->n_layers;
	op->upper = overlay->upper;
	op->work = overlay->work;
	r = plan_add_layer(b->plan, overlay->source, b->err);
	for (size_t i = 0; r >= 0 && i < overlay->n_layers; i++)
		r = plan_add_layer(b->plan, overlay->layers[i], b->err);
	return r;
}

/* The place is there, and empty, and nobody can put anything into it. */
static int cover(struct builder *b, const char *path)
{
	int r = add_memory(b, path, 0);

	if (r < 0)
		return r;
	return add(b, OP_REMOUNT_RO, NULL, path, 0, NULL);
}

/* Whether something in memory stands where `path` would be, and nothing on it.
 */
static bool is_covered(const struct builder *b, const char *path)
{
	for (size_t i = 0; i < b->request->n_read_only; i++)
		if (path_is_beneath(path, b->request->read_only[i]))
			return false;
	for (size_t i = 0;
	     i < sizeof(private_places) / sizeof(private_places[0]); i++)
		if (path_is_beneath(path, private_places[i].path))
			return true;
	return b->host->home && path_is_beneath(path, b->host->home);
}

static int cover_store(struct builder *b)
{
	const char *store = b->request->store;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < b->request->n_overlays; i++) {
		const struct view_overlay *o = &b->request->overlays[i];
		size_t size = strlen(o->inside) + strlen(store) + 2;
		char *path;

		if (!path_is_beneath(store, o->source))
			continue;
		path = malloc(size);
		if (!path)
			return hb_fail(b->err, -ENOMEM, "cannot make the view");
		(void)path_join(o->inside, store + strlen(o->source), path,
				size);
		r = plan_keep(b->plan, path, b->err);
		if (r >= 0)
			r = cover(b, path);
	}
	if (r >= 0 && !is_covered(b, store) && !is_in_resource(b, store))
		r = cover(b, store);
	for (size_t i = 0; r >= 0 && i < b->request->n_hidden; i++)
		if (!is_covered(b, b->request->hidden[i]) &&
		    !is_in_resource(b, b->request->hidden[i]))
			r = cover(b, b->request->hidden[i]);
	return r;
}

static int add_read_only(struct builder *b)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < b->request->n_held; i++)
		r = add(b, OP_BIND, b->request->held[i].source,
			b->request->held[i].inside, PLAN_RO, NULL);

	for (size_t i = 0; r >= 0 && i < b->request->n_read_only; i++)
		r = add(b, OP_BIND, b->request->read_only[i],
			b->request->read_only[i], PLAN_RO | PLAN_OWN, NULL);
	return r;
}

static int add_work_dir(struct builder *b)
{
	const char *path = view_work_dir(b->plan);
	struct plan_op *op = NULL;
	int r;

	if (!path)
		return 0;
	r = add(b, OP_DIR, NULL, path, PLAN_HAS_PERMS, &op);
	if (r >= 0)
		op->perms = 0700;
	return r;
}

/* The variables that the command's profile lets pass. */
static int add_env(struct builder *b)
{
	struct view_request request = { 0 };
	struct settings settings;
	int r;

	settings_init(&settings);
	request.settings = &settings;
	r = settings_profile(&settings, PROFILE_BASE, b->err);
	if (r >= 0 && b->request->program)
		r = settings_profile(&settings, b->request->program, b->err);
	if (r >= 0)
		r = view_env(&request, b->host, b->plan, b->err);
	/* The plan has none of it but what is compiled in. */
	settings_done(&settings);
	return r;
}

int view_exec_build(const struct view_exec_request *request,
		    const struct view_host *host, struct plan *plan,
		    struct hb_error *err)
{
	struct builder b = { request, host, plan, err };
	int r;

	r = add(&b, OP_BIND, "/", "/", PLAN_RO, NULL);
	if (r >= 0)
		r = add_private(&b);
	for (size_t i = 0; r >= 0 && i < request->n_overlays; i++)
		r = add_overlay(&b, &request->overlays[i]);
	if (r >= 0)
		r = add_read_only(&b);
	/* Last of equals: nothing uncovers the store. */
	if (r >= 0)
		r = cover_store(&b);
	if (r >= 0)
		r = add_work_dir(&b);
	if (r < 0)
		return r;
	plan_sort_by_dest(plan);
	plan->ns = PLAN_NS_USER | PLAN_NS_IPC | PLAN_NS_PID | PLAN_NS_UTS |
		   PLAN_NS_CGROUP | PLAN_NS_NET;
	plan->settings = PLAN_FILTER | PLAN_JOBS | PLAN_CLOSE_FDS |
			 PLAN_WAIT_ALL | PLAN_PROVE | PLAN_LIMITS |
			 PLAN_DIE_WITH_PARENT | PLAN_NO_USERNS | PLAN_LANDLOCK;
	if (host->is_root)
		plan->settings |= PLAN_MAP_ALL;
	plan->chdir = request->cwd;
	plan->limits = (struct plan_limits){ .pids = PLAN_PIDS_USUAL,
					     .is_pids_usual = true,
					     .min_free = PLAN_MIN_FREE_USUAL,
					     .inodes = PLAN_USUAL,
					     .inotify = PLAN_USUAL };
	return add_env(&b);
}
